"""The report: the fragments of a site as one HTML page that needs no network, and the same as JSON.

The next steps come first, then a page painted by sharing and by lifetime, tables of each tier,
curves of lifetimes and the object dependency graph. All figures of the exact tier are those of the
plan. The size is bounded for any site, there are no scripts, and the text of pages appears as text
only.
"""

from __future__ import annotations

from collections import Counter

from quire.display import escape, format_bytes, format_count, format_duration, printable, shorten
from quire.fragments.cuts.hazards import MEANINGS
from quire.fragments.lifetime.capture_spans import MOST_UNEVEN
from quire.fragments.study.columns import MOVED
from quire.fragments.study.study import FragmentStudy
from quire.reports.fragments.curves import curves_drawing
from quire.reports.fragments.graphs import ReportGraph, graph_of
from quire.reports.fragments.graphs_drawing import graph_drawing
from quire.reports.fragments.numbers import as_json, page_curves
from quire.reports.fragments.painting import painted_page, painted_section
from quire.reports.fragments.style import STYLE
from quire.reports.fragments.tables import tier_tables
from quire.reports.fragments.words import PageNames
from quire.reports.frame import document
from quire.reports.names import words
from quire.reports.templates.cards import percent

__all__ = ["ReportGraph", "as_json", "fragment_report", "graph_of"]

_MOST_STEPS = 10


def fragment_report(study: FragmentStudy, graph: ReportGraph, *, title: str = "") -> str:
    """Write the fragments of a site as one HTML document that is safe to open.

    >>> from quire.fragments import SourcePage, plan_fragments
    >>> from quire.fragments.study.study import study_fragments
    >>> menu = "<nav>" + "".join(f"<a href=/{n}>Entry number {n}</a>" for n in range(30)) + "</nav>"
    >>> news = [f"{menu}<h1>Day {day}</h1>".encode() for day in range(3)]
    >>> pages = [SourcePage(f"{n}", f"{n}", page) for n, page in enumerate(news)]
    >>> with plan_fragments(pages) as plan:
    ...     study = study_fragments(plan)
    ...     report = fragment_report(study, graph_of(study), title="The market")
    >>> "<h1>Fragments: The market</h1>" in report, "Cut it out" in report
    (True, True)

    Args:
        study: from ``study_fragments``; its pages are read again.
        graph: from ``graph_of``.
        title: a name for the pages.
    """
    shown_title = f"Fragments: {printable(shorten(title, 120))}" if title else "Fragments"
    names = PageNames(study.site)
    body = [
        _header(study, shown_title, names),
        "<main>\n",
        _next(study, names),
        painted_section(study, painted_page(study), names),
        tier_tables(study, names),
        curves_drawing(page_curves(study), names),
        graph_drawing(graph, names),
        "</main>\n",
        _how(study),
    ]
    return document("".join(body), title=shown_title, style=STYLE)


def _header(study: FragmentStudy, title: str, names: PageNames) -> str:
    totals = study.totals
    figures = [
        _counted(totals.pages, "page"),
        (format_bytes(totals.page_bytes), "of source"),
        _counted(totals.worth_it, "part", " worth cutting out"),
        _less(totals.stored_saved, totals.page_bytes, "to store"),
        _less(totals.moved_saved, totals.moved_bytes, "to move, while parts are fresh"),
    ]
    if totals.watched_pages:
        pages = f" of {format_count(totals.pages, 'page')}"
        figures.append(_counted(totals.versions, "version", pages))
    if totals.other_readers:
        figures.append(_counted(totals.other_readers, "capture", " for other users"))
    items = "".join(f"<li><b>{figure}</b><span>{said}</span></li>" for figure, said in figures)
    below = (
        f'<p class="dim">Names are below {names.named(names.folder)}</p>' if names.folder else ""
    )
    notes = []
    if totals.refused:
        refused = [page for page in study.composition.manifest.pages if page.is_refused]
        kinds = Counter(page.hazards[0].kind for page in refused)
        why = MEANINGS[kinds.most_common(1)[0][0]]
        notes.append(f"{format_count(totals.refused, 'page')} left whole; most often: {why}")
    if totals.unreadable:
        notes.append(f"{format_count(totals.unreadable, 'capture')} could not be read as a page")
    if study.log is not None:
        log = study.log
        notes.append(
            f"access log: {format_count(log.lines, 'line')} over {format_duration(log.seconds)}, "
            f"{log.skipped:,} skipped, {log.others:,} for other addresses"
            f"{', ended early' if log.damaged else ''}"
        )
    told = "".join(f'<p class="dim">{escape(note)}</p>' for note in notes)
    return (
        f'<header><h1>{escape(title)}</h1>{below}<ul class="totals">{items}</ul>{told}</header>\n'
    )


