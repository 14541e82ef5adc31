"""The lists of records at chosen places of a page.

``quire.records`` looks for all lists of a page. Here someone has chosen the place: an element with a
list in it, or the records themselves. So a list counts even if it is short, or looks like navigation.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from quire.digest.page import Digest
from quire.extraction.finding.confidence import LEAST_CONFIDENCE
from quire.extraction.finding.regions import Found, find
from quire.extraction.finding.runs import LEAST_RECORDS
from quire.extraction.outline import Outline, outline
from quire.extraction.region import Region, RegionSource
from quire.extraction.table.table import read_table

Runs = tuple[tuple[int, ...], ...]

# Elements whose children are records, however few there are.
_LISTS = frozenset({"ol", "ul", "tbody"})


class PageLists:
    """The lists of one page; the page is searched once.

    >>> import quire
    >>> items = "".join(f"<li><b>Fish {n}</b> <i>{n}.50 €</i>" for n in range(4))
    >>> page = quire.encode(f"<h2>Menu</h2><ul id=menu>{items}</ul>".encode())
    >>> PageLists(page).at(page.select("#menu")).rows[1]
    ('Fish 1', '1.50 €')
    >>> PageLists(page).at(page.select("h2")) is None
    True
    """

    __slots__ = ("_found", "view")

    def __init__(self, page: Digest) -> None:
        self.view: Outline = outline(page)
        self._found: list[Found] = sorted(
            find(self.view), key=lambda one: (-one.confidence * (0.5 + one.signs.share), one.node)
        )

    def at(self, roots: NDArray[np.integer]) -> Region | None:
        """The list at some nodes: in one of them, or these nodes as its records; None without one.

        Args:
            roots: nodes in ascending order, none of them inside another one. Node 0 means the whole
                page; of this, only a list that is certain to be one counts.
        """
        nodes = [int(node) for node in roots]
        if not nodes:
            return None
        if nodes == [0]:
            return next(self.all(), None)
        if len(nodes) > 1 and not self._have_lists(nodes):
            return self._region(tuple((node,) for node in nodes), 1.0)
        for one in self._found:
            if all(self._is_inside(record, nodes) for record in one.records):
                return self._region(one.records, one.confidence)
        few = self._few(nodes[0])
        return self._region(few, 1.0) if few else None

    def all(self) -> Iterator[Region]:
        """All lists of the page that are certain to be lists, the most important one first."""
        for one in self._found:
            if one.confidence >= LEAST_CONFIDENCE:
                yield self._region(one.records, one.confidence)

    def _have_lists(self, nodes: list[int]) -> bool:
        """Tell whether lists are inside the nodes, rather than the nodes being records of one."""
        chosen = set(nodes)
        if any(
            sum(record[0] in chosen for record in one.records) >= min(LEAST_RECORDS, len(nodes))
            for one in self._found
        ):
            return False
        return any(
            one.confidence >= LEAST_CONFIDENCE
            and all(self._is_inside(record, nodes) for record in one.records)
            for one in self._found
        )

    def _is_inside(self, record: tuple[int, ...], nodes: list[int]) -> bool:
        at = int(np.searchsorted(nodes, record[0], side="right")) - 1
        return at >= 0 and record[-1] < self.view.end[nodes[at]]

    def _few(self, node: int) -> Runs:
        """The children of a list with few records; empty if the node is not clearly a list."""
        view, names = self.view, self.view.page.tag_names
        while True:
            children = view.children(node).tolist()
            if names[int(view.page.tag[node])] in _LISTS:
                rows = [child for child in children if not self._is_header(child)]
                return tuple((child,) for child in rows)
            inner = [
                child for child in children if names[int(view.page.tag[child])] in _LISTS
            ] or children
            if len(inner) != 1:
                alike = {(int(view.page.tag[child]), self._class(child)) for child in children}
                return tuple((child,) for child in children) if len(alike) == 1 else ()
            node = inner[0]

    def _is_header(self, node: int) -> bool:
        """Tell whether a row of a table has no cell with data."""
        view, names = self.view, self.view.page.tag_names
        if names[int(view.page.tag[node])] != "tr":
            return False
        return all(names[int(view.page.tag[cell])] == "th" for cell in view.children(node).tolist())

    def _class(self, node: int) -> str:
        page = self.view.page
        return page.attributes(node).get("class", "") if page.attr[node] >= 0 else ""

    def _region(self, records: Runs, confidence: float) -> Region:
        table = read_table(self.view, records)
        node = _around(self.view, records)
        return Region(
            node=node,
            path=self.view.page.path(node),
            confidence=round(confidence, 3),
            source=RegionSource.VISIBLE,
            records=records,
            columns=table.columns,
            rows=table.rows,
            nodes=table.nodes,
        )


def _around(view: Outline, records: Runs) -> int:
    """The innermost node around all records."""
    first, last = records[0][0], records[-1][-1]
    node = int(view.parent[first])
    while node > 0 and view.end[node] <= last:
        node = int(view.parent[node])
    return max(node, 0)
