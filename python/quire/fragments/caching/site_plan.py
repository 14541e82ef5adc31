"""Site plan: the plan of a site with all that its versions and users show.

Parts that no cache may keep are isolated, unless the rest of their page could not be kept either.
Parts that change at another pace than the rest are files of their own, if a cache may keep them.
Every file gets the policy that was measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from quire.fragments.caching.isolation import isolated_parts
from quire.fragments.caching.measure import PageWatch, measured, watch
from quire.fragments.caching.pacing import REQUEST_BYTES, PacedNodes, paced_parts
from quire.fragments.caching.plan import Continued, FragmentPlan, Keeping, Measured
from quire.fragments.caching.region import Region
from quire.fragments.caching.region_history import PageHistory
from quire.fragments.cuts.candidates import CutKind, Span
from quire.fragments.cuts.site_cuts import (
    Candidates,
    PlanRules,
    SiteCuts,
    cut_site,
    find_candidates,
)
from quire.fragments.lifetime.results import Lifetimes
from quire.fragments.site.collection import Collection
from quire.fragments.site.site_lifetimes import all_lifetimes
from quire.progress import Progress, no_progress

__all__ = ["Keeping", "plan_site"]

# A page whose rest is in the cache is shown sooner, so isolated parts may cost this many times what
# the page without them does.
_MOST_TIMES = 2


def plan_site(
    site: Collection,
    *,
    rules: PlanRules | None = None,
    keeping: Keeping | None = None,
    continued: Continued | None = None,
    progress: Progress = no_progress,
) -> FragmentPlan:
    """Plan the cuts in the newest version of each page, with policies measured from all captures.

    >>> from datetime import datetime, timedelta
    >>> from quire.sources.capture import Capture
    >>> menu = "<nav>" + "".join(f"<a href=/{n}>Entry number {n}</a>" for n in range(30)) + "</nav>"
    >>> times = [datetime(2026, 5, 17) + timedelta(hours=hour) for hour in range(9)]
    >>> page = "<h1>{}</h1>{}<p>It is {} o'clock</p>"
    >>> captures = [
    ...     Capture("", url, time, b"", page.format(url, menu, time.hour).encode())
    ...     for time in times
    ...     for url in ("/fish", "/peas")
    ... ]
    >>> with Collection(captures) as site:
    ...     plan = plan_site(site)
    >>> for policy in sorted(plan.measured.fragments.values()):
    ...     print(policy.ttl_s, policy.why)
    0 measured: 100 % change between two captures, 1 h apart
    3600 measured: no change in 8 h

    Args:
        site: the pages.
        rules: what to cut out.
        keeping: how long files are cached.
        continued: parts that were files of an earlier composition (``continued_parts``). They stay
            files of their own, as long as that does not cost more than other cuts.
        progress: called with the step, the amount done and the total.
    """
    keeping, continued = keeping or Keeping(), continued or {}
    # With a given TTL no history is needed; but other users may show private parts.
    is_asked = keeping.ttl_s is None or any(page.others for page in site.pages)
    # The smallest part may be the one that makes a page private.
    lives = all_lifetimes(site, progress, min_bytes=1) if is_asked else {}
    candidates = find_candidates(site, rules or PlanRules(), progress)
    spans = isolated_parts(site, lives, progress) if keeping.apart else {}
    bodies = _helpful(site, candidates, spans, lives, keeping)
    cuts = cut_site(site, candidates, bodies)
    told = watch(site, cuts, lives, progress)
    found = measured(site, told, lives, keeping)
    # Isolating parts of a page whose rest may not be kept either is in vain.
    vain = {one for one in bodies if cuts.pages[one].isolates and not found.page(one).is_cached}
    if vain:
        cuts = cuts.without_isolated(site, vain)
        told = watch(site, cuts, lives, progress, _others(site, told, vain))
        found = measured(site, told, lives, keeping)
    paced = paced_parts(site, cuts, lives, continued) if keeping.pace else {}
    while paced:  # fewer each time: until a cache may keep all of them
        cuts = cuts.with_paced(site, paced)
        told = watch(site, cuts, lives, progress, _others(site, told, paced))
        found = measured(site, told, lives, keeping)
        paced = _kept(cuts, found)
    return FragmentPlan(site, cuts, found, continued=continued)


def _others(
    site: Collection, told: Mapping[int, PageWatch], bodies: AbstractSet[int] | Mapping[int, object]
) -> dict[int, PageWatch]:
    """Leave out the histories of some pages."""
    return {place: rows for place, rows in told.items() if site.pages[place].body not in bodies}


def _kept(cuts: SiteCuts, found: Measured) -> dict[int, list[Span]]:
    """List pages with paced parts that no cache may keep, and their other paced parts.

    Such a part would be fetched at every request, in a request of its own.
    """
    kept: dict[int, list[Span]] = {}
    for body, page in cuts.pages.items():
        paced = [part for part in page.parts if part.kind is CutKind.PACED]
        good = [part for part in paced if found.fragment(part.name).is_cached]
        if len(good) < len(paced):
            kept[body] = [(part.start, part.end) for part in good]
    return kept


def _helpful(
    site: Collection,
    candidates: Candidates,
    spans: Mapping[int, Sequence[Span]],
    lives: Mapping[int, Lifetimes],
    keeping: Keeping,
) -> dict[int, Sequence[Span]]:
    """Leave out isolated parts of pages that no cache may keep, however much else is cut out.

    Such parts would be dropped later anyway; but until then they would keep the elements around
    them from being cut out, on all pages. So are parts that cost more than fetching the page
    without them: a list of which every item changes is better fetched at once.
    """
    places = {site.pages[place].body: place for place in spans}
    isolated = {body: spans[place] for body, place in places.items() if body in candidates.elements}
    found: dict[int, Sequence[Span]] = {}
    for body, holes in candidates.most(isolated).items():
        page, source = site.pages[places[body]], site.body(body)
        rest = Region.of("", 0, len(source), holes, source)
        history = PageHistory(site, page, lives[places[body]])
        if not keeping.policy(history.watched([rest])).is_cached:
            continue
        parts_cost = sum(end - start + REQUEST_BYTES for start, end in isolated[body])
        page_cost = REQUEST_BYTES + len(source)
        if keeping.pace:
            nodes = PacedNodes.of(lives[places[body]], source, (), candidates.rules.min_bytes)
            include_bytes = candidates.rules.include_bytes
            paced = nodes.choose(include_bytes)
            page_cost -= sum(end - start - include_bytes for start, end in paced)
        if parts_cost <= _MOST_TIMES * page_cost:
            found[body] = isolated[body]
    return found