def _counted(count: int, noun: str, more: str = "") -> tuple[str, str]:
    """Return a number, and the words after it."""
    return f"{count:,}", format_count(count, noun).partition(" ")[2] + more


def _less(saved: int, whole: int, what: str) -> tuple[str, str]:
    """Return a share, and whether it is less or more: includes of parts on one page cost bytes."""
    word = "less" if saved >= 0 else "more"
    return percent(abs(saved), whole) if whole else "–", f"{word} {what}"


def _next(study: FragmentStudy, names: PageNames) -> str:
    is_cut = any(one.tier == "exact" and one.planned in {"cut", "paced"} for one in study.facts)
    chosen = [one for one in study.advised if one.moved_saved > 0 or one.sharing == "private"]
    steps = [
        f'<li><a href="#{one.tier.replace(" ", "-")}-{one.rank}">{escape(one.tier)} {one.rank}</a> '
        f"<b>{words(one.label, 90)}</b>, {MOVED.heading} "
        f"{format_bytes(max(one.moved_saved, 0))}, {format_count(one.pages, 'page')}, "
        f"first on {names.page(one.page, 48)}: "
        f'{escape(one.advice)} <span class="sample">“{words(one.sample, 70)}”</span></li>'
        for one in chosen[:_MOST_STEPS]
    ]
    if study.totals.worth_it:
        steps.append(
            "<li>List the cuts with <code>quire fragments plan</code>, write them with "
            "<code>quire fragments esi</code>, and check that every page can be composed again with "
            "<code>quire fragments verify</code>.</li>"
        )
    if not study.totals.watched_pages:
        steps.append(
            "<li>Add versions (an archive, or a crawl with several captures of an address): they "
            "show how long parts may be cached.</li>"
        )
    if not study.totals.other_readers:
        steps.append(
            "<li>Add the pages that other users got: they show which parts "
            "are private, and which are the same for all.</li>"
        )
    if study.log is None:
        steps.append(
            "<li>Add an access log: it shows how many bytes less would be moved, "
            "and which parts matter most.</li>"
        )
    none = "" if is_cut else "<p>No shared part is worth cutting out of these pages.</p>"
    listed = f'<ol class="steps">{"".join(steps)}</ol>'
    return f'<section id="next"><h2>What to do next</h2>{none}{listed}</section>\n'


def _how(study: FragmentStudy) -> str:
    rules, cut = study.alike.rules, study.plan.rules
    asked = "each page requested once" if study.log is None else "pages requested as in the log"
    return (
        f"<footer><p>Exact parts are those that <code>quire fragments plan</code> and "
        f"<code>esi</code> cut out: the same {cut.min_bytes:,} bytes of source or more on "
        f"{cut.min_pages:,} pages, a part that no cache may keep, or one of at least that length that "
        "changes at another pace than the rest of its page. Stored: every page in full, "
        "against each part once and an include in its places. "
        f"Moved: {asked}, from the origin each time, against pages without the parts that are in the "
        "cache; for a part with its own pace, the rest of its page in the share of captures that "
        "show it changed. Parts are ranked by bytes moved less. The figures of exact parts add up. "
        f"Approximate parts have {rules.min_bytes:,} bytes of text on {rules.min_pages:,} pages and "
        f"overlap by {100 * rules.min_match:g} %. Lifetimes are estimated by Kaplan and Meier: one "
        "that has not ended counts for as long as it was seen. A gap between two captures of more "
        f"than {MOST_UNEVEN:g} times the median one tells no lifetime: lives that begin or end in it "
        "count as not seen to begin or end. ≥ and ≤ mark bounds: captures are too far apart to "
        "count all changes.</p></footer>\n"
    )
