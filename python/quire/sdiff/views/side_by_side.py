"""The side-by-side view: lines of the old page on the left, of the new page on the right."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from quire.sdiff.annotation import Annotation
from quire.sdiff.views.lines import Row, RowKind, TextLine, text_rows
from quire.sdiff.views.unified import spans
from quire.sdiff.views.words import Segment, word_changes


@dataclass(frozen=True, slots=True)
class SideRow:
    """A row of two columns.

    Attributes:
        kind: ``same``, ``changed``, ``deleted``, ``inserted``, ``moved_away`` or ``moved_here``. If
            a new line replaces a deleted one, they share a row of the kind ``changed``.
        old: the line on the left, or None.
        new: the line on the right, or None.
        segments: the words of both lines, if there are two; ``deleted`` words belong on the left.
    """

    kind: RowKind
    old: TextLine | None
    new: TextLine | None
    segments: tuple[Segment, ...]


def side_by_side(annotation: Annotation, *, context: int | None = 3) -> list[list[SideRow]]:
    """Return the text of two pages in two columns: changed rows, grouped, with context around them.

    >>> import quire
    >>> old, new = quire.encode(b"<p>Fish 9.50"), quire.encode(b"<p>Fish 9.80<p>Tea")
    >>> for row in side_by_side(quire.annotate(old, new))[0]:
    ...     print(row.kind, row.old and row.old.text, "|", row.new and row.new.text)
    changed Fish 9.50 | Fish 9.80
    inserted None | Tea

    Args:
        annotation: the annotation of two pages.
        context: unchanged rows to show before and after changes (default: 3); None for the whole
            page in one group.

    Raises:
        ValueError: ``context`` is negative.
    """
    rows = text_rows(annotation)
    if context is None:
        return [_side_rows(rows)]
    return [_side_rows(rows[start:end]) for start, end in spans(rows, context)]


def _side_rows(rows: Sequence[Row]) -> list[SideRow]:
    out: list[SideRow] = []
    gone: deque[TextLine] = deque()  # deleted lines not yet matched with an inserted one
    for row in rows:
        if row.kind == "deleted" and row.old:
            gone.append(row.old)
            continue
        if row.kind == "inserted" and row.new and gone:
            out.append(_side_row("changed", gone.popleft(), row.new))
            continue
        out += [_side_row("deleted", line, None) for line in gone]
        gone.clear()
        # A moved line is on one side of its row only: its other end has its own row.
        old = None if row.kind == "moved_here" else row.old
        new = None if row.kind == "moved_away" else row.new
        out.append(_side_row(row.kind, old, new))
    return out + [_side_row("deleted", line, None) for line in gone]


def _side_row(kind: RowKind, old: TextLine | None, new: TextLine | None) -> SideRow:
    segments: tuple[Segment, ...] = ()
    if old and new and kind == "changed":
        segments = word_changes(old.text, new.text)
    elif old and new:
        segments = (Segment("same", new.text),)
    return SideRow(kind, old, new, segments)
