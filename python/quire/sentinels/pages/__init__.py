"""Pages as they come from the web: their state, their noise, and where a watched part went."""

from __future__ import annotations

from quire.sentinels.pages.state import PageFacts, page_state

__all__ = ["PageFacts", "page_state"]
