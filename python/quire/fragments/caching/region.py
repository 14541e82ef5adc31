"""Regions: the bytes of a page that one file of a composition holds.

A fragment is a run of bytes; a template is what remains around its cuts. Both answer two questions:
which nodes of an AF tree lie in them, and whether another version of the page has the same bytes,
with the same elements in the place of each cut. Something new beside a cut changes the template.

Cost: a search through the bytes of the page, if the region is not found in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray

from quire.fragments.caching.outline import outline
from quire.fragments.cuts.site_cuts import CutPage, SiteCuts

# If a fragment begins like other parts of its page, this many places are tried.
_MOST_PLACES = 16


@dataclass(frozen=True, slots=True)
class Region:
    """Bytes of a page, without the parts that are cut out of them.

    Attributes:
        name: of the fragment; empty for the rest of the page.
        start: the first byte.
        end: after the last one.
        holes: where the cuts are in the page.
        pieces: the bytes between the cuts.
        fillings: the bytes of the cuts between them, one fewer; cuts with only white space between
            them are one filling.
        copies: how often the page has these bytes; 0 if that does not matter.
    """

    name: str
    start: int
    end: int
    holes: tuple[tuple[int, int], ...]
    pieces: tuple[bytes, ...]
    fillings: tuple[bytes, ...]
    copies: int = 0

    @classmethod
    def of(
        cls, name: str, start: int, end: int, holes: Sequence[tuple[int, int]], source: bytes
    ) -> Self:
        """Make a region of the source of a page."""
        edges = [start]
        for begin, stop in holes:
            if len(edges) > 1 and not source[edges[-1] : begin].strip():
                edges[-1] = stop  # the border between the two cannot be found again
            else:
                edges += [begin, stop]
        edges.append(end)
        between = [source[a:b] for a, b in pairwise(edges)]
        return cls(name, start, end, tuple(holes), tuple(between[::2]), tuple(between[1::2]))

    @property
    def is_page(self) -> bool:
        """Whether this is the rest of the page."""
        return not self.name

    @property
    def is_plain(self) -> bool:
        """Whether this is a part without cuts in it."""
        return not self.is_page and not self.fillings

    def is_in(self, body: bytes) -> bool:
        """Tell whether a page has these bytes, and the same elements in the place of the cuts.

        >>> region = Region.of("", 0, 18, [(3, 14)], b"<p><b>text</b><hr>")
        >>> region.is_in(b"<p><b>other text</b><hr>"), region.is_in(b"<p><b>text</b><hr>!")
        (True, False)
        >>> region.is_in(b"<p><b>text</b><i>and more</i><hr>")
        False
        """
        if self.copies and body.count(self.pieces[0]) != self.copies:
            return False
        at = -1
        for _ in range(_MOST_PLACES):
            at = body.find(self.pieces[0], at + 1)
            if at < 0 or (self.is_page and at > 0):
                return False
            if self._is_at(at, body):
                return True
        return False

    def _is_at(self, at: int, body: bytes) -> bool:
        at += len(self.pieces[0])
        for number, filling in enumerate(self.fillings, start=1):
            piece = self.pieces[number]
            # The rest of a page ends where the page does; after a fragment anything may follow.
            is_last = self.is_page and number == len(self.fillings)
            found = len(body) - len(piece) if is_last else body.find(piece, at)
            if found < at or not body.startswith(piece, found):
                return False
            inside = body[at:found]
            if inside != filling and outline(inside) != outline(filling):
                return False
            at = found + len(piece)
        return not self.is_page or at == len(body)

    def nodes(self, span: NDArray[np.int64]) -> tuple[NDArray[np.bool_], int]:
        """Tell which AF nodes lie in it, and the smallest one around it; -1 if a node is all of it.

        Args:
            span: first byte of each node and the end after its last, outer before inner.
        """
        start, end = span[:, 0], span[:, 1]
        known = start >= 0
        inside = known & (start >= self.start) & (end <= self.end)
        for begin, stop in self.holes:
            inside &= ~((start >= begin) & (end <= stop))
        if self.is_page:
            inside[0] = True
            return inside, -1
        if (known & (start == self.start) & (end == self.end)).any():
            return inside, -1
        around = np.flatnonzero(known & (start <= self.start) & (end >= self.end))
        return inside, int(around[-1]) if len(around) else 0


def regions_of(cuts: SiteCuts, page: CutPage, source: bytes) -> Iterator[Region]:
    """List the rest of a page, and every fragment of it, with the parts that hazards keep in them.

    Args:
        cuts: the cuts of the site.
        page: the page.
        source: its bytes.
    """
    holes = [(part.start, part.end) for part in page.parts]
    yield Region.of("", 0, len(source), holes, source)
    for part, start, end in cuts.spans(page):
        inside = cuts.fragments[part.name].parts
        holes = [(start + one.start, start + one.end) for one in inside]
        region = Region.of(part.name, start, end, holes, source)
        yield region if inside else replace(region, copies=source.count(source[start:end]))
