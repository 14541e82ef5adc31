"""The index of a comparison of two sources: every page that is new, gone or changed, in one table."""

from __future__ import annotations

from collections.abc import Mapping

from quire.captures.compare import ComparedPage, Comparison
from quire.display import escape, format_count, is_web_address, printable, shorten
from quire.reports.frame import STYLE, document
from quire.reports.names import link

# Maximum number of pages in the table; the JSON output of the command line has all.
_MAX_ROWS = 10_000
_MOST_NAME = 110

_STYLE = """
td.changed { border-left: 4px solid var(--hue1); } td.new { border-left: 4px solid var(--hue2); }
td.gone { border-left: 4px solid var(--trouble); } td.unreadable { border-left: 4px solid var(--dim); }
"""


def comparison_index(
    comparison: Comparison, said: Mapping[str, str], files: Mapping[str, str], *, title: str
) -> str:
    """Draw the table as one HTML document that is safe to open.

    >>> from quire.captures.compare import ComparedPage
    >>> page = ComparedPage("a.html", "changed")
    >>> drawn = comparison_index(
    ...     Comparison((page,), ()), {"a.html": "1 text edited"}, {"a.html": "0001.html"}, title="x"
    ... )
    >>> '<a href="0001.html">' in drawn
    True

    Args:
        comparison: the comparison.
        said: for addresses of pages, what changed in one line.
        files: for addresses of pages, the file with their redline, beside the index.
        title: what was compared.
    """
    counts = comparison.counts()
    totals = "".join(
        f"<li><b>{count:,}</b><span>{status}</span></li>"
        for status in ("changed", "new", "gone", "same", "unreadable")
        if (count := counts.get(status, 0))
    )
    listed = [page for page in comparison.pages if page.status != "same"]
    rows = "".join(
        f'<tr><td class="{page.status}">{page.status}</td><td>{_named(page, files)}</td>'
        f"<td>{escape(printable(said.get(page.address, '')))}</td></tr>"
        for page in listed[:_MAX_ROWS]
    )
    more = len(listed) - _MAX_ROWS
    beyond = f"<p class=dim>… and {format_count(more, 'page')} more</p>" if more > 0 else ""
    troubles = ""
    if comparison.troubles:
        troubles = f'<p class="dim">{format_count(len(comparison.troubles), "source")} not read</p>'
    return document(
        f"<header><h1>{escape(printable(title))}</h1></header><main>"
        f'<ul class="totals">{totals}</ul>{troubles}<div class="wide"><table>'
        f"<tr><th>status</th><th>page</th><th>what changed</th></tr>{rows}</table></div>"
        f"{beyond}</main>",
        title=title,
        style=STYLE + _STYLE,
    )


def _named(page: ComparedPage, files: Mapping[str, str]) -> str:
    file = files.get(page.address)
    if file is not None:
        name = escape(printable(shorten(page.address, _MOST_NAME)))
        return f'<a href="{escape(file)}"><bdi>{name}</bdi></a>'
    if is_web_address(page.address):
        return link(page.address, title=page.new or page.old or "", most=_MOST_NAME)
    return f"<bdi>{escape(printable(shorten(page.address, _MOST_NAME)))}</bdi>"
