"""Experiment 3: the cost of grouping, of loading the document, and of one MD5 of it.

Cost of grouping is everything that exists only because sentinels are grouped: choosing the members that
are due, sorting them by the version they saw last, handing each its answer, and finding the covering
subset of their locations (which a group keeps until its members or the elements of the page change; here it
is found anew every time). Half of the members are due, with two different base versions. Three lines
over the size of the group, as in the paper; loading is encoding the bytes of the page, and beside
it parsing them with lxml.
"""

import hashlib
import random
from collections.abc import Callable
from functools import partial

import numpy as np

import quire
from benchmarks import measure
from benchmarks.context import Context
from benchmarks.peers.webcq import parsed
from benchmarks.plot import Series, line_chart
from benchmarks.report import Goal, Report, Right, Table, at_most
from benchmarks.sentinels.systems import ABOUT
from benchmarks.sentinels.workload import MIXED, PagePair, describe, page_pairs
from quire.sentinels.groups import Group, Outcome, Version, covering_subset
from quire.sentinels.parts import PageReader, outermost
from quire.sentinels.parts.location import Roots, inside

SIZES = (1, 10, 100, 1_000, 10_000)
#: Runs of a case in a row: after another case has filled the caches, one alone would mostly wait for memory.
IN_A_ROW = 10
QUICK_SIZES = (1, 10, 100, 1_000)
GROUPING, DIVIDING, COVERING = "grouping", "dividing", "covering"
LOADING, LXML, MD5 = "loading", "loading with lxml", "MD5"


def run(context: Context) -> Report:
    """Time the three costs on some pages, for each size of group."""
    pages = page_pairs(context, context.pick(6, 4))
    report = Report(
        title="Paper 002, experiment 3: cost of grouping, of loading and of an MD5",
        inputs=f"{describe(context, pages)}; 18 kinds of sentinels, half of them due, seed {context.seed}",
        method=f"CPU time for one page, cases in turn, {IN_A_ROW} runs each in a row, median of the rounds, mean over the pages",
    )
    costs: dict[int, dict[str, float]] = {}
    right = 0
    for size in context.pick(SIZES, QUICK_SIZES):
        context.say(f"groups of {size:,}")
        found = [_costs(context, pair, size) for pair in pages]
        costs[size] = {
            name: sum(each[name] for each, _ in found) / len(found) for name in found[0][0]
        }
        right += sum(is_right for _, is_right in found)
    report.right.append(
        Right(
            "quire",
            right,
            len(pages) * len(costs),
            "the covering subset covers every location, and all members that are due have an answer",
        )
    )
    _add_table(report, costs)
    _add_verdict(report, costs)
    return report


def _costs(context: Context, pair: PagePair, size: int) -> tuple[dict[str, float], bool]:
    chance = random.Random(context.seed)
    body = pair.sides[0]
    page = quire.encode(body)
    group = Group(lambda _: page)
    for number in range(size):
        kind = chance.choice(MIXED)
        sentinel = kind.sentinel(str(number))
        group.install(sentinel, Version(number % 2, page.signatures))
        group.members[sentinel.name].signatures = ((b"",) * len(kind.watch),)
        group.members[sentinel.name].missing = False
    names = [str(number) for number in range(size) if number % 2 or size == 1]
    reader = PageReader(page)
    new = Version(2, page.signatures)

    def dividing() -> list[Outcome]:
        return group.evaluate(new, reader, ABOUT, names)

    def covering() -> list[Roots]:
        parts = dict.fromkeys(part for name in names for part in group.members[name].sentinel.parts)
        locations = dict.fromkeys(part.location for part in parts)
        roots = [reader.roots(each) for each in locations]
        return [roots[place] for place in covering_subset(page, roots)]

    cases: dict[str, Callable[[], object]] = {
        DIVIDING: dividing,
        COVERING: covering,
        LOADING: partial(quire.encode, body),
        LXML: partial(parsed, body),
        MD5: lambda: hashlib.md5(body, usedforsecurity=False).digest(),
    }
    # Selectors run in the first round, which is not counted: grouping does not cause their cost.
    repeated = {name: partial(_repeat, case) for name, case in cases.items()}
    samples = measure.interleaved(repeated, context.pick(9, 5))
    every_root = np.concatenate(
        [
            reader.roots(part.location)
            for name in names
            for part in group.members[name].sentinel.parts
        ]
    )
    chosen = np.concatenate([np.zeros(0, np.int64), *covering()])
    is_right = [each.sentinel for each in dividing()] == names and bool(
        inside(page, every_root, outermost(page, chosen)).all()
    )
    costs = {name: each.median / IN_A_ROW for name, each in samples.items()}
    costs[GROUPING] = costs[DIVIDING] + costs[COVERING]
    return costs, is_right


