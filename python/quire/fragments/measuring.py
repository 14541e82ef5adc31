"""Measured policies: how long the files of a plan may be kept, and for whom, out of the versions of its pages.

Every file is a region of the last version of a page. It changed when the own source of a part in it did (``rewriting``), unless the
region was there with the same bytes before and after. It is private when another reader got a page without these bytes, while they were
there for the first reader before and after; or when ``lifetimes`` says so of a part in it. A fragment that several pages have, has the lives of all of them.

Above: ``cli``. Below: ``plan``, ``regions``, ``keeping``, ``watching``, ``collected``, ``lp_results``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from quire.fragments.collected import CollectedPage, Collection, KeptVersion
from quire.fragments.following import likeness
from quire.fragments.keeping import MOST_TTL_S, Kept, kept_for
from quire.fragments.lives import Lives
from quire.fragments.lp_results import Lifetimes, Sharing
from quire.fragments.parts import Comparing, Parts
from quire.fragments.plan import FragmentPlan
from quire.fragments.policies import Policy
from quire.fragments.regions import Region, regions_of
from quire.fragments.watching import Tell, seconds_of

# Pages that a fragment is followed on; a menu of ten thousand pages changes on all of them.
_MOST_PAGES = 100
PRIVATE = "measured: readers get different ones"


@dataclass(frozen=True, slots=True)
class MeasuredPolicies:
    """What was measured.

    Attributes:
        fragments: by the names of fragments.
        pages: by the numbers of pages' bytes: for the template, or the whole page.
    """

    fragments: Mapping[str, Policy]
    pages: Mapping[int, Policy]


@dataclass(frozen=True, slots=True)
class _Watched:
    """What one page tells of a region."""

    lives: Lives
    watched_s: float
    distance_s: float
    sharing: Sharing


def measure_policies(
    plan: FragmentPlan,
    site: Collection,
    lives: Mapping[int, Lifetimes],
    *,
    most_ttl_s: int = MOST_TTL_S,
    vary: tuple[str, ...] = ("Cookie",),
    tell: Tell = lambda step, done, of: None,  # noqa: ARG005 - nobody listens
) -> MeasuredPolicies:
    """Find out how long fragments, and what is left of pages, may be kept.

    Args:
        plan: made of the last version of each page of ``site``, in their order.
        site: the pages.
        lives: what versions tell, by the place of pages.
        most_ttl_s: nothing is kept longer.
        vary: headers that tell readers apart, for what is private.
        tell: is told of progress.
    """
    fragments: defaultdict[str, list[_Watched]] = defaultdict(list)
    pages: defaultdict[int, list[_Watched]] = defaultdict(list)
    for done, (place, found) in enumerate(lives.items(), start=1):
        body = plan.pages[place].body
        regions = [
            region
            for region in regions_of(plan.choice, body, plan.spool.get(body))
            if len(fragments[region.name]) < _MOST_PAGES or region.is_page
        ]
        for region, told in zip(
            regions, _History(site, site.pages[place], found).watched(regions), strict=True
        ):
            (pages[body] if region.is_page else fragments[region.name]).append(told)
        tell("measure", done, len(lives))
    return MeasuredPolicies(
        {name: _policy(told, most_ttl_s, vary) for name, told in fragments.items() if told},
        {body: _policy(told, most_ttl_s, vary) for body, told in pages.items()},
    )


def _policy(told: Sequence[_Watched], most_ttl_s: int, vary: tuple[str, ...]) -> Policy:
    kinds = {one.sharing for one in told}
    if "private" in kinds:
        return Policy(0, vary, "private", PRIVATE)
    kept: Kept = kept_for(
        Lives.joined([one.lives for one in told]),
        watched_s=max(one.watched_s for one in told),
        distance_s=min(one.distance_s for one in told),
        most_ttl_s=most_ttl_s,
    )
    sharing: Sharing = "shared" if "shared" in kinds else "unknown"
    return Policy(kept.ttl_s, (), sharing, kept.reason)


class _History:
    """The captures of a page, as far as they are of the kind that its last version is."""

    def __init__(self, site: Collection, page: CollectedPage, lives: Lifetimes) -> None:
        self._site, self._page, self._lives = site, page, lives
        self._mine = [n for n, kind in enumerate(lives.kinds) if kind == lives.kinds[-1]]
        self._times = [seconds_of(one) for one in page.versions]

    def watched(self, regions: Sequence[Region]) -> list[_Watched]:
        """What the captures tell of some regions."""
        there = self._there(regions, [self._page.versions[number] for number in self._mine])
        times = np.array([self._times[number] for number in self._mine])
        distance_s = float(np.diff(times).min()) if len(times) > 1 else 0.0
        watched_s = float(times[-1] - times[0])
        sharing = self._sharing(regions)
        return [
            _Watched(
                _lives(times, self._changed(region, there[number])),
                watched_s,
                distance_s,
                sharing[number],
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
                body = self._site.source(version)
                known[version.body] = [region.is_in(body) for region in regions]
            for mine, is_there in zip(found, known[version.body], strict=True):
                mine.append(is_there)
        return found

    def _changed(self, region: Region, there: Sequence[bool]) -> list[int]:
        """The places among these versions at which a region changed."""
        inside, around = region.nodes(self._lives.latest_span)
        if around >= 0:
            inside[around] = True
        rows = self._lives.rewritings
        rewritten = set(rows[inside[rows[:, 0]], 1].tolist())
        return [
            place
            for place, version in enumerate(self._mine)
            if place and version in rewritten and not (there[place - 1] and there[place])
        ]

    def _sharing(self, regions: Sequence[Region]) -> list[Sharing]:
        """Whether readers get the same of some regions."""
        found: list[Sharing] = ["unknown"] * len(regions)
        for other in self._page.others:
            time = seconds_of(other)
            before = [number for number in self._mine if self._times[number] <= time]
            after = [number for number in self._mine if self._times[number] >= time]
            nearest = [before[-1]] if before else []
            nearest += [after[0]] if after else []
            if not nearest or not self._is_alike(self._page.versions[nearest[0]], other):
                continue
            captures = [other, *(self._page.versions[number] for number in nearest)]
            for number, there in enumerate(self._there(regions, captures)):
                if there[0] and found[number] == "unknown":
                    found[number] = "shared"
                # Time does not explain it: the first reader got it before and after.
                if not there[0] and before and after and all(there[1:]):
                    found[number] = "private"
        for number, region in enumerate(regions):
            inside, _ = region.nodes(self._lives.latest_span)
            numbers = self._lives.latest_fragment[inside]
            if any(self._lives.fragments[n].sharing == "private" for n in numbers[numbers >= 0]):
                found[number] = "private"
        return found

    def _is_alike(self, mine: KeptVersion, other: KeptVersion) -> bool:
        """Whether another reader got the same kind of page, and no error or form to log in."""
        how = Comparing()
        pair = [Parts(self._site.digest(one), how) for one in (mine, other)]
        return likeness(pair[0], pair[1], how) > 0


def _lives(times: np.ndarray, changed: Sequence[int]) -> Lives:
    """The lives between changes, at places among captures."""
    starts = np.array([0, *changed])
    before = np.concatenate([[-np.inf], times[starts[1:] - 1]])
    last = np.concatenate([times[starts[1:] - 1], times[-1:]])
    until = np.concatenate([times[starts[1:]], [np.inf]])
    return Lives(before, times[starts], last, until)
