"""Plans: which parts are cut out of which pages, so that every part is kept once.

Pages come in once and are put by on disk (``spool``); memory holds the places and hashes of their larger elements. Only the exact tier
is cut: a fragment has the same bytes wherever it is. Pages that are equal count once.

A plan is asked for its files by ``esi_files``; ``quire fragments plan`` shows what they would save.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from quire.digest import encode
from quire.errors import QuireError
from quire.fragments.cuts.candidates import Elements, elements_of
from quire.fragments.cuts.hazards import Hazard, refusals
from quire.fragments.cuts.includes import DEEPEST, checked_prefix, include
from quire.fragments.cuts.isolate import Span, set_apart, without_around
from quire.fragments.cuts.select import Choice, Cut, choose
from quire.fragments.cuts.unprofitable import without_lonely
from quire.fragments.policy import Policy
from quire.fragments.site.source_page import SourcePage
from quire.fragments.site.spool import Spool

#: Bytes that a part has at least. An include is some 70 bytes and a request inside the cache; a part of 500 pays for both.
MIN_PART_BYTES = 500
#: How deep includes nest by default: every cache does one level well.
MAX_DEPTH = 1


@dataclass(frozen=True, slots=True)
class PlannedPage:
    """A page of a plan.

    Attributes:
        name: as it came in.
        url: as it came in.
        body: the number of its bytes; equal pages have the same.
    """

    name: str
    url: str
    body: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRules:
    """What is cut out.

    Attributes:
        min_bytes: bytes of a part, at least.
        min_pages: different pages that have it, at least.
        max_depth: how deep includes nest, 1 to 5.
        prefix: what addresses of templates and fragments begin with.
        xml_check: refuse pages that do not begin with a tag. Varnish composes those only when started with
            ``-p feature=+esi_disable_xml_check``.
    """

    min_bytes: int = MIN_PART_BYTES
    min_pages: int = 2
    max_depth: int = MAX_DEPTH
    prefix: str = ""
    xml_check: bool = True

    def __post_init__(self) -> None:
        if self.min_bytes <= self.include_bytes:
            raise ValueError(
                f"min_bytes {self.min_bytes}: an include has {self.include_bytes} bytes, so a part has more"
            )
        if self.min_pages < 2:  # noqa: PLR2004 - shared
            raise ValueError(f"min_pages {self.min_pages}: a part is shared by 2 pages at least")
        if not 1 <= self.max_depth <= DEEPEST:
            raise ValueError(f"max_depth {self.max_depth}: includes nest 1 to {DEEPEST} deep")
        checked_prefix(self.prefix)

    @property
    def include_bytes(self) -> int:
        """How long an include is."""
        return len(include(self.prefix, "fragments", "0" * 32))


@dataclass(slots=True, eq=False)
class FragmentPlan:
    """What is cut out of which page. Close it, or use it in a ``with``: it holds a file.

    Attributes:
        rules: what was asked for.
        pages: the pages, as they came in.
        choice: the cuts of every different page, by the number of its bytes.
        refused: why pages are left whole, by the number of their bytes.
        spool: their bytes.
        policies: how long fragments may be kept, by their names, where that is known.
        page_policies: the same for what is left of pages, by the numbers of their bytes.
        other_policy: what goes for the rest.
    """

    rules: PlanRules
    pages: list[PlannedPage]
    choice: Choice
    refused: dict[int, list[Hazard]]
    spool: Spool
    policies: Mapping[str, Policy] = field(default_factory=dict)
    page_policies: Mapping[int, Policy] = field(default_factory=dict)
    other_policy: Policy = field(default_factory=Policy)

    def cuts_inside(self, cut: Cut, data: bytes) -> list[Cut]:
        """Give what is cut out of a fragment, by places in its bytes."""
        inside = self.choice.inside.get(cut.key, [])
        # Hashes of 64 bits may have met by chance: cuts of other bytes are none of these, and no harm.
        if not inside or inside[-1].end > len(data):
            return []
        return [] if refusals(data, xml_check=self.rules.xml_check) else inside

    def close(self) -> None:
        """Let go of the pages."""
        self.spool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<FragmentPlan of {len(self.pages):,} pages: {len(self.choice.height):,} fragments>"


def plan_fragments(
    pages: Iterable[SourcePage],
    *,
    rules: PlanRules | None = None,
    policies: Mapping[str, Policy] | None = None,
    apart: Mapping[int, Sequence[Span]] | None = None,
) -> FragmentPlan:
    """Find what pages have in common, and choose what is cut out of each.

    >>> menu = "<nav>" + "".join(f"<a href=/{n}>Entry number {n}</a>" for n in range(30)) + "</nav>"
    >>> news = [SourcePage(f"{day}.html", f"{day}.html", f"{menu}<h1>Day {day}".encode()) for day in range(3)]
    >>> with plan_fragments(news) as plan:
    ...     [(cut.start, cut.end == len(menu)) for cut in plan.choice.pages[2]]
    [(0, True)]

    Args:
        pages: the pages; each may go when the next one comes.
        rules: what is cut out.
        policies: how long fragments may be kept, by their names.
        apart: parts that are cut out whatever they save, and that nothing is cut out around: first byte and after the last, none in another,
            by the places of pages.
    """
    rules = rules or PlanRules()
    spool = Spool()
    try:
        planned: list[PlannedPage] = []
        elements: list[Elements] = []
        refused: dict[int, list[Hazard]] = {}
        for page in pages:
            number = spool.add(page.body)
            planned.append(PlannedPage(page.name, page.url, number))
            if number < len(elements):
                continue
            why = refusals(page.body, xml_check=rules.xml_check)
            if why:
                refused[number] = why
            elements.append(_elements(page, rules.min_bytes, is_refused=bool(why)))
        # Of equal pages, any may have been watched. What must not be composed keeps all its parts.
        spans = {
            planned[place].body: mine
            for place, mine in (apart or {}).items()
            if planned[place].body not in refused
        }
        choice = choose(
            without_around(elements, spans),
            min_pages=rules.min_pages,
            include_bytes=rules.include_bytes,
            max_depth=rules.max_depth,
        )
        choice = without_lonely(choice, spool, rules.include_bytes)
        # Last: these are cut out of one page alone, whatever that saves.
        set_apart(choice, spans)
    except BaseException:
        spool.close()
        raise
    return FragmentPlan(rules, planned, choice, refused, spool, policies or {})


def _elements(page: SourcePage, min_bytes: int, *, is_refused: bool) -> Elements:
    if not is_refused:
        try:
            return elements_of(encode(page.body, content_type=page.content_type), min_bytes)
        except QuireError:  # no page that can be read, but bytes that can be served whole
            pass
    return Elements.none()
