"""Headers: the names that a table itself gives its columns."""

from __future__ import annotations

from quire.extraction.outline import Outline
from quire.extraction.table.cells import columns_of

# Headers are looked for among the rows in front of the first record, not further up than this.
_LEVELS_UP = 4
_MOST_ROWS = 40


def headers(view: Outline, first: int) -> dict[int, str]:
    """The names of table columns, by number, for the table whose first record is a node.

    They come from the last row of headings in front of the record: cells ``th``, or elements with
    the role ``columnheader``.
    """
    page = view.page
    at = first
    for _ in range(_LEVELS_UP):
        at = int(view.parent[at])
        if at <= 0:
            return {}
        name = page.tag_names[int(page.tag[at])]
        role = page.attributes(at).get("role", "") if page.attr[at] >= 0 else ""
        if name == "table":
            return _from_rows(view, page.select("tr", at).tolist(), first)
        if role in {"table", "grid", "treegrid"}:
            return _from_rows(view, page.select("[role=row]", at).tolist(), first)
    return {}


def _from_rows(view: Outline, rows: list[int], first: int) -> dict[int, str]:
    found: dict[int, str] = {}
    for row in [row for row in rows if row < first][:_MOST_ROWS]:
        cells = columns_of(view, row)
        headings = [cell for cell in cells if _is_heading(view, cell)]
        if len(headings) > 1 and 2 * len(headings) >= len(cells):
            found = {
                column: " ".join(view.page.text(cell).split())
                for cell, column in cells.items()
                if cell in headings
            }
    return {column: name for column, name in found.items() if name}


def _is_heading(view: Outline, cell: int) -> bool:
    page = view.page
    if page.tag_names[int(page.tag[cell])] == "th":
        return True
    return page.attr[cell] >= 0 and page.attributes(cell).get("role") == "columnheader"
