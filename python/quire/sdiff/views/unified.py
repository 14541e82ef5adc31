"""Unified: the changed lines of a page's text, with some lines around them.

As ``diff -u`` shows files, but in reading order and without markup; and every line knows its nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from quire.sdiff.annotation import Annotation
from quire.sdiff.views.lines import Row, TextLine, text_rows
from quire.sdiff.views.words import Segment, word_changes

LineKind: TypeAlias = Literal["same", "deleted", "inserted", "moved_away", "moved_here"]


@dataclass(frozen=True, slots=True)
class UnifiedLine:
    """A line, and what became of it.

    Attributes:
        kind: ``same``, ``deleted``, ``inserted``, ``moved_away``, ``moved_here``. A line whose words changed is a ``deleted``
            one with an ``inserted`` one behind it.
        number: its number on its page; for ``same`` on the new one.
        text: what it says.
        nodes: the nodes whose words are on it: of the old page for ``deleted`` and ``moved_away``, else of the new.
        segments: its words, those that changed apart from those that did not.
    """

    kind: LineKind
    number: int
    text: str
    nodes: tuple[int, ...]
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines in a row that changed, with those around them.

    Attributes:
        old_start: the number of its first line on the old page; 0 where it has none there.
        old_lines: how many lines of the old page it has.
        new_start: the number of its first line on the new page; 0 where it has none there.
        new_lines: how many lines of the new page it has.
        lines: the lines.
    """

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: tuple[UnifiedLine, ...]

    @property
    def heading(self) -> str:
        """The numbers as ``diff -u`` writes them: ``@@ -1,3 +1,4 @@``, and ``@@ -1 +0,0 @@`` for one line that is gone."""
        old, new = _range(self.old_start, self.old_lines), _range(self.new_start, self.new_lines)
        return f"@@ -{old} +{new} @@"


def _range(start: int, lines: int) -> str:
    return f"{start}" if lines == 1 else f"{start},{lines}"


def unified(annotation: Annotation, *, context: int = 3) -> list[Hunk]:
    """Give the lines of a page's text that changed, with some around them.

    >>> import quire
    >>> old = quire.encode(b"<h1>Menu</h1><p>Fish 9.50<p>Peas")
    >>> new = quire.encode(b"<h1>Menu</h1><p>Fish 9.80<p>Peas")
    >>> for hunk in unified(quire.annotate(old, new), context=1):
    ...     print(hunk.heading)
    ...     for line in hunk.lines:
    ...         print(line.kind, line.text)
    @@ -1,3 +1,3 @@
    same Menu
    deleted Fish 9.50
    inserted Fish 9.80
    same Peas

    Args:
        annotation: what became of the nodes.
        context: how many unchanged lines to show before and after.

    Raises:
        ValueError: ``context`` is below 0.
    """
    rows = text_rows(annotation)
    return [_hunk(rows[start:end]) for start, end in spans(rows, context)]


def spans(rows: Sequence[Row], context: int) -> Iterator[tuple[int, int]]:
    """Find the slices of rows to show: those that changed, and ``context`` rows around them.

    Raises:
        ValueError: there cannot be so few rows around.
    """
    if context < 0:
        raise ValueError(f"context is {context}, but must be 0 or more")
    start = end = -1
    for place, row in enumerate(rows):
        if row.kind == "same":
            continue
        if start >= 0 and place - context <= end:
            end = place + 1 + context
            continue
        if start >= 0:
            yield start, min(end, len(rows))
        start, end = max(place - context, 0), place + 1 + context
    if start >= 0:
        yield start, min(end, len(rows))


def _hunk(rows: Sequence[Row]) -> Hunk:
    lines: list[UnifiedLine] = []
    pending: list[UnifiedLine] = []  # inserted lines wait until all deleted ones of a run are out
    for row in rows:
        if row.kind not in {"changed", "deleted", "inserted"}:
            lines += pending
            pending = []
        if row.kind == "changed" and row.old and row.new:
            segments = word_changes(row.old.text, row.new.text)
            lines.append(_line("deleted", row.old, _without("inserted", segments)))
            pending.append(_line("inserted", row.new, _without("deleted", segments)))
        elif row.kind == "deleted" and row.old:
            lines.append(_line("deleted", row.old))
        elif row.kind == "inserted" and row.new:
            pending.append(_line("inserted", row.new))
        elif row.kind == "moved_away" and row.old:
            lines.append(_line("moved_away", row.old))
        elif row.kind == "moved_here" and row.new and row.old:
            segments = word_changes(row.old.text, row.new.text)
            lines.append(_line("moved_here", row.new, _without("deleted", segments)))
        elif row.new:
            lines.append(_line("same", row.new))
    lines += pending
    old = [row.old.number for row in rows if row.old and row.kind != "moved_here"]
    new = [row.new.number for row in rows if row.new and row.kind != "moved_away"]
    return Hunk(
        old_start=min(old, default=0),
        old_lines=len(old),
        new_start=min(new, default=0),
        new_lines=len(new),
        lines=tuple(lines),
    )


def _line(
    kind: LineKind, line: TextLine, segments: tuple[Segment, ...] | None = None
) -> UnifiedLine:
    if segments is None:
        segments = (Segment(kind if kind in {"inserted", "deleted"} else "same", line.text),)
    return UnifiedLine(kind, line.number, line.text, line.nodes, segments)


def _without(kind: str, segments: Sequence[Segment]) -> tuple[Segment, ...]:
    return tuple(segment for segment in segments if segment.kind != kind)
