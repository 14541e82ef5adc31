"""The table of a region: named and typed columns, one row for each record."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urljoin

from quire.extraction.outline import Outline
from quire.extraction.table.alignment import Aligned, Known, align
from quire.extraction.table.cells import Cell, Key, Source, cells
from quire.extraction.table.headers import headers
from quire.extraction.table.names import label_of, name_columns
from quire.extraction.table.values import ValueType, column_type

# A text that all records share says nothing about any of them.
_LEAST_RECORDS = 3
# Columns that fewer records have are dropped, unless the region is small.
_LEAST_SHARE = 0.05
_SHORT_LABEL = 30


@dataclass(frozen=True, slots=True)
class Column:
    """One field of the records: its name, what its values are, and where it was read."""

    name: str
    type: ValueType
    key: Key


@dataclass(frozen=True, slots=True)
class Table:
    """Columns, and for each record a value or None for each column; ``nodes`` has their nodes."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str | None, ...], ...]
    nodes: tuple[tuple[int | None, ...], ...]


def read_table(
    view: Outline,
    records: tuple[tuple[int, ...], ...],
    base: str | None = None,
    *,
    known: Known | None = None,
) -> Table:
    """Read the records of a region as a table.

    Args:
        view: the outline of the page.
        records: the nodes of each record.
        base: resolve the addresses of links and images against this one.
        known: columns of another page. If given, all columns are kept, also those that say nothing
            on this page, such as a text that all records share.
    """
    aligned = align(cells(view, records), known)
    kept, labels = _useful(aligned, len(records))
    if known is not None:
        label_by = {id(column): label for column, label in zip(kept, labels, strict=True)}
        kept, labels = aligned, [label_by.get(id(column)) for column in aligned]
    typed: list[tuple[Aligned, ValueType]] = []
    final_labels: dict[int, str] = {}
    for column, label in zip(kept, labels, strict=True):
        stripped, own = _without_label(column)
        if own or label:
            final_labels[len(typed)] = own or label or ""
        typed.append((stripped, _type(stripped)))
    if not typed:
        return Table((), tuple(() for _ in records), tuple(() for _ in records))
    names = name_columns(view, typed, headers(view, records[0][0]), final_labels)
    columns = tuple(
        Column(name, kind, column.key) for name, (column, kind) in zip(names, typed, strict=True)
    )
    found = [column.cells for column, _ in typed]
    rows = tuple(tuple(_value(each, base) for each in row) for row in zip(*found, strict=True))
    nodes = tuple(
        tuple(each.node if each is not None else None for each in row)
        for row in zip(*found, strict=True)
    )
    return Table(columns, rows, nodes)


def _value(cell: Cell | None, base: str | None) -> str | None:
    if cell is None:
        return None
    if base and cell.key.source in {Source.LINK, Source.IMAGE}:
        try:
            return urljoin(base, cell.value)
        except ValueError:  # an address that cannot be read is shown as it is
            return cell.value
    return cell.value


def _useful(aligned: list[Aligned], count: int) -> tuple[list[Aligned], list[str | None]]:
    """Drop columns that say nothing; a short text that all share is the label of the next one."""
    kept: list[Aligned] = []
    labels: list[str | None] = []
    waiting: str | None = None
    for column in aligned:
        values = [value for value in column.values if value is not None]
        is_same = len(set(values)) == 1 and len(values) >= _LEAST_RECORDS
        if is_same and column.key.column < 0:
            if column.key.source is Source.TEXT:
                text = values[0].strip(" :–-•·|,.()")
                is_label = len(values) >= 0.5 * count and 0 < len(text) <= _SHORT_LABEL
                waiting = text if is_label and any(map(str.isalpha, text)) else None
            continue
        if len(values) < _LEAST_SHARE * count:
            continue
        if column.key.source is Source.TEXT and not any(map(str.isalnum, "".join(values))):
            continue  # dashes and bullets
        kept.append(column)
        labels.append(waiting)
        waiting = None
    return _without_repeats(kept, labels)


def _without_repeats(
    columns: list[Aligned], labels: list[str | None]
) -> tuple[list[Aligned], list[str | None]]:
    """Drop links and images that another column has too: a picture and a title with one address."""
    seen: set[tuple[str | None, ...]] = set()
    found: list[tuple[Aligned, str | None]] = []
    # A link with a text is the better one, and mostly the later one.
    for column, label in reversed(list(zip(columns, labels, strict=True))):
        values = tuple(column.values)
        if column.key.source in {Source.LINK, Source.IMAGE} and values in seen:
            continue
        seen.add(values)
        found.append((column, label))
    found.reverse()
    return [column for column, _ in found], [label for _, label in found]


def _without_label(column: Aligned) -> tuple[Aligned, str | None]:
    """Take a label off all values of a column that has it: ``Price: 3``."""
    if column.key.source is not Source.TEXT:
        return column, None
    values = [value for value in column.values if value]
    label = label_of(values[0]) if values else None
    if label is None or len(values) < _LEAST_RECORDS:
        return column, None
    start = values[0].partition(":")[0] + ":"
    if not all(value.startswith(start) and value[len(start) :].strip() for value in values):
        return column, None
    taken = tuple(
        Cell(cell.key, cell.node, cell.value[len(start) :].strip()) if cell and cell.value else cell
        for cell in column.cells
    )
    return Aligned(column.key, taken, column.place), label


def _type(column: Aligned) -> ValueType:
    if column.key.source is Source.LINK:
        return ValueType.LINK
    if column.key.source is Source.IMAGE:
        return ValueType.IMAGE
    return column_type(column.values)
