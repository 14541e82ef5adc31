"""The records of a page as an HTML report: the text of the page with a frame around every record.

Text that belongs to no record is dim. Below are the tables that were read. All text is escaped;
nothing of the page runs or loads.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from quire.digest.page import Digest
from quire.display import escape, format_count, shorten
from quire.extraction.outline import outline
from quire.extraction.region import Records, Region, RegionSource
from quire.reports.frame import STYLE, document

_MOST_ROWS = 50
_MOST_COLUMNS = 24
_MOST_TEXT = 300
_MOST_PARTS = 5000
_HUES = 8
_STYLE = (
    STYLE
    + """
.page { border: 1px solid var(--line); background: var(--card); padding: 1rem; }
.other { color: var(--dim); font-size: .85rem; margin: .3rem 0; overflow-wrap: anywhere; }
.record { border: 2px solid var(--frame); border-radius: 4px; margin: .35rem 0; padding: .25rem .6rem;
  overflow-wrap: anywhere; font-size: .9rem; }
.record b { color: var(--frame); margin-right: .6em; font-variant-numeric: tabular-nums; }
"""
    + "\n".join(f".frame{n} {{ --frame: var(--hue{n}); }}" for n in range(_HUES))
    + "\n"
)


def report(page: Digest, found: Records, *, name: str) -> str:
    """Write the report about a page.

    >>> import quire
    >>> page = quire.encode(b"<ul><li><b>a</b> 1<li><b>b</b> 2<li><b>&lt;c&gt;</b> 3</ul>")
    >>> "&lt;c&gt;" in report(page, quire.records(page), name="a.html")
    True
    """
    visible = [region for region in found if region.source is RegionSource.VISIBLE]
    body = [
        f"<header><h1>{escape(name)}</h1><ul class=totals>",
        f"<li><b>{len(found)}</b><span>{'region' if len(found) == 1 else 'regions'}</span></li>",
        f"<li><b>{sum(map(len, found)):,}</b><span>records</span></li></ul></header><main>",
        *(_table(number, region) for number, region in enumerate(found, 1)),
        "<h2>The page, with its records outlined</h2><div class=page>",
        *_page(page, visible),
        "</div></main>",
    ]
    return document("".join(body), title=f"Records of {name}", style=_STYLE)


def _table(number: int, region: Region) -> str:
    columns = region.columns[:_MOST_COLUMNS]
    head = "".join(
        f"<th>{escape(shorten(column.name, 40))} <span class=dim>{column.type.value}</span></th>"
        for column in columns
    )
    rows = "".join(
        "<tr>"
        + "".join(
            f"<td>{escape(shorten(value or '', _MOST_TEXT))}</td>" for value in row[: len(columns)]
        )
        + "</tr>"
        for row in region.rows[:_MOST_ROWS]
    )
    more = len(region.rows) - _MOST_ROWS
    rest = f"<p class=dim>{more:,} more</p>" if more > 0 else ""
    return (
        f"<h2>Region {number} <small>{format_count(len(region), 'record')}, confidence "
        f"{region.confidence:.2f}, {escape(shorten(region.path, 120))}</small></h2>"
        f"<div class=wide><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{rest}"
    )


def _page(page: Digest, regions: list[Region]) -> Iterator[str]:
    """The text of the page in reading order, in parts: each record, and the text between them."""
    view = outline(page)
    owner = np.full(page.n, -1, np.int64)
    of: list[tuple[int, int]] = []
    # Regions never overlap, and a record inside a record comes later: the inner one wins.
    for number, region in enumerate(regions):
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


def _text(page: Digest, leaves: list[int]) -> str:
    image = page.tag_id("img")
    texts = (
        "▣" if page.tag[leaf] == image else " ".join(page.text(leaf).split()) for leaf in leaves
    )
    return " · ".join(text for text in texts if text)
