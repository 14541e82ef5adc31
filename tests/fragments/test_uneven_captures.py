"""Uneven captures: gaps are censored, so they tell the same as dense captures, or that they cannot tell."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import quire
from quire.fragments import lifetimes, site_of
from quire.fragments.caching.ttl import kept_for
from quire.fragments.lifetime.capture_spans import capture_spans
from quire.fragments.lifetime.survival import Lives

HOUR, DAY = 3600.0, 86_400.0


def watched(ends: NDArray[np.float64], times: NDArray[np.float64]) -> Lives:
    """What captures show of something that changed at these times."""
    content = np.searchsorted(ends, times, side="right")
    return Lives.between(times, (np.flatnonzero(np.diff(content)) + 1).tolist())


def every(gap: float, start: float, end: float) -> NDArray[np.float64]:
    return np.arange(start, end, gap)


def schedules(end: float) -> dict[str, NDArray[np.float64]]:
    drawn = np.random.default_rng(7)
    return {
        "dense": every(HOUR, 0, end),
        "with a hole": np.concatenate([every(HOUR, 0, end / 6), every(HOUR, end - end / 6, end)]),
        "bursts": np.concatenate([every(HOUR, at, at + 4 * DAY) for at in every(60 * DAY, 0, end)]),
        "uneven": np.cumsum(drawn.exponential(2 * HOUR, int(end / (2 * HOUR)))),
        "sparse": every(5 * DAY, 0, end),
    }


def counted(lives: Lives) -> float:
    return float(lives.ended.sum() / lives.seconds.sum())


@pytest.mark.parametrize("mean", [10 * HOUR, 2 * DAY])
@pytest.mark.parametrize("name", list(schedules(DAY)))
def test_a_known_rate_is_found_or_said_to_be_unknown(name: str, mean: float) -> None:
    end = 4000 * DAY
    ends = np.cumsum(np.random.default_rng(3).exponential(mean, int(2 * end / mean)))
    lives = watched(ends, schedules(end)[name])

    if lives.is_rate_known:
        assert counted(lives) == pytest.approx(1 / mean, rel=0.25)
        rate = lives.rate()
        assert rate is not None
        assert rate == pytest.approx(1 / mean, rel=0.15)
        # Half of all lives last 0.69 of the mean.
        assert lives.curve().quantile(0.5) == pytest.approx(0.69 * mean, rel=0.25)
    else:
        assert name == "sparse", "captures are further apart than changes"


def test_a_change_across_half_a_year_is_no_lifetime() -> None:
    # Changes every ten hours, hourly captures for five days, and again half a year later.
    times = np.concatenate([every(HOUR, 0, 5 * DAY), every(HOUR, 180 * DAY, 185 * DAY)])
    ends = every(10 * HOUR, 0.5 * HOUR, 190 * DAY)
    lives = watched(ends, times)
    dense = watched(ends, every(HOUR, 0, 10 * DAY))

    assert lives.changed.sum() == lives.ended.sum() + 1
    assert max(lives.seconds) <= 10 * HOUR
    assert lives.curve().quantile(0.9) == dense.curve().quantile(0.9) == 10 * HOUR
    assert counted(lives) == pytest.approx(counted(dense), rel=0.05)
    assert [one.captures for one in capture_spans(times)] == [120, 120]


def test_captures_that_show_a_change_each_time_cannot_tell() -> None:
    times = every(DAY, 0, 30 * DAY)
    lives = watched(every(HOUR, 0.5 * HOUR, 31 * DAY), times)

    assert lives.rate() is None
    assert not lives.is_rate_known


def test_what_changed_only_in_gaps_is_kept_for_no_longer_than_it_was_seen_unchanged() -> None:
    times = np.concatenate(
        [every(HOUR, at, at + 5 * HOUR) for at in every(100 * DAY, 0, 500 * DAY)]
    )
    lives = watched(every(100 * DAY, 50 * DAY, 500 * DAY), times)
    found = kept_for(lives, watched_s=float(times[-1] - times[0]), distance_s=HOUR)

    assert not lives.ended.any()
    assert (found.ttl_s, found.reason) == (
        3600,
        "no change in 4 h; captures are too far apart to tell when it changed",
    )


def shop(number: int) -> quire.Digest:
    body = f"<h1>The fish shop at the harbour</h1><p>Open on all days</p><p>Fish of the day: number {number} of all the fish we have</p>"
    return quire.encode(body.encode())


@pytest.mark.parametrize("invalidation", ["lifetimes", "rates", "replay"])
def test_a_cache_is_simulated_with_the_spans_that_tell(invalidation: str) -> None:
    times = np.concatenate([every(HOUR, 0, 2 * DAY), every(HOUR, 200 * DAY, 202 * DAY)])
    pages = [shop(int(time // (6 * HOUR))) for time in times]
    lives = lifetimes(list(zip(times.tolist(), pages, strict=True)))
    (part,) = [one for one in lives.fragments if one.changes]
    site = site_of([lives], invalidation=invalidation)  # type: ignore[arg-type] # drawn from names

    assert [one.captures for one in lives.spans] == [48, 48]
    assert part.changes == 15
    assert part.is_rate_known
    fastest = max(one.mean_rate for one in site.fragments)
    # With the gap as a lifetime this would be 15 changes in 202 days.
    assert fastest == pytest.approx(1 / (6 * HOUR), rel=0.15)
