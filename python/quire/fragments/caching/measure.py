"""Measured policies: how long the files of a plan may be kept, and for whom, out of the versions of its pages.

Every file is a region of the last version of a page. A fragment that several pages have, has the lives of all of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from quire.fragments.caching.region import regions_of
from quire.fragments.caching.region_history import MOST_PAGES, PageHistory, Watched, policy_of
from quire.fragments.caching.ttl import MOST_TTL_S
from quire.fragments.cuts.plan import FragmentPlan
from quire.fragments.lifetime.results import Lifetimes
from quire.fragments.policy import Policy
from quire.fragments.site.collection import Collection
from quire.progress import Progress, no_progress


@dataclass(frozen=True, slots=True)
class MeasuredPolicies:
    """What was measured.

    Attributes:
        fragments: by the names of fragments.
        pages: by the numbers of pages' bytes: for the template, or the whole page.
    """

    fragments: Mapping[str, Policy]
    pages: Mapping[int, Policy]


def measure_policies(
    plan: FragmentPlan,
    site: Collection,
    lives: Mapping[int, Lifetimes],
    *,
    most_ttl_s: int = MOST_TTL_S,
    vary: tuple[str, ...] = ("Cookie",),
    tell: Progress = no_progress,
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
    fragments: defaultdict[str, list[Watched]] = defaultdict(list)
    pages: defaultdict[int, list[Watched]] = defaultdict(list)
    for done, (place, found) in enumerate(lives.items(), start=1):
        body = plan.pages[place].body
        # Of lives a sample will do; for whom something is, any page may tell.
        is_asked = bool(site.pages[place].others)
        regions = [
            region
            for region in regions_of(plan, body, plan.spool.get(body))
            if is_asked or region.is_page or len(fragments[region.name]) < MOST_PAGES
        ]
        for region, told in zip(
            regions, PageHistory(site, site.pages[place], found).watched(regions), strict=True
        ):
            (pages[body] if region.is_page else fragments[region.name]).append(told)
        tell("measure", done, len(lives))
    return MeasuredPolicies(
        {
            name: policy_of(told, most_ttl_s=most_ttl_s, vary=vary)
            for name, told in fragments.items()
            if told
        },
        {body: policy_of(told, most_ttl_s=most_ttl_s, vary=vary) for body, told in pages.items()},
    )
