"""The declarative form of a watch: plain data goes in, a checked ``Watch`` comes out."""

from __future__ import annotations

from quire.sentinels.form.presets import PRESETS, Preset
from quire.sentinels.form.reading import read_watch
from quire.sentinels.form.watch import (
    Fetching,
    Notify,
    Pages,
    Schedule,
    Step,
    Watch,
    Window,
)

__all__ = [
    "PRESETS",
    "Fetching",
    "Notify",
    "Pages",
    "Preset",
    "Schedule",
    "Step",
    "Watch",
    "Window",
    "read_watch",
]
