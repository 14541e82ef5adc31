"""The "wide range of parameters" of paper 002: one varied at a time, all others at their defaults.

Defaults: 20 pages, 10 sentinels a page spread by Zipf's law with exponent 1, a fifth of the pages
changed, all kinds of sentinels, all due. Each row has quire in groups, quire sentinel by sentinel, and
the WebCQ-style monitor on the same workload.
"""

import random
from collections.abc import Callable, Sequence

import quire
from benchmarks.context import Context
from benchmarks.plot import Series, line_chart
from benchmarks.report import Goal, Report, Right, Table, every
from benchmarks.sentinels.systems import Monitor, OnTheirOwn, Ours, Race, race
from benchmarks.sentinels.workload import (
    MIXED,
    TYPES,
    Kind,
    PagePair,
    Watch,
    Workload,
    describe,
    page_pairs,
    spread,
)

GROUPED, ALONE, WEBCQ = "quire, grouped", "quire, alone", "WebCQ-style"
GROUP_SIZES = (1, 10, 100, 1_000)
CHANGED = (0.0, 0.01, 0.05, 0.2, 0.5, 1.0)
#: Locations from large to small; how much of a page each covers is measured.
MASKS = ("body", "main", "ul", "p", "h2", "h1")
MIXES: dict[str, tuple[Kind, ...]] = {
    "content only": TYPES[:1],
    "text only": TYPES[1:2],
    "structure only": TYPES[4:5],
    "the seven types": TYPES,
    "locations only": MIXED[7:14],
    "all kinds": MIXED,
}
INTERVALS: dict[str, tuple[int, ...]] = {
    "every pass": (1,),
    "every or every third pass": (1, 3),
    "every, second or third pass": (1, 2, 3),
}


def run(context: Context) -> Report:
    """Vary each parameter."""
    pages = page_pairs(context, context.pick(20, 8))
    report = Report(
        title="Paper 002: a wide range of parameters",
        inputs=f"{describe(context, pages)}; 10 sentinels a page, Zipf 1.0, 20 % changed unless varied; seed {context.seed}",
        method="CPU time of a pass / sentinels, from bytes in memory to answers; systems in turn, median of the passes",
    )
    sweeps: dict[str, dict[str, Race]] = {}
    sweeps["group size"] = {
        f"{size:,}": _race(context, _one_page(context, pages, size))
        for size in context.pick(GROUP_SIZES, GROUP_SIZES[:3])
    }
    sweeps["share of pages changed"] = {
        f"{share:.0%}": _race(context, spread(context, pages, 10 * len(pages), changing=share))
        for share in context.pick(CHANGED, (0.0, 0.2, 1.0))
    }
    masks = {tag: _covered(pages, tag) for tag in MASKS}
    sweeps["location (share of the nodes)"] = {
        f"{tag} ({masks[tag]:.1%})": _race(
            context,
            spread(
                context,
                pages,
                10 * len(pages),
                changing=1.0,
                kinds=(Kind(f"text of {tag}", tag=tag),),
            ),
        )
        for tag in sorted(context.pick(MASKS, ("body", "p", "h1")), key=lambda tag: -masks[tag])
    }
    sweeps["mix of types"] = {
        name: _race(context, spread(context, pages, 10 * len(pages), kinds=kinds))
        for name, kinds in MIXES.items()
        if not context.quick or kinds in (TYPES, MIXED)
    }
    sweeps["intervals"] = {
        name: _race(
            context,
            spread(context, pages, 10 * len(pages), changing=1.0).with_intervals(
                context, intervals
            ),
            passes=context.pick(7, 4),
        )
        for name, intervals in INTERVALS.items()
        if not context.quick or len(intervals) < 3
    }
    sweeps["page size"] = {
        name: _race(context, spread(context, chosen, 10 * len(chosen), changing=1.0))
        for name, chosen in _by_size(pages, context.pick(5, 2)).items()
    }
    _add_tables(report, sweeps)
    _add_answers(report, sweeps)
    _add_claim(report, sweeps)
    return report


def _race(context: Context, workload: Workload, passes: int = 0) -> Race:
    context.say(f"{len(workload.watches):,} sentinels, {len(workload.changing)} pages change")
    monitors: dict[str, Monitor] = {
        GROUPED: Ours(workload),
        ALONE: Ours(workload, grouped=False),
        WEBCQ: OnTheirOwn(workload),
    }
    return race(workload, monitors, passes or context.pick(5, 3))


