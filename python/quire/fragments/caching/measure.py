"""Measuring: how long the files of a plan may be cached and for whom, from the versions of its pages.

Every file is a region of the newest version of a page. The history of a fragment that several pages
have is that of all of them together.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from quire.fragments.caching.region import regions_of
from quire.fragments.caching.region_history import MOST_PAGES, PageHistory, Watched, policy_of
from quire.fragments.caching.ttl import MOST_TTL_S
from quire.fragments.cuts.site_cuts import SiteCuts
from quire.fragments.lifetime.results import Lifetimes
from quire.fragments.policy import Policy
from quire.fragments.site.collection import Collection


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """How long files are cached, and whether parts may be cut out for that.

    Attributes:
        ttl_s: TTL of everything that isn't private, instead of measured ones; None to measure.
        most_ttl_s: longest TTL that is measured.
        apart: isolate parts of a page that no cache may keep, if that helps the rest.
        vary: headers that distinguish users, for private content.
        given: policies of fragments, by name; they replace all others.
    """

    ttl_s: int | None = None
    most_ttl_s: int = MOST_TTL_S
    apart: bool = True
    vary: tuple[str, ...] = ("Cookie",)
    given: Mapping[str, Policy] = field(default_factory=dict)

    def policy(self, told: Sequence[Watched]) -> Policy:
        """Return the policy for a region with this history, or with none."""
        measured = policy_of(told, most_ttl_s=self.most_ttl_s, vary=self.vary)
        if self.ttl_s is None or measured.sharing == "private":
            return measured
        return replace(measured, ttl_s=self.ttl_s, source="given", reason="the TTL for all")


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """Policies of the files of a plan, and the measurements behind them.

    Attributes:
        fragments: policies by the names of fragments, as far as known.
        pages: policies of the rest of pages, by the numbers of their bytes, as far as known.
        other: the policy of all other files.
        watched: the history of each fragment on each of its pages, by name.
        lives: the lifetimes of the parts of pages, by place.
    """

    fragments: Mapping[str, Policy] = field(default_factory=dict)
    pages: Mapping[int, Policy] = field(default_factory=dict)
    other: Policy = field(default_factory=Policy)
    watched: Mapping[str, Sequence[Watched]] = field(default_factory=dict)
    lives: Mapping[int, Lifetimes] = field(default_factory=dict)

    def fragment(self, name: str) -> Policy:
        """Return the policy of a fragment."""
        return self.fragments.get(name, self.other)

    def page(self, body: int) -> Policy:
        """Return the policy of the rest of a page, by the number of its bytes."""
        return self.pages.get(body, self.other)


#: What one page shows of its regions: the name of each, empty for the rest of the page, and its history.
PageWatch = Sequence[tuple[str, Watched]]


def watch(
    site: Collection,
    cuts: SiteCuts,
    lives: Mapping[int, Lifetimes],
    tell: Callable[[str, int, int], None],
    known: Mapping[int, PageWatch] | None = None,
) -> dict[int, PageWatch]:
    """Follow the regions of pages through their captures.

    Args:
        site: the pages.
        cuts: their cuts.
        lives: the lifetimes of pages, by place.
        tell: progress callback.
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
        tell("measure", done, len(places))
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
    )
