"""TTL: how long something may be cached, given how long it stayed unchanged so far.

A cached copy is wrong from the moment the original changes. So the TTL is a low quantile of
lifetimes, never their mean: the length that a tenth of them do not exceed, by Kaplan and Meier.
Each life counts as the least it can have lasted, between the first and the last capture that show
it; so does one that was there at the first capture, which makes the answer shorter, never longer.

=======================================  ========================================================
seen                                     TTL
=======================================  ========================================================
no change                                a tenth of the time watched, or the default if longer
changes only across long gaps            a tenth of the longest time without one, or the default
                                         if longer
a tenth of lives end within T            T
more than a tenth but less than half     shortest gap between captures x 0.1 / share of lives
end before the next capture              that end within one gap
half or more do, at least three          0: how long it lives is unknown
half or more do, but only one or two,    the default, or the shortest gap between captures if that
or captures are further apart than the   is less
longest TTL
=======================================  ========================================================

All TTLs are rounded down to two digits, so that a cache has few rules; the minimum is one second,
the maximum ``MOST_TTL_S``.
"""

from __future__ import annotations

from quire.display import format_duration
from quire.fragments.lifetime.survival import Lives, kaplan_meier
from quire.fragments.policy import DEFAULT_TTL_S, Policy

#: Longest TTL: one request a day costs little, and the next change is unknown.
MOST_TTL_S = 86_400
#: The share of lives that may be shorter than the TTL.
SHORTER = 0.1
# A part with this share changes at every capture, if it did so at least three times.
_RESTLESS = 0.5
_HABIT = 3


def kept_for(
    lives: Lives,
    *,
    watched_s: float,
    distance_s: float,
    typical_s: float = 0.0,
    most_ttl_s: int = MOST_TTL_S,
) -> Policy:
    """Work out how long something may be cached.

    >>> import numpy as np
    >>> hours = 3600 * np.array([[-np.inf, 0, 2, 3], [2, 3, 8, 9], [8, 9, 9, np.inf]]).T
    >>> found = kept_for(Lives(*hours), watched_s=9 * 3600, distance_s=3600)
    >>> found.ttl_s, found.why
    (7200, 'measured: 10 % change within 2 h')

    Args:
        lives: how long it stayed as it was.
        watched_s: time between the first and the last capture; 0 if there is one.
        distance_s: the shortest gap between two captures.
        typical_s: the median gap, for the reason in words; the shortest by default.
        most_ttl_s: the longest TTL.
    """
    if not watched_s:
        return Policy(min(DEFAULT_TTL_S, most_ttl_s))
    # A value first seen in the last capture says nothing about how long it lives.
    known = lives.ended | (lives.at_least_s > 0)
    curve = kaplan_meier(lives.at_least_s[known], lives.ended[known])
    if not curve.ended:
        is_same = not lives.changed.any()
        # Across long gaps it did change, some time: only the time without one counts.
        same_s = watched_s if is_same else float(lives.at_least_s.max())
        long = max(SHORTER * same_s, DEFAULT_TTL_S)
        why = f"no change in {format_duration(same_s)}"
        more = "" if is_same else "; captures are too far apart to tell when it changed"
        return _measured(_within(long, most_ttl_s), why + more)
    at_once = curve.at(0.0)
    if at_once < SHORTER:
        length = curve.quantile(SHORTER)
        why = f"{100 * SHORTER:.0f} % change within {format_duration(length)}"
        return _measured(_within(length, most_ttl_s), why)
    about = "about " if typical_s > distance_s else ""
    apart = f"{about}{format_duration(max(typical_s, distance_s))} apart"
    share = f"{100 * at_once:.0f} % change between two captures, {apart}"
    if at_once < _RESTLESS:
        return _measured(_within(distance_s * SHORTER / at_once, most_ttl_s), share)
    if curve.ended < _HABIT or distance_s > most_ttl_s:
        why = "too few" if curve.ended < _HABIT else "too far"
        short = min(distance_s, DEFAULT_TTL_S)
        return _measured(_within(short, most_ttl_s), f"{share}: {why} to tell")
    return _measured(0, share)


def _measured(ttl_s: int, reason: str) -> Policy:
    return Policy(ttl_s, source="measured", reason=reason)


def _within(seconds: float, most_ttl_s: int) -> int:
    """Whole seconds within the bounds, rounded down to two digits."""
    whole = max(1, int(min(seconds, most_ttl_s)))
    unit = 10 ** max(0, len(str(whole)) - 2)
    # Hours and days as they are: 3,600 and 86,400 are round enough.
    return whole if whole % 3600 == 0 else whole // unit * unit
