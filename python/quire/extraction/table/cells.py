"""Cells: everything that a record shows, each with a key that says where in the record it is.

The key of a cell is the path from the record down to it: names and the first class of every element.
Two cells with the same key in different records are probably the same field. Cells of table rows
have the number of their column instead, so that an empty cell does not shift the others.

A text with inline markup (``read <a>this</a> now``) is one cell, unless all records have the same
parts in it (``by <a>someone</a> on <i>some day</i>``): then each part is a cell.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from quire.digest.page import Digest
from quire.extraction.outline import Outline

# Browsers treat larger spans of cells as this.
_MOST_SPAN = 1000
_DIGIT = re.compile(r"\d")


class Source(Enum):
    """What of a node a cell shows."""

    TEXT = "text"
    LINK = "link"
    IMAGE = "image"
    PROPERTY = "property"


# By their numbers in the kernel.
_SOURCES = (Source.TEXT, Source.LINK, Source.IMAGE, Source.PROPERTY)


@dataclass(frozen=True, slots=True)
class Key:
    """Where in a record a cell is: the path, what of the node it is, and the table column."""

    path: tuple[str, ...]
    source: Source
    column: int = -1


@dataclass(frozen=True, slots=True)
class Cell:
    """One value of a record."""

    key: Key
    node: int
    value: str


def cells(view: Outline, records: tuple[tuple[int, ...], ...]) -> list[list[Cell]]:
    """Read the cells of every record, in the order of the page."""
    found, rows = view.native.cells(records)
    keys = [Key(path, _SOURCES[source], column) for path, source, column in found]
    return [[Cell(keys[key], node, value) for key, node, value in row] for row in rows]


def first_class(page: Digest, node: int) -> str:
    """The first class of a node that has no digits, with a dot; empty if there is none."""
    for token in page.attributes(node).get("class", "").split():
        if not _DIGIT.search(token):
            return "." + token
    return ""


def columns_of(view: Outline, row: int) -> dict[int, int]:
    """The cells of a table row, each with the number of the column it begins in."""
    found: dict[int, int] = {}
    column = 0
    for cell in view.children(row).tolist():
        found[cell] = column
        span = view.page.attributes(cell).get("colspan", "") if view.page.attr[cell] >= 0 else ""
        wide = int(span) if span.isascii() and span.isdigit() and len(span) < 5 else 1  # noqa: PLR2004
        column += min(max(wide, 1), _MOST_SPAN)
    return found
