"""How long something may be kept: a low quantile of its lives, within bounds, with the reason in words."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.fragments.caching.ttl import MOST_TTL_S, SHORTER, kept_for
from quire.fragments.lifetime.survival import Lives
from quire.fragments.policy import DEFAULT_TTL_S

HOUR = 3600.0
DAY = 24 * HOUR


def lives_of(times: list[float], changed: list[int]) -> Lives:
    """The lives of something that changed at some of its captures."""
    starts = [0, *changed]
    ends = [*changed, len(times)]
    rows = [
        (
            times[start - 1] if start else -math.inf,
            times[start],
            times[end - 1],
            times[end] if end < len(times) else math.inf,
        )
        for start, end in zip(starts, ends, strict=True)
    ]
    return Lives(*np.array(rows).T)


def kept(times: list[float], changed: list[int], most_ttl_s: int = MOST_TTL_S) -> tuple[int, str]:
    distance = min((b - a for a, b in itertools.pairwise(times)), default=0.0)
    found = kept_for(
        lives_of(times, changed),
        watched_s=times[-1] - times[0],
        distance_s=distance,
        most_ttl_s=most_ttl_s,
    )
    return found.ttl_s, f"{found.source}: {found.reason}"


def hourly(count: int) -> list[float]:
    return [HOUR * number for number in range(count)]


def test_what_nobody_watched_is_kept_as_by_default() -> None:
    assert kept([0.0], []) == (DEFAULT_TTL_S, "default: no history")
    assert kept([0.0], [], most_ttl_s=60) == (60, "default: no history")


def test_what_was_not_seen_to_change_is_kept_for_a_tenth_of_that() -> None:
    assert kept(hourly(101), []) == (10 * HOUR, "measured: no change in 4.2 d")
    # A short watch is no reason to keep it for less than what nobody watched.
    assert kept(hourly(3), []) == (DEFAULT_TTL_S, "measured: no change in 2 h")
    assert kept([0.0, 365 * DAY], []) == (MOST_TTL_S, "measured: no change in 365 d")


def test_the_shortest_lives_count_as_the_least_they_can_have_lasted() -> None:
    # Captured at 0 h to 12 h, changed at 3, 8 and 12 h: seen for 2, 4 and 3 hours at least.
    assert kept(hourly(13), [3, 8, 12]) == (2 * HOUR, "measured: 10 % change within 2 h")


def test_what_changes_at_every_capture_is_not_kept_at_all() -> None:
    seconds, why = kept(hourly(6), [1, 2, 3, 4, 5])

    assert seconds == 0
    assert why == "measured: 100 % change between two captures, 1 h apart"


def test_two_changes_are_no_habit() -> None:
    assert kept([0.0, 30 * DAY], [1]) == (
        DEFAULT_TTL_S,
        "measured: 100 % change between two captures, 30 d apart: too few to tell",
    )
    assert kept([0.0, 60.0], [1])[0] == 60


def test_captures_further_apart_than_anything_is_kept_tell_nothing() -> None:
    months = [30 * DAY * number for number in range(6)]

    assert kept(months, [1, 2, 3, 4, 5]) == (
        DEFAULT_TTL_S,
        "measured: 100 % change between two captures, 30 d apart: too far to tell",
    )
    assert kept(months, [1, 2, 3, 4, 5], most_ttl_s=int(40 * DAY))[0] == 0


def test_between_captures_a_part_of_their_distance_is_kept() -> None:
    # Two of eight lives were shorter than an hour: a tenth of them is within 24 minutes.
    times = hourly(40)
    seconds, why = kept(times, [5, 10, 11, 16, 21, 22, 30])

    assert why == "measured: 25 % change between two captures, 1 h apart"
    assert seconds == 1400


@given(
    st.lists(st.integers(1, 10**7), min_size=1, max_size=40),
    st.sets(st.integers(1, 40)),
    st.integers(1, 10**7),
)
def test_nothing_is_kept_longer_than_most_of_its_lives(
    gaps: list[int], changes: set[int], most: int
) -> None:
    times = [0.0, *np.cumsum(gaps).astype(float).tolist()]
    changed = sorted(one for one in changes if one < len(times))
    seconds, why = kept(times, changed, most_ttl_s=most)

    assert 0 <= seconds <= most
    assert why.startswith("measured: ")
    if changed:
        lives = lives_of(times, changed)
        shorter = (lives.at_least_s[lives.ended] < seconds).sum()
        restless = "between two captures" in why
        assert shorter <= SHORTER * len(lives) or (restless and seconds <= max(min(gaps), 1))


@pytest.mark.parametrize("count", [2, 3, 10])
def test_a_second_is_the_least_that_anything_is_kept(count: int) -> None:
    times = [0.1 * number for number in range(count)]

    assert kept(times, [count - 1])[0] == 1
