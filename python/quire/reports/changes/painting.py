"""Painting: which words of two pages a redline marks, and where deleted parts are shown again.

``matching`` says which words are kept in place and which texts moved. All other words of the new
page are inserted, all others of the old page are deleted. Deleted words are shown between the kept
words that were around them:

* in a text of which words are kept, beside these;
* as a part of a text, if both kept words are in one text now, or if the line goes on;
* else as the elements that they were, between the elements of the new page: see ``placing``.

So kept and deleted words, read in order, are the old page, but for what moved.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from quire.reports.changes.matching import Matches, match_words
from quire.reports.changes.orders import Around
from quire.reports.changes.placing import Place, Placing
from quire.reports.changes.visible_page import VisiblePage
from quire.reports.changes.word_runs import Piece
from quire.sdiff.annotation import Annotation
from quire.sdiff.views.words import Segment, SegmentKind

# A word with the white space behind it, or white space at the beginning.
_WORD = re.compile(r"^\s+|\S+\s*")


@dataclass(slots=True)
class Painting:
    """What to mark.

    Attributes:
        words: the segments of each text of the new page that is not plain, by node.
        atoms: for each marked element without text of the new page, what happened to it.
        moved: the leaves of the new page that moved.
        gone: the roots of the parts of the old page to show again, by place on the new page.
        fresh: the elements of the new page in which everything is inserted.
        around: the inserted elements of the new page that have kept leaves in them.
    """

    words: dict[int, list[Segment]] = field(default_factory=dict)
    atoms: dict[int, SegmentKind] = field(default_factory=dict)
    moved: set[int] = field(default_factory=set)
    gone: dict[Place, list[int]] = field(default_factory=dict)
    fresh: set[int] = field(default_factory=set)
    around: set[int] = field(default_factory=set)


def paint(annotation: Annotation, old: VisiblePage, new: VisiblePage) -> Painting:
    """Decide which words to mark, and where to show deleted parts."""
    return _Painter(annotation, old, new).paint()


class _Painter:
    """Both pages and their matches; ``paint`` draws the conclusions."""

    def __init__(self, annotation: Annotation, old: VisiblePage, new: VisiblePage) -> None:
        self.old, self.new = old, new
        self.to_new: list[int] = annotation.to_new.tolist()
        self.to_old: list[int] = annotation.to_old.tolist()
        self.matches: Matches = match_words(annotation, old, new)
        self.result = Painting()
        self.by_old: dict[int, list[Piece]] = {}
        self.by_new: dict[int, list[Piece]] = {}
        for piece in self.matches.pieces:
            self.by_old.setdefault(piece.old, []).append(piece)
            self.by_new.setdefault(piece.new, []).append(piece)
        # Deleted words to show in a leaf of the new page, by leaf and offset in its text.
        self.deleted: dict[int, dict[int, list[str]]] = {}
        # For each leaf of the old page with words on the new page: the first and the last leaf there.
        self.first: dict[int, int] = {}
        self.last: dict[int, int] = {}
        self.gone: set[int] = set()  # leaves of the old page that are shown as elements
        self.shown_line = -1  # of the last deleted words

    def paint(self) -> Painting:
        """Look at the leaves of the old page, then at those of the new one."""
        self._delete()
        self._insert()
        placing = Placing(
            self.old, self.new, self.to_new, self.first, self.last, self.gone, self.matches.moved
        )
        self.result.gone = placing.places()
        self._look_at_elements()
        return self.result

    # ------------------------------------------------------------ the old page

    def _delete(self) -> None:
        """Find a place for the words of the old page that are not kept."""
        for i, j in self.matches.atoms.items():
            self.first[i] = self.last[i] = j
        # Deleted words before the first kept word of a leaf come before inserted ones.
        heads: dict[int, int] = {}
        for last, piece in pairwise([Piece(-1, 0, 0, -1, 0, 0), *self.matches.pieces]):
            heads.setdefault(piece.old, last.new_end if last.new == piece.new else 0)
        around = Around(len(self.old.leaves), self.by_old)
        for i, leaf in enumerate(self.old.leaves):
            if i in self.matches.moved or i in self.first:
                continue
            place: tuple[int, int] | None = None
            kept = self.by_old.get(i, [])
            if kept:
                place = kept[0].new, heads[i]
            elif leaf.text:
                place = self._place_inside(i, around.before[i], around.after[i], heads)
            if place is None:
                self.gone.add(i)
                continue
            self.first[i], at = place[0], 0
            for piece in kept:
                self._show(i, at, piece.old_start, *place)
                at, place = piece.old_end, (piece.new, piece.new_end)
            self._show(i, at, len(leaf.text), *place)
            self.last[i] = place[0]

    def _place_inside(
        self, i: int, before: int, after: int, heads: dict[int, int]
    ) -> tuple[int, int] | None:
        """Find a place in a text for a leaf that is deleted as a whole: a leaf and an offset.

        Args:
            i: the leaf of the old page.
            before: the leaf before it of which words are kept; -1 for none.
            after: the same for the leaf after it.
            heads: for each leaf with kept words, the offset where words before these are shown.
        """
        line = self.old.leaves[i].line
        last = self.by_old[before][-1] if before >= 0 else None
        first = self.by_old[after][0] if after >= 0 else None
        if last and first and last.new == first.new:
            return last.new, last.new_end
        if last and self.old.leaves[before].line == line:
            return last.new, last.new_end
        if first and self.old.leaves[after].line == line:
            return first.new, heads[after]
        return None

    def _show(self, i: int, start: int, end: int, j: int, offset: int) -> None:
        """Show a part of a leaf of the old page as deleted, in a leaf of the new page."""
        leaf = self.old.leaves[i]
        text = leaf.text[start:end]
        shown = self.deleted.get(j, {}).get(offset)
        if shown and not shown[-1][-1].isspace():
            is_apart = start == 0 and (leaf.is_apart or self.shown_line != leaf.line)
            shown[-1] += " " if is_apart or text.isspace() else ""
        if text and not text.isspace():
            self.deleted.setdefault(j, {}).setdefault(offset, []).append(text)
            self.shown_line = leaf.line

    # ------------------------------------------------------------ the new page

    def _insert(self) -> None:
        """Mark the words of the new page that are not kept."""
        atoms = set(self.matches.atoms.values())
        moved = set(self.matches.moved.values())
        for j, leaf in enumerate(self.new.leaves):
            if j in moved:
                self.result.moved.add(leaf.node)
                if j in self.matches.edits:
                    self.result.words[leaf.node] = list(self.matches.edits[j])
            elif leaf.text:
                if self._is_whole(j, len(leaf.text)):
                    continue
                words = list(self._segments(j, leaf.text))
                if any(word.kind != "same" for word in words):
                    self.result.words[leaf.node] = words
            elif j not in atoms:
                self.result.atoms[leaf.node] = "inserted"

    def _is_whole(self, j: int, length: int) -> bool:
        """Tell whether a text is kept in one piece, with nothing deleted in it: most texts are."""
        pieces = self.by_new.get(j, [])
        return (
            len(pieces) == 1
            and pieces[0].new_start == 0
            and pieces[0].new_end == length
            and j not in self.deleted
        )

    def _segments(self, j: int, text: str) -> Iterator[Segment]:
        """Cut a text into kept, inserted and deleted words."""
        deleted = self.deleted.get(j, {})
        at = 0
        end = Piece(0, 0, 0, j, len(text), len(text))
        kept = [piece for piece in self.by_new.get(j, []) if piece.new_end > 0]
        for piece in [*kept, end]:
            gone, words = deleted.pop(at, []), text[at : piece.new_start]
            head, tail = _common_ends(gone, words)
            yield from self._part("same", words[:head])
            yield from (Segment("deleted", part) for part in gone if part)
            inserted = words[head : len(words) - tail]
            yield from self._part("inserted" if inserted.strip() else "same", inserted)
            yield from self._part("same", text[piece.new_start - tail : piece.new_end])
            at = piece.new_end

    @staticmethod
    def _part(kind: SegmentKind, text: str) -> Iterator[Segment]:
        if text:
            yield Segment(kind, text)

    # ------------------------------------------------------------ elements

    def _look_at_elements(self) -> None:
        """Find the elements that are new as a whole, and those that are new around kept leaves."""
        new, n = self.new, len(self.new.names)
        has_new, has_kept = [False] * n, [False] * n
        for leaf in new.leaves:
            words = self.result.words.get(leaf.node)
            if words is None:
                is_new = self.result.atoms.get(leaf.node) == "inserted"
            else:
                is_new = all(part.kind == "inserted" or part.text.isspace() for part in words)
            has_new[leaf.node] = is_new and leaf.node not in self.result.moved
            has_kept[leaf.node] = not has_new[leaf.node]
        for node in range(n - 1, 0, -1):
            above = new.parents[node]
            has_new[above] |= has_new[node]
            has_kept[above] |= has_kept[node]
        for node in range(1, n):
            if self.to_old[node] >= 0 or new.written[node] is None:
                continue
            above = new.parents[node]
            is_inside = self.to_old[above] < 0
            if has_new[node] and not has_kept[node]:
                if not is_inside or has_kept[above]:
                    self.result.fresh.add(node)
            elif has_kept[node] and not is_inside:
                self.result.around.add(node)


def _common_ends(gone: list[str], words: str) -> tuple[int, int]:
    """Keep the words with which deleted and inserted text begin and end alike.

    Takes them off the deleted texts, and returns how many characters of the inserted text they are.

    >>> gone = ["Like most sites, we also "]
    >>> _common_ends(gone, "Like most others, we "), gone
    ((10, 0), ['sites, we also '])
    """
    if not gone:
        return 0, 0
    head = old_head = 0
    for old, new in zip(_WORD.finditer(gone[0]), _WORD.finditer(words), strict=False):
        if old.group().split() != new.group().split():
            break
        old_head, head = old.end(), new.end()
    if not head and gone[0][:1].isspace() and words[:1].isspace():
        old_head = head = 1
    gone[0] = gone[0][old_head:]
    tail = old_tail = 0
    olds, news = _WORD.findall(gone[-1]), _WORD.findall(words[head:])
    for old_word, new_word in zip(reversed(olds), reversed(news), strict=False):
        if old_word.split() != new_word.split():
            break
        old_tail, tail = old_tail + len(old_word), tail + len(new_word)
    gone[-1] = gone[-1][: len(gone[-1]) - old_tail]
    return head, tail
