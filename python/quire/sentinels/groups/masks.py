"""Location masks: whether anything changed at a location, from the annotation of two versions.

The annotation has a status for every node of both versions. A location is a list of subtrees, and a
subtree is a slice, so with prefix sums over the statuses a location costs two subtractions for each
subtree.

The answer "nothing changed" is certain: all nodes of the location on both versions have a partner
there and neither moved nor changed in anything the aspect depends on. "Something changed" is not:
a sentence can move from one element into another and still read the same. After that
answer, readings are compared.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from quire.sdiff.annotation import Annotation, Side
from quire.sdiff.facets import Status
from quire.sentinels.parts.location import Location, Roots
from quire.sentinels.parts.part import Aspect
from quire.sentinels.parts.reading import PageReader

_MOVED = Status.ALONE | Status.MOVED | Status.TAG
#: The statuses that can make a difference to an aspect.
STATUSES: dict[Aspect, Status] = {
    "text": _MOVED | Status.CONTENT | Status.LAYOUT,
    "links": _MOVED | Status.LINKS,
    "images": _MOVED | Status.IMAGES,
    "structure": _MOVED,
    "tags": _MOVED,
    "attributes": _MOVED | Status.ATTRIBUTES,
}
#: Aspects that the rest of the page can make a difference to: a list is found among all others.
_NOT_LOCAL = frozenset[Aspect]({"records"})


class ChangeMap:
    """The annotation of two versions, asked under any number of locations."""

    __slots__ = ("_sums", "annotation", "new", "old")

    def __init__(self, annotation: Annotation, old: PageReader, new: PageReader) -> None:
        self.annotation: Annotation = annotation
        self.old: PageReader = old
        self.new: PageReader = new
        self._sums: dict[tuple[Side, Status], NDArray[np.int64]] = {}

    def is_same(self, location: Location, aspects: Iterable[Aspect]) -> bool:
        """Tell whether certainly nothing changed at a location in any of the aspects."""
        aspects = frozenset(aspects)
        if not _NOT_LOCAL.isdisjoint(aspects):
            return False
        before, after = self.old.roots(location), self.new.roots(location)
        if not self._are_partners(before, after):
            return False
        # Texts are not nodes: the annotation says nothing about them.
        if self.old.texts(location) != self.new.texts(location):
            return False
        if not self._are_partners(self.old.left_out(location), self.new.left_out(location)):
            return False
        wanted = Status(0)
        for aspect in aspects:
            wanted |= STATUSES[aspect]
        return not self._any("old", before, wanted) and not self._any("new", after, wanted)

    def _are_partners(self, before: Roots, after: Roots) -> bool:
        if len(before) != len(after):
            return False
        return bool(np.array_equal(self.annotation.to_new[before], after))

    def _any(self, side: Side, roots: Roots, wanted: Status) -> bool:
        sums = self._sums.get((side, wanted))
        if sums is None:
            found = self.annotation
            status = found.new_status if side == "new" else found.old_status
            counted = np.cumsum((status & int(wanted)) != 0)
            sums = self._sums[side, wanted] = np.concatenate([[0], counted])
        page = self.new.page if side == "new" else self.old.page
        return bool((sums[roots + page.size[roots]] > sums[roots]).any())
