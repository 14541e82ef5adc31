"""Plan: the pages of a site, the cuts in them, and the policies of the files that result.

A plan is made in one pass, and each stage is final: captures, ``Collection``, ``SiteCuts``,
``Measured``, and, in ``esi``, ``Composition``. ``plan_site`` makes it for a site with versions;
``plan_fragments`` for plain pages, without measuring.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from quire.fragments.caching.region_history import Watched, policy_of
from quire.fragments.caching.ttl import MOST_TTL_S
from quire.fragments.cuts.candidates import Span
from quire.fragments.cuts.site_cuts import PlanRules, SiteCuts, cut_site, find_candidates
from quire.fragments.lifetime.results import Lifetimes
from quire.fragments.policy import Policy
from quire.fragments.site.collection import Collection, Seen, SourcePage
from quire.sources.capture import Capture
from quire.spool import Closes

#: Names of files, by the place of a page and by a part of its newest version.
Continued = Mapping[int, Mapping[Span, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """How long files are cached, and whether parts may be cut out for that.

    Attributes:
        ttl_s: TTL of everything that isn't private, instead of measured ones; None to measure.
        most_ttl_s: longest TTL that is measured.
        apart: isolate parts of a page that no cache may keep, if that helps the rest.
        pace: cut out parts that change at another pace than the rest of their page.
        vary: headers that distinguish users, for private content.
        given: policies of fragments, by name; they replace all others.
    """

    ttl_s: int | None = None
    most_ttl_s: int = MOST_TTL_S
    apart: bool = True
    pace: bool = True
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
        given: policies that were given, by the names of files; ``fragments`` has them too.
    """

    fragments: Mapping[str, Policy] = field(default_factory=dict)
    pages: Mapping[int, Policy] = field(default_factory=dict)
    other: Policy = field(default_factory=Policy)
    watched: Mapping[str, Sequence[Watched]] = field(default_factory=dict)
    lives: Mapping[int, Lifetimes] = field(default_factory=dict)
    given: Mapping[str, Policy] = field(default_factory=dict)

    def fragment(self, name: str) -> Policy:
        """Return the policy of a fragment."""
        return self.fragments.get(name, self.other)

    def page(self, body: int) -> Policy:
        """Return the policy of the rest of a page, by the number of its bytes."""
        return self.pages.get(body, self.other)


@dataclass(frozen=True, slots=True, eq=False)
class FragmentPlan(Closes):
    """The parts that are cut out of each page, and how long each file may be cached.

    Close it, or use it in a ``with`` statement, if ``plan_fragments`` made it: it holds a file.

    Attributes:
        site: the pages.
        cuts: the cuts in their newest versions.
        measured: the policies of the files.
        owns_site: whether closing the plan closes the site.
        continued: parts of pages that were files of an earlier composition, and the names of these
            files, by the place of the page.
    """

    site: Collection
    cuts: SiteCuts
    measured: Measured
    owns_site: bool = False
    continued: Continued = field(default_factory=dict)

    @property
    def rules(self) -> PlanRules:
        """What to cut out."""
        return self.cuts.rules

    def close(self) -> None:
        """Release the pages, if the plan holds them."""
        if self.owns_site:
            self.site.close()

    def __repr__(self) -> str:
        pages, fragments = len(self.site.pages), len(self.cuts.fragments)
        return f"<FragmentPlan of {pages:,} pages: {fragments:,} fragments>"


def plan_fragments(
    pages: Iterable[SourcePage],
    *,
    rules: PlanRules | None = None,
    policies: Mapping[str, Policy] | None = None,
    apart: Mapping[int, Sequence[Span]] | None = None,
) -> FragmentPlan:
    """Find the parts that pages share, and choose what to cut out of each.

    >>> menu = "<nav>" + "".join(f"<a href=/{n}>Entry number {n}</a>" for n in range(30)) + "</nav>"
    >>> days = [f"{menu}<h1>Day {day}".encode() for day in range(3)]
    >>> pages = [SourcePage(f"{n}", f"{n}", page) for n, page in enumerate(days)]
    >>> with plan_fragments(pages) as plan:
    ...     [(part.start, part.end == len(menu)) for part in plan.cuts.pages[2].parts]
    [(0, True)]

    Args:
        pages: the pages; each is released when the next one comes.
        rules: what to cut out.
        policies: how long fragments may be cached, by name.
        apart: parts to isolate regardless of the saving, by the place of the page. None overlaps
            another, and nothing is cut out around them.
    """
    site = Collection(
        Seen(Capture(one.name, one.url, None, b"", one.body, one.content_type), str(number), "")
        for number, one in enumerate(pages)
    )
    try:
        spans = {site.pages[place].body: mine for place, mine in (apart or {}).items()}
        cuts = cut_site(site, find_candidates(site, rules or PlanRules()), spans)
    except BaseException:
        site.close()
        raise
    given = policies or {}
    return FragmentPlan(site, cuts, Measured(given, given=given), owns_site=True)
