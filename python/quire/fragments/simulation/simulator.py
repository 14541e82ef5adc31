"""Cache simulator: what a cache of fragments saves, against a cache of pages (paper 004, section 6.3).

Requests come as a Poisson process, and each is for a page. Fragments are invalidated: by a Poisson process of their rate, after lifetimes that
are drawn from those that were measured, or as they were seen to change, again and again. Caches are large enough for all, so all misses are compulsory: the first request, and the first one
after an invalidation.

* The *fragment cache* fetches the fragments of a page that are missing.
* The *page cache* fetches a whole page when any of its fragments is.

Shared fragments are held once by a fragment cache, and once with every page by a page cache.

Every number is drawn from the seed. An object that is requested at rate a and invalidated at rate u by Poisson processes misses at u / (a + u) of
its requests; tests hold the simulator to that.

Cost: requests are drawn page by page and compared with the invalidations of their fragments by binary search; nothing is a loop over requests.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quire.fragments.simulation.cached_site import CachedFragment, CachedSite
from quire.progress import Progress, no_progress

#: Requests, and invalidations, of a simulation: each takes eight bytes, and a few more for a while.
MOST_EVENTS = 20_000_000


@dataclass(frozen=True, slots=True)
class CacheLoad:
    """What one kind of cache costs.

    Attributes:
        storage_bytes: what it holds when it holds everything.
        moved_bytes: bytes that came from the server.
        fetched: fragments that the server made.
        cost_constant: what that cost, one for each fragment.
        cost_weighted: the same, by size: a fragment of average size costs one.
    """

    storage_bytes: float
    moved_bytes: float
    fetched: int
    cost_constant: float
    cost_weighted: float


@dataclass(frozen=True, slots=True)
class Simulation:
    """A page cache and a fragment cache with the same requests and invalidations.

    Attributes:
        requests: how many there were.
        seconds: how long it took, in the simulated time.
        accessed_bytes: bytes that were delivered.
        page: the cache of pages.
        fragment: the cache of fragments.
    """

    requests: int
    seconds: float
    accessed_bytes: float
    page: CacheLoad
    fragment: CacheLoad

    @property
    def page_byte_misses(self) -> float:
        """Share of the bytes accessed that a page cache fetched."""
        return self.page.moved_bytes / self.accessed_bytes if self.accessed_bytes else 0.0

    @property
    def fragment_byte_misses(self) -> float:
        """Share of the bytes accessed that a fragment cache fetched."""
        return self.fragment.moved_bytes / self.accessed_bytes if self.accessed_bytes else 0.0


def simulate(
    site: CachedSite,
    *,
    requests: int,
    rate: float,
    seed: int = 0,
    warm: bool = False,
    tell: Progress = no_progress,
) -> Simulation:
    """Let requests come to both kinds of cache.

    >>> quick, slow = CachedFragment(1_000, rate=1.0), CachedFragment(9_000, rate=0.001)
    >>> result = simulate(CachedSite((quick, slow), ((0, 1),)), requests=10_000, rate=9.0)
    >>> round(result.page_byte_misses, 2), round(result.fragment_byte_misses, 2)
    (0.11, 0.01)

    Args:
        site: pages and fragments.
        requests: how many requests come; each is for any page with the same chance.
        rate: requests in a second, for all pages together.
        seed: what everything is drawn from.
        warm: whether caches hold everything at the first request.
        tell: is told how many fragments of how many have been given their invalidations, which is most of the work.

    Raises:
        ValueError: there are no requests, or too many, their rate is not positive, they last too long, or the seed is negative.
    """
    if not 1 <= requests <= MOST_EVENTS:
        raise ValueError(f"requests {requests}: expected 1 to {MOST_EVENTS}")
    if not 0 < rate < math.inf:
        raise ValueError(f"rate {rate}: requests in a second, more than 0")
    if seed < 0:
        raise ValueError(f"seed {seed}: 0 or more")
    drawn = np.random.default_rng(seed)
    times = np.cumsum(drawn.exponential(1 / rate, requests))
    chosen = drawn.integers(0, len(site.pages), requests)
    end = float(times[-1])
    expected = sum(one.mean_rate for one in site.fragments) * end
    if not expected <= MOST_EVENTS:
        raise ValueError(
            f"{requests} requests at {rate:g} in a second last {end:.3g} s, in which {expected:.3g} fragments change: "
            f"expected {MOST_EVENTS} at most, so fewer requests, or a higher rate"
        )
    # Each fragment draws from a seed of its own: whatever is asked of one leaves the others as they were.
    seeds = np.random.SeedSequence(seed).spawn(len(site.fragments))
    ends: list[NDArray[np.float64]] = []
    for one, own in zip(site.fragments, seeds, strict=True):
        ends.append(_invalidations(one, end, np.random.default_rng(own)))
        tell("simulate", len(ends), len(site.fragments))
    order = np.argsort(chosen, kind="stable")  # by page, and of each page in the order of time
    counts = np.bincount(chosen, minlength=len(site.pages))
    by_page = np.split(times[order], np.cumsum(counts)[:-1])
    sizes = np.array([one.bytes for one in site.fragments], np.float64)
    mean = float(sizes.mean()) or 1.0
    page = _page_cache(site, by_page, ends, sizes, mean, warm=warm)
    fragment = _fragment_cache(site, by_page, ends, sizes, mean, warm=warm)
    accessed = sum(site.page_bytes(number) * len(mine) for number, mine in enumerate(by_page))
    return Simulation(requests, end, accessed, page, fragment)


def _invalidations(
    fragment: CachedFragment, end: float, drawn: np.random.Generator
) -> NDArray[np.float64]:
    """When a fragment is invalidated, up to the end."""
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
    """Draw lifetimes; that of the life that goes on ends at the rate."""
    if fragment.going_on_s is None:
        return drawn.choice(np.array(fragment.lifetimes_s), count)
    found = drawn.choice(np.array([*fragment.lifetimes_s, math.inf]), count)
    goes_on = np.isinf(found)
    more = drawn.exponential(1 / fragment.rate, int(goes_on.sum()))
    found[goes_on] = fragment.going_on_s + more
    return found


def _first_end(fragment: CachedFragment, drawn: np.random.Generator) -> float:
    """When the life ends that is met at the beginning: a longer one is more likely to be met, and it is met anywhere."""
    lengths = np.array(fragment.lifetimes_s)
    if fragment.going_on_s is not None:
        # By its length so far, and by how much longer it lasts: met within the latter, that is drawn by its length too.
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
    """Count the requests that find nothing valid: the first one, and the first one after an invalidation.

    Both ascend. Only the invalidations are looked up: a fragment of thousands that hardly changes costs next to nothing.
    """
    found = np.unique(np.searchsorted(requests, invalidations, side="right"))
    missed = int((found < len(requests)).sum())
    is_first_counted = warm or (len(found) > 0 and found[0] == 0)
    return missed + (len(requests) > 0 and not is_first_counted)


def _page_cache(
    site: CachedSite,
    by_page: list[NDArray[np.float64]],
    ends: list[NDArray[np.float64]],
    sizes: NDArray[np.float64],
    mean: float,
    *,
    warm: bool,
) -> CacheLoad:
    moved, fetched = 0.0, 0
    for page, requests in enumerate(by_page):
        mine = site.pages[page]
        invalid = np.sort(np.concatenate([ends[one] for one in mine]))
        missed = _misses(requests, invalid, warm=warm)
        moved += missed * float(sizes[list(mine)].sum())
        fetched += missed * len(mine)
    return CacheLoad(site.page_storage, moved, fetched, float(fetched), moved / mean)


def _fragment_cache(
    site: CachedSite,
    by_page: list[NDArray[np.float64]],
    ends: list[NDArray[np.float64]],
    sizes: NDArray[np.float64],
    mean: float,
    *,
    warm: bool,
) -> CacheLoad:
    holders: dict[int, list[int]] = {}
    for page, mine in enumerate(site.pages):
        for one in set(mine):
            holders.setdefault(one, []).append(page)
    together: dict[tuple[int, ...], NDArray[np.float64]] = {}
    moved, fetched = 0.0, 0
    for one, held in holders.items():
        pages = tuple(held)
        if pages not in together:
            # Fragments of the same pages mostly follow each other; the requests of all groups would be too many to keep.
            together = {pages: np.sort(np.concatenate([by_page[page] for page in pages]))}
        missed = _misses(together[pages], ends[one], warm=warm)
        moved += missed * float(sizes[one])
        fetched += missed
    return CacheLoad(site.fragment_storage, moved, fetched, float(fetched), moved / mean)
