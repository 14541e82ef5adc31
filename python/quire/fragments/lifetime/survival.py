"""Survival: lifetimes measured from captures, and their Kaplan-Meier curves.

A *life* is a time during which something did not change. A change becomes visible at the first
capture that shows it; it happened at some time since the capture before. So each life has a lower
and an upper bound. A life that began before the first capture, or continues after the last one, is
*censored*: it lasted at least as long as it was observed.

Captures are often uneven: daily for a month, then none for half a year. A change across such a gap
tells nearly nothing about a lifetime: there may have been many. So a gap of more than
``MOST_UNEVEN`` times the median one is censored too (``capture_spans``), whether something changed
in it or not: a life that meets it counts as one that continues, and what comes after it as a life
whose beginning was not observed.

Rates are counted: changes in the spans, per time watched in them. Changes that follow each other
between two captures are missed, so a count is too low if captures are sparse. ``Lives.rate``
corrects that by maximum likelihood for interval-censored data; where the two differ by more than a
factor of ``MOST_MISSED``, the captures cannot tell the rate (``is_rate_known``).

Curves are Kaplan-Meier estimates: for each length, the share of lives that ended at that length
among all that lasted at least as long. A life that continues counts for as long as it was observed,
but not as an end. Lives whose beginning was not observed are left out: their age is unknown, and
long lives would be overrepresented among them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quire.fragments.lifetime.capture_spans import longest_gap_s

#: A rate is known if the number of changes that were probably missed makes it at most this many
#: times the one that was counted.
MOST_MISSED = 1.5
# Infinite gaps are never observed.
_FINITE = np.finfo(np.float64).max
_MOST_EXPONENT = 700.0


@dataclass(frozen=True, slots=True, eq=False)
class Lives:
    """Lives as columns; times are in seconds since 1970.

    Attributes:
        after: the last capture before it appeared; minus infinity if the first capture has it.
        first: the first capture that shows it.
        last: the last capture that shows it.
        until: the next capture, which no longer shows it; infinity if it continues.
        longest_gap_s: the longest time between two captures that tells when a life begins or ends;
            infinity by default.
    """

    after: NDArray[np.float64]
    first: NDArray[np.float64]
    last: NDArray[np.float64]
    until: NDArray[np.float64]
    longest_gap_s: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        if not len(self.longest_gap_s):
            object.__setattr__(self, "longest_gap_s", np.full(len(self.first), np.inf))

    def __len__(self) -> int:
        return len(self.first)

    @property
    def begun(self) -> NDArray[np.bool_]:
        """Which lives have an observed beginning; the others are left-censored."""
        return self.first - self.after <= np.minimum(self.longest_gap_s, _FINITE)

    @property
    def ended(self) -> NDArray[np.bool_]:
        """Which lives have an observed end; the others are right-censored."""
        return self.until - self.last <= np.minimum(self.longest_gap_s, _FINITE)

    @property
    def changed(self) -> NDArray[np.bool_]:
        """Which lives are over, even if the gap in which they ended is too long to tell when."""
        return np.isfinite(self.until)

    def rate(self) -> float | None:
        """Estimate the changes per second from the captures in spans.

        The maximum likelihood estimate if lifetimes are exponential: between two captures that are
        g seconds apart, something changed with probability 1 - exp(-rate g). None if there was a
        change between all captures: then the rate may be anything above that of the captures.

        >>> times = np.array([0.0, 60, 120, 180, 240])
        >>> round(Lives.between(times, [2]).rate() * 60, 4)
        0.2877
        >>> Lives.between(times, [1, 2, 3, 4]).rate() is None
        True
        """
        gaps = (self.until - self.last)[self.ended]
        same_s = float(self.at_least_s.sum())
        if not len(gaps):
            return 0.0
        if not same_s:
            return None
        # g / (exp(rate g) - 1) is between 1 / rate - g and 1 / rate.
        low, high = len(gaps) / (same_s + gaps.sum()), len(gaps) / same_s
        while high - low > 1e-9 * high:
            middle = (low + high) / 2
            expected = float((gaps / np.expm1(np.minimum(middle * gaps, _MOST_EXPONENT))).sum())
            low, high = (middle, high) if expected > same_s else (low, middle)
        return float(low + high) / 2

    @property
    def is_rate_known(self) -> bool:
        """Whether captures are dense enough to count changes: few are missed between them."""
        counted, rate = int((self.ended & self.changed).sum()), self.rate()
        watched_s = float(self.seconds.sum())
        if not self.changed.any():
            return watched_s > 0
        return rate is not None and counted > 0 and rate * watched_s <= MOST_MISSED * counted

    @property
    def seconds(self) -> NDArray[np.float64]:
        """Time from the first capture of each life to the capture that showed its end.

        If the end was not observed, to the last capture.
        """
        return np.where(self.ended, self.until, self.last) - self.first

    @property
    def at_least_s(self) -> NDArray[np.float64]:
        """Lower bounds: time between the first and the last capture that show it."""
        return self.last - self.first

    @property
    def at_most_s(self) -> NDArray[np.float64]:
        """Upper bounds: time between the captures before and after; infinity if censored."""
        return self.until - self.after

    def curve(self) -> Curve:
        """Return the Kaplan-Meier curve of the lives with an observed beginning."""
        begun = self.begun
        return kaplan_meier(self.seconds[begun], self.ended[begun])

    @classmethod
    def between(cls, times: NDArray[np.float64], changed: Sequence[int]) -> Lives:
        """Return the lives between the changes of something that every capture shows.

        >>> Lives.between(np.array([0.0, 60, 120, 180]), [2]).seconds.tolist()
        [120.0, 60.0]

        Args:
            times: capture times, in ascending order.
            changed: indexes of the captures that show a change, in ascending order; never 0.
        """
        starts = np.array([0, *changed])
        before = np.concatenate([[-np.inf], times[starts[1:] - 1]])
        last = np.concatenate([times[starts[1:] - 1], times[-1:]])
        until = np.concatenate([times[starts[1:]], [np.inf]])
        longest = longest_gap_s(times)
        whole = cls(before, times[starts], last, until, np.full(len(starts), longest))
        return whole.split(times)

    def split(self, times: NDArray[np.float64]) -> Lives:
        """Return the lives divided where they meet a gap between captures that is too long.

        Args:
            times: capture times, in ascending order.
        """
        gap = np.diff(times)
        rows = []
        columns = (self.after, self.first, self.last, self.until, self.longest_gap_s)
        for after, first, last, until, longest in zip(
            *(one.tolist() for one in columns), strict=True
        ):
            start, end = np.searchsorted(times, (first, last)).tolist()
            edges = (np.flatnonzero(gap[start:end] > longest) + start).tolist()
            begins = [first, *(float(times[edge + 1]) for edge in edges)]
            ends = [*(float(times[edge]) for edge in edges), last]
            for number, (begin, stop) in enumerate(zip(begins, ends, strict=True)):
                before = after if number == 0 else -math.inf
                then = until if number == len(edges) else math.inf
                rows.append((before, begin, stop, then, longest))
        return Lives(*np.array(rows, np.float64).reshape(-1, 5).T)

    @classmethod
    def joined(cls, lives: list[Lives]) -> Lives:
        """Concatenate several sets of lives."""
        columns = (
            np.concatenate([np.empty(0), *(getattr(one, name) for one in lives)])
            for name in cls.__slots__
        )
        return cls(*columns)


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A Kaplan-Meier estimate: the share of lives that ended by each length, as a step function.

    Attributes:
        seconds: lengths at which lives ended, in ascending order.
        cumulative: share of lives that are at most that long.
        lives: number of lives.
        ended: number of lives with an observed end.
    """

    seconds: NDArray[np.float64]
    cumulative: NDArray[np.float64]
    lives: int
    ended: int

    def at(self, seconds: float) -> float:
        """Return the share of lives that are at most this long."""
        place = int(np.searchsorted(self.seconds, seconds, side="right"))
        return float(self.cumulative[place - 1]) if place else 0.0

    def quantile(self, share: float) -> float:
        """Return the length that this share of lives does not exceed.

        Returns infinity if a smaller share was observed to end.

        >>> curve = kaplan_meier([60, 120, 180, 240], [True, True, True, False])
        >>> curve.quantile(0.5), curve.quantile(0.9)
        (120.0, inf)

        Raises:
            ValueError: the share is not between 0 and 1.
        """
        if not 0 <= share <= 1:
            raise ValueError(f"share {share}: expected 0 to 1")
        # 1e-12 absorbs rounding: three times a third is not exactly one.
        place = int(np.searchsorted(self.cumulative, share - 1e-12))
        return float(self.seconds[place]) if place < len(self.seconds) else math.inf


