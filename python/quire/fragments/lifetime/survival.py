"""Survival: lifetimes measured from captures, and their Kaplan-Meier curves.

A *life* is a time during which something did not change. A change becomes visible at the first
capture that shows it; it happened at some time since the capture before. So each life has a lower
and an upper bound. A life that began before the first capture, or continues after the last one, is
*censored*: it lasted at least as long as it was observed.

Curves are Kaplan-Meier estimates: for each length, the share of lives that ended at that length
among all that lasted at least as long. A life that continues counts for as long as it was observed,
but not as an end. Lives whose beginning was not observed are left out: their age is unknown, and
long lives would be overrepresented among them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Lives:
    """Lives as columns; times are in seconds since 1970.

    Attributes:
        after: the last capture before it appeared; minus infinity if the first capture has it.
        first: the first capture that shows it.
        last: the last capture that shows it.
        until: the next capture, which no longer shows it; infinity if it continues.
    """

    after: NDArray[np.float64]
    first: NDArray[np.float64]
    last: NDArray[np.float64]
    until: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.first)

    @property
    def begun(self) -> NDArray[np.bool_]:
        """Which lives have an observed beginning; the others are left-censored."""
        return np.isfinite(self.after)

    @property
    def ended(self) -> NDArray[np.bool_]:
        """Which lives have an observed end; the others are right-censored."""
        return np.isfinite(self.until)

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
        return cls(before, times[starts], last, until)

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
