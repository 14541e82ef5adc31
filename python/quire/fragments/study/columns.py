"""Columns: the figures of a fragment, with the name and meaning that every output gives them."""

from __future__ import annotations

from typing import NamedTuple


class Column(NamedTuple):
    """A figure of a fragment.

    Attributes:
        key: its name in ``FragmentFacts`` and in JSON.
        heading: its name in tables.
        meaning: in words.
    """

    key: str
    heading: str
    meaning: str


#: In the order of tables, on the terminal and in HTML.
COLUMNS: tuple[Column, ...] = (
    Column("source_bytes", "bytes", "Length of the part in the source."),
    Column("pages", "pages", "Number of different pages that have the part."),
    Column("uses", "places", "Number of places that have it."),
    Column(
        "moved_saved",
        "moved less",
        "Bytes that the origin does not send if every page is fetched once, at the pace of the "
        "captures; with an access log, if pages are requested as in the log. Parts are ranked by it.",
    ),
    Column(
        "stored_saved",
        "stored less",
        "Bytes that a cache does not store, because the part is stored once.",
    ),
)
MOVED, STORED = COLUMNS[3], COLUMNS[4]
