"""The template report: the templates of a crawl as one HTML page that works offline.

It has a card for each of the largest templates, with a drawing of its representative, then lists of
smaller templates, pages without a template, and sources that could not be read. Its size is limited
for crawls of any size, and it needs no scripts.
"""

from __future__ import annotations

import numpy as np

from quire.display import escape, format_bytes, format_count, printable, shorten
from quire.progress import Progress, no_progress
from quire.reports.frame import document
from quire.reports.names import Names
from quire.reports.templates.cards import (
    card,
    percent,
    rest_table,
    singles_table,
    troubles_table,
)
from quire.reports.templates.drawings import HUES, KINDS, legend, sizes_bar
from quire.reports.templates.exemplars import exemplars, nearest
from quire.reports.templates.style import STYLE
from quire.similar.crawl.templates import CrawlTemplates
from quire.sources import MOST_BYTES

__all__ = ["template_report"]

#: Maximum numbers of cards, of rows for smaller templates, of pages without a template, and of
#: sources that could not be read.
MOST_CARDS = 100
MOST_ROWS = 1000
MOST_SINGLES = 200
MOST_TROUBLES = 1000
_MOST_SEGMENTS = 60


def template_report(
    crawl: CrawlTemplates,
    *,
    title: str = "",
    most_bytes: int = MOST_BYTES,
    progress: Progress = no_progress,
) -> str:
    """Draw the templates of a crawl as one HTML document that is safe to open.

    Reads the representatives of the largest groups again. Nothing in the document runs or loads.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from quire.similar.crawl.templates import crawl_templates
    >>> from quire.sources import find
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for i in range(4):
    ...         page = f"<h1>{i}</h1><ul>{'<li>Cod' * (i + 3)}</ul>"
    ...         _ = Path(folder, f"{i}.html").write_text(page)
    ...     report = template_report(crawl_templates(find([folder])), title="The market")
    >>> "<h1>Templates: The market</h1>" in report, report.count("<article")
    (True, 1)

    Args:
        crawl: the result of ``crawl_templates``.
        title: the name of the crawl, for the heading.
        most_bytes: skip longer pages; the same value as for ``crawl_templates``.
        progress: called for the step ``report``.
    """
    groups = crawl.templates.groups
    names = Names(crawl)
    shown_title = f"Templates: {printable(shorten(title, 120))}" if title else "Templates"
    found = exemplars(crawl, groups[:MOST_CARDS], most_bytes=most_bytes, progress=progress)
    cards = [
        card(crawl, group, exemplar, near, names)
        for group, exemplar, near in zip(groups, found, nearest(found), strict=False)
    ]
    body = [
        _header(crawl, shown_title, names),
        "<main>\n",
        _cards(cards),
        rest_table(crawl, groups[MOST_CARDS:], MOST_ROWS, names),
        singles_table(crawl, MOST_SINGLES, names),
        troubles_table(crawl, MOST_TROUBLES, names),
        "</main>\n",
        _how(crawl),
    ]
    return document("".join(body), title=shown_title, style=STYLE)


def _header(crawl: CrawlTemplates, title: str, names: Names) -> str:
    found = crawl.templates
    n = len(found.group_of)
    figures = [
        ("", f"{n:,}", "page" if n == 1 else "pages"),
        ("", f"{len(found.groups):,}", "template" if len(found.groups) == 1 else "templates"),
        ("", percent(n - len(found.singles), n) if n else "–", "of pages have a template"),
        ("", f"{len(found.singles):,}", "without a template"),
        ("", format_bytes(int(np.sum(crawl.pages["bytes"].to_numpy()))), "read"),
    ]
    if found.loose:
        first = found.loose[0].number
        said = "may be more than one"
        figures.append(
            (
                "trouble",
                f"{len(found.loose):,}",
                f'<a href="#template-{first}">{said}</a>' if first < MOST_CARDS else said,
            )
        )
    if crawl.troubles:
        figures.append(
            ("trouble", f"{len(crawl.troubles):,}", '<a href="#troubles">could not be read</a>')
        )
    totals = "".join(
        f'<li class="{name}"><b>{figure}</b><span>{said}</span></li>'
        for name, figure, said in figures
    )
    below = (
        f'<p class="dim">All names start with {names.named(names.folder)}</p>'
        if names.folder
        else ""
    )
    return (
        f'<header><h1>{escape(title)}</h1>{below}<ul class="totals">{totals}</ul>'
        f"{_sizes(crawl)}</header>\n"
    )


def _sizes(crawl: CrawlTemplates) -> str:
    found = crawl.templates
    n = len(found.group_of)
    segments = [
        (
            f"hue{group.number % HUES}",
            group.size,
            f"<title>Template {group.number}: {format_count(group.size, 'page')}</title>",
        )
        for group in found.groups[:_MOST_SEGMENTS]
    ]
    smaller = sum(group.size for group in found.groups[_MOST_SEGMENTS:])
    if smaller:
        segments.append(
            ("code", smaller, f"<title>Smaller templates: {format_count(smaller, 'page')}</title>")
        )
    if len(found.singles):
        alone = format_count(len(found.singles), "page")
        segments.append(
            ("alone", len(found.singles), f"<title>Without a template: {alone}</title>")
        )
    keys = [
        (f"hue{group.number % HUES}", f'<a href="#template-{group.number}">{group.number}</a>')
        for group in found.groups[:HUES]
    ]
    if len(found.singles):
        keys.append(("alone", "without a template"))
    return f'{sizes_bar(segments, n)}<p class="legend">{legend(keys)}</p>'


def _cards(cards: list[str]) -> str:
    if not cards:
        return "<p>No two pages have the same template.</p>\n"
    keys = legend((name, words) for name, (words, _) in KINDS.items() if name != "code")
    return (
        f'<section><h2>Templates</h2><p class="legend">{keys}</p></section>\n'
        f'<div class="cards">\n{"".join(cards)}</div>\n'
    )


def _how(crawl: CrawlTemplates) -> str:
    found = crawl.templates
    return (
        f"<footer><p>Pages are compared by <b>{escape(found.on)}</b>. Two pages match if "
        f"{100 * found.threshold:g} % of the smaller one is in the larger one. The representative "
        "is the page most similar to the others with its template. The fit of a page is how much of "
        "the smaller of it and a typical page of its template is in the larger one, for the best of "
        "up to eight pages of all lengths. An outlier resembles the representative much less than "
        "the others do. A drawing shows the tree of a page: nodes are on lines, in document order, and deeper nodes "
        "are further to the right.</p></footer>\n"
    )