def _one_page(context: Context, pages: Sequence[PagePair], size: int) -> Workload:
    """All sentinels on one page of middle size, which changes."""
    chance = random.Random(context.seed)
    ordered = sorted(pages, key=lambda page: len(page.sides[0]))
    watches = [Watch(str(number), 0, chance.choice(MIXED)) for number in range(size)]
    return Workload([ordered[len(ordered) // 2]], watches, frozenset({0}))


def _covered(pages: Sequence[PagePair], tag: str) -> float:
    """The share of all nodes that a location covers."""
    covered = total = 0
    for pair in pages:
        page = quire.encode(pair.sides[0])
        roots = Kind("", tag=tag).sentinel("x").parts[0].location.roots(page)
        covered += int(page.size[roots].sum())
        total += page.n
    return covered / total


def _by_size(pages: Sequence[PagePair], classes: int) -> dict[str, list[PagePair]]:
    ordered = sorted(pages, key=lambda page: len(page.sides[0]))
    step = len(ordered) // classes
    found = {}
    for at in range(classes):
        chosen = ordered[at * step : (at + 1) * step]
        mean = sum(len(page.sides[0]) for page in chosen) / len(chosen)
        found[f"{mean / 1e3:.0f} kB"] = chosen
    return found


def _add_tables(report: Report, sweeps: dict[str, dict[str, Race]]) -> None:
    for parameter, races in sweeps.items():
        rows = []
        for value, run in races.items():
            rows.append(
                [
                    value,
                    *(
                        run.samples[name].spread(1e6 / run.sentinels, 1)
                        for name in (GROUPED, ALONE, WEBCQ)
                    ),
                    f"{run.ratio(ALONE, GROUPED):.1f}x",
                    f"{run.ratio(WEBCQ, GROUPED):.1f}x",
                ]
            )
        headings = [parameter, *(f"{name}, us" for name in (GROUPED, ALONE, WEBCQ))]
        headings += ["alone / grouped", "WebCQ-style / grouped"]
        report.tables.append(Table(headings, rows, f"{parameter}; median ± IQR for a sentinel"))
        ratios = [run.ratio(WEBCQ, GROUPED) for run in races.values()]
        report.notes.append(
            f"{parameter}: {min(ratios):.1f} to {max(ratios):.1f} times faster than WebCQ-style; least at "
            f"{min(races, key=lambda value: races[value].ratio(WEBCQ, GROUPED))}"
        )
    for parameter, read in (
        ("group size", _number),
        ("share of pages changed", _number),
        ("page size", _number),
    ):
        _add_figure(report, parameter, sweeps[parameter], read)


def _add_figure(
    report: Report, parameter: str, races: dict[str, Race], read: Callable[[str], float]
) -> None:
    xs = [read(value) for value in races]
    lines = [
        Series(
            name,
            xs,
            [run.samples[name].median * 1e6 / run.sentinels for run in races.values()],
        )
        for name in (GROUPED, ALONE, WEBCQ)
    ]
    report.figures[parameter.replace(" ", "-")] = line_chart(
        f"Time for a sentinel over {parameter}",
        lines,
        {"page size": "kB", "group size": "sentinels"}.get(parameter, "per cent"),
        "microseconds a sentinel",
        log_x=parameter == "group size",
        log_y=True,
    )


def _number(value: str) -> float:
    return float(value.replace(",", "").removesuffix("%").removesuffix(" kB"))


def _add_claim(report: Report, sweeps: dict[str, dict[str, Race]]) -> None:
    """The paper's abstract: an order of magnitude over a wide range of parameters."""
    ratios = {
        f"{parameter} {value}": run.ratio(WEBCQ, GROUPED)
        for parameter, races in sweeps.items()
        for value, run in races.items()
    }
    below = [f"{point} ({ratio:.1f}x)" for point, ratio in ratios.items() if ratio < 10]
    report.goals.append(
        Goal(
            "claim: an order of magnitude faster than WebCQ-style, whatever the parameters",
            ">= 10x",
            f"{min(ratios.values()):.1f}x to {max(ratios.values()):,.1f}x; ten times at "
            f"{len(ratios) - len(below)} of {len(ratios)} points"
            + (f", not at {', '.join(below)}" if below else ""),
            met=not below,
        )
    )


def _add_answers(report: Report, sweeps: dict[str, dict[str, Race]]) -> None:
    runs = [run for races in sweeps.values() for run in races.values()]
    for name in (GROUPED, ALONE, WEBCQ):
        asked = sum(run.asked[name] for run in runs)
        right = asked - sum(run.wrong[name] for run in runs)
        report.right.append(Right(name, right, asked, "as the plain definition, in every pass"))
        report.goals.append(every(f"answers of {name}", right, asked))
