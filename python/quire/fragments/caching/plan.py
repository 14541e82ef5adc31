"""Plan: the pages of a site, the cuts in them, and the policies of the files that result.

A plan is made in one pass, and each stage is final: captures, ``Collection``, ``SiteCuts``,
``Measured``, and, in ``esi``, ``Composition``. ``plan_site`` makes it for a site with versions;
``plan_fragments`` for plain pages, without measuring.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from quire.fragments.caching.measure import Measured
from quire.fragments.cuts.candidates import Span
from quire.fragments.cuts.site_cuts import PlanRules, SiteCuts, cut_site
from quire.fragments.policy import Policy
from quire.fragments.site.collection import Collection, Seen
from quire.fragments.site.source_page import SourcePage
from quire.fragments.site.spool import Closes
from quire.sources.capture import Capture


@dataclass(frozen=True, slots=True, eq=False)
class FragmentPlan(Closes):
    """What is cut out of which page, and how long each file may be cached.

    Close it, or use it in a ``with`` statement, if ``plan_fragments`` made it: it holds a file.

    Attributes:
        site: the pages.
        cuts: the cuts in their newest versions.
        measured: the policies of the files.
        owns_site: whether closing the plan closes the site.
    """

    site: Collection
    cuts: SiteCuts
    measured: Measured
    owns_site: bool = False

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
    >>> with plan_fragments(SourcePage(f"{n}", f"{n}", page) for n, page in enumerate(days)) as plan:
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
        cuts = cut_site(site, rules or PlanRules(), apart)
    except BaseException:
        site.close()
        raise
    return FragmentPlan(site, cuts, Measured(policies or {}), owns_site=True)
