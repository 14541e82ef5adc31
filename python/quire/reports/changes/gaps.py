"""Gaps: words that are on both sides of a part that was rewritten.

Comparing texts in pairs leaves some out: a sentence that went to another paragraph of a section that
was rewritten, or two texts that differ in white space. So at the end everything that is left between
two kept words is compared as a whole, across texts and lines. Kept as well is

* a run of eight words or more, whatever the punctuation between them;
* a line of four words or more;
* the words right behind the first of the two kept words, and right before the second;
* an element without text, such as an image, that looks the same;
* a text of any length, if it is in the same element as before;
* a text that moved, but to a place between the same two kept words.

A shorter phrase in a part that was rewritten counts as rewritten: "in accordance with the" does not
tell where a text comes from, and keeping it would make the new text hard to read. The search is in
``crates/quire-core/src/sdiff/long_runs.rs``, and linear.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import pairwise

from quire import _core
from quire.reports.changes.orders import heaviest_rise
from quire.reports.changes.visible_page import VisiblePage
from quire.reports.changes.word_runs import Joined, Part, Piece, kept_pieces
from quire.sdiff.views.words import whole_characters

# Texts of fewer words are labels, which are found all over a page.
_FEW = 4
_WORD = re.compile(r"\S+")


class Gaps:
    """Two pages and their matches so far, which ``close`` completes in place."""

    def __init__(
        self,
        old: VisiblePage,
        new: VisiblePage,
        pieces: list[Piece],
        atoms: dict[int, int],
        *,
        moved: dict[int, int],
        to_new: list[int],
    ) -> None:
        self.old: VisiblePage = old
        self.new: VisiblePage = new
        self.pieces = pieces
        self.atoms = atoms
        self.moved = moved
        self.to_new = to_new  # the partner of each node of the old page

    def close(self) -> None:
        """Keep words and elements that are on both sides of a gap."""
        self._settle_moves()
        arrived = set(self.moved.values())
        found: list[Piece] = []
        for start, end in self._gaps():
            olds = Part(start.old, start.old_end, end.old_start)
            news = Part(start.new, start.new_end, end.new_start)
            before = Joined(self.old, list(_parts(self.old, olds, end.old, self.moved)))
            after = Joined(self.new, list(_parts(self.new, news, end.new, arrived)))
            if before.text and after.text:
                for x, y, length in _common_parts(before.text, after.text):
                    found += kept_pieces(before, after, x, y, length)
        self._add(found)
        self._settle_atoms()
        self._match_leaves()

    def _gaps(self) -> Iterator[tuple[Piece, Piece]]:
        """Yield the kept pieces before and after each gap."""
        start = Piece(0, 0, 0, 0, 0, 0)
        end = Piece(len(self.old.leaves), 0, 0, len(self.new.leaves), 0, 0)
        kept = [piece for piece in self.pieces if piece.new_end > piece.new_start]
        return pairwise([start, *kept, end])

    def _settle_moves(self) -> None:
        """Keep texts that moved in place if they are between the same kept words as before."""
        to_old = {j: i for i, j in self.moved.items() if self.new.leaves[j].text}
        found: list[Piece] = []
        for start, end in self._gaps() if to_old else ():
            news = range(start.new, min(end.new + 1, len(self.new.leaves)))
            arrived = [j for j in news if j in to_old]
            if not arrived:
                continue
            first = Part(start.old, start.old_end, end.old_start)
            wanted = {j: self.old.leaves[to_old[j]].key for j in arrived}
            copies = self._copies(_parts(self.old, first, end.old, ()), wanted)
            pairs = [
                self._pair(to_old[j], j) if start.old <= to_old[j] <= end.old else copies[j]
                for j in arrived
                if start.old <= to_old[j] <= end.old or j in copies
            ]
            last = (-1, 0)
            for place in sorted(
                heaviest_rise(
                    [piece.old for piece in pairs],
                    [piece.new_end - piece.new_start + 1 for piece in pairs],
                )
            ):
                piece = pairs[place]
                if (piece.old, piece.old_start) >= last:
                    last = piece.old, piece.old_end
                    self.moved.pop(piece.old, None)
                    self.moved.pop(to_old[piece.new], None)
                    found.append(piece)
        self._add(found)

    def _pair(self, i: int, j: int) -> Piece:
        before, after = self.old.leaves[i], self.new.leaves[j]
        if before.key == after.key:
            return Piece(i, 0, len(before.text), j, 0, len(after.text))
        return Piece(i, 0, 0, j, 0, 0)  # its words are compared with all others of the gap

    def _copies(self, olds: Iterable[Part], moved: Mapping[int, str]) -> dict[int, Piece]:
        """Find texts that moved and that other texts of the old page have in them, too.

        Args:
            olds: the texts of the old page.
            moved: the leaves of the new page that moved, and what each was on the old page.
        """
        places: dict[tuple[str, ...], tuple[list[re.Match[str]], int, int]] = {}
        for part in olds:
            words = list(_WORD.finditer(self.old.leaves[part.leaf].text, part.start, part.end))
            texts = [word.group() for word in words]
            for place in range(len(words) - _FEW + 1):
                run = tuple(texts[place : place + _FEW])
                places.setdefault(run, (words, place, part.leaf))
        found: dict[int, Piece] = {}
        for j, text in moved.items():
            leaf, wanted = self.new.leaves[j], text.split()
            words, place, i = places.get(tuple(wanted[:_FEW]), ([], 0, -1))
            copy = words[place : place + len(wanted)]
            if copy and [word.group() for word in copy] == wanted:
                start, end = copy[0].start(), copy[-1].end()
                is_same = leaf.key == text
                found[j] = (
                    Piece(i, start, end, j, 0, len(leaf.text))
                    if is_same
                    else Piece(i, start, start, j, 0, 0)
                )
        return found

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

    def _match_leaves(self) -> None:
        """Keep leaves that look the same on both sides of a gap, each as early as possible.

        Elements without text, and texts of any length in elements that are partners.
        """
        arrived = set(self.moved.values())
        kept = sorted({*((piece.old, piece.new) for piece in self.pieces), *self.atoms.items()})
        ends = [(-1, -1), *kept, (len(self.old.leaves), len(self.new.leaves))]
        found: list[Piece] = []
        for (i0, j0), (i1, j1) in pairwise(ends):
            places: dict[tuple[str, int], list[int]] = {}
            for i in range(i1 - 1, i0, -1) if j1 - j0 > 1 else ():
                leaf = self.old.leaves[i]
                home = self.to_new[self.old.parents[leaf.node]] if leaf.text else 0
                if i not in self.moved and home >= 0:
                    places.setdefault((leaf.key, home), []).append(i)
            last = i0
            for j in range(j0 + 1, j1) if places else ():
                leaf = self.new.leaves[j]
                home = self.new.parents[leaf.node] if leaf.text else 0
                same = places.get((leaf.key, home), [])
                while same and same[-1] <= last:
                    same.pop()
                if same and j not in arrived:
                    last = same[-1]
                    if leaf.text:
                        found.append(self._pair(last, j))
                    else:
                        self.atoms[last] = j
        self._add(found)


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


def _common_parts(before: str, after: str) -> list[tuple[int, int, int]]:
    """List the parts that two texts have in common: where each begins in both, and its length.

    >>> _common_parts("so the fee is due", "so a sum is due")
    [(0, 0, 2), (14, 12, 3), (11, 9, 2)]
    """
    found: list[tuple[int, int, int]] = []
    x = y = 0
    for old, new in zip(_WORD.finditer(before), _WORD.finditer(after), strict=False):
        if old.group() != new.group():
            break
        found.append((old.start(), new.start(), len(old.group())))
        x, y = old.end(), new.end()
    old_end, new_end = len(before), len(after)
    for left, right in zip(_words_from_end(before, x), _words_from_end(after, y), strict=False):
        if before[left.start : left.stop] != after[right.start : right.stop]:
            break
        found.append((left.start, right.start, len(left)))
        old_end, new_end = left.start, right.start
    runs = _core.long_runs(whole_characters(before[x:old_end]), whole_characters(after[y:new_end]))
    return found + [(x + start, y + new_start, length) for start, new_start, length in runs]


def _words_from_end(text: str, start: int) -> Iterator[range]:
    """Yield where the words of a text are, the last one first, down to an offset."""
    end = len(text)
    while True:
        while end > start and text[end - 1].isspace():
            end -= 1
        first = end
        while first > start and not text[first - 1].isspace():
            first -= 1
        if first == end:
            return
        yield range(first, end)
        end = first
