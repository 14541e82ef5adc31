"""A site as a cache sees it: fragments with sizes and lives, and the pages that are made of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from quire.fragments.lifetime.results import Lifetimes, LpFragment
from quire.fragments.shared.find import SharedFragment, SharedFragments

#: When fragments are invalidated: after lifetimes as measured, at rates, or as they were seen to change.
Invalidation: TypeAlias = Literal["lifetimes", "rates", "replay"]
INVALIDATIONS: tuple[Invalidation, ...] = get_args(Invalidation)


@dataclass(frozen=True, slots=True)
class CachedFragment:
    """A fragment as a cache sees it.

    Attributes:
        bytes: its size, without the fragments in it.
        rate: invalidations in a second.
        lifetimes_s: lifetimes to draw from, in place of the rate, where there are any.
        going_on_s: how long the life that was not seen to end lasted so far, where there is one: it is drawn as often as each of the
            others, and lasts longer than that by an exponential time of the rate.
        replayed_s: times of invalidations, in place of both, from the beginning of a period that comes again and again.
        period_s: how long that is.
    """

    bytes: float
    rate: float = 0.0
    lifetimes_s: tuple[float, ...] = ()
    going_on_s: float | None = None
    replayed_s: tuple[float, ...] = ()
    period_s: float = 0.0

    def __post_init__(self) -> None:
        if not (self.bytes >= 0 and self.rate >= 0):
            raise ValueError(
                f"a fragment of {self.bytes} bytes, invalidated {self.rate} times a second: both are 0 or more"
            )
        if self.lifetimes_s and not (min(self.lifetimes_s) >= 0 and sum(self.lifetimes_s) > 0):
            raise ValueError("lifetimes are 0 seconds or more, and not all 0")
        if self.going_on_s is not None and not (
            self.lifetimes_s and self.going_on_s >= 0 and self.rate > 0
        ):
            raise ValueError(
                f"a life that goes on, {self.going_on_s} s so far: it needs lifetimes beside it, and a rate that it ends at"
            )
        if (
            self.replayed_s
            and not 0 <= min(self.replayed_s) <= max(self.replayed_s) <= self.period_s
        ):
            raise ValueError(
                f"replayed invalidations are within a period, of {self.period_s} s here"
            )

    @property
    def mean_rate(self) -> float:
        """Invalidations in a second, in the long run."""
        if self.replayed_s:
            return len(self.replayed_s) / self.period_s
        if not self.lifetimes_s:
            return self.rate
        if self.going_on_s is None:
            return len(self.lifetimes_s) / sum(self.lifetimes_s)
        return (len(self.lifetimes_s) + 1) / (
            sum(self.lifetimes_s) + self.going_on_s + 1 / self.rate
        )


@dataclass(frozen=True, slots=True)
class CachedSite:
    """Pages and the fragments they are made of.

    Attributes:
        fragments: all fragments.
        pages: the fragments of each page, by their places.
    """

    fragments: tuple[CachedFragment, ...]
    pages: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        if not self.pages:
            raise ValueError("no pages: a site has one at least")
        for number, page in enumerate(self.pages):
            if not page or not all(0 <= one < len(self.fragments) for one in page):
                raise ValueError(
                    f"page {number}: has fragments {list(page)}, but the site has 0 to {len(self.fragments) - 1}"
                )

    def page_bytes(self, page: int) -> float:
        """The size of a page."""
        return sum(self.fragments[one].bytes for one in self.pages[page])

    @property
    def page_storage(self) -> float:
        """Bytes of all pages, each whole."""
        return sum(self.page_bytes(page) for page in range(len(self.pages)))

    @property
    def fragment_storage(self) -> float:
        """Bytes of all fragments that pages have, each once."""
        return sum(
            self.fragments[one].bytes for one in {one for page in self.pages for one in page}
        )


def site_of(pages: Sequence[Lifetimes], *, invalidation: Invalidation = "lifetimes") -> CachedSite:
    """Make a site of the fragments that were found on pages: those of the last version of each.

    A fragment has its own bytes, without those of the fragments in it, and is invalidated as it was seen to change.

    Args:
        pages: what the versions of each tell.
        invalidation: ``lifetimes`` draws from those that were seen, of each fragment by itself: the first counts as if it had begun when it
            was first seen, the last, which goes on, ends at the rate; so they are as long as the rate says, on average. ``rates`` are changes
            in a second; ``replay`` repeats the history, so that what changed together is invalidated together.

    Raises:
        ValueError: the kind of invalidation is not known.
    """
    if invalidation not in INVALIDATIONS:
        raise ValueError(
            f"invalidation {invalidation!r} is not known; known are {', '.join(INVALIDATIONS)}"
        )
    fragments: list[CachedFragment] = []
    made = []
    for lives in pages:
        shown = set(lives.latest_fragment[lives.latest_fragment >= 0].tolist())
        chosen = [one for one in lives.fragments if one.number in shown]
        inside = dict.fromkeys(shown, 0)
        for one in chosen:
            if one.parent in inside:
                inside[one.parent] += max(one.source_bytes, one.value_bytes)
        mine = []
        for one in chosen:
            own = max(max(one.source_bytes, one.value_bytes) - inside[one.number], 0)
            mine.append(len(fragments))
            fragments.append(_cached(own, one, lives, invalidation))
        made.append(tuple(mine))
    return CachedSite(tuple(fragments), tuple(made))


def _cached(
    own: int, one: LpFragment, lives: Lifetimes, invalidation: Invalidation
) -> CachedFragment:
    if invalidation == "lifetimes":
        seconds, ended = one.lives.seconds, one.lives.ended
        known = tuple(seconds[ended].tolist())
        going_on = float(seconds[-1]) if known and not ended[-1] else None
        return CachedFragment(own, one.change_rate, known, going_on)
    if invalidation == "replay":
        start = float(lives.times[0])
        at = tuple((one.lives.first[1:] - start).tolist())
        return CachedFragment(own, replayed_s=at, period_s=float(lives.times[-1]) - start)
    return CachedFragment(own, one.change_rate)


def site_of_shared(
    page_bytes: Sequence[int], shared: SharedFragments, *, exact: bool = False
) -> CachedSite:
    """Make a site of pages and the fragments that they share, for what they take to store.

    Every page has what it shares with none as a fragment of its own. A shared fragment is as large as its first member, without
    the fragments in it.

    Args:
        page_bytes: the size of each page.
        shared: what they share.
        exact: only fragments that are the same bytes on every page, as a composer needs them.

    Raises:
        ValueError: there are not as many pages as were looked at.
    """
    if len(page_bytes) != shared.pages:
        raise ValueError(f"{len(page_bytes)} sizes, but shared fragments of {shared.pages} pages")
    taken = [one for one in shared if one.exact or not exact]
    sizes: dict[int, int] = {}
    skeletons = list(page_bytes)
    pages: list[list[int]] = [[] for _ in page_bytes]
    for page, inside in _nested(taken, len(page_bytes)):
        for fragment, own, is_outermost, whole in inside:
            # The first member says how large: pages come in their order.
            sizes.setdefault(fragment, own)
            pages[page].append(fragment)
            skeletons[page] -= whole if is_outermost else 0
    first = len(page_bytes)
    places = {fragment: first + place for place, fragment in enumerate(sizes)}
    fragments = [*skeletons, *sizes.values()]
    return CachedSite(
        tuple(CachedFragment(size) for size in fragments),
        tuple((page, *(places[fragment] for fragment in mine)) for page, mine in enumerate(pages)),
    )


def _nested(
    taken: Sequence[SharedFragment], pages: int
) -> Iterator[tuple[int, list[tuple[int, int, bool, int]]]]:
    """For every page its members: fragment, bytes without those in it, whether it is in no other, all its bytes."""
    members: list[list[tuple[int, int, int]]] = [[] for _ in range(pages)]
    for place, one in enumerate(taken):
        known = np.flatnonzero(one.members.byte_start >= 0)
        columns = (one.members.page, one.members.byte_start, one.members.byte_end)
        for page, start, end in zip(*(column[known].tolist() for column in columns), strict=True):
            members[page].append((start, -end, place))
    for page, found in enumerate(members):
        own: list[list[int]] = []  # fragment, own bytes, whether outermost, all bytes, end
        open_: list[list[int]] = []
        for start, end, place in sorted(found):
            while open_ and open_[-1][4] <= start:
                open_.pop()
            length = -end - start
            row = [place, length, not open_, length, -end]
            if open_:
                open_[-1][1] -= length
            own.append(row)
            open_.append(row)
        yield page, [(row[0], row[1], bool(row[2]), row[3]) for row in own]
