"""Experiment 4: one sentinel on a digest and on a DOM tree, a pair of bars for each type.

Both get the bytes of a new version, both know what they stored of the old one. The DOM is lxml's, with
extraction by libxml2 where it has one. A second table leaves parsing out: digest and tree are in
memory, and only the sentinel's own work is timed.
"""

from collections.abc import Callable
from functools import partial

import quire
from benchmarks import measure
from benchmarks.bars import bar_chart
from benchmarks.context import Context
from benchmarks.peers.webcq import SentinelOnItsOwn, parsed
from benchmarks.report import Goal, Report, Right, Table, at_most, every
from benchmarks.sentinels.systems import Monitor, OnTheirOwn, Ours, Race, race
from benchmarks.sentinels.workload import TYPES, Kind, PagePair, describe, page_pairs, spread
from quire.sentinels.parts import PageReader

DIGEST, DOM = "digest", "DOM (lxml)"


def run(context: Context) -> Report:
    """Time one sentinel of each type on every page."""
    pages = page_pairs(context, context.pick(60, 16))
    report = Report(
        title="Paper 002, experiment 4: digest and DOM, one sentinel of each type",
        inputs=f"{describe(context, pages)}; one sentinel on every page, every page in a new version",
        method="CPU time of a pass for one page, both in turn, median of the passes",
    )
    races: dict[str, Race] = {}
    inner: dict[str, dict[str, measure.Samples]] = {}
    for kind in TYPES:
        context.say(kind.name)
        workload = spread(context, pages, len(pages), exponent=0.0, changing=1.0, kinds=(kind,))
        monitors: dict[str, Monitor] = {
            DIGEST: Ours(workload, grouped=False),
            DOM: OnTheirOwn(workload),
        }
        races[kind.name] = race(workload, monitors, context.pick(9, 5))
        inner[kind.name] = _without_parsing(context, kind, pages)
    _add_table(report, races, len(pages))
    _add_inner(report, inner, len(pages))
    for name in (DIGEST, DOM):
        asked = sum(run.asked[name] for run in races.values())
        right = asked - sum(run.wrong[name] for run in races.values())
        report.right.append(Right(name, right, asked, "as the plain definition, in every pass"))
        report.goals.append(every(f"answers on the {name}", right, asked))
    _add_verdict(report, races)
    _add_inner_verdict(report, inner)
    return report


def _without_parsing(
    context: Context, kind: Kind, pages: list[PagePair]
) -> dict[str, measure.Samples]:
    digests = [quire.encode(pair.sides[1]) for pair in pages]
    trees = [parsed(pair.sides[1]) for pair in pages]
    alone = SentinelOnItsOwn(kind)
    part = kind.sentinel("x").parts[0]

    def on_digests() -> None:
        for page in digests:
            PageReader(page).signatures(part)

    def on_trees() -> None:
        for tree in trees:
            alone.extracted(tree)

    cases: dict[str, Callable[[], object]] = {DIGEST: partial(on_digests), DOM: partial(on_trees)}
    return measure.interleaved(cases, context.pick(7, 3))


def _add_table(report: Report, races: dict[str, Race], pages: int) -> None:
    rows = [
        [
            name,
            run.samples[DIGEST].spread(1e3 / pages, 3),
            run.samples[DOM].spread(1e3 / pages, 3),
            f"{1 / run.ratio(DOM, DIGEST):.2f}x",
        ]
        for name, run in races.items()
    ]
    headings = ["sentinel", "digest, ms", "DOM, ms", "digest / DOM"]
    report.tables.append(Table(headings, rows, "from bytes to the answer; median ± IQR for a page"))
    report.figures["types"] = bar_chart(
        "One sentinel, from bytes to the answer",
        list(races),
        {
            name: [run.samples[name].median * 1e3 / pages for run in races.values()]
            for name in (DIGEST, DOM)
        },
        "type of sentinel",
        "milliseconds a page",
    )


def _add_inner(report: Report, inner: dict[str, dict[str, measure.Samples]], pages: int) -> None:
    rows = [
        [
            name,
            of[DIGEST].spread(1e3 / pages, 3),
            of[DOM].spread(1e3 / pages, 3),
            f"{1 / measure.round_ratio(of[DOM], of[DIGEST]):.2f}x",
        ]
        for name, of in inner.items()
    ]
    headings = ["sentinel", "digest, ms", "DOM, ms", "digest / DOM"]
    caption = "digest and tree in memory, everything read (no signature of a facet helps)"
    report.tables.append(Table(headings, rows, f"{caption}; median ± IQR for a page"))


def _add_inner_verdict(report: Report, inner: dict[str, dict[str, measure.Samples]]) -> None:
    """The paper does not say whether parsing counts. Without it both only read."""
    ratios = {name: 1 / measure.round_ratio(of[DOM], of[DIGEST]) for name, of in inner.items()}
    above = [f"{name} {ratio:.2f}x" for name, ratio in ratios.items() if ratio > 0.5]
    report.goals.append(
        Goal(
            "claim: less than half, for every type, without parsing",
            "<= 0.5x",
            f"{min(ratios.values()):.2f}x to {max(ratios.values()):.2f}x"
            + (f"; more than half for {', '.join(above)}" if above else ""),
            met=not above,
        )
    )


def _add_verdict(report: Report, races: dict[str, Race]) -> None:
    ratios = {name: 1 / run.ratio(DOM, DIGEST) for name, run in races.items()}
    for name, ratio in ratios.items():
        report.goals.append(at_most(f"claim: less than half the cost of a DOM, {name}", ratio, 0.5))
    above = {name: ratio for name, ratio in ratios.items() if ratio > 0.5}
    report.goals.append(
        Goal(
            "claim: less than half, for every type",
            "<= 0.5x",
            f"{min(ratios.values()):.2f}x to {max(ratios.values()):.2f}x",
            met=not above,
        )
    )
    report.notes.append(
        f"the paper claims less than half the cost: {min(ratios.values()):.2f}x to "
        f"{max(ratios.values()):.2f}x here; the claim "
        + (
            "holds for every type"
            if not above
            else "does not hold for "
            + ", ".join(f"{name} ({ratio:.2f}x)" for name, ratio in above.items())
        )
    )
    report.data["ratios"] = ratios
