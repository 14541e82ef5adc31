"""Runs of words: several texts compared as one, and when two texts count as one that was edited."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from quire.reports.changes.visible_page import Leaf
from quire.sdiff.views.words import Segment, SegmentKind

# As many equal words in a row are no accident.
MANY_WORDS = 5

# A text of which nearly all is found in a longer one became part of that.
_INSIDE = 0.8
# Many words in tokens, white space included, and how often to look for such runs.
_RUN_TOKENS = 2 * MANY_WORDS - 1
_MAX_RUNS = 40
_SPACE = re.compile(r"\s")
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")


class Joined:
    """The texts of some leaves, one after another, with a line break between lines."""

    def __init__(self, leaves: Sequence[Leaf]) -> None:
        parts: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        at, line = 0, None
        for leaf in leaves:
            if line is not None and line != leaf.line:
                parts.append("\n")
                at += 1
            elif leaf.is_apart:
                parts.append(" ")
                at += 1
            line = leaf.line
            parts.append(leaf.text)
            self.starts.append(at)
            at += len(leaf.text)
            self.ends.append(at)
        self.text = "".join(parts)

    def leaf_at(self, offset: int) -> int:
        """Return the leaf that an offset is in, or the one that ends there."""
        return max(0, bisect_right(self.starts, offset) - 1)

    def leaves_at(self, offset: int) -> tuple[int, int]:
        """Return the leaves before and after an offset: the same one twice inside a leaf.

        Before the first leaf is -1, and after the last one their number.
        """
        place = self.leaf_at(offset)
        if offset <= self.starts[place]:
            return place - 1, place
        if offset >= self.ends[place]:
            return place, place + 1
        return place, place

    def cut(self, start: int, end: int) -> Iterator[tuple[int, int, int]]:
        """Cut a span at the borders of leaves; yields the place of each leaf and its part."""
        place = self.leaf_at(start)
        while place < len(self.starts) and self.starts[place] < end:
            low, high = max(start, self.starts[place]), min(end, self.ends[place])
            if low < high:
                yield place, low, high
            place += 1


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


def with_long_runs(segments: Sequence[Segment]) -> list[Segment]:
    """Find long runs of words that are both deleted and inserted between kept ones.

    Comparisons of words stop early on long texts, and then miss some.
    """
    found: list[Segment] = []
    deleted = inserted = ""
    for segment in [*segments, Segment("same", "")]:
        if segment.kind == "deleted":
            deleted += segment.text
        elif segment.kind == "inserted":
            inserted += segment.text
        else:
            found += _split(deleted, inserted)
            deleted = inserted = ""
            if segment.text:
                found.append(segment)
    return found


def _split(deleted: str, inserted: str) -> list[Segment]:
    """Cut a deleted and an inserted text at the long runs of words that both have."""
    found: list[Segment] = []
    core = inserted.strip()
    if core and _SPACE.sub(" ", core) == _SPACE.sub(
        " ", deleted.strip()
    ):  # only white space differs
        x, y = deleted.find(deleted.strip()), inserted.find(core)
        parts: list[tuple[SegmentKind, str]] = [
            ("deleted", deleted[:x]),
            ("inserted", inserted[:y]),
            ("same", core),
            ("deleted", deleted[x + len(core) :]),
            ("inserted", inserted[y + len(core) :]),
        ]
        return [Segment(kind, text) for kind, text in parts if text]
    todo = [(_TOKEN.findall(deleted), _TOKEN.findall(inserted), False)]
    left = _MAX_RUNS
    while todo:
        before, after, is_same = todo.pop()
        if is_same:
            found.append(Segment("same", "".join(after)))
            continue
        x, y, length = _longest_run(before, after) if left else (0, 0, 0)
        if length:
            left -= 1
            todo.append((before[x + length :], after[y + length :], False))
            todo.append(([], after[y : y + length], True))
            todo.append((before[:x], after[:y], False))
            continue
        found += [Segment("deleted", "".join(before))] if before else []
        found += [Segment("inserted", "".join(after))] if after else []
    return found


def runs_of_words(text: str) -> Iterator[tuple[str, ...]]:
    """Yield all runs of ``MANY_WORDS`` words of a text."""
    words = text.split()
    for start in range(len(words) - MANY_WORDS + 1):
        yield tuple(words[start : start + MANY_WORDS])


def _longest_run(before: list[str], after: list[str]) -> tuple[int, int, int]:
    """Find a long run of tokens that two lists have in common: its places and its length.

    Linear, so of a run that repeats itself it may not find the longest.
    """
    known: dict[tuple[str, ...], int] = {}
    for x in range(len(before) - _RUN_TOKENS + 1):
        known.setdefault(tuple(before[x : x + _RUN_TOKENS]), x)
    best = (0, 0, 0)
    y = 0
    while known and y <= len(after) - _RUN_TOKENS:
        x = known.get(tuple(after[y : y + _RUN_TOKENS]), -1)
        length = 0
        if x >= 0:
            length = _RUN_TOKENS
            while (
                x + length < len(before)
                and y + length < len(after)
                and before[x + length] == after[y + length]
            ):
                length += 1
            if length > best[2]:
                best = (x, y, length)
        y += max(1, length)
    return best
