"""Side by side: the old page's lines on the left, the new page's on the right."""

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
        kind: ``same``, ``changed``, ``deleted``, ``inserted``, ``moved_away``, ``moved_here``. Where one line went and another
            came in its place, they share a row of the kind ``changed``.
        old: the line on the left; None for none.
        new: the line on the right; None for none.
        segments: the words of both, where both are there: those that are ``deleted`` belong to the left.
    """

    kind: RowKind
    old: TextLine | None
    new: TextLine | None
    segments: tuple[Segment, ...]


def side_by_side(annotation: Annotation, *, context: int | None = 3) -> list[list[SideRow]]:
    """Give the text of two pages in two columns: the rows that changed, in groups with some around them.

    >>> import quire
    >>> old, new = quire.encode(b"<p>Fish 9.50"), quire.encode(b"<p>Fish 9.80<p>Tea")
    >>> for row in side_by_side(quire.annotate(old, new))[0]:
    ...     print(row.kind, row.old and row.old.text, "|", row.new and row.new.text)
    changed Fish 9.50 | Fish 9.80
    inserted None | Tea

    Args:
        annotation: what became of the nodes.
        context: how many unchanged rows to show before and after; None for all of the page in one group.

    Raises:
        ValueError: ``context`` is below 0.
    """
    rows = text_rows(annotation)
    if context is None:
        return [_side_rows(rows)]
    return [_side_rows(rows[start:end]) for start, end in spans(rows, context)]


def _side_rows(rows: Sequence[Row]) -> list[SideRow]:
    out: list[SideRow] = []
    gone: deque[TextLine] = deque()  # deleted lines that no inserted one has taken the place of yet
    for row in rows:
        if row.kind == "deleted" and row.old:
            gone.append(row.old)
            continue
        if row.kind == "inserted" and row.new and gone:
            out.append(_side_row("changed", gone.popleft(), row.new))
            continue
        out += [_side_row("deleted", line, None) for line in gone]
        gone.clear()
        # What moved is on one side of a row only: the other end has a row of its own.
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
