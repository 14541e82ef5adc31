"""Measuring: how long files may be cached and for whom, from the versions of the pages.

Every file is a region of the newest version of a page. The history of a fragment that several pages
have is that of all of them together.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from quire.fragments.caching.plan import Keeping, Measured
from quire.fragments.caching.region import regions_of
from quire.fragments.caching.region_history import MOST_PAGES, PageHistory, Watched
from quire.fragments.cuts.site_cuts import SiteCuts
from quire.fragments.lifetime.results import Lifetimes
from quire.fragments.site.collection import Collection
from quire.progress import Progress

#: The regions of one page: the name of each, empty for the rest of the page, and its history.
PageWatch = Sequence[tuple[str, Watched]]


def watch(
    site: Collection,
    cuts: SiteCuts,
    lives: Mapping[int, Lifetimes],
    progress: Progress,
    known: Mapping[int, PageWatch] | None = None,
) -> dict[int, PageWatch]:
    """Follow the regions of pages through their captures.

    Args:
        site: the pages.
        cuts: their cuts.
        lives: the lifetimes of pages, by place.
        progress: called as the work goes on.
        known: histories of other pages, by place. They are returned too.
    """
    found = dict(known or {})
    seen = Counter(name for told in found.values() for name, _ in told)
    places = [place for place in lives if place not in found]
    for done, place in enumerate(places, start=1):
        page = site.pages[place]
        source = site.body(page.body)
        # A sample of lives is enough; whether something is private, any page may show.
        regions = [
            region
            for region in regions_of(cuts, cuts.pages[page.body], source)
            if page.others or region.is_page or seen[region.name] < MOST_PAGES
        ]
        told = PageHistory(site, page, lives[place]).watched(regions)
        found[place] = [(one.name, each) for one, each in zip(regions, told, strict=True)]
        seen.update(one.name for one in regions)
        progress("measure", done, len(places))
    return found


def measured(
    site: Collection,
    told: Mapping[int, PageWatch],
    lives: Mapping[int, Lifetimes],
    keeping: Keeping,
) -> Measured:
    """Put the histories of all pages together.

    Args:
        site: the pages.
        told: what ``watch`` returned.
        lives: the lifetimes of pages, by place.
        keeping: how long files are cached.
    """
    fragments: defaultdict[str, list[Watched]] = defaultdict(list)
    pages: defaultdict[int, list[Watched]] = defaultdict(list)
    for place, rows in told.items():
        for name, one in rows:
            if name:
                fragments[name].append(one)
            else:
                pages[site.pages[place].body].append(one)
    policies = {name: keeping.policy(rows) for name, rows in fragments.items()}
    return Measured(
        {**policies, **keeping.given},
        {body: keeping.policy(rows) for body, rows in pages.items()},
        keeping.policy(()),
        fragments,
        lives,
        keeping.given,
    )
