"""Cache simulator: compare a cache of fragments with a cache of pages (paper 004, section 6.3).

Requests are a Poisson process; each asks for one page. Fragments are invalidated in one of three
ways: by a Poisson process with their rate, after lifetimes drawn from the measured ones, or by
replaying their observed changes in a loop. Both caches have room for everything, so the only misses
are the first request for an object and the first request after an invalidation.

* The *fragment cache* fetches the fragments of a page that are missing.
* The *page cache* fetches the whole page if any of its fragments is missing.

A fragment cache stores a shared fragment once; a page cache stores it with every page.

All random numbers come from the seed. An object that is requested at rate a and invalidated at rate
u, both as Poisson processes, misses u / (a + u) of its requests; tests check the simulator against
this formula.

Cost: requests are drawn for one page at a time and compared with the invalidations of its fragments
by binary search; there is no loop over requests.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from quire.fragments.simulation.cached_site import CachedFragment, CachedSite
from quire.progress import Progress, no_progress

#: Maximum number of requests, and of invalidations. Each takes eight bytes, and a few more for a
#: short time.
MOST_EVENTS = 20_000_000
_Times: TypeAlias = list[NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class CacheLoad:
    """Storage, traffic and server load of one kind of cache.

    Attributes:
        storage_bytes: size of the cache when it holds everything.
        moved_bytes: bytes sent by the server.
        fetched: number of fragments that the server generated.
        cost_constant: server cost, if each fragment costs 1.
        cost_weighted: server cost by size, if a fragment of average size costs 1.
    """

    storage_bytes: float
    moved_bytes: float
    fetched: int
    cost_constant: float
    cost_weighted: float


@dataclass(frozen=True, slots=True)
class Simulation:
    """The results for a page cache and a fragment cache with the same requests and invalidations.

    Attributes:
        requests: number of requests.
        seconds: length of the simulated time.
        accessed_bytes: bytes delivered to clients.
        page: the load of the page cache.
        fragment: the load of the fragment cache.
    """

    requests: int
    seconds: float
    accessed_bytes: float
    page: CacheLoad
    fragment: CacheLoad

    @property
    def page_byte_misses(self) -> float:
        """Share of the delivered bytes that the page cache had to fetch."""
        return self.page.moved_bytes / self.accessed_bytes if self.accessed_bytes else 0.0

    @property
    def fragment_byte_misses(self) -> float:
        """Share of the delivered bytes that the fragment cache had to fetch."""
        return self.fragment.moved_bytes / self.accessed_bytes if self.accessed_bytes else 0.0


def simulate(
    site: CachedSite,
    *,
    requests: int,
    rate: float,
    seed: int = 0,
    warm: bool = False,
    progress: Progress = no_progress,
) -> Simulation:
    """Simulate the same requests to a page cache and to a fragment cache.

    >>> quick, slow = CachedFragment(1_000, rate=1.0), CachedFragment(9_000, rate=0.001)
    >>> result = simulate(CachedSite((quick, slow), ((0, 1),)), requests=10_000, rate=9.0)
    >>> round(result.page_byte_misses, 2), round(result.fragment_byte_misses, 2)
    (0.11, 0.01)

    Args:
        site: pages and fragments.
        requests: number of requests; each is for a random page.
        rate: requests per second, for all pages together.
        seed: random seed; the same seed gives the same result.
        warm: start with full caches.
        progress: called with the number of fragments whose invalidations have been
            drawn and the number of all fragments. Drawing them is most of the work.

    Raises:
        ValueError: a setting is out of range, or the simulated time has too many invalidations.
    """
    if not 1 <= requests <= MOST_EVENTS:
        raise ValueError(f"requests {requests}: expected 1 to {MOST_EVENTS}")
    if not 0 < rate < math.inf:
        raise ValueError(f"rate {rate}: expected more than 0 requests per second")
    if seed < 0:
        raise ValueError(f"seed {seed}: expected 0 or more")
    drawn = np.random.default_rng(seed)
    times = np.cumsum(drawn.exponential(1 / rate, requests))
    chosen = drawn.integers(0, len(site.pages), requests)
    end = float(times[-1])
    expected = sum(one.mean_rate for one in site.fragments) * end
    if not expected <= MOST_EVENTS:
        raise ValueError(
            f"{requests} requests at {rate:g} per second take {end:.3g} s, "
            f"with {expected:.3g} invalidations: expected at most {MOST_EVENTS}; "
            "use fewer requests or a higher rate"
        )
    # Each fragment has its own seed, so changing one fragment does not affect the others.
    seeds = np.random.SeedSequence(seed).spawn(len(site.fragments))
    ends: _Times = []
    for one, own in zip(site.fragments, seeds, strict=True):
        ends.append(_invalidations(one, end, np.random.default_rng(own)))
        progress("simulate", len(ends), len(site.fragments))
    order = np.argsort(chosen, kind="stable")  # by page, then by time
    counts = np.bincount(chosen, minlength=len(site.pages))
    by_page = np.split(times[order], np.cumsum(counts)[:-1])
    mean = float(np.mean([one.bytes for one in site.fragments])) or 1.0
    loads = []
    for storage, misses in (
        (site.page_storage, _page_misses(site, by_page, ends, warm=warm)),
        (site.fragment_storage, _fragment_misses(site, by_page, ends, warm=warm)),
    ):
        moved, fetched = map(sum, zip((0.0, 0), *misses, strict=True))
        loads.append(CacheLoad(storage, moved, fetched, float(fetched), moved / mean))
    accessed = sum(site.page_bytes(number) * len(mine) for number, mine in enumerate(by_page))
    return Simulation(requests, end, accessed, *loads)


def _invalidations(
    fragment: CachedFragment, end: float, drawn: np.random.Generator
) -> NDArray[np.float64]:
    """Return the times at which a fragment is invalidated, up to the end."""
    rate = fragment.mean_rate
    if rate <= 0:
        return np.empty(0)
    if fragment.replayed_s:
        starts = np.arange(0, end, fragment.period_s)
        once = np.sort(np.array(fragment.replayed_s, np.float64))
        replayed: NDArray[np.float64] = np.add.outer(starts, once).ravel()
        return replayed[replayed <= end]
    if not fragment.lifetimes_s:
        return np.sort(drawn.uniform(0, end, int(drawn.poisson(rate * end))))
    found = [np.array([_first_end(fragment, drawn)])]
    while found[-1][-1] <= end:
        some = _lifetimes(fragment, int(rate * end * 1.1) + 16, drawn)
        found.append(found[-1][-1] + np.cumsum(some))
    joined = np.concatenate(found)
    return joined[joined <= end]


def _lifetimes(
    fragment: CachedFragment, count: int, drawn: np.random.Generator
) -> NDArray[np.float64]:
    """Draw lifetimes; the current life, which has not ended, ends at the fragment's rate."""
    if fragment.going_on_s is None:
        return drawn.choice(np.array(fragment.lifetimes_s), count)
    found = drawn.choice(np.array([*fragment.lifetimes_s, math.inf]), count)
    goes_on = np.isinf(found)
    more = drawn.exponential(1 / fragment.rate, int(goes_on.sum()))
    found[goes_on] = fragment.going_on_s + more
    return found


