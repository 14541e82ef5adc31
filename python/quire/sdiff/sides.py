"""One side of an annotation: which nodes of one page changed, facet by facet.

Two choices worth knowing before changing this file:

* Counts are stored as prefix sums, one array per facet, computed on first use. A subtree is a
  slice, so the number of changes below a node is one subtraction.
* White space between elements has its own status. It counts as content, unless the rules ignore it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from quire.sdiff.facets import ALL_FACETS, Facet, Status

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from quire.digest import Digest


class OneSide:
    """The statuses of the nodes of one page, summed up by facet and by subtree."""

    __slots__ = ("_changed", "_compares_layout", "_sums", "page", "status")

    def __init__(self, page: Digest, status: NDArray[np.uint16], *, compares_layout: bool) -> None:
        self.page: Digest = page
        self.status: NDArray[np.uint16] = status
        self._compares_layout = compares_layout
        self._changed: dict[Facet, NDArray[np.bool_]] = {}
        self._sums: dict[Facet, NDArray[np.int32]] = {}

    def check(self, node: int) -> int:
        """Return the number of a node, or raise if the page does not have it."""
        if not 0 <= node < self.page.n:  # arrays would count a negative number from the end
            self.page.node(node)  # raises
        return node

    # ------------------------------------------------------------ facets

    def changed(self, facet: Facet) -> NDArray[np.bool_]:
        """Tell for each node whether it changed in a facet."""
        found = self._changed.get(facet)
        if found is None:
            found = self._changed[facet] = self._find(facet)
        return found

    def _find(self, facet: Facet) -> NDArray[np.bool_]:
        page, status = self.page, self.status
        alone = self._is_alone()
        found: NDArray[np.bool_]
        if facet == "structure":
            found = (status & (Status.ALONE | Status.MOVED)) != 0
        elif facet == "tags":
            found = (status & (Status.ALONE | Status.TAG)) != 0
        elif facet == "attributes":
            found = ((status & Status.ATTRIBUTES) != 0) | (alone & (page.attr >= 0))
        elif facet == "content":
            bits = Status.CONTENT
            if self._compares_layout:
                bits |= Status.LAYOUT
            found = ((status & bits) != 0) | (alone & (page.content >= 0))
        else:
            found = (status & (Status.LINKS if facet == "links" else Status.IMAGES)) != 0
        return found

    def moved_with(self, facet: Facet) -> NDArray[np.int64]:
        """List the nodes that moved with values of this facet in them or below them.

        Their values are now in another place among those of the page.
        """
        import numpy as np  # noqa: PLC0415 - heavy

        page = self.page
        moved = np.flatnonzero((self.status & Status.MOVED) != 0)
        if facet == "tags" or not len(moved):
            return moved
        has = np.zeros(page.n, np.bool_)
        if facet == "attributes":
            has[:] = page.attr >= 0
        elif facet == "content":
            has[:] = page.content >= 0
        else:
            listed = page.links() if facet == "links" else page.images()
            has[[each.node for each in listed]] = True
        sums = np.concatenate([[0], np.cumsum(has)])
        has_values: NDArray[np.bool_] = sums[moved + page.size[moved]] > sums[moved]
        return np.compress(has_values, moved)

    def changed_in(self, facets: Iterable[Facet]) -> NDArray[np.bool_]:
        """Tell for each node whether it changed in any of the facets."""
        import numpy as np  # noqa: PLC0415 - heavy

        found = np.zeros(self.page.n, np.bool_)
        for facet in facets:
            found |= self.changed(facet)
        return found

    def codes(self) -> NDArray[np.uint8]:
        """Return the facets in which each node changed, as bits in the order of ``ALL_FACETS``."""
        import numpy as np  # noqa: PLC0415 - heavy

        codes = np.zeros(self.page.n, np.uint8)
        for bit, facet in enumerate(ALL_FACETS):
            codes |= self.changed(facet).astype(np.uint8) << bit
        return codes

    # ------------------------------------------------------------ subtrees

    def count(self, node: int, facet: Facet) -> int:
        """Count the nodes of a subtree, its root included, that changed in a facet."""
        import numpy as np  # noqa: PLC0415 - heavy

        node = self.check(node)
        sums = self._sums.get(facet)
        if sums is None:  # for each node, how many nodes before it changed
            sums = np.zeros(self.page.n + 1, np.int32)
            np.cumsum(self.changed(facet), out=sums[1:])
            self._sums[facet] = sums
        return int(sums[node + int(self.page.size[node])] - sums[node])

    def tops(self) -> NDArray[np.int64]:
        """List the nodes without a partner whose parent has one."""
        import numpy as np  # noqa: PLC0415 - heavy

        is_alone = self._is_alone()
        below = np.zeros_like(is_alone)
        below[1:] = is_alone[self.page.parent[1:]]
        return np.flatnonzero(is_alone & ~below)

    def roots(self) -> dict[int, int]:
        """Return, for every node without a partner, the root of its inserted or deleted part."""
        alone = self._is_alone().nonzero()[0]
        parents = self.page.parent[alone]
        roots: dict[int, int] = {}
        for node, parent in zip(alone.tolist(), parents.tolist(), strict=True):
            roots[node] = roots.get(parent, node)
        return roots

    def _is_alone(self) -> NDArray[np.bool_]:
        alone: NDArray[np.bool_] = (self.status & Status.ALONE) != 0
        return alone
