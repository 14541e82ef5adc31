"""Regions: what a file of a composition holds, as bytes of the page that it was cut out of.

A fragment is a row of bytes, a template what is left around its cuts. Both are asked two things: which nodes of an AF tree lie in them, and whether
another version of the page has the same bytes, with the same elements in the place of what is cut out: what comes in beside them changes the template.

Cost: searching for one takes the bytes of the page, where it is not found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray

from quire.fragments.caching.outline import outline
from quire.fragments.cuts.cutting import made_cuts
from quire.fragments.cuts.includes import name_of
from quire.fragments.cuts.plan import FragmentPlan
from quire.fragments.cuts.select import Cut

# Where a fragment begins like other parts of its page, so many places are tried.
_MOST_PLACES = 16


@dataclass(frozen=True, slots=True)
class Region:
    """Bytes of a page, without those that are cut out of them.

    Attributes:
        name: of the fragment; empty for what is left of the page.
        start: the first byte.
        end: after the last one.
        holes: where the cuts are in the page.
        pieces: the bytes between what is cut out.
        fillings: what is cut out between them, one less; cuts with nothing but white space between them are one filling.
        copies: how often the page has these bytes; 0 where that does not matter.
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
        """Take a region out of the source of a page."""
        edges = [start]
        for begin, stop in holes:
            if len(edges) > 1 and not source[edges[-1] : begin].strip():
                edges[-1] = stop  # where one ends and the other begins, nobody could tell
            else:
                edges += [begin, stop]
        edges.append(end)
        between = [source[a:b] for a, b in pairwise(edges)]
        return cls(name, start, end, tuple(holes), tuple(between[::2]), tuple(between[1::2]))

    @property
    def is_page(self) -> bool:
        """Whether this is what is left of the page."""
        return not self.name

    @property
    def is_plain(self) -> bool:
        """Whether this is a part of which nothing is cut out."""
        return not self.is_page and not self.fillings

    def is_in(self, body: bytes) -> bool:
        """Tell whether a page has these bytes, and the same elements in the place of what is cut out, whatever they hold.

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
            # What is left of a page ends where the page does; in a fragment's place anything may follow.
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
        """Tell which nodes of an AF tree lie in it, and the smallest one around it; -1 where one is all of it.

        Args:
            span: first byte of each node and after its last, outer before inner.
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


def regions_of(plan: FragmentPlan, body: int, source: bytes) -> Iterator[Region]:
    """Give what is left of a page, and every fragment of it: as they are made, with what hazards keep in them.

    Args:
        plan: what is cut out of which page.
        body: the number of the page.
        source: its bytes.
    """
    choice = plan.choice
    cuts = made_cuts(source, choice.pages[body])
    yield _region("", 0, len(source), cuts, source)
    opened = [(0, cut) for cut in cuts]
    while opened:  # never longer than there are cuts, as deep as includes nest
        base, cut = opened.pop()
        start, end = base + cut.start, base + cut.end
        data = source[start:end]
        inside = plan.cuts_inside(cut, data)
        inside = made_cuts(data, inside) if inside else []
        region = _region(name_of(data), start, end, inside, source)
        yield region if inside else replace(region, copies=source.count(data))
        opened += [(start, one) for one in inside]


def _region(name: str, start: int, end: int, cuts: Sequence[Cut], source: bytes) -> Region:
    holes = [(start + cut.start, start + cut.end) for cut in cuts]
    return Region.of(name, start, end, holes, source)
