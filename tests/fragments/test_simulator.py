"""The cache simulator: held to what can be computed, and to a plain loop over events."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import quire
from quire.fragments import (
    CachedFragment,
    CachedSite,
    Simulation,
    lifetimes,
    simulate,
    site_of,
    site_of_shared,
)
from quire.fragments.simulation.simulator import _invalidations, _misses


def one_page(*fragments: CachedFragment) -> CachedSite:
    return CachedSite(fragments, (tuple(range(len(fragments))),))


@given(
    st.lists(st.integers(0, 20), max_size=12),
    st.lists(st.integers(0, 20), max_size=12),
    st.booleans(),
)
def test_a_request_misses_when_something_was_invalidated_since_the_last(
    requests: list[int],
    invalidations: list[int],
    warm: bool,  # noqa: FBT001 - drawn
) -> None:
    # Requests between whole numbers: none is at the time of an invalidation.
    asked = [time + 0.5 for time in sorted(requests)]
    expected, last = [], 0.0 if warm else None
    for time in asked:
        expected.append(last is None or any(last < end < time for end in sorted(invalidations)))
        last = time
    if warm and asked:
        expected[0] = any(end < asked[0] for end in invalidations)

    found = _misses(np.array(asked), np.array(sorted(invalidations), float), warm=warm)

    assert found == sum(expected)


@pytest.mark.parametrize(
    ("accesses", "invalidations"), [(1.0, 0.01), (1.0, 1.0), (0.2, 3.0), (50.0, 0.5)]
)
def test_misses_of_poisson_processes_are_as_many_as_computed(
    accesses: float, invalidations: float
) -> None:
    site = one_page(CachedFragment(700, invalidations))
    found = simulate(site, requests=200_000, rate=accesses, seed=3)

    # Of all events at an object, a share of u / (a + u) are invalidations; a request misses when the event before it is one.
    expected = invalidations / (accesses + invalidations)
    spread = math.sqrt(expected * (1 - expected) / 200_000)
    assert found.fragment_byte_misses == pytest.approx(expected, abs=6 * spread + 1e-5)
    assert found.page == found.fragment


def test_a_page_misses_when_any_of_its_fragments_does() -> None:
    rates = [0.5, 0.1, 0.01, 0.0]
    site = one_page(*(CachedFragment(1000 * (n + 1), rate) for n, rate in enumerate(rates)))
    found = simulate(site, requests=200_000, rate=2.0, seed=4)

    whole = sum(rates) / (2.0 + sum(rates))
    parts = sum((n + 1) * rate / (2.0 + rate) for n, rate in enumerate(rates)) / 10
    assert found.page_byte_misses == pytest.approx(whole, rel=0.02)
    assert found.fragment_byte_misses == pytest.approx(parts, rel=0.02)
    assert found.page.cost_constant == pytest.approx(4 * whole * 200_000, rel=0.02)
    # A fragment of average size costs one: 2,500 bytes.
    assert found.page.cost_weighted == pytest.approx(found.page.moved_bytes / 2500)


def test_lifetimes_that_were_measured_are_drawn_from() -> None:
    # Renewed every 10 s and requested at rate 1: of a window of 10 s all but the empty ones have one miss.
    site = one_page(CachedFragment(100, lifetimes_s=(10.0,)))
    found = simulate(site, requests=100_000, rate=1.0, seed=5)

    expected = (1 - math.exp(-10)) / 10
    assert found.fragment_byte_misses == pytest.approx(expected, rel=0.01)
    assert site.fragments[0].mean_rate == 0.1


# Histories where leaving out the life that goes on, or the first, would say another thing altogether.
@pytest.mark.parametrize(
    "times", [[0, 60, 120, 10**7], [0, 10**7, 10**7 + 60, 10**7 + 61], [0, 5, 10, 15, 20, 25]]
)
def test_lives_that_are_drawn_are_as_long_as_the_rate_says(times: list[int]) -> None:
    kinds = ["cod", "hake", "plaice", "plaice"] if len(times) == 4 else list("abcdef")
    body = "<h1>The fish shop at the harbour</h1><main><p>Open on all days but Sundays</p><p>Fish of the day: {0} {0} {0} {0} {0}</p></main>"
    pages = [quire.encode(body.format(f"the {kind} of kind {kind}").encode()) for kind in kinds]
    lives = lifetimes(list(zip(times, pages, strict=True)))
    drawn, rates = (site_of([lives], invalidation=how) for how in ("lifetimes", "rates"))

    assert any(one.lifetimes_s for one in drawn.fragments)
    assert [one.mean_rate for one in drawn.fragments] == pytest.approx(
        [one.rate for one in rates.fragments]
    )


def test_a_life_that_goes_on_is_drawn_as_long_as_it_was_seen_and_longer() -> None:
    # Half of all lives last a second, the others 99 and 50 more on average: 75 s. Requests come often, so that each end is a miss.
    fragment = CachedFragment(100, rate=1 / 50, lifetimes_s=(1.0,), going_on_s=99.0)
    found = simulate(one_page(fragment), requests=1_000_000, rate=20.0, seed=5, warm=True)

    assert fragment.mean_rate == pytest.approx(1 / 75)
    assert found.fragment.fetched / found.seconds == pytest.approx(1 / 75, rel=0.1)


def test_the_first_invalidation_is_as_likely_as_any() -> None:
    # A process that began long ago is as often invalidated in its first seconds as in any others.
    fragment = CachedFragment(100, rate=1 / 50, lifetimes_s=(1.0, 20.0), going_on_s=40.0)
    early = [
        len(_invalidations(fragment, 10.0, np.random.default_rng(seed))) for seed in range(4000)
    ]

    assert np.mean(early) == pytest.approx(10 * fragment.mean_rate, rel=0.1)


def test_what_changed_together_is_invalidated_together() -> None:
    parts = [CachedFragment(100, replayed_s=(4.0, 10.0), period_s=10.0) for _ in range(5)]
    alone = simulate(one_page(parts[0]), requests=50_000, rate=1.0, seed=6)
    found = simulate(one_page(*parts), requests=50_000, rate=1.0, seed=6)

    # Windows of 4 and 6 seconds, with a request in them or not.
    expected = ((1 - math.exp(-4)) + (1 - math.exp(-6))) / 10
    assert alone.page_byte_misses == pytest.approx(expected, rel=0.01)
    assert found.page_byte_misses == pytest.approx(alone.page_byte_misses)
    assert found.fragment_byte_misses == pytest.approx(alone.page_byte_misses)
    with pytest.raises(ValueError, match="replayed_s: expected times within the period of 3 s"):
        CachedFragment(1, replayed_s=(4.0,), period_s=3)


def test_shared_fragments_are_stored_and_fetched_once() -> None:
    menu, left, right = CachedFragment(1000), CachedFragment(10), CachedFragment(10)
    site = CachedSite((menu, left, right), ((0, 1), (0, 2)))
    found = simulate(site, requests=1000, rate=1.0)

    assert (found.page.storage_bytes, found.fragment.storage_bytes) == (2020, 1020)
    assert (found.page.moved_bytes, found.fragment.moved_bytes) == (2020, 1020)
    assert (found.page.fetched, found.fragment.fetched) == (4, 3)
    assert simulate(site, requests=1000, rate=1.0, warm=True).page.moved_bytes == 0


def test_a_seed_gives_the_same_numbers_and_another_others() -> None:
    site = one_page(CachedFragment(700, 0.3), CachedFragment(900, lifetimes_s=(1.0, 5.0)))

    def run(seed: int) -> Simulation:
        return simulate(site, requests=500, rate=1.0, seed=seed)

    assert run(1) == run(1)
    assert run(1) != run(2)


def test_a_site_is_made_of_the_fragments_of_the_last_versions() -> None:
    hours = "<ul><li>Mondays from nine to five<li>Fridays from nine to two<li>Never on Sundays</ul>"
    pages = [
        quire.encode(
            f"<h1>The fish shop at the harbour</h1><main>{hours}<p>Fish of the day is number {n // 2} of nine</p></main>".encode()
        )
        for n in range(9)
    ]
    lives = lifetimes(list(enumerate(pages)))
    site = site_of([lives])

    assert len(site.fragments) == len(lives.fragments) == 2
    assert site.page_bytes(0) == len(pages[-1].decode())
    page, part = site.fragments
    assert (page.mean_rate, part.lifetimes_s, part.going_on_s) == (0, (2.0,) * 4, 0)
    assert site_of([lives], invalidation="rates").fragments[1].rate == pytest.approx(0.5)
    replayed = site_of([lives], invalidation="replay").fragments[1]
    assert (replayed.replayed_s, replayed.period_s) == ((2.0, 4.0, 6.0, 8.0), 8.0)
    with pytest.raises(ValueError, match="invalidation 'often': expected one of lifetimes, rates"):
        site_of([lives], invalidation="often")  # type: ignore[arg-type] # that is the point


def test_nonsense_is_refused_by_name() -> None:
    site = one_page(CachedFragment(1))
    for bad, words in (
        ({"requests": 0, "rate": 1.0}, "requests 0: expected 1 to"),
        ({"requests": 1, "rate": 0.0}, "rate 0.0:"),
    ):
        with pytest.raises(ValueError, match=words):
            simulate(site, requests=int(bad["requests"]), rate=bad["rate"])
    with pytest.raises(ValueError, match="seed -1: expected 0 or more"):
        simulate(site, requests=1, rate=1.0, seed=-1)
    with pytest.raises(ValueError, match=r"bytes -1, rate 0\.0: expected 0 or more"):
        CachedFragment(-1)
    with pytest.raises(ValueError, match="not all 0"):
        CachedFragment(1, lifetimes_s=(0.0,))
    with pytest.raises(ValueError, match=r"going_on_s 5\.0: expected 0 or more, with lifetimes"):
        CachedFragment(1, going_on_s=5.0)
    with pytest.raises(ValueError, match="no pages"):
        CachedSite((), ())
    with pytest.raises(ValueError, match=r"page 1: has fragments \[7\], but the site has 0 to 0"):
        CachedSite((CachedFragment(1),), ((0,), (7,)))


def test_pages_are_stored_with_what_they_share_once() -> None:
    menu = "<nav><p>Start and all the rest of it</p><p>Fish and all that comes with it</p></nav>"
    inner = "<p>Fish and all that comes with it</p>"
    sources = [
        f"{menu}<h1>The first of the pages</h1>".encode(),
        f"{menu}<h1>The second page of them all</h1>".encode(),
        f"<h1>A third, of quite another kind</h1>{inner}<p>and some words more".encode(),
    ]
    pages = [quire.encode(source) for source in sources]
    site = site_of_shared(
        [len(one) for one in sources], quire.shared_fragments(pages, min_bytes=30)
    )

    assert site.page_storage == sum(map(len, sources))
    assert site.fragment_storage == site.page_storage - len(menu) - len(inner)
    assert [len(page) for page in site.pages] == [3, 3, 2]
    with pytest.raises(ValueError, match="2 sizes, but shared fragments of 3 pages"):
        site_of_shared([1, 2], quire.shared_fragments(pages))
