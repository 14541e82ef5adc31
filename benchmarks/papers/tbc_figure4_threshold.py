"""Figure 4 of paper 003: time and compression ratio of the delta step against the threshold of similarity, 0.1 to 0.9.

The compression ratio is the share of bytes that is saved, as in the paper (its peak is 0.73), without gzip.
The paper's window of 7 tokens; beside it Myers' algorithm alone (window 0), for its claim that the filter keeps the time down where pages of a
cluster are less alike.
"""

import statistics
from dataclasses import dataclass

from benchmarks.context import Context
from benchmarks.papers import tbc_runs
from benchmarks.papers.tbc_runs import Collection
from benchmarks.plot import Series, line_chart
from benchmarks.report import Report, Right, Table, every
from quire.archive import tbc_encode
from quire.similar import random_sampling

THRESHOLDS = [step / 10 for step in range(1, 10)]
SEEDS = 5
#: Where the paper's ratio peaks, and its height.
PEAK, HEIGHT = 0.5, 0.73


@dataclass(frozen=True, slots=True)
class Point:
    """What a threshold gives: medians over seeds."""

    saved: float
    seconds: float
    alone_seconds: float
    coverage: float
    right: int
    of: int


def run(context: Context) -> Report:
    """Fill figure 4."""
    found = tbc_runs.collections(context)
    seeds = context.pick(SEEDS, 1)
    report = Report(
        title="Paper 003, figure 4: time and compression ratio against the threshold",
        inputs=", ".join(one.words() for one in found),
        method=f"k = 30, m = 100, w = 3, window 7; CPU time of the delta step; medians of {seeds} seeds, Myers alone once; no gzip",
    )
    curves: dict[str, list[Point]] = {}
    for one in found:
        curves[one.name] = [_point(one, sim, seeds) for sim in THRESHOLDS]
        context.say(one.words())
    for what, name in (
        ("saved", "compression ratio (share saved)"),
        ("seconds", "delta step, seconds"),
        ("alone_seconds", "the same by Myers alone (window 0), seconds"),
        ("coverage", "coverage rate"),
    ):
        rows = [
            [corpus, *(f"{getattr(point, what):.3f}" for point in curve)]
            for corpus, curve in curves.items()
        ]
        headings = ["corpus", *(f"{sim:g}" for sim in THRESHOLDS)]
        report.tables.append(Table(headings, rows, name))
    for what, label in (("saved", "compression ratio"), ("seconds", "seconds")):
        series = [
            Series(corpus, THRESHOLDS, [getattr(point, what) for point in curve])
            for corpus, curve in curves.items()
        ]
        report.figures["ratio" if what == "saved" else "time"] = line_chart(
            f"Paper 003, figure 4: {label}", series, "similarity threshold", label
        )
    right = sum(point.right for curve in curves.values() for point in curve)
    of = sum(point.of for curve in curves.values() for point in curve)
    report.right = [Right("quire", right, of, "pages back byte for byte, at every threshold")]
    report.goals = [every("pages back byte for byte (figure 4)", right, of)]
    report.tables.insert(0, _verdict(curves))
    report.notes = [
        _judged(curves),
        _time_judged(curves),
        *(_words(corpus, curve) for corpus, curve in curves.items()),
        f"the paper: the ratio peaks with {HEIGHT} at {PEAK}, since below pages of a cluster have little in common and above many have no template; the time rises less than linearly as the threshold falls",
    ]
    report.data = {
        corpus: [{"saved": p.saved, "seconds": p.seconds, "alone": p.alone_seconds} for p in curve]
        for corpus, curve in curves.items()
    }
    return report


