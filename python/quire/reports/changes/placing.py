"""Where a redline shows deleted parts again: between the texts that were around them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from quire.reports.changes import safe_markup as safe
from quire.reports.changes.orders import Around
from quire.reports.changes.visible_page import Leaf, VisiblePage

#: At the start of an element of the new page, before a node or behind one.
Place: TypeAlias = tuple[Literal["start", "before", "behind"], int]

# Elements that stand for the page itself.
_ROOTS = frozenset({"#document", "html", "body"})


@dataclass(frozen=True, slots=True)
class Placing:
    """Both pages, and what became of the leaves of the old one.

    Attributes:
        old: the old page.
        new: the new page.
        to_new: the partner of each node of the old page.
        first: for each leaf in place: the first leaf of the new page that has words of it.
        last: the same for the last leaf.
        gone: the leaves that are deleted as a whole.
        moved: the leaves that moved.
    """

    old: VisiblePage
    new: VisiblePage
    to_new: Sequence[int]
    first: Mapping[int, int]
    last: Mapping[int, int]
    gone: Container[int]
    moved: Container[int]

    def places(self) -> dict[Place, list[int]]:
        """Return the deleted parts, as the numbers of their roots, by place."""
        found: dict[Place, list[int]] = {}
        around = Around(len(self.old.leaves), self.first)
        latest: tuple[tuple[int, int, int], Place] | None = None
        for top in self._deleted_tops():
            low = bisect_left(self.old.leaves, top, key=_node)
            high = bisect_left(self.old.leaves, top + self.old.sizes[top], key=_node) - 1
            before, after = around.before[low], around.after[high]
            place = self._place(
                top,
                None if before < 0 else self.new.leaves[self.last[before]].node,
                None if after < 0 else self.new.leaves[self.first[after]].node,
            )
            # Parts stay in their order, even if the place of one would be before the last one.
            key = self._written_at(place)
            if latest is None or key >= latest[0]:
                latest = key, place
            found.setdefault(latest[1], []).append(top)
        return found

    def _deleted_tops(self) -> list[int]:
        """List the roots of the largest parts in which everything is deleted."""
        old, n = self.old, len(self.old.names)
        count, is_mixed = [0] * n, [False] * n
        for i, leaf in enumerate(old.leaves):
            if i in self.gone:
                count[leaf.node] = 1
            else:
                is_mixed[leaf.node] = i not in self.moved
        for node in range(n - 1, 0, -1):
            above = old.parents[node]
            count[above] += count[node]
            is_whole = not is_mixed[node] and not self._is_on_new_page(node)
            is_mixed[above] |= is_mixed[node] or (count[node] > 0 and not is_whole)
        return [
            node
            for node in range(1, n)
            if count[node]
            and not is_mixed[node]
            and not self._is_on_new_page(node)
            and (is_mixed[old.parents[node]] or self._is_on_new_page(old.parents[node]))
        ]

    def _is_on_new_page(self, node: int) -> bool:
        """Tell whether an element of the old page is drawn with the new page."""
        if node == 0 or self.old.names[node] in {"html", "head", "body"}:
            return True
        return node not in self.old.leaf_of and self.to_new[node] >= 0

    def _place(self, top: int, before: int | None, after: int | None) -> Place:
        """Find the place of a deleted part between two leaves of the new page."""
        new = self.new
        home = self.to_new[self.old.parents[top]]
        if home >= 0 and (new.written[home] is not None or home == 0):
            end = home + new.sizes[home]
            if before is not None and home < before < end:
                child = self._child(home, before)
                if after is None or after >= child + new.sizes[child]:
                    return "behind", child
            elif (before is None or before < home) and (after is None or after > home):
                return "start", home
        climbs = self.old.written[top] not in safe.INLINE and self.old.names[top] != "#text"
        if before is not None:
            node = before
            while climbs and not self._holds(new.parents[node], after):
                node = new.parents[node]
            return "behind", node
        if after is not None:
            node = after
            while climbs and new.names[new.parents[node]] not in _ROOTS:
                node = new.parents[node]
            return "before", node
        return "start", new.names.index("body") if "body" in new.names else 0

    def _child(self, home: int, node: int) -> int:
        """Return the child of a node that has another node in it, or is that node."""
        while self.new.parents[node] != home:
            node = self.new.parents[node]
        return node

    def _holds(self, node: int, other: int | None) -> bool:
        if self.new.names[node] in _ROOTS:
            return True
        return other is not None and node <= other < node + self.new.sizes[node]

    def _written_at(self, place: Place) -> tuple[int, int, int]:
        """Return a key that sorts places in the order in which they are written."""
        kind, node = place
        if kind == "start":
            return node + 1, -1, 0
        if kind == "before":
            return node, 1, 0
        return node + self.new.sizes[node], 0, -node


def _node(leaf: Leaf) -> int:
    return leaf.node
