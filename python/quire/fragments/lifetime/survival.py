"""Lives: how long something stayed as it was, as far as captures can tell.

A change is seen at the first capture that shows it, and happened at some time since the capture before. So a life has two bounds, and one
that began before the first capture or goes on after the last is *censored*: it lasted at least as long as it was seen.

Curves are Kaplan and Meier's: of all lives that were as long, the share that ended then; a life that goes on counts as long as it was seen,
and not as one that ended. Lives whose beginning was not seen are left out of curves: long ones would be among them more often than they
should, and their age is not known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Lives:
    """Lives as columns; times in seconds since 1970.

    Attributes:
        after: the last capture before it was there; minus infinity where it was there from the first one on.
        first: the first capture that shows it.
        last: the last one.
        until: the first capture after that, without it; infinity where it goes on.
    """

    after: NDArray[np.float64]
    first: NDArray[np.float64]
    last: NDArray[np.float64]
    until: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.first)

    @property
    def begun(self) -> NDArray[np.bool_]:
        """Which ones were seen to begin; the others are censored on the left."""
        return np.isfinite(self.after)

    @property
    def ended(self) -> NDArray[np.bool_]:
        """Which ones were seen to end; the others are censored on the right."""
        return np.isfinite(self.until)

    @property
    def seconds(self) -> NDArray[np.float64]:
        """From the capture that showed the beginning to the one that showed the end, or to the last one."""
        return np.where(self.ended, self.until, self.last) - self.first

    @property
    def at_least_s(self) -> NDArray[np.float64]:
        """Between the first and the last capture that show it."""
        return self.last - self.first

    @property
    def at_most_s(self) -> NDArray[np.float64]:
        """Between the captures around those; infinity where it is censored."""
        return self.until - self.after

    def curve(self) -> Curve:
        """The distribution of these lives, by Kaplan and Meier, of those that were seen to begin."""
        begun = self.begun
        return kaplan_meier(self.seconds[begun], self.ended[begun])

    @classmethod
    def between(cls, times: NDArray[np.float64], changed: Sequence[int]) -> Lives:
        """The lives of something that every capture shows, between its changes.

        >>> Lives.between(np.array([0.0, 60, 120, 180]), [2]).seconds.tolist()
        [120.0, 60.0]

        Args:
            times: when captures were made, ascending.
            changed: places of those that show another than the one before, ascending; never the first.
        """
        starts = np.array([0, *changed])
        before = np.concatenate([[-np.inf], times[starts[1:] - 1]])
        last = np.concatenate([times[starts[1:] - 1], times[-1:]])
        until = np.concatenate([times[starts[1:]], [np.inf]])
        return cls(before, times[starts], last, until)

    @classmethod
    def joined(cls, lives: list[Lives]) -> Lives:
        """Put the lives of several things together."""
        columns = (
            np.concatenate([np.empty(0), *(getattr(one, name) for one in lives)])
            for name in cls.__slots__
        )
        return cls(*columns)


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A distribution of lives that some are still to end of: the share that has ended, rising in steps.

    Attributes:
        seconds: lengths at which lives ended, ascending.
        cumulative: share of lives that are no longer than each.
        lives: how many there were.
        ended: how many of them were seen to end.
    """

    seconds: NDArray[np.float64]
    cumulative: NDArray[np.float64]
    lives: int
    ended: int

    def at(self, seconds: float) -> float:
        """The share of lives that are no longer than this."""
        place = int(np.searchsorted(self.seconds, seconds, side="right"))
        return float(self.cumulative[place - 1]) if place else 0.0

    def quantile(self, share: float) -> float:
        """The length that this share of lives does not exceed; infinity when fewer were seen to end.

        >>> curve = kaplan_meier([60, 120, 180, 240], [True, True, True, False])
        >>> curve.quantile(0.5), curve.quantile(0.9)
        (120.0, inf)

        Raises:
            ValueError: a share is not between 0 and 1.
        """
        if not 0 <= share <= 1:
            raise ValueError(f"share {share}: between 0 and 1")
        # 1e-12: a third, three times, is not one.
        place = int(np.searchsorted(self.cumulative, share - 1e-12))
        return float(self.seconds[place]) if place < len(self.seconds) else math.inf


def kaplan_meier(seconds: ArrayLike, ended: ArrayLike) -> Curve:
    """Estimate how lives are distributed, when some were not seen to end.

    >>> curve = kaplan_meier([10, 20, 30], [True, False, True])
    >>> [round(share, 3) for share in curve.cumulative.tolist()]
    [0.333, 1.0]

    Args:
        seconds: how long each was seen.
        ended: whether it ended then.

    Raises:
        ValueError: there is not one of both for each, or a length is negative.
    """
    lengths, events = np.asarray(seconds, np.float64), np.asarray(ended, np.bool_)
    if lengths.shape != events.shape or lengths.ndim != 1:
        raise ValueError(
            f"{lengths.size} lengths and {events.size} ends: one of both for each life"
        )
    if not (lengths >= 0).all():
        raise ValueError("a life is 0 seconds long or longer")
    steps, place = np.unique(lengths, return_inverse=True)
    deaths = np.bincount(place[events], minlength=len(steps))
    # All that were at least as long as each step were there to end at it.
    there = np.cumsum(np.bincount(place, minlength=len(steps))[::-1])[::-1]
    alive = np.cumprod(1 - deaths / np.maximum(there, 1), dtype=np.float64)
    happened = deaths > 0
    return Curve(steps[happened], 1 - alive[happened], len(lengths), int(events.sum()))
