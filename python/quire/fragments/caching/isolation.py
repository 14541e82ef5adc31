"""Setting apart: parts of a page that no cache may keep are cut out of it, so that the rest can be kept.

A greeting makes a whole page private, a clock makes it stale at every request. Nothing is stored less when such a part is cut out; but what is
left is the same for everybody, and for longer: the paper's reason for fragments that live at their own pace.

The smallest parts will do: a part that may be kept once what is in it is apart stays where it is. Where all of that does not help, because
what is left of the page could not be kept either (``in_vain``), nothing should be cut out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from quire.digest.page import Digest
from quire.fragments.caching.region import Region
from quire.fragments.caching.region_history import PageHistory, policy_of
from quire.fragments.cuts.isolate import Span
from quire.fragments.cuts.plan import FragmentPlan
from quire.fragments.lifetime.results import Lifetimes
from quire.fragments.site.collection import Collection
from quire.fragments.site.site_lifetimes import Tell
from quire.fragments.trees.source_spans import source_spans

# Of a page with more, the first are looked at: each is searched for in every capture.
_MOST_PARTS = 100
#: What is more than this share of a page is not a part of it that the rest could do without.
MOST_SHARE = 0.5


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
    last = site.pages[place].versions[-1]
    source = site.source(last)
    found = [*_private_or_restless(lives), *_unseen(lives, site.digest(last))]
    most = MOST_SHARE * len(source)
    spans = sorted({one for one in found if 0 < one[1] - one[0] <= most})[:_MOST_PARTS]
    chosen: list[Span] = []
    for level in _innermost_first(spans):
        regions = [_region(span, chosen, source) for span in level]
        for span, watched in zip(level, history.watched(regions), strict=True):
            if not policy_of([watched]).is_cached:
                chosen = [one for one in chosen if not _holds(span, one)]
                chosen.append(span)
    return sorted(chosen)


def _private_or_restless(lives: Lifetimes) -> Iterator[Span]:
    """L-P fragments of the last version that may not be kept, by their text."""
    for node, number in enumerate(lives.latest_fragment.tolist()):
        if number < 0:
            continue
        one = lives.fragments[number]
        if one.parent is not None and (one.sharing == "private" or one.ttl_s() == 0):
            start, end = lives.latest_span[node].tolist()
            yield start, end


def _unseen(lives: Lifetimes, page: Digest) -> Iterator[Span]:
    """Elements that change at every capture, whether anybody sees it or not: tokens in scripts, in forms, in the head."""
    spans = source_spans(page)
    if spans is None:
        return
    for one in lives.volatile:
        node = one.node
        if one.version != len(lives.times) - 1:
            continue
        while node > 0 and str(page.tags[page.tag[node]]).startswith("#"):
            node = int(page.parent[node])
        if node > 0:
            yield int(spans.start[node]), int(spans.end[node])


def _innermost_first(spans: Sequence[Span]) -> list[list[Span]]:
    """Spans in levels: what has none in it, then what has only such in it, and so on. What crosses the end of another is left out."""
    levels: defaultdict[int, list[Span]] = defaultdict(list)
    opened: list[tuple[Span, list[int]]] = []

    def close() -> None:
        span, inside = opened.pop()
        height = max(inside, default=-1) + 1
        levels[height].append(span)
        if opened:
            opened[-1][1].append(height)

    for span in sorted(spans, key=lambda one: (one[0], -one[1])):
        while opened and opened[-1][0][1] <= span[0]:
            close()
        if not opened or span[1] <= opened[-1][0][1]:
            opened.append((span, []))
    while opened:
        close()
    return [levels[height] for height in sorted(levels)]


def _region(span: Span, chosen: Sequence[Span], source: bytes) -> Region:
    """A part without those in it that are apart already."""
    holes = sorted(one for one in chosen if _holds(span, one))
    return Region.of("part", span[0], span[1], holes, source)


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
