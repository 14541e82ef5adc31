"""The declarative form of a watch: plain data goes in, a checked ``Watch`` comes out.

``read_watch`` reads one form, ``read_watches`` a YAML or JSON text; ``watch_to_dict`` and
``watches_to_text`` write them back; ``watch_schema`` is their JSON Schema.
"""

from __future__ import annotations

from quire.sentinels.form.files import read_watch_file, read_watches, watches_to_text
from quire.sentinels.form.presets import PRESETS, Preset
from quire.sentinels.form.reading import read_watch
from quire.sentinels.form.schema import schema_text, watch_schema
from quire.sentinels.form.secrets import HIDDEN, keep_secrets
from quire.sentinels.form.watch import (
    Fetching,
    Notify,
    Pages,
    Schedule,
    Step,
    Watch,
    Window,
)
from quire.sentinels.form.writing import watch_to_dict
from quire.sentinels.versions.retention import Keep

__all__ = [
    "HIDDEN",
    "PRESETS",
    "Fetching",
    "Keep",
    "Notify",
    "Pages",
    "Preset",
    "Schedule",
    "Step",
    "Watch",
    "Window",
    "keep_secrets",
    "read_watch",
    "read_watch_file",
    "read_watches",
    "schema_text",
    "watch_schema",
    "watch_to_dict",
    "watches_to_text",
]
