"""The records of a page as an HTML report: its tables, then its text with the records framed.

Text that belongs to no record is dim. All text is escaped; nothing of the page runs or loads.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from quire.digest.page import Digest
from quire.display import escape, format_count, shorten
from quire.extraction.outline import outline
from quire.extraction.region import Records, Region, RegionSource
from quire.extraction.table.values import ValueType
from quire.reports.frame import STYLE, document

_MOST_ROWS = 50
_MOST_COLUMNS = 24
_MOST_TEXT = 300
# Cells with more characters get a wider column.
_LONG_TEXT = 60
_MOST_PARTS = 5000
_HUES = 8
_STYLE = (
    STYLE
    + """
.wide th, .wide td { min-width: 6.5rem; overflow-wrap: break-word; }
.wide td.long { min-width: 16rem; }
.wide td.link, .wide td.image { min-width: 11rem; overflow-wrap: anywhere; }
.wide tbody td:empty::after { color: var(--dim); content: "\\2013"; }
.page { border: 1px solid var(--line); background: var(--card); padding: 1rem; }
.other { color: var(--dim); font-size: .85rem; margin: .3rem 0; overflow-wrap: anywhere; }
.record { border: 2px solid var(--frame); border-radius: 4px; margin: .35rem 0; padding: .25rem .6rem;
  overflow-wrap: anywhere; font-size: .9rem; }
.record b { color: var(--frame); margin-right: .6em; font-variant-numeric: tabular-nums; }
"""
    + "\n".join(f".frame{n} {{ --frame: var(--hue{n}); }}" for n in range(_HUES))
    + "\n"
)


_ABOUT = (
    "A region is one list of the page, read as a table: a row for each record, a column for each "
    "field, with the type of its values. The confidence, from 0 to 1, says how sure quire is that "
    "these are records, and not a menu or a text."
)
_OUTLINED = (
    "A number says the region and the record. Dim text belongs to no record; the middle of a text "
    f"with more than {_MOST_TEXT} characters is left out."
)
_NOTHING = (
    "quire found no list of records on this page. Lists that are hardly records, such as menus, are "
    "left out; the option --confidence 0 of the command line shows them."
)


def report(page: Digest, found: Records, *, name: str) -> str:
    """Write the report about a page.

    >>> import quire
    >>> page = quire.encode(b"<ul><li><b>a</b> 1<li><b>b</b> 2<li><b>&lt;c&gt;</b> 3</ul>")
    >>> "&lt;c&gt;" in report(page, quire.records(page), name="a.html")
    True
    """
    count = sum(map(len, found))
    body = [
        f"<header><h1>Records: {escape(name)}</h1><ul class=totals>",
        f"<li><b>{len(found)}</b><span>{'region' if len(found) == 1 else 'regions'}</span></li>",
        f"<li><b>{count:,}</b><span>{'record' if count == 1 else 'records'}</span></li></ul>",
        f"<p>{_ABOUT if found else _NOTHING}</p></header><main>",
        *(_table(number, region) for number, region in enumerate(found, 1)),
    ]
    if any(region.source is RegionSource.VISIBLE for region in found):
        body += [
            "<h2>The page, with its records outlined</h2>",
            f"<p class=dim>{_OUTLINED}</p>",
            "<div class=page>",
            *_page(page, found),
            "</div>",
        ]
    body.append("</main>")
    return document("".join(body), title=f"Records of {name}", style=_STYLE)


def _table(number: int, region: Region) -> str:
    columns = region.columns[:_MOST_COLUMNS]
    head = "".join(
        f"<th>{escape(shorten(column.name, 40))} <span class=dim>{column.type.value}</span></th>"
        for column in columns
    )
    classes = [_class(region, place) for place in range(len(columns))]
    rows = "".join(
        "<tr>"
        + "".join(
            f"<td{kind}>{escape(shorten(value or '', _MOST_TEXT))}</td>"
            for kind, value in zip(classes, row[: len(columns)], strict=True)
        )
        + "</tr>"
        for row in region.rows[:_MOST_ROWS]
    )
    more = len(region.rows) - _MOST_ROWS
    wide = len(region.columns) - len(columns)
    left_out = [
        *([format_count(more, "more record")] if more > 0 else []),
        *([format_count(wide, "more column")] if wide else []),
    ]
    rest = f"<p class=dim>{' and '.join(left_out)}, not shown here</p>" if left_out else ""
    where = escape(shorten(region.path, 120))
    if region.source is RegionSource.JSON_LD:
        where = "from JSON-LD, which readers of the page do not see"
    return (
        f"<h2>Region {number} <small>{format_count(len(region), 'record')}, confidence "
        f"{region.confidence:.2f}, {where}</small></h2>"
        f"<div class=wide tabindex=0 role=group aria-label='Region {number}'><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{rest}"
    )


def _class(region: Region, place: int) -> str:
    """Return the class of the cells of a column, for its width."""
    kind = region.columns[place].type
    if kind in {ValueType.LINK, ValueType.IMAGE}:
        return f" class={kind.value}"
    lengths = [len(row[place] or "") for row in region.rows[:_MOST_ROWS]]
    return " class=long" if max(lengths, default=0) > _LONG_TEXT else ""


def _page(page: Digest, regions: Records) -> Iterator[str]:
    """The text of the page in reading order, in parts: each record, and the text between them."""
    view = outline(page)
    owner = np.full(page.n, -1, np.int64)
    of: list[tuple[int, int]] = []
    # Regions never overlap, and a record inside a record comes later: the inner one wins.
    for number, region in enumerate(regions):
        if region.source is not RegionSource.VISIBLE:
            continue
        for place, record in enumerate(region.records):
            for node in record:
                owner[node : int(view.end[node])] = len(of)
            of.append((number, place))
    leaves = np.flatnonzero(view.leaves)
    parts = 0
    start = 0
    while start < len(leaves) and parts < _MOST_PARTS:
        end = start
        while end < len(leaves) and owner[leaves[end]] == owner[leaves[start]]:
            end += 1
        text = escape(shorten(_text(page, leaves[start:end].tolist()), _MOST_TEXT))
        at = int(owner[leaves[start]])
        if at >= 0:
            number, place = of[at]
            yield f'<p class="record frame{number % _HUES}"><b>{number + 1}.{place + 1}</b>{text}</p>'
        elif text:
            yield f"<p class=other>{text}</p>"
        start = end
        parts += 1
    if start < len(leaves):
        yield "<p class=other>The rest of the page is not shown here.</p>"


def _text(page: Digest, leaves: list[int]) -> str:
    image = page.tag_id("img")
    texts = (
        "▣" if page.tag[leaf] == image else " ".join(page.text(leaf).split()) for leaf in leaves
    )
    return " · ".join(text for text in texts if text)
