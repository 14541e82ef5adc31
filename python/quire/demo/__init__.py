"""A small newspaper, and what quire makes of it: ``python -m quire.demo``.

The pages in ``site`` are written by hand for this: a front page, a table with
few end tags, a page with SVG, one from the nineties in capitals and with tags
that overlap, a feed and some JSON.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["SITE"]

SITE: Path = Path(__file__).parent / "site"
