"""The lines of text of two pages in reading order, matched with each other.

A kernel (``crates/quire-core/src/sdiff/rows.rs``) matches lines by the partners of their nodes, so
a line is recognised wherever it moved and however it was edited. ``unified`` and ``side_by_side``
arrange these rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from quire import _core
from quire.sdiff.annotation import Annotation

RowKind: TypeAlias = Literal["same", "changed", "deleted", "inserted", "moved_away", "moved_here"]

_KINDS: tuple[RowKind, ...] = (
    "same",
    "changed",
    "deleted",
    "inserted",
    "moved_away",
    "moved_here",
)


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of a page's text.

    Attributes:
        number: its number on its page, from 1.
        text: its text, without a line end.
        nodes: the nodes whose words are on the line, in document order.
    """

    number: int
    text: str
    nodes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the old page and the matching line of the new one; None without a match.

    Attributes:
        kind: ``same`` (or different only in ways the rules ignore), ``changed``, ``deleted`` or
            ``inserted``. A line that moved has two rows: ``moved_away`` at its old position and
            ``moved_here`` at its new one.
        old: the line of the old page.
        new: the line of the new page.
    """

    kind: RowKind
    old: TextLine | None
    new: TextLine | None


def text_rows(annotation: Annotation) -> list[Row]:
    """Match all lines of two pages and return them as rows.

    >>> import quire
    >>> old, new = quire.encode(b"<p>Fish<p>9.50"), quire.encode(b"<p>Fish<p>9.80<p>Tea")
    >>> for row in text_rows(quire.annotate(old, new)):
    ...     print(row.kind, row.old and row.old.text, row.new and row.new.text)
    same Fish Fish
    changed 9.50 9.80
    inserted None Tea
    """
    found = (
        annotation.to_new.tobytes(),
        annotation.old_status.tobytes(),
        annotation.new_status.tobytes(),
    )
    old_lines, new_lines, rows = _core.text_rows(
        annotation.old._native,
        annotation.new._native,
        found,
        annotation.rules.ignore_order,
    )
    old, new = _lines(old_lines), _lines(new_lines)
    return [
        Row(_KINDS[kind], old[left] if left >= 0 else None, new[right] if right >= 0 else None)
        for kind, left, right in rows
    ]


def _lines(lines: list[tuple[str, list[int]]]) -> list[TextLine]:
    return [
        TextLine(number, text, tuple(nodes)) for number, (text, nodes) in enumerate(lines, start=1)
    ]
