"""Isolation: parts of a page that no cache may keep are cut out, so that the rest can be kept.

A greeting makes a whole page private, a clock makes it stale at every request. Cutting such a part
out saves no storage; but the rest is the same for everybody, and for longer. That is the paper's
reason for fragments that change at their own pace.

The smallest parts are enough: a part that may be kept once the parts in it are isolated stays where
it is. If the rest of the page could not be kept either, the plan drops these cuts again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from quire.digest.page import Digest
from quire.digest.source_spans import source_spans
from quire.fragments.caching.region import Region
from quire.fragments.caching.region_history import PageHistory, policy_of
from quire.fragments.cuts.candidates import Span
from quire.fragments.lifetime.results import Lifetimes
from quire.fragments.site.collection import Collection
from quire.progress import Progress
from quire.sdiff.volatile import nearest_element

# Of a page with more, the first are examined: each is searched for in every capture.
_MOST_PARTS = 100
#: A part larger than this share of its page is not isolated.
MOST_SHARE = 0.5


def isolated_parts(
    site: Collection, lives: Mapping[int, Lifetimes], progress: Progress
) -> dict[int, list[Span]]:
    """Find the parts of pages that no cache may keep: private ones, and those that always change.

    Args:
        site: the pages.
        lives: the lifetimes of pages, by place.
        progress: called as the work goes on.

    Returns:
        The parts, by the place of the page.
    """
    found = {}
    for done, (place, one) in enumerate(lives.items(), start=1):
        spans = _of_page(PageHistory(site, site.pages[place], one), one, site, place)
        if spans:
            found[place] = spans
        progress("apart", done, len(lives))
    return found


def _of_page(history: PageHistory, lives: Lifetimes, site: Collection, place: int) -> list[Span]:
    last = site.pages[place].versions[-1]
    source = site.source(last)
    found = [*_private_or_volatile(lives), *_unseen(lives, site.digest(last))]
    most = MOST_SHARE * len(source)
    spans = sorted({one for one in found if 0 < one[1] - one[0] <= most})[:_MOST_PARTS]
    chosen: list[Span] = []
    for level in _innermost_first(spans):
        # Each part without those in it that are isolated already.
        holes = [sorted(one for one in chosen if _holds(span, one)) for span in level]
        regions = [
            Region.of("part", *span, inside, source)
            for span, inside in zip(level, holes, strict=True)
        ]
        for span, watched in zip(level, history.watched(regions), strict=True):
            if not policy_of([watched]).is_cached:
                chosen = [one for one in chosen if not _holds(span, one)]
                chosen.append(span)
    return sorted(chosen)


def _private_or_volatile(lives: Lifetimes) -> Iterator[Span]:
    """L-P fragments of the newest version that may not be kept, by their text."""
    for node, number in enumerate(lives.latest_fragment.tolist()):
        if number < 0:
            continue
        one = lives.fragments[number]
        if one.parent is not None and (one.sharing == "private" or one.ttl_s() == 0):
            start, end = lives.latest_span[node].tolist()
            yield start, end


def _unseen(lives: Lifetimes, page: Digest) -> Iterator[Span]:
    """Elements that change at every capture, visible or not: tokens in scripts, forms, the head."""
    spans = source_spans(page)
    if spans is None:
        return
    for one in lives.volatile:
        node = nearest_element(page, one.node) if one.version == len(lives.times) - 1 else 0
        if node > 0:
            yield int(spans.start[node]), int(spans.end[node])


def _innermost_first(spans: Sequence[Span]) -> list[list[Span]]:
    """Order spans in levels: those without others inside, then those around only such, and so on.

    A span that crosses the end of another is left out.
    """
    kept: list[Span] = []
    for span in sorted(spans, key=lambda one: (one[0], -one[1])):
        if all(one[1] <= span[0] or span[1] <= one[1] for one in kept):
            kept.append(span)
    levels: defaultdict[int, list[Span]] = defaultdict(list)
    height: dict[Span, int] = {}
    for span in sorted(kept, key=lambda one: one[1] - one[0]):
        inside = [level for one, level in height.items() if _holds(span, one)]
        height[span] = max(inside, default=-1) + 1
        levels[height[span]].append(span)
    return [sorted(levels[level]) for level in sorted(levels)]


def _holds(outer: Span, inner: Span) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]
