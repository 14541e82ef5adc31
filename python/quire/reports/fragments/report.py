"""The report: the fragments of a site as one HTML page, for a browser without a network, and the same numbers as JSON.

What to do next comes first, then a page painted by sharing and by lifetime, tables of each tier, curves of lifetimes and the object dependency
graph. Its size is bounded whatever the site, it needs no scripts, and what pages say stands in it as text only.
"""

from __future__ import annotations

from quire.display import escape, format_bytes, format_count, format_duration, printable, shorten
from quire.fragments.study.study import FragmentStudy
from quire.reports.fragments.curves import curves_drawing
from quire.reports.fragments.graphs import ReportGraph, graph_of
from quire.reports.fragments.graphs_drawing import graph_drawing
from quire.reports.fragments.numbers import as_json, page_curves
from quire.reports.fragments.painting import painted_page, painted_section
from quire.reports.fragments.style import STYLE
from quire.reports.fragments.tables import approximate_table, exact_table, own_pace_table
from quire.reports.fragments.words import PageNames
from quire.reports.frame import document
from quire.reports.names import words
from quire.reports.templates.cards import percent

__all__ = ["ReportGraph", "as_json", "fragment_report", "graph_of"]

_MOST_STEPS = 5


def fragment_report(study: FragmentStudy, graph: ReportGraph, *, title: str = "") -> str:
    """Write the fragments of a site as one HTML document that is safe to open.

    >>> from quire.fragments.site.collection import Collection
    >>> from quire.fragments.study.study import study_fragments
    >>> from quire.sources.capture import Capture
    >>> menu = "<nav>" + "".join(f"<a href=/{n}>Entry number {n}</a>" for n in range(30)) + "</nav>"
    >>> news = [f"{menu}<h1>Day {day}</h1>".encode() for day in range(3)]
    >>> with Collection(Capture(f"{n}.html", f"{n}.html", None, b"", page) for n, page in enumerate(news)) as site:
    ...     study = study_fragments(site)
    ...     report = fragment_report(study, graph_of(study), title="The market")
    >>> "<h1>Fragments: The market</h1>" in report, "Cut it out" in report
    (True, True)

    Args:
        study: what ``study_fragments`` found; its pages are read again.
        graph: what ``graph_of`` made of it.
        title: what the pages are of, for the head.
    """
    shown_title = f"Fragments: {printable(shorten(title, 120))}" if title else "Fragments"
    names = PageNames(study.site)
    body = [
        _header(study, shown_title, names),
        "<main>\n",
        _next(study, names),
        painted_section(study, painted_page(study), names),
        exact_table(study, names),
        approximate_table(study, names),
        own_pace_table(study, names),
        curves_drawing(page_curves(study), names),
        graph_drawing(graph, names),
        "</main>\n",
        _how(study),
    ]
    return document("".join(body), title=shown_title, style=STYLE)


def _header(study: FragmentStudy, title: str, names: PageNames) -> str:
    totals = study.totals
    figures = [
        (f"{totals.pages:,}", "page" if totals.pages == 1 else "pages"),
        (format_bytes(totals.page_bytes), "of source"),
        (
            f"{totals.worth_it:,}",
            f"{'part' if totals.worth_it == 1 else 'parts'} worth cutting out",
        ),
        (_share(totals.stored_saved, totals.page_bytes), "less to store"),
        (_share(totals.moved_saved, totals.moved_bytes), "less to move, while parts are fresh"),
    ]
    if totals.watched_pages:
        figures.append(
            (f"{totals.versions:,}", f"versions of {format_count(totals.pages, 'page')}")
        )
    if totals.other_readers:
        captures = "capture" if totals.other_readers == 1 else "captures"
        figures.append((f"{totals.other_readers:,}", f"{captures} for other readers"))
    items = "".join(f"<li><b>{figure}</b><span>{said}</span></li>" for figure, said in figures)
    below = (
        f'<p class="dim">Names are below {names.named(names.folder)}</p>' if names.folder else ""
    )
    notes = []
    if totals.unreadable:
        notes.append(f"{format_count(totals.unreadable, 'capture')} could not be read as a page")
    if study.log is not None:
        log = study.log
        notes.append(
            f"access log: {format_count(log.lines, 'line')} over {format_duration(log.seconds)}, {log.skipped:,} skipped, "
            f"{log.others:,} for other things{', ended early' if log.damaged else ''}"
        )
    told = "".join(f'<p class="dim">{escape(note)}</p>' for note in notes)
    return (
        f'<header><h1>{escape(title)}</h1>{below}<ul class="totals">{items}</ul>{told}</header>\n'
    )


def _share(part: int, whole: int) -> str:
    return percent(part, whole) if whole else "–"


def _next(study: FragmentStudy, names: PageNames) -> str:
    exact = [one for one in study.facts if one.tier == "exact" and one.stored_beyond > 0]
    others = [one for one in study.facts if one.tier == "approximate" and one.stored_saved > 0]
    own = [one for one in study.facts if one.tier == "own pace"]
    private = [one for one in own if one.sharing == "private"]
    own = [one for one in own if one.sharing != "private" and one.moved_saved > 0]
    own = [one for one in own if not one.is_left]
    steps = [
        f'<li><a href="#{one.tier.replace(" ", "-")}-{one.rank}">{escape(one.tier)} {one.rank}</a>, '
        f"{format_count(one.pages, 'page')}, {format_bytes(max(one.source_bytes, 0))}, first on {names.page(one.page, 48)}: "
        f'{escape(one.advice)} <span class="sample">“{words(one.sample, 70)}”</span></li>'
        for tier in (exact[:_MOST_STEPS], others[:2], private[:2], own[:2])
        for one in tier
    ]
    if exact:
        steps.append(
            "<li>See the cuts with <code>quire fragments plan</code>, write them with <code>quire fragments esi</code>, and "
            "prove that every page comes out again with <code>quire fragments verify</code>.</li>"
        )
    if not any(len(page.versions) > 1 for page in study.site.pages):
        steps.append(
            "<li>Give versions (an archive, or a crawl with several captures of an address): they tell how long parts may be kept.</li>"
        )
    if not any(page.others for page in study.site.pages):
        steps.append(
            "<li>Give what other readers got (<code>--variant</code>): it tells which parts are private, and which are for all.</li>"
        )
    if study.log is None:
        steps.append(
            "<li>Give an access log (<code>--log</code>): it tells how much would be moved less, and what matters most.</li>"
        )
    none = "" if exact else "<p>No shared part is worth cutting out of these pages.</p>"
    return f'<section id="next"><h2>What to do next</h2>{none}<ol class="steps">{"".join(steps)}</ol></section>\n'


def _how(study: FragmentStudy) -> str:
    rules = study.alike.rules
    asked = (
        "each page asked for once"
        if study.log is None
        else "pages asked for as often as the log says"
    )
    return (
        f"<footer><p>A part is shared that has {rules.min_bytes:,} bytes of text on {rules.min_pages:,} pages; parts are one "
        f"where they overlap by {100 * rules.min_match:g} %. Exact ones have the same bytes everywhere. Stored: each page once, "
        f"against each part once and an include in its places; <code>quire fragments plan</code> may save more, as it also cuts out what has no text. Moved: {asked}, from the origin each time, against pages without "
        "parts that are in the cache. “Beyond” is what a part saves that no part ranked before it does, so that these figures add up. "
        "Lifetimes are by Kaplan and Meier: a life that goes on counts for as long as it was seen.</p></footer>\n"
    )
