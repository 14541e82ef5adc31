"""Runs of words: several texts compared as one, and when two texts count as one that was edited."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from quire.reports.changes.visible_page import VisiblePage
from quire.sdiff.views.words import Segment, SegmentKind

# So many equal words in a row count as common even in texts with little else in common.
MANY_WORDS = 5

# A text of which nearly all is found in a longer one became part of that.
_INSIDE = 0.8


class Piece(NamedTuple):
    """A part of a leaf of the old page that is kept as a part of a leaf of the new page.

    Leaves are numbers in the lists of both pages, and offsets are in their texts. A piece without
    text pairs two texts that have no words in common.
    """

    old: int
    old_start: int
    old_end: int
    new: int
    new_start: int
    new_end: int


class Part(NamedTuple):
    """A part of a leaf: its number and offsets in its text."""

    leaf: int
    start: int
    end: int


class Joined:
    """Parts of the texts of a page, one after another, with a line break between lines."""

    def __init__(self, page: VisiblePage, parts: Sequence[Part]) -> None:
        self.parts: Sequence[Part] = parts
        self.starts: list[int] = []
        texts: list[str] = []
        at, line = 0, None
        for place, start, end in parts:
            leaf = page.leaves[place]
            if line is not None and (line != leaf.line or leaf.is_apart):
                texts.append("\n" if line != leaf.line else " ")
                at += 1
            line = leaf.line
            texts.append(leaf.text[start:end].replace("\n", " "))
            self.starts.append(at)
            at += end - start
        self.text: str = "".join(texts)

    def cut(self, start: int, end: int) -> Iterator[tuple[int, Part]]:
        """Cut a span at the borders of parts; yields the offset and the part of a leaf."""
        place = max(0, bisect_right(self.starts, start) - 1)
        while place < len(self.starts) and self.starts[place] < end:
            leaf, first, last = self.parts[place]
            shift = first - self.starts[place]
            low, high = max(first, start + shift), min(last, end + shift)
            if low < high:
                yield low - shift, Part(leaf, low, high)
            place += 1


def kept_pieces(before: Joined, after: Joined, x: int, y: int, length: int) -> Iterator[Piece]:
    """Cut a part that two texts have in common at the borders of their leaves.

    Args:
        before: the texts of the old page.
        after: the texts of the new page.
        x: where it begins in the old texts.
        y: where it begins in the new texts.
        length: number of characters.
    """
    for start, new in after.cut(y, y + length):
        old_start = x + start - y
        for at, old in before.cut(old_start, old_start + new.end - new.start):
            low = new.start + at - old_start
            high = low + old.end - old.start
            if after.text[start + low - new.start : start + high - new.start].strip():
                yield Piece(old.leaf, old.start, old.end, new.leaf, low, high)


def is_alike(segments: Sequence[Segment], threshold: float) -> bool:
    """Tell whether two texts have so much in common that one became the other."""
    sizes = {"same": 0, "deleted": 0, "inserted": 0}
    for segment in segments:
        sizes[segment.kind] += len("".join(segment.text.split()))
    same = sizes["same"]
    before, after = same + sizes["deleted"], same + sizes["inserted"]
    return 2 * same >= threshold * (before + after) or same >= _INSIDE * min(before, after) > 0


def without_islands(segments: Sequence[Segment]) -> list[Segment]:
    """Take what two different texts have in common by accident for deleted and inserted.

    >>> from quire.sdiff.views.words import word_changes
    >>> for part in without_islands(word_changes("The fee is due", "Ask the bank")):
    ...     print(part.kind, part.text)
    deleted The fee is due
    inserted Ask the bank
    """
    found: list[Segment] = []
    deleted: list[str] = []
    inserted: list[str] = []

    def flush() -> None:
        sides: list[tuple[SegmentKind, list[str]]] = [("deleted", deleted), ("inserted", inserted)]
        for kind, parts in sides:
            text = "".join(parts)
            if text:
                found.append(Segment(kind, text))
            parts.clear()

    for segment in segments:
        if segment.kind == "same" and len(segment.text.split()) >= MANY_WORDS:
            flush()
            found.append(segment)
            continue
        if segment.kind != "inserted":
            deleted.append(segment.text)
        if segment.kind != "deleted":
            inserted.append(segment.text)
    flush()
    return found


def runs_of_words(text: str) -> Iterator[tuple[str, ...]]:
    """Yield all runs of ``MANY_WORDS`` words of a text."""
    words = text.split()
    for start in range(len(words) - MANY_WORDS + 1):
        yield tuple(words[start : start + MANY_WORDS])
