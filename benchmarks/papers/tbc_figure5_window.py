"""Figure 5 of paper 003: time and compression ratio against the filter's window, 0 to 14 tokens, and where the time goes.

The paper's claim is that the filter makes Myers' algorithm quicker at some cost in size. A window of 0 is Myers alone.
"""

import statistics
from dataclasses import dataclass

from benchmarks.context import Context
from benchmarks.papers import tbc_runs
from benchmarks.papers.tbc_runs import PARTS, Collection
from benchmarks.plot import Series, line_chart
from benchmarks.report import Report, Right, Table, every
from quire.archive import tbc_encode
from quire.similar import Clusters, random_sampling

WINDOWS = list(range(15))
ROUNDS = 3
#: What the paper uses.
PAPERS = 7


@dataclass(frozen=True, slots=True)
class Point:
    """What a window gives; times are medians over rounds."""

    saved: float
    seconds: float
    parts: list[float]
    kept: float
    edits: int
    shortest: int
    deltas: int
    right: int


def run(context: Context) -> Report:
    """Fill figure 5."""
    found = tbc_runs.collections(context)
    rounds = context.pick(ROUNDS, 1)
    report = Report(
        title="Paper 003, figure 5: time and compression ratio against the window",
        inputs=", ".join(one.words() for one in found),
        method=f"k = 30, m = 100, w = 3, sim = 0.5, seed 0; CPU time of the delta step, medians of {rounds} rounds; parts by the clock on the wall, scaled to it; no gzip",
    )
    curves: dict[str, list[Point]] = {}
    for one in found:
        clusters = random_sampling(one.matrix, seed=0)
        curves[one.name] = [_point(one, clusters, window, rounds) for window in WINDOWS]
        context.say(one.words())
    _sweep(report, curves)
    for corpus, curve in curves.items():
        report.tables.append(_steps(corpus, curve))
    last = list(curves)[-1]
    report.figures["steps"] = line_chart(
        f"Time by step: {last}",
        [
            Series(part, WINDOWS, [point.parts[place] for point in curves[last]])
            for place, part in enumerate(PARTS)
        ],
        "window, tokens",
        "seconds",
    )
    right = sum(point.right for curve in curves.values() for point in curve)
    of = sum(len(one.pages) * len(WINDOWS) for one in found)
    report.right = [Right("quire", right, of, "pages back byte for byte, at every window")]
    report.goals = [every("pages back byte for byte (figure 5)", right, of)]
    report.notes = [
        *(_words(corpus, curve) for corpus, curve in curves.items()),
        "the paper: a small window takes long, a large one costs compression, 4 to 8 are a balance; it used 7",
        "a window of 1 puts aside what only one side has, which no script can copy: the shortest script stays the shortest, and D is smaller",
    ]
    report.data = {
        corpus: [
            {"saved": p.saved, "seconds": p.seconds, **dict(zip(PARTS, p.parts, strict=True))}
            for p in curve
        ]
        for corpus, curve in curves.items()
    }
    return report


def _point(one: Collection, clusters: Clusters, window: int, rounds: int) -> Point:
    runs = [
        tbc_encode(one.pages, clusters=clusters, window=window, packing=None) for _ in range(rounds)
    ]
    stored = runs[0]
    split = [tbc_runs.parts(turn.times) for turn in runs]
    return Point(
        saved=stored.sizes.saved,
        seconds=statistics.median(turn.times.delta for turn in runs),
        parts=[statistics.median(column) for column in zip(*split, strict=True)],
        kept=stored.steps.kept / max(stored.steps.tokens, 1),
        edits=stored.steps.edits,
        shortest=stored.steps.shortest,
        deltas=stored.steps.deltas,
        right=tbc_runs.right(stored, one),
    )


def _sweep(report: Report, curves: dict[str, list[Point]]) -> None:
    for what, label, figure in (
        ("saved", "compression ratio (share saved)", "ratio"),
        ("seconds", "delta step, seconds", "time"),
    ):
        rows = [
            [corpus, *(f"{getattr(point, what):.3f}" for point in curve)]
            for corpus, curve in curves.items()
        ]
        report.tables.append(Table(["corpus", *map(str, WINDOWS)], rows, label))
        series = [
            Series(corpus, WINDOWS, [getattr(point, what) for point in curve])
            for corpus, curve in curves.items()
        ]
        report.figures[figure] = line_chart(
            f"Paper 003, figure 5: {figure}", series, "window, tokens", label
        )


def _steps(corpus: str, curve: list[Point]) -> Table:
    rows = [
        [
            str(window),
            *(f"{seconds * 1e3:,.0f}" for seconds in point.parts),
            f"{point.kept:.1%}",
            f"{point.edits:,}",
            f"{point.shortest:,} / {point.deltas:,}",
        ]
        for window, point in zip(WINDOWS, curve, strict=True)
    ]
    headings = ["window", *(f"{part}, ms" for part in PARTS), "tokens kept", "edits D", "shortest"]
    return Table(headings, rows, f"{corpus}: steps of the delta")


def _words(corpus: str, curve: list[Point]) -> str:
    """What the curves do, as the paper tells its own."""
    none, one, used, last = (curve[window] for window in (0, 1, PAPERS, WINDOWS[-1]))
    quicker = none.seconds > used.seconds
    smaller = none.saved > used.saved > last.saved
    verdict = "as in the paper" if quicker and smaller else "unlike the paper"
    return (
        f"{corpus}: saves {none.saved:.3f} at window 0, {one.saved:.3f} at 1, {used.saved:.3f} at {PAPERS}, {last.saved:.3f} at {WINDOWS[-1]}; "
        f"{none.seconds:.2f} s, {one.seconds:.2f} s, {used.seconds:.2f} s, {last.seconds:.2f} s ({verdict}); "
        f"Myers' part {none.parts[2] * 1e3:,.0f} ms at 0 and {used.parts[2] * 1e3:,.0f} ms at {PAPERS}, where the filter takes {used.parts[1] * 1e3:,.0f} ms"
    )
