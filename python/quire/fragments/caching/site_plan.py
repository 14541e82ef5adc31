"""Site plan: the plan of a site with all that its versions and users show.

Parts that no cache may keep are isolated, unless the rest of their page could not be kept either;
and every file gets the policy that was measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from quire.fragments.caching.isolation import isolated_parts
from quire.fragments.caching.measure import measured, watch
from quire.fragments.caching.plan import FragmentPlan, Keeping
from quire.fragments.caching.region import Region
from quire.fragments.caching.region_history import PageHistory
from quire.fragments.cuts.candidates import Span
from quire.fragments.cuts.site_cuts import Candidates, PlanRules, cut_site, find_candidates
from quire.fragments.lifetime.results import Lifetimes
from quire.fragments.site.collection import Collection
from quire.fragments.site.site_lifetimes import all_lifetimes
from quire.progress import Progress, no_progress

__all__ = ["Keeping", "plan_site"]


def plan_site(
    site: Collection,
    *,
    rules: PlanRules | None = None,
    keeping: Keeping | None = None,
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
        progress: called with the step, the amount done and the total.
    """
    keeping = keeping or Keeping()
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
        known = {place: rows for place, rows in told.items() if site.pages[place].body not in vain}
        found = measured(site, watch(site, cuts, lives, progress, known), lives, keeping)
    return FragmentPlan(site, cuts, found)


def _helpful(
    site: Collection,
    candidates: Candidates,
    spans: Mapping[int, Sequence[Span]],
    lives: Mapping[int, Lifetimes],
    keeping: Keeping,
) -> dict[int, Sequence[Span]]:
    """Leave out isolated parts of pages that no cache may keep, however much else is cut out.

    Such parts would be dropped later anyway; but until then they would keep the elements around
    them from being cut out, on all pages.
    """
    places = {site.pages[place].body: place for place in spans}
    isolated = {body: spans[place] for body, place in places.items() if body in candidates.elements}
    found: dict[int, Sequence[Span]] = {}
    for body, holes in candidates.most(isolated).items():
        page, source = site.pages[places[body]], site.body(body)
        rest = Region.of("", 0, len(source), holes, source)
        history = PageHistory(site, page, lives[places[body]])
        if keeping.policy(history.watched([rest])).is_cached:
            found[body] = isolated[body]
    return found
