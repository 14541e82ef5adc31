"""Joining: records of several pages or sites under common columns, each row with its source.

Columns are common if their names are the same without case and plural, or are known words for one
thing (``cost`` and ``price``), and their types do not contradict each other. Every row names the page
that it comes from; a cell can be traced with the ``nodes`` of its region.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from quire.extraction.region import Region, RegionSource
from quire.extraction.table.cells import Key, Source
from quire.extraction.table.table import Column
from quire.extraction.table.values import ValueType

#: The column that names the page of each row.
PAGE = "page"

# Words that sites use for one thing. The first is the name of the common column.
_SYNONYMS = (
    ("title", "name", "headline", "heading", "product", "job title", "product name", "book title"),
    ("price", "cost", "amount", "our price", "sale price"),
    ("author", "authors", "by", "byline", "writer", "written by"),
    ("date", "published", "posted", "datepublished", "publication date", "released", "when"),
    ("description", "summary", "teaser", "lead", "excerpt", "abstract"),
    ("publisher", "published by"),
    ("isbn", "isbn13", "isbn-13", "isbn 13"),
)
_COMMON = {word: words[0] for words in _SYNONYMS for word in words}


def common_name(name: str) -> str:
    """The name under which columns of different sites meet.

    >>> common_name("Authors"), common_name("Cost"), common_name("Colour")
    ('author', 'price', 'colour')
    """
    plain = " ".join(name.casefold().replace("_", " ").replace("-", " ").split()).rstrip(":")
    link = plain.endswith(" link")
    plain = plain.removesuffix(" link")
    plain = _COMMON.get(plain, plain)
    return f"{plain} link" if link else plain


def join(tables: Iterable[tuple[str, Region]], *, common: bool = False) -> Region:
    """Put the records of several pages into one table, with the page of each row first.

    >>> import quire
    >>> def page(word):
    ...     items = "".join(f"<li><b class={word}>Fish {n}</b> <i>{n}.50 €</i>" for n in range(3))
    ...     return quire.records(quire.encode(f"<ul>{items}</ul>".encode()))[0]
    >>> both = join([("a", page("name")), ("b", page("title"))], common=True)
    >>> both.names, both.rows[3]
    (('page', 'title', 'price'), ('b', 'Fish 0', '0.50 €'))

    Args:
        tables: names of pages with a region each.
        common: join columns of different sites; else only columns with the same name.
    """
    places: dict[tuple[str, bool], int] = {}
    columns: list[Column] = [Column(PAGE, ValueType.TEXT, Key((), Source.PROPERTY))]
    rows: list[list[str | None]] = []
    nodes: list[list[int | None]] = []
    for name, region in tables:
        where = [
            _place(column, places, columns, common=common, taken=region.columns[:at])
            for at, column in enumerate(region.columns)
        ]
        for values, found in zip(region.rows, region.nodes, strict=True):
            row: list[str | None] = [name] + [None] * (len(columns) - 1)
            node: list[int | None] = [None] * len(columns)
            for place, value, at in zip(where, values, found, strict=True):
                row[place], node[place] = value, at
            rows.append(row)
            nodes.append(node)
    width = len(columns)
    return Region(
        node=0,
        path="",
        confidence=1.0,
        source=RegionSource.VISIBLE,
        records=(),
        columns=tuple(columns),
        rows=tuple(tuple(row + [None] * (width - len(row))) for row in rows),
        nodes=tuple(tuple(row + [None] * (width - len(row))) for row in nodes),
    )


def _place(
    column: Column,
    places: dict[tuple[str, bool], int],
    columns: list[Column],
    *,
    common: bool,
    taken: Sequence[Column],
) -> int:
    """The common column of a column; a new one if there is none yet."""
    name = common_name(column.name) if common else column.name
    if common and any(common_name(other.name) == name for other in taken):
        name = column.name  # two columns of one page never meet
    is_address = column.type in {ValueType.LINK, ValueType.IMAGE}
    key = (name, is_address)
    if key not in places:
        places[key] = len(columns)
        used = {each.name for each in columns}
        shown = name if name not in used else f"{name} ({column.type.value})"
        columns.append(Column(shown, column.type, column.key))
    return places[key]