def _point(one: Collection, sim: float, seeds: int) -> Point:
    runs = []
    right = 0
    for seed in range(seeds):
        clusters = random_sampling(one.matrix, sim=sim, seed=seed)
        runs.append(tbc_encode(one.pages, clusters=clusters, packing=None))
        right += tbc_runs.right(runs[-1], one)
    alone = tbc_encode(one.pages, clusters=runs[0].clusters, window=0, packing=None)
    right += tbc_runs.right(alone, one)
    return Point(
        saved=statistics.median(stored.sizes.saved for stored in runs),
        seconds=statistics.median(stored.times.delta for stored in runs),
        alone_seconds=alone.times.delta,
        coverage=statistics.median(stored.clusters.coverage for stored in runs),
        right=right,
        of=len(one.pages) * (seeds + 1),
    )


def _words(corpus: str, curve: list[Point]) -> str:
    """What the curves do, as the paper tells its own."""
    best = max(range(len(curve)), key=lambda place: curve[place].saved)
    first, last = curve[0], curve[-1]
    if 0 < best < len(curve) - 1:
        shape = "a peak inside, as in the paper"
    else:
        shape = "no peak inside, unlike the paper"
    half = curve[THRESHOLDS.index(PEAK)]
    return (
        f"{corpus}: saves {first.saved:.2f} at 0.1, at most {curve[best].saved:.2f} at {THRESHOLDS[best]:g}, {last.saved:.2f} at 0.9 ({shape}); "
        f"{half.saved:.2f} at {PEAK}; from {PEAK} down to 0.1 the time grows {first.seconds / half.seconds:.1f} times. "
        f"Myers alone takes {half.alone_seconds / half.seconds:.1f} times as long as the filter with Myers at {PEAK}, {first.alone_seconds / first.seconds:.1f} times at 0.1"
    )


def _best(curve: list[Point]) -> int:
    return max(range(len(curve)), key=lambda place: curve[place].saved)


def _verdict(curves: dict[str, list[Point]]) -> Table:
    """The paper's claim on each collection: is 0.5 the best threshold, and what does it cost if not?"""
    half = THRESHOLDS.index(PEAK)
    rows = []
    for corpus, curve in curves.items():
        best = _best(curve)
        rows.append(
            [
                corpus,
                f"{THRESHOLDS[best]:g}",
                f"{curve[best].saved:.3f}",
                f"{curve[half].saved:.3f}",
                f"{curve[best].saved - curve[half].saved:.3f}",
                "holds" if best == half else "does not hold",
            ]
        )
    headings = ["corpus", "best threshold", "saved there", f"saved at {PEAK}", "lost", "claim"]
    return Table(headings, rows, f"verdict: the paper says that {PEAK} saves most, {HEIGHT}")


def _time_judged(curves: dict[str, list[Point]]) -> str:
    """The paper: "the time doesn't increase linearly with the descending of similarity threshold".

    The curve bends down if the lower half of the thresholds adds no more time than the upper half.
    """
    half = THRESHOLDS.index(PEAK)
    bends = sum(
        curve[0].seconds - curve[half].seconds <= curve[half].seconds - curve[-1].seconds
        for curve in curves.values()
    )
    alone = [curve[0].alone_seconds / curve[0].seconds for curve in curves.values()]
    return (
        f"time: it rises less from {PEAK} to 0.1 than from 0.9 to {PEAK} on {bends} of {len(curves)} collections;"
        f" at 0.1 the filter makes Myers {min(alone):.1f} to {max(alone):.1f} times faster"
    )


def _judged(curves: dict[str, list[Point]]) -> str:
    half = THRESHOLDS.index(PEAK)
    holds = sum(_best(curve) == half for curve in curves.values())
    inside = sum(0 < _best(curve) < len(curve) - 1 for curve in curves.values())
    lost = [curve[_best(curve)].saved - curve[half].saved for curve in curves.values()]
    height = max(curve[half].saved for curve in curves.values())
    return (
        f"{PEAK} is the best threshold on {holds} of {len(curves)} collections and loses {min(lost):.3f} to {max(lost):.3f}"
        f" of the bytes; a peak between 0.1 and 0.9 is on {inside}; the paper's height of {HEIGHT} is reached on none"
        f" (at most {height:.2f} at {PEAK})"
    )
