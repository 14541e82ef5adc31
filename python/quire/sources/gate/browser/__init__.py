"""The browser: Chromium behind the gate, for pages that need scripts, clicks or a login.

A request and steps go in, the page as the browser sees it comes out. All traffic of the browser
goes through a forward proxy that is part of the gate, so every address is checked as in plain
fetches.
"""

from __future__ import annotations

from quire.errors import MissingExtra

try:
    from quire.sources.gate.browser.chromium import Browser, RenderLimits
except ImportError as _error:
    if _error.name is None or not _error.name.startswith("playwright"):
        raise
    raise MissingExtra("playwright is not installed", extra="browser") from None
from quire.sources.gate.browser.steps import Click, Open, Press, Step, Type, Wait

__all__ = ["Browser", "Click", "Open", "Press", "RenderLimits", "Step", "Type", "Wait"]