def _repeat(case: Callable[[], object]) -> None:
    for _ in range(IN_A_ROW):
        case()


def _add_table(report: Report, costs: dict[int, dict[str, float]]) -> None:
    rows = [
        [
            f"{size:,}",
            f"{of[DIVIDING] * 1e3:.4f}",
            f"{of[COVERING] * 1e3:.4f}",
            f"{of[LOADING] * 1e3:.4f}",
            f"{of[LXML] * 1e3:.4f}",
            f"{of[MD5] * 1e3:.4f}",
            f"{of[GROUPING] / size * 1e6:.2f}",
            f"{of[GROUPING] / of[LOADING]:.2f}x",
            f"{of[GROUPING] / of[MD5]:.2f}x",
        ]
        for size, of in costs.items()
    ]
    headings = ["group", "dividing, ms", "covering, ms", "loading, ms", "lxml, ms", "MD5, ms"]
    headings += ["grouping, us a sentinel", "grouping / loading", "grouping / MD5"]
    caption = "grouping = dividing members + finding the covering subset; mean over the pages"
    report.tables.append(Table(headings, rows, caption))
    report.figures["costs"] = line_chart(
        "Cost of grouping, loading and MD5",
        [
            Series(name, list(costs), [of[name] * 1e3 for of in costs.values()])
            for name in (GROUPING, LOADING, LXML, MD5)
        ],
        "sentinels in the group",
        "milliseconds a page",
        log_x=True,
        log_y=True,
    )
    report.data["seconds"] = costs


def _add_verdict(report: Report, costs: dict[int, dict[str, float]]) -> None:
    sizes = list(costs)
    below = [size for size in sizes if costs[size][GROUPING] < costs[size][LOADING]]
    near = [size for size in sizes if costs[size][GROUPING] <= 2 * costs[size][MD5]]
    last = costs[sizes[-1]]
    middle = costs[100]
    report.goals += [
        at_most(
            "claim: grouping costs less than loading (100 sentinels)",
            middle[GROUPING] / middle[LOADING],
            1,
        ),
        at_most(
            "claim: grouping costs about one MD5 (100 sentinels)",
            middle[GROUPING] / middle[MD5],
            2,
        ),
    ]
    for claim, other, most in (("less than loading", LOADING, 1), ("about one MD5", MD5, 2)):
        ratios = [costs[size][GROUPING] / costs[size][other] for size in sizes]
        report.goals.append(
            Goal(
                f"claim: grouping costs {claim}, at every size",
                f"<= {most}x",
                f"{min(ratios):.2f}x to {max(ratios):.2f}x (1 to {sizes[-1]:,} sentinels)",
                met=max(ratios) <= most,
            )
        )
    first = costs[sizes[0]][GROUPING] / sizes[0]
    each = last[GROUPING] / sizes[-1]
    report.goals.append(
        Goal(
            "claim: the cost is amortised over the group",
            "less for each sentinel of a larger group",
            f"{first * 1e6:.1f} us alone, {each * 1e6:.1f} us in a group of {sizes[-1]:,}",
            met=each < first,
        )
    )
    report.notes.append(
        "the paper claims less than loading and about one MD5: grouping costs less than loading "
        + (f"up to groups of {max(below):,}" if below else "at no size")
        + ", and at most twice an MD5 "
        + (f"up to groups of {max(near):,}" if near else "at no size")
        + f"; for each sentinel of a group of {sizes[-1]:,} it is {each / last[MD5]:.1%} of an MD5"
    )
