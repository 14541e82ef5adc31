"""The cards and tables of the template report. A card fits on the screen of a phone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from quire.display import escape, format_count
from quire.reports.names import Names, words
from quire.reports.templates.drawings import HUES, histogram, key
from quire.reports.templates.exemplars import Exemplar
from quire.similar.crawl.templates import CrawlTemplates
from quire.similar.groups import LOOSE_OUTLIERS, Group

MOST_TYPICAL = 4
MOST_OUTLIERS = 20
# Maximum number of characters of a name: two lines of a card.
_MOST_NAME = 64


def percent(part: int, whole: int) -> str:
    """Format a share in percent; only nothing is shown as 0.

    >>> percent(1, 3), percent(1, 100_000), percent(0, 9), percent(9, 9)
    ('33.3 %', '&lt; 0.1 %', '0 %', '100 %')
    """
    if part in {0, whole}:
        return "0 %" if not part else "100 %"
    share = 100 * part / whole
    return f"{share:.1f} %" if share >= 0.1 else "&lt; 0.1 %"  # noqa: PLR2004 - one digit


def card(
    crawl: CrawlTemplates,
    group: Group,
    exemplar: Exemplar,
    near: Sequence[tuple[int, float]],
    names: Names,
) -> str:
    """Draw one group."""
    fits = crawl.templates.fits
    title = f"<small>{words(exemplar.title, 80)}</small>" if exemplar.title.strip() else ""
    picture = exemplar.drawing or (
        '<p class="gone">Its representative could not be read again: '
        f"{words(exemplar.trouble, 200)}</p>"
    )
    n = len(fits)
    parts = [
        f'<article class="card" id="template-{group.number}">',
        f"<h3>{key(f'hue{group.number % HUES}')}Template {group.number}{title}</h3>",
        f'<div class="picture">{picture}</div>',
        '<div class="facts">',
        f'<p class="figures"><b>{group.size:,}</b> pages <span>{percent(group.size, n)}</span> ',
        f"<span>fit {group.fit:.2f}</span></p>",
        histogram(fits[group.pages], group.fit),
        '<p class="scale"><span>0</span><span>how well its pages fit</span><span>1</span></p>',
        _loose(crawl, group),
        "</div>",
        '<div class="pages">',
        f"<h4>Representative</h4><p>{names.page(group.representative, _MOST_NAME)}"
        + (
            f' <span class="dim whole">{format_count(exemplar.nodes, "node")}</span>'
            if exemplar.nodes
            else ""
        )
        + "</p>",
        _typical(crawl, group, names),
        _outliers(crawl, group, names),
        _near(near),
        "</div></article>\n",
    ]
    return "".join(parts)


def _loose(crawl: CrawlTemplates, group: Group) -> str:
    """Say that a group may be more than one template, and what to do."""
    found = crawl.templates
    if all(group is not other for other in found.loose):
        return ""
    why = (
        f"{percent(len(group.outliers), group.size)} of its pages are outliers"
        if len(group.outliers) >= LOOSE_OUTLIERS * group.size
        else "a typical page and the representative have only "
        f"{100 * group.closeness:.0f} % of the smaller one in common"
    )
    return (
        f'<p class="loose">May be more than one template: {why}. '
        f"Try <code>--threshold {found.tighter_threshold:g}</code>.</p>"
    )


def _typical(crawl: CrawlTemplates, group: Group, names: Names) -> str:
    """List some typical pages: those with a fit near the median."""
    others = group.pages[group.pages != group.representative]
    others = others[~np.isin(others, group.outliers)]
    far = np.abs(crawl.templates.fits[others] - group.fit)
    chosen = others[np.argsort(far, kind="stable")[:MOST_TYPICAL]]
    return (
        f"<h4>Typical pages</h4>{_listed(crawl.templates.fits, chosen.tolist(), names)}"
        if len(chosen)
        else ""
    )


def _outliers(crawl: CrawlTemplates, group: Group, names: Names) -> str:
    if not len(group.outliers):
        return ""
    resemblances = crawl.templates.resemblances
    more = len(group.outliers) - MOST_OUTLIERS
    beyond = f'<p class="dim">and {format_count(more, "other")}</p>' if more > 0 else ""
    return (
        f"<details><summary>{format_count(len(group.outliers), 'outlier')}</summary>"
        '<p class="dim">with their resemblance to the representative</p>'
        f"{_listed(resemblances, group.outliers[:MOST_OUTLIERS].tolist(), names)}{beyond}</details>"
    )


def _listed(values: NDArray[np.float64], pages: Sequence[int], names: Names) -> str:
    items = (
        f'<li><span class="fit">{values[page]:.2f}</span> {names.page(page, _MOST_NAME)}</li>'
        for page in pages
    )
    return f"<ul>{''.join(items)}</ul>"


def _near(near: Sequence[tuple[int, float]]) -> str:
    if not near:
        return ""
    links = ", ".join(
        f'<span class="whole"><a href="#template-{number}">template {number}</a> '
        f'<span class="fit">{value:.2f}</span></span>'
        for number, value in near
    )
    return f"<h4>Most similar templates</h4><p>{links}</p>"


def rest_table(crawl: CrawlTemplates, groups: Sequence[Group], most: int, names: Names) -> str:
    """List the templates without a card."""
    if not groups:
        return ""
    n = len(crawl.templates.group_of)
    rows = "".join(
        f'<tr><td class="number">{group.number}</td><td class="number">{group.size:,}</td>'
        f'<td class="number">{percent(group.size, n)}</td><td class="number">{group.fit:.2f}</td>'
        f'<td class="number">{len(group.outliers):,}</td>'
        f"<td>{names.page(group.representative)}</td></tr>"
        for group in groups[:most]
    )
    head = "".join(f"<th>{escape(name)}</th>" for name in ("no.", "pages", "share", "fit"))
    return (
        f"<section><h2>Smaller templates <small>{len(groups):,}</small></h2>"
        f'<div class="wide"><table><thead><tr>{head}<th>outliers</th><th>representative</th></tr>'
        f"</thead><tbody>{rows}</tbody></table></div>{_beyond(len(groups) - most)}</section>\n"
    )


def singles_table(crawl: CrawlTemplates, most: int, names: Names) -> str:
    """List the pages without a template."""
    singles = crawl.templates.singles
    if not len(singles):
        return ""
    items = "".join(f"<li>{names.page(page)}</li>" for page in singles[:most].tolist())
    return (
        f"<section><h2>Pages without a template <small>{len(singles):,}</small></h2>"
        f'<ul class="singles">{items}</ul>{_beyond(len(singles) - most)}</section>\n'
    )


def troubles_table(crawl: CrawlTemplates, most: int, names: Names) -> str:
    """List the sources that could not be read, with the reasons."""
    if not crawl.troubles:
        return ""
    rows = "".join(
        f"<tr><td>{names.named(trouble.name)}</td><td>{words(trouble.reason, 300)}</td></tr>"
        for trouble in crawl.troubles[:most]
    )
    return (
        f'<section id="troubles"><h2>Could not be read <small>{len(crawl.troubles):,}</small></h2>'
        '<div class="wide"><table><thead><tr><th>source</th><th>reason</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>{_beyond(len(crawl.troubles) - most)}</section>\n"
    )


def _beyond(more: int) -> str:
    return f'<p class="dim">and {more:,} more, in the table of groups</p>' if more > 0 else ""