def _first_end(fragment: CachedFragment, drawn: np.random.Generator) -> float:
    """Return when the life ends that is in progress at the start.

    Longer lives are more likely to be in progress, and the start falls anywhere within them.
    """
    lengths = np.array(fragment.lifetimes_s)
    if fragment.going_on_s is not None:
        # Weighted by its age so far, and separately by its remaining time; if the start falls into
        # the remaining time, that time is length-biased too, hence the gamma of shape 2.
        seen, more = fragment.going_on_s, 1 / fragment.rate
        drawn_more = drawn.gamma([1, 2], more)
        lengths = np.append(lengths, seen + drawn_more)
        weights = np.array([*fragment.lifetimes_s, seen, more])
    else:
        weights = lengths
    return float(drawn.choice(lengths, p=weights / weights.sum()) * drawn.uniform())


def _misses(
    requests: NDArray[np.float64], invalidations: NDArray[np.float64], *, warm: bool
) -> int:
    """Count the misses: the first request, and the first request after each invalidation.

    Both arrays are in ascending order. Only the invalidations are looked up, so a popular fragment
    that hardly changes costs next to nothing.
    """
    found = np.unique(np.searchsorted(requests, invalidations, side="right"))
    missed = int((found < len(requests)).sum())
    is_first_counted = warm or (len(found) > 0 and found[0] == 0)
    return missed + (len(requests) > 0 and not is_first_counted)


def _page_misses(
    site: CachedSite, by_page: _Times, ends: _Times, *, warm: bool
) -> Iterator[tuple[float, int]]:
    """Yield the bytes and the number of fragments that each page fetches in a cache of pages."""
    for page, requests in enumerate(by_page):
        mine = site.pages[page]
        invalid = np.sort(np.concatenate([ends[one] for one in mine]))
        missed = _misses(requests, invalid, warm=warm)
        yield missed * site.page_bytes(page), missed * len(mine)


def _fragment_misses(
    site: CachedSite, by_page: _Times, ends: _Times, *, warm: bool
) -> Iterator[tuple[float, int]]:
    """Yield the bytes and the number of times that each fragment in use is fetched."""
    holders: dict[int, list[int]] = {}
    for page, mine in enumerate(site.pages):
        for one in set(mine):
            holders.setdefault(one, []).append(page)
    together: dict[tuple[int, ...], NDArray[np.float64]] = {}
    for one, held in holders.items():
        pages = tuple(held)
        if pages not in together:
            # Keep one group only: fragments of the same pages are mostly adjacent, and the requests
            # of all groups would not fit in memory.
            together = {pages: np.sort(np.concatenate([by_page[page] for page in pages]))}
        missed = _misses(together[pages], ends[one], warm=warm)
        yield missed * site.fragments[one].bytes, missed
