"""The lines of text of two pages in reading order, matched with each other.

A kernel (``crates/quire-core/src/sdiff/rows.rs``) matches lines by the partners of their nodes, so
a line is recognised wherever it moved and however it was edited. ``unified`` and ``side_by_side``
arrange these rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from quire import _core
from quire.sdiff.annotation import Annotation, check_annotation
from quire.sdiff.facets import Status

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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
    check_annotation(annotation)
    statuses = (
        annotation.to_new.tobytes(),
        annotation.old_status.tobytes(),
        annotation.new_status.tobytes(),
    )
    old_lines, new_lines, rows = _core.text_rows(
        annotation.old._native,
        annotation.new._native,
        statuses,
        annotation.rules.ignore_order,
    )
    old, new = _lines(old_lines), _lines(new_lines)
    found = [
        Row(_KINDS[kind], old[left] if left >= 0 else None, new[right] if right >= 0 else None)
        for kind, left, right in rows
    ]
    is_json = annotation.old.kind == annotation.new.kind == "json"
    return _without_order_of_members(annotation, found) if is_json else found


def _without_order_of_members(annotation: Annotation, rows: list[Row]) -> list[Row]:
    """Take back the moves of lines that only follow the order of the members of an object.

    The kernel sees lines in another order. The annotation knows whether anything moved that has an
    order: an item of an array, a line of JSON, or a member that is now in another object.
    """
    moved_nodes = _moved_ranges(annotation)
    kept: list[Row] = []
    for row in rows:
        is_move = row.kind in {"moved_away", "moved_here"}
        if not is_move or row.new is None or any(moved_nodes[node] for node in row.new.nodes):
            kept.append(row)
        elif row.kind == "moved_here":
            differs = Status.ALONE | Status.CONTENT | Status.TAG
            edited = any(annotation.new_status[node] & differs for node in row.new.nodes)
            kept.append(Row("changed" if edited else "same", row.old, row.new))
    return kept


def _moved_ranges(annotation: Annotation) -> NDArray[np.bool_]:
    """Tell for each node of the new page whether it can have moved: it or an item beside it did."""
    import numpy as np  # noqa: PLC0415 - heavy

    page = annotation.new
    moved = np.flatnonzero(annotation.new_status & Status.MOVED)
    is_member = np.array([space == "json" for space in page.tag_namespaces], np.bool_)
    items = moved[~is_member[page.tag[moved]]]
    # Which items of an array moved, and which only let them pass, is a matter of choice.
    tops = np.concatenate([moved, np.unique(page.parent[items])])
    edges = np.zeros(page.n + 1, np.int64)
    np.add.at(edges, tops, 1)
    np.add.at(edges, tops + page.size[tops], -1)
    found: NDArray[np.bool_] = np.cumsum(edges[:-1]) > 0
    return found


def _lines(lines: list[tuple[str, list[int]]]) -> list[TextLine]:
    return [
        TextLine(number, text, tuple(nodes)) for number, (text, nodes) in enumerate(lines, start=1)
    ]
