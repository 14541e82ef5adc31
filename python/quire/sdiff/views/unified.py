"""The unified view: the changed lines of a page's text, with unchanged lines around them.

Like ``diff -u``, but for the text in reading order, without markup. Every line knows its nodes.
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
    """A line and what happened to it.

    Attributes:
        kind: ``same``, ``deleted``, ``inserted``, ``moved_away`` or ``moved_here``. A line whose
            words changed appears as a ``deleted`` line followed by an ``inserted`` one.
        number: its number on its page; for ``same``, on the new page.
        text: its text.
        nodes: the nodes whose words are on the line: of the old page for ``deleted`` and
            ``moved_away``, else of the new page.
        segments: its words, split into changed and unchanged ones.
    """

    kind: LineKind
    number: int
    text: str
    nodes: tuple[int, ...]
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class Hunk:
    """A group of adjacent changed lines, with the unchanged lines around them.

    Attributes:
        old_start: the number of its first line on the old page; 0 if it has no line there.
        old_lines: its number of lines on the old page.
        new_start: the number of its first line on the new page; 0 if it has no line there.
        new_lines: its number of lines on the new page.
        lines: the lines.
    """

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: tuple[UnifiedLine, ...]

    @property
    def heading(self) -> str:
        """The line numbers, as in ``diff -u``: ``@@ -1,3 +1,4 @@``.

        ``@@ -1 +0,0 @@`` stands for one deleted line.
        """
        old, new = _range(self.old_start, self.old_lines), _range(self.new_start, self.new_lines)
        return f"@@ -{old} +{new} @@"


def _range(start: int, lines: int) -> str:
    return f"{start}" if lines == 1 else f"{start},{lines}"


def unified(annotation: Annotation, *, context: int = 3) -> list[Hunk]:
    """Return the changed lines of a page's text, with unchanged lines around them.

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
        annotation: the annotation of two pages.
        context: unchanged lines to show before and after changes (default: 3).

    Raises:
        ValueError: ``context`` is negative.
    """
    rows = text_rows(annotation)
    return [_hunk(rows[start:end]) for start, end in spans(rows, context)]


def spans(rows: Sequence[Row], context: int) -> Iterator[tuple[int, int]]:
    """Find the slices of rows to show: changed rows, and ``context`` rows around them.

    Raises:
        ValueError: ``context`` is negative.
    """
    if context < 0:
        raise ValueError(f"context is {context}; expected 0 or more")
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
    pending: list[UnifiedLine] = []  # inserted lines, which come after all deleted lines of a run
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