def kaplan_meier(seconds: ArrayLike, ended: ArrayLike) -> Curve:
    """Estimate the distribution of lives of which some have no observed end.

    >>> curve = kaplan_meier([10, 20, 30], [True, False, True])
    >>> [round(share, 3) for share in curve.cumulative.tolist()]
    [0.333, 1.0]

    Args:
        seconds: how long each life was observed.
        ended: whether each life ended then.

    Raises:
        ValueError: the two differ in length, or a life has a negative length.
    """
    lengths, events = np.asarray(seconds, np.float64), np.asarray(ended, np.bool_)
    if lengths.shape != events.shape or lengths.ndim != 1:
        raise ValueError(
            f"{lengths.size} lengths and {events.size} ends: expected one of each per life"
        )
    if not (lengths >= 0).all():
        raise ValueError(f"life of {lengths.min():g} s: expected 0 or more")
    steps, place = np.unique(lengths, return_inverse=True)
    deaths = np.bincount(place[events], minlength=len(steps))
    # The lives at risk at each step: all that lasted at least as long.
    there = np.cumsum(np.bincount(place, minlength=len(steps))[::-1])[::-1]
    alive = np.cumprod(1 - deaths / np.maximum(there, 1), dtype=np.float64)
    happened = deaths > 0
    return Curve(steps[happened], 1 - alive[happened], len(lengths), int(events.sum()))
