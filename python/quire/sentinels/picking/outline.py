"""The outline of a page: the elements around a node, and the places of a text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from quire.digest.page import Digest
from quire.sentinels.picking.selectors import SelectorMaker

#: Elements shown around a chosen one. Real pages have 10 to 30 levels.
MOST_CRUMBS = 60
#: Places that a search shows.
MOST_PLACES = 12
#: Characters of each.
SHOWN_TEXT = 120


@dataclass(frozen=True, slots=True)
class Crumb:
    """An element around the chosen one.

    Attributes:
        node: its number.
        label: its tag with its most lasting name.
    """

    node: int
    label: str


@dataclass(frozen=True, slots=True)
class Place:
    """A text on the page.

    Attributes:
        node: the element that it is in.
        text: how it begins.
    """

    node: int
    text: str


def element_of(page: Digest, node: int) -> int:
    """Return the nearest element: the node itself, or the one that it is in.

    >>> import quire
    >>> page = quire.encode(b"<p>Fish")
    >>> element_of(page, 5), element_of(page, 4), element_of(page, 0)
    (4, 4, 1)
    """
    while node > 0 and str(page.tag_names[page.tag[node]]).startswith("#"):
        node = int(page.parent[node])
    return max(node, min(1, page.n - 1))


def crumbs(make: SelectorMaker, node: int) -> list[Crumb]:
    """Return an element and those around it, the outermost first.

    >>> import quire
    >>> make = SelectorMaker(quire.encode(b"<main><p>Cod <b class=price>8</b></main>"))
    >>> " > ".join(each.label for each in crumbs(make, 7))
    'html > body > main > p > b.price'
    """
    found: list[Crumb] = []
    while node > 0 and len(found) < MOST_CRUMBS:
        found.append(Crumb(node, make.step(node)))
        node = int(make.page.parent[node])
    return found[::-1]


def find_text(page: Digest, words: str, most: int = MOST_PLACES) -> list[Place]:
    """Return the smallest elements whose text has some words, in the order of the page.

    White space does not count: a price can be in several elements. Cost: one pass over the text.

    >>> import quire
    >>> page = quire.encode(b"<p>Fish <b>9.50</b></p><p>Chips 4.00</p>")
    >>> [(place.node, place.text) for place in find_text(page, "fish 9")], find_text(page, "peas")
    ([(4, 'Fish 9.50')], [])
    """
    wanted = "".join(words.lower().split())
    if not wanted:
        return []
    is_text = np.array([str(name) == "#text" for name in page.tags], np.bool_)
    nodes = np.flatnonzero(is_text[page.tag] & page.visible & (page.content >= 0)).tolist()
    texts = ["".join(page.text(node).lower().split()) for node in nodes]
    ends = np.cumsum([len(text) for text in texts])
    whole = "".join(texts)
    found: dict[int, Place] = {}
    at = whole.find(wanted)
    while at >= 0 and len(found) < most:
        last = at + len(wanted)
        first, end = np.searchsorted(ends, (at, last - 1), side="right").tolist()
        node = _around(page, nodes[first], nodes[end])
        text = " ".join(page.text(node)[:SHOWN_TEXT].split())
        found.setdefault(node, Place(node, text))
        at = whole.find(wanted, last)
    return list(found.values())


def _around(page: Digest, first: int, last: int) -> int:
    """Return the smallest element around two nodes."""
    node = element_of(page, first)
    while node > 1 and last >= node + int(page.size[node]):
        node = int(page.parent[node])
    return node
