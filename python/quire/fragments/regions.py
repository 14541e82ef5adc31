"""Regions: what a file of a composition holds, as bytes of the page that it was cut out of.

A fragment is a row of bytes, a template what is left around its cuts. Both are asked two things: which nodes of an AF tree lie in them, and whether
another version of the page has the same bytes.

Above: ``measuring``. Below: ``plan``, ``choosing``, ``includes``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quire.fragments.choosing import Choice, Cut
from quire.fragments.includes import name_of


@dataclass(frozen=True, slots=True)
class Region:
    """Bytes of a page, without those that are cut out of them.

    Attributes:
        name: of the fragment; empty for what is left of the page.
        start: the first byte.
        end: after the last one.
        pieces: the bytes between what is cut out, one more than there are cuts.
        holes: where the cuts are in the page.
    """

    name: str
    start: int
    end: int
    pieces: tuple[bytes, ...]
    holes: tuple[tuple[int, int], ...]

    @property
    def is_page(self) -> bool:
        """Whether this is what is left of the page."""
        return not self.name

    def is_in(self, body: bytes) -> bool:
        """Tell whether a page has these bytes, whatever it has in the place of what is cut out.

        >>> region = Region("", 0, 9, (b"<p>", b"<hr>"), ((3, 5),))
        >>> region.is_in(b"<p>other text<hr>"), region.is_in(b"<p>text<hr>!")
        (True, False)
        """
        first, *rest = self.pieces
        at = 0 if self.is_page and body.startswith(first) else body.find(first)
        if at < 0 or (self.is_page and at > 0):
            return False
        at += len(first)
        # What is left of a page ends where the page does; in a fragment's place anything may follow.
        last = rest.pop() if rest and self.is_page else b""
        for piece in rest:
            found = body.find(piece, at)
            if found < 0:
                return False
            at = found + len(piece)
        if not self.is_page:
            return True
        return (
            len(body) - len(last) >= at and body.endswith(last) if self.holes else at == len(body)
        )

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


def regions_of(choice: Choice, body: int, source: bytes) -> Iterator[Region]:
    """Give what is left of a page, and every fragment of it.

    Args:
        choice: what is cut out of which page.
        body: the number of the page.
        source: its bytes.
    """
    cuts = choice.pages[body]
    yield _region("", 0, len(source), cuts, source)
    opened = [(0, cut) for cut in cuts]
    while opened:  # never longer than there are cuts, as deep as includes nest
        base, cut = opened.pop()
        start, end = base + cut.start, base + cut.end
        inside = choice.inside.get(cut.key, [])
        if inside and inside[-1].end > end - start:
            inside = []  # hashes of 64 bits met by chance: these are the cuts of other bytes
        yield _region(name_of(source[start:end]), start, end, inside, source)
        opened += [(start, one) for one in inside]


def _region(name: str, start: int, end: int, cuts: list[Cut], source: bytes) -> Region:
    holes = tuple((start + cut.start, start + cut.end) for cut in cuts)
    edges = [start, *(edge for hole in holes for edge in hole), end]
    pieces = tuple(source[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True))
    return Region(name, start, end, pieces, holes)
