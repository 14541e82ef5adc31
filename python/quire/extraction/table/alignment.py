"""Alignment: the cells of all records in columns, with blanks where a record has no such cell.

Cells with the same key belong together. If a key is there several times in a record, the cells are
columns of their own: in order if all records have equally many, else by how their values are written
(``3 rooms``, ``56 m²``). Lists inside records, whose length says nothing, become one cell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from quire.extraction.table.cells import Cell, Key, Source
from quire.extraction.table.values import pattern

# More cells of one key than this are a list inside the record.
_MOST_ALIKE = 6
#: Between the values of a list inside a record.
BETWEEN = "; "


@dataclass(frozen=True, slots=True)
class Aligned:
    """One column before it has a name: a cell or nothing for every record."""

    key: Key
    cells: tuple[Cell | None, ...]
    place: float

    @property
    def values(self) -> list[str | None]:
        """The values, with None for blanks."""
        return [cell.value if cell is not None else None for cell in self.cells]


#: For each key of known columns, the patterns of each of them.
Known = Mapping[Key, Sequence[Sequence[str]]]


def align(rows: list[list[Cell]], known: Known | None = None) -> list[Aligned]:
    """Put the cells of all records into columns, in the order in which records show them.

    Args:
        rows: the cells of each record.
        known: columns that were read from another page; their keys get as many columns here.
    """
    by_key: dict[Key, tuple[list[list[Cell]], list[float]]] = {}
    # Cells share their keys, and the number of an object is found faster than the hash of a key.
    by_id: dict[int, tuple[list[list[Cell]], list[float]]] = {}
    for at, row in enumerate(rows):
        for place, cell in enumerate(row):
            same_key = by_id.get(id(cell.key))
            if same_key is None:
                same_key = by_key.setdefault(cell.key, ([[] for _ in rows], []))
                by_id[id(cell.key)] = same_key
            same_key[0][at].append(cell)
            same_key[1].append(place / len(row))
    columns: list[Aligned] = []
    for key, (found, places) in by_key.items():
        middle = sum(places) / len(places)
        made = _as_known(key, found, known[key]) if known and key in known else _columns(key, found)
        for number, column in enumerate(made):
            columns.append(Aligned(key, tuple(column), middle + number * 1e-6))
    return sorted(columns, key=lambda column: column.place)


def _columns(key: Key, found: list[list[Cell]]) -> list[list[Cell | None]]:
    counts = Counter(len(cells) for cells in found if cells)
    most = max(counts)
    if most == 1:
        return [[cells[0] if cells else None for cells in found]]
    if len(counts) == 1 and most <= _MOST_ALIKE:
        return [[cells[number] if cells else None for cells in found] for number in range(most)]
    if most > _MOST_ALIKE or any(label.split(".")[0] == "li" for label in key.path):
        return [[_joined(key, cells) for cells in found]]
    return _by_pattern(found, most)


def _as_known(
    key: Key, found: list[list[Cell]], patterns: Sequence[Sequence[str]]
) -> list[list[Cell | None]]:
    """As many columns as are known; cells go where their patterns are known, else in order."""
    width = len(patterns)
    if width == 1:
        return [[cells[0] if len(cells) == 1 else _joined(key, cells) for cells in found]]
    fitting: list[list[Cell]] = []
    for cells in found:
        rest = _joined(key, cells[width - 1 :])
        fitting.append([*cells[: width - 1], rest] if len(cells) > width and rest else cells)
    return _placed(fitting, [Counter(dict.fromkeys(each, 1)) for each in patterns])


def _joined(key: Key, cells: list[Cell]) -> Cell | None:
    if not cells:
        return None
    if key.source is not Source.TEXT:
        return cells[0]
    values = dict.fromkeys(cell.value for cell in cells)
    return Cell(key, cells[0].node, BETWEEN.join(values))


def _by_pattern(found: list[list[Cell]], most: int) -> list[list[Cell | None]]:
    """Find the column of each cell by the patterns of the records that have all of them."""
    expected = [
        Counter(pattern(cells[number].value) for cells in found if len(cells) == most)
        for number in range(most)
    ]
    return _placed(found, expected)


def _placed(found: list[list[Cell]], expected: list[Counter[str]]) -> list[list[Cell | None]]:
    columns: list[list[Cell | None]] = [[None] * len(found) for _ in expected]
    for at, cells in enumerate(found):
        for cell, number in zip(cells, _places(cells, expected), strict=True):
            columns[number][at] = cell
    return columns


def _places(cells: list[Cell], expected: list[Counter[str]]) -> list[int]:
    """Increasing columns for some cells, so that most patterns are where they are expected."""
    if len(cells) == len(expected):
        return list(range(len(cells)))
    # best[j] is the best score of the cells so far in the columns before j, with their columns.
    width = len(expected)
    best: list[tuple[int, tuple[int, ...]]] = [(0, ())] * (width + 1)
    for count, cell in enumerate(cells, 1):
        shape = pattern(cell.value)
        following: list[tuple[int, tuple[int, ...]]] = [(-1, ())] * (width + 1)
        for column in range(count, width + 1):
            score, places = best[column - 1]
            here: tuple[int, tuple[int, ...]] = (-1, ())
            if len(places) == count - 1 and score >= 0:
                fits = expected[column - 1][shape]
                here = (score + (1 + min(fits, 1000) if fits else 0), (*places, column - 1))
            before = following[column - 1]
            following[column] = here if here[0] > before[0] else before
        best = following
    return list(best[width][1])
