"""Gaps: words that are on both sides of a part that was rewritten.

Comparing texts in pairs leaves some out: a sentence that went to another paragraph of a section that
was rewritten, or two texts that differ in white space. So at the end everything that is left between
two kept words is compared as a whole, across texts and lines. Kept as well is

* a run of eight words or more, whatever the punctuation between them;
* a line of four words or more;
* everything that is left, if it is the same on both sides;
* an element without text, such as an image, that looks the same;
* a text that moved, but to a place between the same two kept words.

A shorter phrase in a part that was rewritten counts as rewritten: "in accordance with the" does not
tell where a text comes from, and keeping it would make the new text hard to read. The search is in
``crates/quire-core/src/sdiff/long_runs.rs``, and linear.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from itertools import pairwise

from quire import _core
from quire.reports.changes.orders import heaviest_rise
from quire.reports.changes.visible_page import VisiblePage
from quire.reports.changes.word_runs import Joined, Part, Piece, kept_pieces
from quire.sdiff.views.words import whole_characters


class Gaps:
    """Two pages and their matches so far, which ``close`` completes in place."""

    def __init__(
        self,
        old: VisiblePage,
        new: VisiblePage,
        pieces: list[Piece],
        atoms: dict[int, int],
        moved: dict[int, int],
    ) -> None:
        self.old, self.new = old, new
        self.pieces = pieces
        self.atoms = atoms
        self.moved = moved

    def close(self) -> None:
        """Keep what is on both sides of a gap."""
        self._settle_moves()
        arrived = set(self.moved.values())
        found: list[Piece] = []
        for start, end in self._gaps():
            olds = Part(start.old, start.old_end, end.old_start)
            news = Part(start.new, start.new_end, end.new_start)
            before = Joined(self.old, list(_parts(self.old, olds, end.old, self.moved)))
            after = Joined(self.new, list(_parts(self.new, news, end.new, arrived)))
            if before.text and after.text:
                runs = _core.long_runs(whole_characters(before.text), whole_characters(after.text))
                for x, y, length in runs:
                    found += kept_pieces(before, after, x, y, length)
        self._add(found)
        self._settle_atoms()
        self._match_atoms()

    def _gaps(self) -> Iterator[tuple[Piece, Piece]]:
        """Yield the kept pieces before and after each gap."""
        start = Piece(0, 0, 0, 0, 0, 0)
        end = Piece(len(self.old.leaves), 0, 0, len(self.new.leaves), 0, 0)
        kept = [piece for piece in self.pieces if piece.new_end > piece.new_start]
        return pairwise([start, *kept, end])

    def _settle_moves(self) -> None:
        """Keep texts that moved in place if they are between the same kept words as before."""
        to_old = {j: i for i, j in self.moved.items() if self.new.leaves[j].text}
        kept = {piece.old for piece in self.pieces}
        found: list[Piece] = []
        for start, end in self._gaps() if to_old else ():
            news = range(start.new, min(end.new + 1, len(self.new.leaves)))
            arrived = [j for j in news if j in to_old]
            if not arrived:
                continue
            olds = range(start.old, min(end.old + 1, len(self.old.leaves)))
            # The text itself, or another one that looks the same.
            copies = {self.old.leaves[i].key: i for i in reversed(olds) if i not in kept}
            pairs = [
                (to_old[j] if to_old[j] in olds else copies[self.new.leaves[j].key], j)
                for j in arrived
                if to_old[j] in olds or self.new.leaves[j].key in copies
            ]
            sizes = [len(self.new.leaves[j].key) for _, j in pairs]
            for place in heaviest_rise([i for i, _ in pairs], sizes):
                i, j = pairs[place]
                self.moved.pop(i, None)
                self.moved.pop(to_old[j], None)
                before, after = self.old.leaves[i], self.new.leaves[j]
                if before.key == after.key:
                    found.append(Piece(i, 0, len(before.text), j, 0, len(after.text)))
                else:  # its words are compared with all others of the gap
                    found.append(Piece(i, 0, 0, j, 0, 0))
        self._add(found)

    def _add(self, found: list[Piece]) -> None:
        """Add pieces. Pairs of texts without common words give way if they are out of order."""
        if not found:
            return
        self.pieces[:] = sorted(self.pieces + found)
        ends = [0] * len(self.pieces)  # the first leaf of the new page with kept words from there
        first = len(self.new.leaves)
        for place in range(len(self.pieces) - 1, -1, -1):
            first = self.pieces[place].new if self.pieces[place].new_end else first
            ends[place] = first
        kept: list[Piece] = []
        last = (-1, 0)
        for piece, end in zip(self.pieces, ends, strict=True):
            if piece.new_end or (last <= (piece.new, 0) and piece.new <= end):
                kept.append(piece)
                last = (piece.new, piece.new_end)
        self.pieces[:] = kept

    def _settle_atoms(self) -> None:
        """Count elements without text as moved if they are not between the same words any more."""
        place = 0
        for i, j in sorted(self.atoms.items()):
            while place < len(self.pieces) and self.pieces[place].old < i:
                place += 1
            before = self.pieces[place - 1].new if place else -1
            after = self.pieces[place].new if place < len(self.pieces) else len(self.new.leaves)
            if not before < j < after:
                del self.atoms[i]
                self.moved[i] = j

    def _match_atoms(self) -> None:
        """Keep elements without text that are on both sides of a gap, each as early as possible."""
        arrived = set(self.moved.values())
        kept = sorted({*((piece.old, piece.new) for piece in self.pieces), *self.atoms.items()})
        ends = [(-1, -1), *kept, (len(self.old.leaves), len(self.new.leaves))]
        for (i0, j0), (i1, j1) in pairwise(ends):
            places: dict[str, list[int]] = {}
            for i in range(i1 - 1, i0, -1):
                if not self.old.leaves[i].text and i not in self.moved:
                    places.setdefault(self.old.leaves[i].key, []).append(i)
            last = i0
            for j in range(j0 + 1, j1) if places else ():
                found = places.get(self.new.leaves[j].key, [])
                while found and found[-1] <= last:
                    found.pop()
                if found and j not in arrived:
                    last = found[-1]
                    self.atoms[last] = j


def _parts(page: VisiblePage, first: Part, last: int, without: Container[int]) -> Iterator[Part]:
    """Yield the texts from a place in a leaf to a place in another leaf.

    Args:
        page: the page.
        first: the first leaf, the offset there, and the offset in the last leaf.
        last: the last leaf.
        without: leaves to leave out.
    """
    for place in range(first.leaf, min(last + 1, len(page.leaves))):
        start = first.start if place == first.leaf else 0
        end = first.end if place == last else len(page.leaves[place].text)
        if start < end and place not in without:
            yield Part(place, start, end)
