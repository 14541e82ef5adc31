"""Region history: when regions of a page changed and which users got them, by its captures.

A region changed when its bytes came or went, or when the own source of a part in it changed
(``byte_changes``), unless it was there with the same bytes before and after. It is private if
another user got a page without these bytes, while the first user had them before and after; or if
``lifetimes`` says so of a part in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from quire.fragments.caching.element_index import ElementIndex
from quire.fragments.caching.region import Region
from quire.fragments.caching.ttl import MOST_TTL_S, kept_for
from quire.fragments.lifetime.results import Lifetimes
from quire.fragments.lifetime.survival import Lives
from quire.fragments.lifetime.tracking import likeness
from quire.fragments.lifetime.version_parts import Comparing, Parts
from quire.fragments.policy import DEFAULT_TTL_S, Policy, Sharing
from quire.fragments.site.collection import CollectedPage, Collection, KeptVersion

#: Number of pages that a fragment is followed on; a menu changes on all of its pages.
MOST_PAGES = 100
#: With more regions than this they are looked up: a search goes through the page for each.
MANY_REGIONS = 64
PRIVATE = "users get different content"


@dataclass(frozen=True, slots=True)
class Watched:
    """The history of a region on one page.

    Attributes:
        lives: how long it stayed as it was.
        watched_s: time between its first and last capture; 0 if there is one version.
        distance_s: the shortest gap between two captures.
        sharing: whether all users get the same.
        is_compared: whether there are captures for other users.
        typical_s: the median gap between two captures.
    """

    lives: Lives
    watched_s: float
    distance_s: float
    sharing: Sharing
    is_compared: bool = False
    typical_s: float = 0.0


def policy_of(
    told: Sequence[Watched],
    *,
    most_ttl_s: int = MOST_TTL_S,
    vary: tuple[str, ...] = ("Cookie",),
) -> Policy:
    """Work out how long a region may be cached, and for whom.

    Args:
        told: its history on each page that has it.
        most_ttl_s: the longest TTL.
        vary: headers that distinguish users, for private content.
    """
    if not told:
        return Policy(min(DEFAULT_TTL_S, most_ttl_s))
    kinds = {one.sharing for one in told}
    if "private" in kinds:
        return Policy(0, vary, "private", "measured", PRIVATE)
    kept = kept_for(
        Lives.joined([one.lives for one in told]),
        watched_s=max(one.watched_s for one in told),
        distance_s=min(one.distance_s for one in told),
        typical_s=max(one.typical_s for one in told),
        most_ttl_s=most_ttl_s,
    )
    # One page that leaves it unknown is enough.
    asked = {one.sharing for one in told if one.is_compared}
    sharing: Sharing = "shared" if asked == {"shared"} else "unknown"
    return replace(kept, sharing=sharing)


class PageHistory:
    """The captures of a page that are of the same kind as its newest version."""

    def __init__(self, site: Collection, page: CollectedPage, lives: Lifetimes) -> None:
        self._site, self._page, self._lives = site, page, lives
        # A page whose kind changes at most captures has no typical kind: all of its captures count.
        switches = sum(one != other for one, other in pairwise(lives.kinds))
        self._is_ever_other = 2 * switches > len(lives.kinds) - 1
        self._mine = [
            number
            for number, kind in enumerate(lives.kinds)
            if self._is_ever_other or kind == lives.kinds[-1]
        ]
        self._times = [one.seconds for one in page.versions]
        self._alike: dict[tuple[int, int], bool] = {}
        self._indexes: dict[int, ElementIndex | None] = {}

    def watched(self, regions: Sequence[Region]) -> list[Watched]:
        """Return the history of some regions."""
        there = self._there(regions, [self._page.versions[number] for number in self._mine])
        times = np.array([self._times[number] for number in self._mine])
        distance_s = float(np.diff(times).min()) if len(times) > 1 else 0.0
        typical_s = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
        watched_s = float(times[-1] - times[0])
        sharing = self._sharing(regions)
        return [
            Watched(
                Lives.between(times, self._changed(region, there[number])),
                watched_s,
                distance_s,
                sharing[number],
                is_compared=bool(self._page.others),
                typical_s=typical_s,
            )
            for number, region in enumerate(regions)
        ]

    def _there(
        self, regions: Sequence[Region], versions: Sequence[KeptVersion]
    ) -> list[list[bool]]:
        """Whether each region is in each version, with the same bytes."""
        found: list[list[bool]] = [[] for _ in regions]
        known: dict[int, list[bool]] = {}
        for version in versions:
            if version.body not in known:
                known[version.body] = self._are_in(regions, version)
            for mine, is_there in zip(found, known[version.body], strict=True):
                mine.append(is_there)
        return found

    def _are_in(self, regions: Sequence[Region], version: KeptVersion) -> list[bool]:
        """Whether each region is in one version: searched for, or looked up if there are many."""
        body = self._site.source(version)
        own = self._index(self._page.versions[-1]) if len(regions) > MANY_REGIONS else None
        there = self._index(version) if own is not None else None
        found = []
        for region in regions:
            value = own.hash_at(region.start, region.end) if own and region.is_plain else None
            if own is None or there is None or value is None:
                found.append(region.is_in(body))
                continue
            count = there.count(value, region.pieces[0])
            copies = own.count(value, region.pieces[0]) if region.copies else count
            found.append(count > 0 and count == copies)
        return found

    def _index(self, version: KeptVersion) -> ElementIndex | None:
        """The elements of a version; those of the newest one are kept for all others."""
        if version.body not in self._indexes:
            made = ElementIndex.of(self._site.digest(version), self._site.source(version))
            if version is not self._page.versions[-1]:
                return made
            self._indexes[version.body] = made
        return self._indexes[version.body]

    def _changed(self, region: Region, there: Sequence[bool]) -> list[int]:
        """The versions, by place, in which a region changed."""
        inside, around = region.nodes(self._lives.latest_span)
        if around >= 0:
            inside[around] = True
        rewritten = self._rewritten(inside)
        if self._is_ever_other:
            rewritten |= set(self._mine)
        return [
            place
            for place, version in enumerate(self._mine)
            if place
            # A region that came or went changed, whatever happened to the parts in it.
            and (there[place - 1] != there[place] or (version in rewritten and not there[place]))
        ]

    def _rewritten(self, inside: NDArray[np.bool_]) -> set[int]:
        """Return the versions in which the own source of some nodes changed.

        For versions before the outermost node appeared, changes of the node that it came into
        count: a part that replaces another without resembling it is a new part to ``lifetimes``,
        but to a cache that keeps this place of the page it is the same part, changed.
        """
        lives, rows = self._lives, self._lives.source_changes
        found = set(rows[inside[rows[:, 0]], 1].tolist())
        if not inside.any():
            return found
        node, begun = int(inside.argmax()), lives.kinds.index(lives.kinds[-1])
        while node > 0 and lives.latest_first[node] > begun:
            came, node = lives.latest_first[node], int(lives.latest_parent[node])
            found.update(rows[(rows[:, 0] == node) & (rows[:, 1] <= came), 1].tolist())
        return found

    def _sharing(self, regions: Sequence[Region]) -> list[Sharing]:
        """Whether users get the same content in some regions."""
        found: list[Sharing] = ["unknown"] * len(regions)
        confirmed: list[set[str]] = [set() for _ in regions]
        for other in self._page.others:
            time = other.seconds
            before = [number for number in self._mine if self._times[number] <= time]
            after = [number for number in self._mine if self._times[number] >= time]
            nearest = [before[-1]] if before else []
            nearest += [after[0]] if after else []
            if not nearest or not self._is_alike(self._page.versions[nearest[0]], other):
                continue
            captures = [other, *(self._page.versions[number] for number in nearest)]
            # It does not matter how often a user gets it.
            anywhere = [replace(region, copies=0) for region in regions]
            for number, there in enumerate(self._there(anywhere, captures)):
                if there[0]:
                    confirmed[number].add(other.reader)
                # Time does not explain it: the first user got it before and after.
                if not there[0] and before and after and all(there[1:]):
                    found[number] = "private"
        # A user with another page, or never seen with these bytes, may not get them.
        readers = {other.reader for other in self._page.others}
        for number, region in enumerate(regions):
            if readers and found[number] == "unknown" and confirmed[number] == readers:
                found[number] = "shared"
            inside, _ = region.nodes(self._lives.latest_span)
            numbers = self._lives.latest_fragment[inside]
            if any(self._lives.fragments[n].sharing == "private" for n in numbers[numbers >= 0]):
                found[number] = "private"
        return found

    def _is_alike(self, mine: KeptVersion, other: KeptVersion) -> bool:
        """Whether another user got the same kind of page, not an error or a login form."""
        bodies = (mine.body, other.body)
        if bodies not in self._alike:
            how = Comparing()
            one, two = (Parts(self._site.digest(kept), how) for kept in (mine, other))
            self._alike[bodies] = likeness(one, two, how) > 0
        return self._alike[bodies]
