"""Data tables: the cells of a table as rows of Markdown.

A row of Markdown has one line, and all rows have the columns of the first. So cells that extend over
several columns or rows are followed by empty ones, which all tables together may have only as many
of as they have cells: then the cost is linear, whatever ``colspan`` says.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Columns of a table; one with more is written as text.
MOST_COLUMNS = 200


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table: its words as Markdown, and how far it extends."""

    words: str
    columns: int = 1
    rows: int = 1


def table_lines(rows: list[list[Cell]], *, has_head: bool) -> list[str]:
    r"""Write a table.

    >>> fish = [Cell("Cod"), Cell("9.50")]
    >>> print("\n".join(table_lines([[Cell("Fish", columns=2)], fish], has_head=True)))
    | Fish | |
    | --- | --- |
    | Cod | 9.50 |

    Args:
        rows: the cells of each row, as written in the source.
        has_head: whether the first row is a head; else an empty one is added, as there has to be one.
    """
    left = sum(map(len, rows))
    busy: dict[int, int] = {}  # the row at which a column is free again
    placed: list[list[str]] = []
    for number, row in enumerate(rows):
        found: list[str] = []
        for cell in row:
            while left and busy.get(len(found), 0) > number:
                found.append("")
                left -= 1
            extent = min(cell.columns - 1, left)
            left -= extent
            for column in range(len(found), len(found) + extent + 1):
                busy[column] = number + cell.rows
            found += [cell.words, *[""] * extent]
        placed.append(found)
    columns = max(map(len, placed))
    head = placed.pop(0) if has_head else []
    head += [""] * (columns - len(head))
    return [_row(head), _row(["---"] * columns), *map(_row, placed)]


def _row(cells: list[str]) -> str:
    return "".join(f"| {cell} " if cell else "| " for cell in cells) + "|"
