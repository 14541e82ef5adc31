"""A site as a cache sees it: fragments with sizes and lifetimes, and the pages that use them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from quire.fragments.lifetime.capture_spans import dense_clock
from quire.fragments.lifetime.results import Lifetimes, LpFragment
from quire.fragments.shared.find import SharedFragments

#: When to invalidate fragments: after measured lifetimes, at measured rates, or by replaying the
#: observed changes.
Invalidation: TypeAlias = Literal["lifetimes", "rates", "replay"]
INVALIDATIONS: tuple[Invalidation, ...] = get_args(Invalidation)


@dataclass(frozen=True, slots=True)
class CachedFragment:
    """A fragment as a cache sees it.

    Attributes:
        bytes: its size, not counting nested fragments.
        rate: invalidations per second.
        lifetimes_s: lifetimes to draw from, if any; used instead of the rate.
        going_on_s: age of the current life, which has not ended, if there is one. It is drawn as
            often as each of the other lifetimes, and then lasts for an additional exponential time
            with the given rate.
        replayed_s: times of invalidations within a repeated period; used instead of both.
        period_s: length of this period.
    """

    bytes: float
    rate: float = 0.0
    lifetimes_s: tuple[float, ...] = ()
    going_on_s: float | None = None
    replayed_s: tuple[float, ...] = ()
    period_s: float = 0.0

    def __post_init__(self) -> None:
        if not (self.bytes >= 0 and self.rate >= 0):
            raise ValueError(f"bytes {self.bytes}, rate {self.rate}: expected 0 or more for both")
        if self.lifetimes_s and not (min(self.lifetimes_s) >= 0 and sum(self.lifetimes_s) > 0):
            raise ValueError("lifetimes_s: expected 0 or more, and not all 0")
        if self.going_on_s is not None and not (
            self.lifetimes_s and self.going_on_s >= 0 and self.rate > 0
        ):
            raise ValueError(
                f"going_on_s {self.going_on_s}: expected 0 or more, with lifetimes_s and a rate"
            )
        if (
            self.replayed_s
            and not 0 <= min(self.replayed_s) <= max(self.replayed_s) <= self.period_s
        ):
            raise ValueError(f"replayed_s: expected times within the period of {self.period_s} s")

    @property
    def mean_rate(self) -> float:
        """Invalidations per second, on average."""
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
    """Pages and the fragments that they consist of.

    Attributes:
        fragments: all fragments.
        pages: the fragments of each page, as indexes into ``fragments``.
    """

    fragments: tuple[CachedFragment, ...]
    pages: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        if not self.pages:
            raise ValueError("no pages: expected at least one")
        for number, page in enumerate(self.pages):
            if not page or not all(0 <= one < len(self.fragments) for one in page):
                raise ValueError(
                    f"page {number}: has fragments {list(page)}, "
                    f"but the site has 0 to {len(self.fragments) - 1}"
                )

    def page_bytes(self, page: int) -> float:
        """Return the size of a page."""
        return sum(self.fragments[one].bytes for one in self.pages[page])

    @property
    def page_storage(self) -> float:
        """Total size of all pages, each stored whole."""
        return sum(self.page_bytes(page) for page in range(len(self.pages)))

    @property
    def fragment_storage(self) -> float:
        """Total size of all fragments in use, each stored once."""
        return sum(
            self.fragments[one].bytes for one in {one for page in self.pages for one in page}
        )


def site_of(pages: Sequence[Lifetimes], *, invalidation: Invalidation = "lifetimes") -> CachedSite:
    """Build a site from the lifetimes of pages, with the fragments of the last version of each.

    The size of a fragment does not include nested fragments. Fragments are invalidated as often as
    they were observed to change.

    Args:
        pages: the lifetimes of each page.
        invalidation: ``lifetimes`` draws from the observed lifetimes of each fragment. The first
            one counts from the first capture, and the last one, which has not ended, ends at the
            fragment's rate; so on average lifetimes match the rate. ``rates`` uses the changes per
            second. ``replay`` repeats the spans of the history, without the gaps between them, so
            fragments that changed together are invalidated together.

    Raises:
        ValueError: ``invalidation`` is not one of these.
    """
    if invalidation not in INVALIDATIONS:
        raise ValueError(
            f"invalidation {invalidation!r}: expected one of {', '.join(INVALIDATIONS)}"
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
        # Lives that were not seen to end, at the end or in gaps between spans, count as one.
        going_on = float(seconds[~ended].sum()) if known and not ended.all() else None
        return CachedFragment(own, one.change_rate, known, going_on)
    if invalidation == "replay":
        clock = dense_clock(lives.times)
        begun = one.lives.first[1:][one.lives.begun[1:]]
        at = clock[np.searchsorted(lives.times, begun)]
        return CachedFragment(own, replayed_s=tuple(at.tolist()), period_s=float(clock[-1]))
    return CachedFragment(own, one.change_rate)


def site_of_shared(
    page_bytes: Sequence[int], shared: SharedFragments, *, exact: bool = False
) -> CachedSite:
    """Build a site from pages and the fragments that they share, to measure storage.

    The rest of each page is a fragment of its own. The size of a shared fragment is that of its
    first member, not counting nested fragments.

    Args:
        page_bytes: the size of each page.
        shared: the shared fragments of these pages.
        exact: use only fragments with the same bytes on every page, as composing requires.

    Raises:
        ValueError: the number of sizes differs from the number of pages.
    """
    if len(page_bytes) != shared.pages:
        raise ValueError(f"{len(page_bytes)} sizes, but shared fragments of {shared.pages} pages")
    members: list[list[tuple[int, int, int]]] = [[] for _ in page_bytes]
    for number, one in enumerate(one for one in shared if one.exact or not exact):
        columns = (one.members.page, one.members.byte_start, one.members.byte_end)
        for page, start, end in zip(*(column.tolist() for column in columns), strict=True):
            if start >= 0:
                members[page].append((start, -end, number))
    sizes: dict[int, int] = {}  # of shared fragments, by their first members
    skeletons = list(page_bytes)
    pages: list[list[int]] = [[] for _ in page_bytes]
    for page, found in enumerate(members):
        own: list[list[int]] = []  # fragment, bytes without nested fragments
        opened: list[tuple[int, int]] = []  # end, and place in `own`
        for start, minus_end, number in sorted(found):
            while opened and opened[-1][0] <= start:
                opened.pop()
            length = -minus_end - start
            if opened:
                own[opened[-1][1]][1] -= length
            else:
                skeletons[page] -= length
            opened.append((-minus_end, len(own)))
            own.append([number, length])
        for number, length in own:
            sizes.setdefault(number, length)
            pages[page].append(number)
    places = {number: place for place, number in enumerate(sizes, start=len(skeletons))}
    return CachedSite(
        tuple(CachedFragment(size) for size in (*skeletons, *sizes.values())),
        tuple((page, *(places[number] for number in mine)) for page, mine in enumerate(pages)),
    )
