"""Delivering: how parts would fare in a cache: how long each may be kept, for whom, and on which pages a cache would not compose it.

The same measures as those of a plan, for parts that the report tells of. Every page is read once more, and its captures where it has several.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from quire.fragments.caching.region import Region
from quire.fragments.caching.region_history import MOST_PAGES, PageHistory, Watched, policy_of
from quire.fragments.cuts.esi_scanner import EsiScanner, Within
from quire.fragments.cuts.hazards import HazardKind, blocked, refusals
from quire.fragments.lifetime.results import Lifetimes
from quire.fragments.site.collection import Collection
from quire.fragments.study.facts import FragmentFacts, PartHazard
from quire.progress import Progress

#: Page, first byte, and after the last one.
Place = tuple[int, int, int]


def delivered(
    facts: Sequence[FragmentFacts],
    places: Sequence[Sequence[Place]],
    site: Collection,
    lives: Mapping[int, Lifetimes],
    tell: Progress,
) -> list[FragmentFacts]:
    """Add policies and hazards to what is known of parts.

    Args:
        facts: the parts.
        places: where each is, in the last version of pages; nothing where that is not known.
        site: the pages.
        lives: what versions tell, by the place of pages.
        tell: is told of progress.
    """
    on_page: defaultdict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for part, mine in enumerate(places):
        for page, start, end in mine:
            on_page[page].append((start, end, part))
    told: list[list[Watched]] = [[] for _ in facts]
    kinds: list[Counter[HazardKind]] = [Counter() for _ in facts]
    for done, (page, rows) in enumerate(on_page.items(), start=1):
        rows.sort()
        source = site.source(site.pages[page].versions[-1])
        found = hazards_at(source, [start for start, _, _ in rows])
        for part, kind in {(row[2], kind) for row, kind in zip(rows, found, strict=True) if kind}:
            kinds[part][kind] += 1
        if page in lives:
            # Of lives a sample will do; for whom something is, any page may tell.
            others = bool(site.pages[page].others)
            asked = [row for row in rows if others or len(told[row[2]]) < MOST_PAGES]
            regions = [Region.of("part", start, end, (), source) for start, end, _ in asked]
            history = PageHistory(site, site.pages[page], lives[page])
            for row, watched in zip(asked, history.watched(regions), strict=True):
                told[row[2]].append(watched)
        tell("places", done, len(on_page))
    return [
        replace(
            one,
            policy=policy_of(watched) if watched else None,
            hazards=tuple(PartHazard(kind, count) for kind, count in found.most_common()),
        )
        for one, watched, found in zip(facts, told, kinds, strict=True)
    ]


def hazards_at(source: bytes, starts: Sequence[int]) -> list[HazardKind | None]:
    """What keeps a cache from seeing an include at some places of a page; nothing where it would.

    >>> hazards_at(b"<p>1 < 2 <nav>Start</nav>", [9]), hazards_at(b"<p>One</p><nav>Start</nav>", [10])
    ([<HazardKind.open_tag: 'open-tag'>], [None])

    Args:
        source: the page.
        starts: the places, ascending.
    """
    refused = refusals(source)
    if refused:
        return [refused[0].kind] * len(starts)
    scanners = (EsiScanner(), EsiScanner(backs_up=True))
    grown = bytearray()
    found: list[HazardKind | None] = []
    for start in starts:
        grown += source[len(grown) : start]
        stuck = next((one for one in scanners if one.read(grown) is not Within.NOTHING), None)
        found.append(None if stuck is None else blocked(stuck.within))
    return found
