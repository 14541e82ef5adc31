"""Viewing: a stranger's page goes in, a document that is safe to look at comes out.

The document looks like the page: its own style sheets, images and fonts. It can do nothing else: no
scripts, no forms that send, no requests except to addresses that the caller's ``place`` returns.
``page`` writes documents, ``css`` style sheets, and ``pointing`` documents in which people choose a part.
Documents that load nothing, such as redlines, get style sheets, images and fonts written into
them (``embedded``).
"""

from __future__ import annotations

from quire.viewing.css import safe_css
from quire.viewing.embedded import NOTHING, Embedded, Looks, Sheet
from quire.viewing.page import Layout, lacks_styles, safe_page, style_relation
from quire.viewing.places import Detour, Place, Places, Use

__all__ = [
    "NOTHING",
    "Detour",
    "Embedded",
    "Layout",
    "Looks",
    "Place",
    "Places",
    "Sheet",
    "Use",
    "lacks_styles",
    "safe_css",
    "safe_page",
    "style_relation",
]
