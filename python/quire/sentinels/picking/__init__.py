"""Picking: a person points at a part of a page, and gets a selector that will find it again.

A page and the number of a node go in; a short selector comes out (``selectors``), made from names
that the author of the page chose and will keep (``names``). ``lists`` finds the elements that are
alike, and ``outline`` lists the elements around a node.
"""

from __future__ import annotations

from quire.sentinels.picking.lists import Alike, alike
from quire.sentinels.picking.outline import Crumb, crumbs, element_of, find_text
from quire.sentinels.picking.selectors import SelectorMaker

__all__ = ["Alike", "Crumb", "SelectorMaker", "alike", "crumbs", "element_of", "find_text"]
