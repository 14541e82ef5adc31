"""Detection while captures arrive: what one more capture costs, as the history and the page grow.

``LifetimeDetector.add`` should cost as much after a thousand captures as after ten, and as much as the page is large. Only fragments are kept up to date that
way: a full answer (``lifetimes``), a plan and shared fragments are made anew, and the table has the time of the first.
"""

import random
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import quire
from benchmarks.context import Context
from benchmarks.fragments.histories import encoded, front_pages
from benchmarks.measure import growth_exponent
from benchmarks.plot import Series, line_chart
from benchmarks.report import Goal, Report, Table, at_most
from quire import Digest
from quire.fragments import LifetimeDetector

CORPUS = "versions-news"
#: Passes through a history, there and back, that the older detector has seen; the younger has seen one.
PASSES = (2, 4, 8)
#: Items of the made pages.
ITEMS = (100, 200, 400, 800, 1_600, 3_200, 6_400)
#: Captures of each made page, of which this many first ones are not timed.
VERSIONS, UNTIMED = 12, 2
#: Share of the items that are another in the next version.
EDITED = 0.05
HOUR = 3600


def run(context: Context) -> Report:
    """Time one capture after another."""
    found = front_pages(CORPUS)
    names = list(found)[: context.pick(3, 1)]
    passes = context.pick(PASSES, PASSES[:1])
    report = Report(
        title="Detection while captures arrive: time of one more capture",
        inputs=f"{', '.join(names)}: their {', '.join(str(len(found[name])) for name in names)} captures there and back, {passes[-1] + 1} times; made pages of {ITEMS[0]:,} to {ITEMS[-1]:,} items, {EDITED:.0%} of them edited between versions, seed {context.seed}",
        method=f"CPU time of LifetimeDetector.add with its defaults, encoding not included; a detector that has seen one pass and one that has seen more take the same captures in turn, medians and median ratio of a pass; median of {VERSIONS - UNTIMED} versions of a made page; answer: LifetimeDetector.lifetimes of the older one",
    )
    rows, ratios, curves = [], [], []
    for name in names:
        ages = list(_aged([page for _, page in encoded(found[name])], passes))
        rows += [
            [
                *(name, f"{one.young:,}", f"{one.old:,}"),
                *(f"{one.young_s * 1e3:.2f}", f"{one.old_s * 1e3:.2f}", f"{one.ratio:.2f}x"),
                f"{one.answer_s * 1e3:.0f}",
            ]
            for one in ages
        ]
        ratios.append(ages[-1].ratio)
        curves.append(Series(name, [one.old for one in ages], [one.ratio for one in ages]))
        context.say(name)
    headings = [
        *(
            "page",
            "captures, younger",
            "older",
            "ms a capture, younger",
            "older",
            "older / younger",
        ),
        "ms an answer",
    ]
    report.tables.append(Table(headings, rows, "as the history grows"))
    sizes = [_sized(items, context.seed) for items in context.pick(ITEMS, ITEMS[:4])]
    report.tables.append(
        Table(
            ["items", "nodes of the AF tree", "kB", "ms a capture", "us a node"],
            [
                [
                    *(f"{items:,}", f"{nodes:,}", f"{size / 1e3:,.0f}"),
                    *(f"{seconds * 1e3:.2f}", f"{seconds / nodes * 1e6:.2f}"),
                ]
                for items, nodes, size, seconds in sizes
            ],
            "as the page grows",
        )
    )
    exponent = growth_exponent([one[1] for one in sizes], [one[3] for one in sizes])
    report.goals = [
        Goal(
            f"time of a capture after {passes[-1]} passes to that after one",
            "<= 1.1x on every page",
            f"{min(ratios):.2f}x to {max(ratios):.2f}x",
            met=max(ratios) <= 1.1,
        ),
        at_most("time of a capture grows as nodes of the page to the power of", exponent, 1.15, ""),
    ]
    report.figures["captures"] = line_chart(
        "LifetimeDetector: one more capture, compared with a younger detector",
        curves,
        "captures before",
        "older / younger",
    )
    report.notes = [
        "kept up to date by each capture: which parts are fragments, and what changed when. Made anew when asked for: lifetimes (a full answer, in proportion to all parts and changes so far), plans, compositions and shared fragments",
    ]
    report.data = {
        "last to first": dict(zip(names, ratios, strict=True)),
        "exponent": exponent,
    }
    return report


@dataclass(frozen=True, slots=True)
class Age:
    """Two detectors before the same pass: the captures that each has seen, and seconds for one more."""

    young: int
    old: int
    young_s: float
    old_s: float
    ratio: float
    answer_s: float


def _aged(pages: list[Digest], passes: Sequence[int]) -> Iterator[Age]:
    """Compare a detector that grows older with new ones that have seen one pass."""
    there_and_back = [*pages, *pages[-2:0:-1]]
    length = len(there_and_back)
    old = LifetimeDetector()
    seen = 0
    for age in passes:
        while seen < age * length:
            _seconds(old, seen, there_and_back)
            seen += 1
        young = LifetimeDetector()
        for at in range(length):
            _seconds(young, at, there_and_back)
        timed = []
        for at in range(length):
            timed.append(
                (_seconds(young, length + at, there_and_back), _seconds(old, seen, there_and_back))
            )
            seen += 1
        start = time.process_time()
        old.lifetimes()
        yield Age(
            young=length,
            old=age * length,
            young_s=statistics.median(one for one, _ in timed),
            old_s=statistics.median(other for _, other in timed),
            ratio=statistics.median(other / one for one, other in timed),
            answer_s=time.process_time() - start,
        )


def _seconds(detector: LifetimeDetector, number: int, pages: list[Digest]) -> float:
    """Add the next capture, and return how long it took."""
    start = time.process_time()
    detector.add((number * HOUR, pages[number % len(pages)]))
    return time.process_time() - start


def _sized(items: int, seed: int) -> tuple[int, int, int, float]:
    """Items, nodes and bytes of a made page, and the median seconds to add a version of it."""
    draw = random.Random(seed)

    def text() -> str:
        return " ".join(f"{draw.getrandbits(36):x}" for _ in range(12))

    texts = [text() for _ in range(items)]
    detector = LifetimeDetector()
    seconds, nodes, size = [], 0, 0
    for version in range(VERSIONS):
        for at in draw.sample(range(items), max(int(items * EDITED), 1)):
            texts[at] = text()
        lists = [texts[at : at + 10] for at in range(0, items, 10)]
        html = "".join(f"<ul>{''.join(f'<li>{one}' for one in some)}</ul>" for some in lists)
        page = quire.encode(html.encode())
        start = time.process_time()
        update = detector.add((version * HOUR, page))
        seconds.append(time.process_time() - start)
        nodes, size = len(update.part) if update else 0, len(html)
    return items, nodes, size, statistics.median(seconds[UNTIMED:])
