"""Timing: every rival on the same inputs, in the same minutes, in one process.

Other work on the machine moves absolute speeds by half and more, so nothing
here times one library and then the next. Rounds are interleaved: each round
runs every case once, beginning with another one each time, and ratios are
taken inside a round before the median over rounds.

Three choices worth knowing before changing this file:

* The clock is the CPU time of the whole process. A library that starts threads
  of its own pays for them, and a busy neighbour does not count. A rival that is a
  command has the CPU time of finished children, so that it does not pay for our starting it.
* The garbage collector is off while a case runs and runs between rounds.
* What a case returns is freed after its clock has stopped; a case that loops
  over pages frees each of them inside, as a user's loop would.
"""

import gc
import math
import resource
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

Clock = Callable[[], float]
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Samples:
    """The seconds one case took, one figure a round."""

    seconds: tuple[float, ...]

    @property
    def best(self) -> float:
        """The smallest figure."""
        return min(self.seconds)

    @property
    def median(self) -> float:
        """The middle figure."""
        return statistics.median(self.seconds)

    @property
    def iqr(self) -> float:
        """The distance between the quartiles."""
        if len(self.seconds) < 2:
            return 0.0
        low, _, high = statistics.quantiles(self.seconds, n=4, method="inclusive")
        return high - low

    def spread(self, scale: float, digits: int = 2) -> str:
        """Median ± IQR, multiplied by ``scale`` (1e3 for milliseconds)."""
        return f"{self.median * scale:.{digits}f} ± {self.iqr * scale:.{digits}f}"


def interleaved(
    cases: Mapping[str, Callable[[], object]],
    rounds: int,
    clock: Clock = time.process_time,
    clocks: Mapping[str, Clock] | None = None,
) -> dict[str, Samples]:
    """Run every case once a round, after one round that does not count; ``clocks`` are of single cases."""
    names = list(cases)
    clock_of = {name: (clocks or {}).get(name, clock) for name in names}
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for name in names:
        cases[name]()
    for turn in range(rounds):
        gc.collect()
        gc.disable()
        try:
            for name in _rotated(names, turn):
                case, now = cases[name], clock_of[name]
                start = now()
                result = case()
                seconds[name].append(now() - start)
                del result
        finally:
            gc.enable()
    return {name: Samples(tuple(values)) for name, values in seconds.items()}


def best_for_each(
    items: Sequence[Item],
    cases: Mapping[str, Callable[[Item], object]],
    rounds: int,
    clock: Clock = time.process_time,
) -> dict[str, list[float]]:
    """For each item and case the smallest of ``rounds`` figures, cases in turn on one item.

    Flattering, since the branch predictor has seen the item; what it is good
    for is the ratio on a single page.
    """
    names = list(cases)
    best: dict[str, list[float]] = {name: [] for name in names}
    for item in items:
        smallest = dict.fromkeys(names, math.inf)
        gc.collect(0)
        gc.disable()
        try:
            for turn in range(rounds):
                for name in _rotated(names, turn):
                    case = cases[name]
                    start = clock()
                    result = case(item)
                    smallest[name] = min(smallest[name], clock() - start)
                    del result
        finally:
            gc.enable()
        for name in names:
            best[name].append(smallest[name])
    return best


def children_time() -> float:
    """CPU time of all child processes that have ended: the clock of a rival that is a command."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def best_of(case: Callable[[], object], rounds: int, clock: Clock = time.process_time) -> float:
    """The smallest of ``rounds`` figures of one case."""
    return interleaved({"": case}, rounds, clock)[""].best


def round_ratio(slow: Samples, fast: Samples) -> float:
    """How many times faster ``fast`` was: the median of the ratios inside each round."""
    return statistics.median(
        a / b for a, b in zip(slow.seconds, fast.seconds, strict=True) if b > 0
    )


def percentile(values: Sequence[float], percent: float) -> float:
    """The value below which ``percent`` of the values lie, by linear interpolation."""
    ordered = sorted(values)
    place = (len(ordered) - 1) * percent / 100
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


@dataclass(frozen=True, slots=True)
class Fit:
    """A straight line through points: ``y = slope * x + offset``."""

    slope: float
    offset: float
    r2: float


def fit_line(xs: Sequence[float], ys: Sequence[float]) -> Fit:
    """Least squares; ``r2`` is the share of the variance the line explains."""
    mean_x, mean_y = statistics.fmean(xs), statistics.fmean(ys)
    square = sum((x - mean_x) ** 2 for x in xs)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True)) / square
    offset = mean_y - slope * mean_x
    total = sum((y - mean_y) ** 2 for y in ys)
    rest = sum((y - slope * x - offset) ** 2 for x, y in zip(xs, ys, strict=True))
    return Fit(slope, offset, 1 - rest / total if total else 1.0)


def growth_exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """The k of ``seconds ~ size ** k``, by least squares on the logarithms; 1 is linear."""
    return fit_line(
        [math.log(size) for size in sizes], [math.log(max(s, 1e-9)) for s in seconds]
    ).slope


def _rotated(names: list[str], turn: int) -> list[str]:
    shift = turn % len(names)
    return names[shift:] + names[:shift]
