"""A tour of quire on the website of a small newspaper: run ``python -m quire.demo``.

The pages in ``site`` are written by hand for this: a front page, a table with few end tags, a page
with SVG, one from the nineties with upper-case and overlapping tags, a feed and some JSON.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["SITE"]

SITE: Path = Path(__file__).parent / "site"
