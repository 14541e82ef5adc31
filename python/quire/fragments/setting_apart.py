"""Setting apart: parts of a page that no cache may keep are cut out of it, so that the rest can be kept.

A greeting makes a whole page private, a clock makes it stale at every request. Nothing is stored less when such a part is cut out; but what is
left is the same for everybody, and for longer: the paper's reason for fragments that live at their own pace.

The smallest parts will do: a part that may be kept once what is in it is apart stays where it is. Where all of that does not help, because
what is left of the page could not be kept either (``in_vain``), nothing should be cut out.

Above: ``site_plan``. Below: ``page_histories``, ``plan``, ``apart_cuts``, ``regions``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from quire.fragments.apart_cuts import Span
from quire.fragments.collected import Collection
from quire.fragments.lp_results import Lifetimes
from quire.fragments.page_histories import PageHistory, policy_of
from quire.fragments.plan import FragmentPlan
from quire.fragments.regions import Region
from quire.fragments.watching import Tell

# Of a page with more, the first are looked at: each is searched for in every capture.
_MOST_PARTS = 100


def parts_apart(
    site: Collection, lives: Mapping[int, Lifetimes], tell: Tell
) -> dict[int, list[Span]]:
    """Find the parts of pages that no cache may keep, by the place of pages: private ones, and those that change all the time.

    Args:
        site: the pages.
        lives: what versions tell, by the place of pages.
        tell: is told of progress.
    """
    found = {}
    for done, (place, one) in enumerate(lives.items(), start=1):
        spans = _of_page(PageHistory(site, site.pages[place], one), one, site, place)
        if spans:
            found[place] = spans
        tell("apart", done, len(lives))
    return found


def _of_page(history: PageHistory, lives: Lifetimes, site: Collection, place: int) -> list[Span]:
    by_depth: defaultdict[int, list[Span]] = defaultdict(list)
    count = 0
    for node, number in enumerate(lives.latest_fragment.tolist()):
        if number < 0 or count >= _MOST_PARTS:
            continue
        one = lives.fragments[number]
        start, end = lives.latest_span[node].tolist()
        is_restless = one.sharing == "private" or one.ttl_s() == 0
        if one.parent is not None and is_restless and 0 <= start < end:
            by_depth[one.depth].append((start, end))
            count += 1
    if not count:
        return []
    source = site.source(site.pages[place].versions[-1])
    chosen: list[Span] = []
    for depth in sorted(by_depth, reverse=True):
        spans = by_depth[depth]
        regions = [_region(span, chosen, source) for span in spans]
        for span, watched in zip(spans, history.watched(regions), strict=True):
            if not policy_of([watched]).is_cached:
                chosen = [one for one in chosen if not _holds(span, one)]
                chosen.append(span)
    return sorted(chosen)


def _region(span: Span, chosen: Sequence[Span], source: bytes) -> Region:
    """A part without those in it that are apart already."""
    holes = tuple(sorted(one for one in chosen if _holds(span, one)))
    edges = [span[0], *(edge for hole in holes for edge in hole), span[1]]
    pieces = tuple(source[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True))
    return Region("part", span[0], span[1], pieces, holes)


def _holds(outer: Span, inner: Span) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def in_vain(plan: FragmentPlan, spans: Mapping[int, Sequence[Span]]) -> set[int]:
    """The places of pages whose rest may not be kept though parts of them are set apart.

    Args:
        plan: with these parts set apart, and with policies for what is left of pages.
        spans: the parts, by the place of pages.
    """
    return {
        place
        for place in spans
        if not plan.page_policies.get(plan.pages[place].body, plan.other_policy).is_cached
    }
