"""``quire.records``: the repeated data of a page, as tables."""

from __future__ import annotations

from quire.digest.arguments import check_page
from quire.digest.page import Digest
from quire.extraction.finding.confidence import LEAST_CONFIDENCE
from quire.extraction.finding.regions import Found, find
from quire.extraction.outline import Outline, outline
from quire.extraction.region import Records, Region, RegionSource
from quire.extraction.structured import Things, json_ld
from quire.extraction.table.cells import Key, Source
from quire.extraction.table.table import Column, Table, read_table

# A column is a property of the structured data if so many of its values are the same.
_SAME_VALUES = 0.8


def records(
    page: Digest, *, least_confidence: float = LEAST_CONFIDENCE, base: str | None = None
) -> Records:
    """Find the lists of records of a page, and read each as a table.

    Regions are ranked by confidence and by how much of the page they are. Navigation, forms and prose
    have a low confidence and are left out. Lists of things in JSON-LD come last; where they describe
    the same records, they name the columns.

    >>> import quire
    >>> items = "".join(f"<li><b class=name>Fish {n}</b> <i class=price>{n}.50 €</i>" for n in range(4))
    >>> region = quire.records(quire.encode(f"<ul>{items}</ul>".encode()))[0]
    >>> region.names, region.rows[1]
    (('name', 'price'), ('Fish 1', '1.50 €'))

    Args:
        page: the page.
        least_confidence: leave out regions below this confidence, from 0 to 1.
        base: the address of the page, to resolve the addresses of links and images.
    """
    check_page("page", page)
    view = outline(page)
    things = json_ld(page) if page.kind == "html" else []
    found = [one for one in find(view) if one.confidence >= least_confidence]
    found.sort(key=lambda one: (-one.confidence * (0.5 + one.signs.share), one.node))
    base = _base(page, base)
    visible = [_region(view, one, things, base) for one in found]
    return Records((*visible, *(_structured(page, each) for each in things)))


def _base(page: Digest, base: str | None) -> str | None:
    return page._base(base)  # noqa: SLF001 - a page's own `base` element, as for its links


def _region(view: Outline, found: Found, things: list[Things], base: str | None) -> Region:
    table = _named(read_table(view, found.records, base), things)
    return Region(
        node=found.node,
        path=view.page.path(found.node),
        confidence=round(found.confidence, 3),
        source=RegionSource.VISIBLE,
        records=found.records,
        columns=table.columns,
        rows=table.rows,
        nodes=table.nodes,
    )


def _named(table: Table, things: list[Things]) -> Table:
    """Name columns after properties of structured data that have the same values."""
    columns = list(table.columns)
    for each in things:
        if len(each.rows) != len(table.rows):
            continue
        for at, column in enumerate(columns):
            shown = [row[at] for row in table.rows]
            for property_, name in enumerate(each.names):
                told = [row[property_] for row in each.rows]
                same = sum(a == b is not None for a, b in zip(shown, told, strict=True))
                if same >= _SAME_VALUES * len(shown) and name not in {one.name for one in columns}:
                    columns[at] = Column(name, column.type, column.key)
                    break
    return Table(tuple(columns), table.rows, table.nodes)


def _structured(page: Digest, things: Things) -> Region:
    columns = tuple(
        Column(name, kind, Key((things.type, name), Source.PROPERTY))
        for name, kind in zip(things.names, things.types, strict=True)
    )
    blank = tuple((None,) * len(columns) for _ in things.rows)
    return Region(
        node=things.node,
        path=page.path(things.node),
        confidence=1.0,
        source=RegionSource.JSON_LD,
        records=(),
        columns=columns,
        rows=things.rows,
        nodes=blank,
    )
