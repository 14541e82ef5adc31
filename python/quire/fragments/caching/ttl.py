"""Keeping: for how long something may be kept, given how long it lived so far.

A cached copy is wrong from the moment that the original changes, so the time is a low quantile of lives, and never their mean: the
length that a tenth of them do not exceed, by Kaplan and Meier. Each life counts as the least it can have lasted, between the first and the last
capture that show it; so does one that was there from the first capture on, which makes the answer shorter and never longer.

=======================================  ========================================================
what was seen                            kept for
=======================================  ========================================================
no change                                a tenth of the time watched, or as by default if longer
a tenth of lives are over within T       T
more than a tenth, but not half, are     a part of the shortest distance of captures: as large as a tenth is of
over before the next capture             their share
half or more are, three at least         0: nobody knows how long it lives
half or more are, but these are one      as by default, or for the shortest distance of captures if that is less
or two, or captures are so far apart
that nothing is kept that long
=======================================  ========================================================

All is rounded down to two digits, so that a cache has few rules, and is a second at least and ``MOST_TTL_S`` at most.
"""

from __future__ import annotations

from dataclasses import dataclass

from quire.display import format_duration
from quire.fragments.lifetime.survival import Lives, kaplan_meier
from quire.fragments.policy import DEFAULT_TTL_S, NO_HISTORY, PolicySource

#: What may be kept longer is fetched once a day all the same: that costs little, and nobody saw the next change.
MOST_TTL_S = 86_400
#: The share of lives that may be shorter.
SHORTER = 0.1
# From here on a part is one that changes at every capture; fewer than three changes are no habit.
_RESTLESS = 0.5
_HABIT = 3


@dataclass(frozen=True, slots=True)
class Kept:
    """How long something may be kept.

    Attributes:
        ttl_s: seconds.
        source: whether captures were compared to find this out.
        reason: what was seen, in words.
    """

    ttl_s: int
    source: PolicySource
    reason: str


def kept_for(
    lives: Lives, *, watched_s: float, distance_s: float, most_ttl_s: int = MOST_TTL_S
) -> Kept:
    """Say for how long something may be kept.

    >>> import numpy as np
    >>> hours = 3600 * np.array([[-np.inf, 0, 2, 3], [2, 3, 8, 9], [8, 9, 9, np.inf]]).T
    >>> kept_for(Lives(*hours), watched_s=9 * 3600, distance_s=3600)
    Kept(ttl_s=7200, source='measured', reason='10 % change within 2 h')

    Args:
        lives: how long it stayed as it was.
        watched_s: for how long it was watched; 0 is that nobody did.
        distance_s: the shortest time between two captures.
        most_ttl_s: nothing is kept longer.
    """
    if not watched_s:
        return Kept(min(DEFAULT_TTL_S, most_ttl_s), "default", NO_HISTORY)
    # What the last capture shows for the first time says nothing about how long it lives.
    telling = lives.ended | (lives.at_least_s > 0)
    curve = kaplan_meier(lives.at_least_s[telling], lives.ended[telling])
    if not curve.ended:
        long = max(SHORTER * watched_s, DEFAULT_TTL_S)
        return _measured(_within(long, most_ttl_s), f"no change in {format_duration(watched_s)}")
    at_once = curve.at(0.0)
    if at_once < SHORTER:
        length = curve.quantile(SHORTER)
        why = f"{100 * SHORTER:.0f} % change within {format_duration(length)}"
        return _measured(_within(length, most_ttl_s), why)
    share = (
        f"{100 * at_once:.0f} % change between two captures, {format_duration(distance_s)} apart"
    )
    if at_once < _RESTLESS:
        return _measured(_within(distance_s * SHORTER / at_once, most_ttl_s), share)
    if curve.ended < _HABIT or distance_s > most_ttl_s:
        why = "too few" if curve.ended < _HABIT else "too far"
        short = min(distance_s, DEFAULT_TTL_S)
        return _measured(_within(short, most_ttl_s), f"{share}: {why} to tell")
    return _measured(0, share)


def _measured(ttl_s: int, reason: str) -> Kept:
    return Kept(ttl_s, "measured", reason)


def _within(seconds: float, most_ttl_s: int) -> int:
    """Whole seconds within the bounds, rounded down to two digits."""
    whole = max(1, int(min(seconds, most_ttl_s)))
    unit = 10 ** max(0, len(str(whole)) - 2)
    # Hours and days as they are: 3,600 and 86,400 are round enough.
    return whole if whole % 3600 == 0 else whole // unit * unit
