"""The plan of a site: what is cut out of its pages, how long each file may be kept, and for whom.

All that versions and readers tell goes into it. Parts that no cache may keep are set apart, unless that helps nobody; what is kept alike and is
never apart becomes one fragment; and every file gets the policy that was measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from quire.fragments.caching.isolation import in_vain, parts_apart
from quire.fragments.caching.measure import measure_policies
from quire.fragments.caching.ttl import MOST_TTL_S
from quire.fragments.cuts.isolate import Span
from quire.fragments.cuts.joining import join_neighbours
from quire.fragments.cuts.plan import FragmentPlan, PlanRules, plan_fragments
from quire.fragments.lifetime.results import Lifetimes
from quire.fragments.policy import DEFAULT_TTL_S, Policy
from quire.fragments.site.collection import Collection
from quire.fragments.site.site_lifetimes import all_lifetimes
from quire.fragments.site.source_page import SourcePage
from quire.progress import Progress, no_progress


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """How long files are kept, and what may be cut out for it.

    Attributes:
        ttl_s: how long everything is kept that is not private, whatever versions tell; None is as they tell.
        most_ttl_s: nothing is kept longer, where versions tell.
        apart: cut out parts of a page that no cache may keep, where that helps the rest.
        vary: headers that tell readers apart, for what is private.
    """

    ttl_s: int | None = None
    most_ttl_s: int = MOST_TTL_S
    apart: bool = True
    vary: tuple[str, ...] = ("Cookie",)

    def fixed(self, policy: Policy) -> Policy:
        """A policy with the time that is given, where one is."""
        if self.ttl_s is None or policy.sharing == "private":
            return policy
        return replace(policy, ttl_s=self.ttl_s, source="given", reason="the TTL for all")


def plan_site(
    site: Collection,
    *,
    rules: PlanRules | None = None,
    keeping: Keeping | None = None,
    tell: Progress = no_progress,
) -> FragmentPlan:
    """Plan what is cut out of the last version of each page, with policies that are measured from all captures.

    >>> from datetime import datetime, timedelta
    >>> from quire.sources.capture import Capture
    >>> menu = "<nav>" + "".join(f"<a href=/{n}>Entry number {n}</a>" for n in range(30)) + "</nav>"
    >>> times = [datetime(2026, 5, 17) + timedelta(hours=hour) for hour in range(9)]
    >>> captures = [
    ...     Capture("", url, time, b"", f"<h1>{url}</h1>{menu}<p>It is {time.hour} o'clock</p>".encode())
    ...     for time in times
    ...     for url in ("/fish", "/peas")
    ... ]
    >>> with Collection(captures) as site, plan_site(site) as plan:
    ...     for policy in sorted(plan.policies.values()):
    ...         print(policy.ttl_s, policy.why)
    0 measured: 100 % change between two captures, 1 h apart
    3600 measured: no change in 8 h

    Args:
        site: the pages.
        rules: what is cut out.
        keeping: how long files are kept.
        tell: is told of progress: the step, how much is done, and of how much.
    """
    keeping = keeping or Keeping()
    # What is kept for a time that is given needs no history; whose it is may still be asked.
    is_asked = keeping.ttl_s is None or any(page.others for page in site.pages)
    # The smallest part may be the one that makes a page private.
    lives = all_lifetimes(site, tell, min_bytes=1) if is_asked else {}
    spans: dict[int, list[Span]] = parts_apart(site, lives, tell) if keeping.apart else {}
    plan = _planned(site, rules, spans)
    try:
        _measure(plan, site, lives, keeping, tell)
        vain = in_vain(plan, spans)
        if vain:
            helpful = {place: mine for place, mine in spans.items() if place not in vain}
            plan.close()
            plan = _planned(site, rules, helpful)
            _measure(plan, site, lives, keeping, tell)
        if join_neighbours(plan):  # other cuts are other regions
            _measure(plan, site, lives, keeping, tell)
    except BaseException:
        plan.close()
        raise
    return plan


def _planned(
    site: Collection, rules: PlanRules | None, spans: Mapping[int, Sequence[Span]]
) -> FragmentPlan:
    return plan_fragments(_latest(site), rules=rules, apart=spans)


def _latest(site: Collection) -> Iterator[SourcePage]:
    for page in site.pages:
        last = page.versions[-1]
        yield SourcePage(page.name, page.url, site.source(last), last.content_type)


def _measure(
    plan: FragmentPlan,
    site: Collection,
    lives: Mapping[int, Lifetimes],
    keeping: Keeping,
    tell: Progress,
) -> None:
    found = measure_policies(
        plan, site, lives, most_ttl_s=keeping.most_ttl_s, vary=keeping.vary, tell=tell
    )
    plan.other_policy = keeping.fixed(Policy(min(DEFAULT_TTL_S, keeping.most_ttl_s)))
    plan.policies = {name: keeping.fixed(policy) for name, policy in found.fragments.items()}
    plan.page_policies = {body: keeping.fixed(policy) for body, policy in found.pages.items()}
