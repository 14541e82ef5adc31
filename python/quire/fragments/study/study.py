"""Statistics of fragments, and what to do about each: size, pages, pace, requests, what it would save, and what to do next.

Three tiers, each ranked by what it saves:

``exact``        the same bytes wherever it is: may be cut out and composed. Figures beyond those before it add up.
``approximate``  alike on several pages: advice, with samples of what differs. Composing it would change pages, so nothing here does.
``own pace``     a part of one page that changes when the rest does not, where versions are given: cut out, the rest stays in the cache.

Cost: linear in the pages; for what is listed (``MOST_LISTED`` of each tier) a few pages are read again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from quire.digest.page import Digest
from quire.display import common_folder, is_web_address
from quire.fragments.caching.change_rate import PageParts, pace_of, shared_pace
from quire.fragments.cuts.plan import MIN_PART_BYTES
from quire.fragments.lifetime.results import Lifetimes, LpFragment
from quire.fragments.lifetime.volatile import selector_of
from quire.fragments.shared.find import SharedFragment, SharedFragments, shared_fragments
from quire.fragments.shared.rules import MIN_BYTES, MIN_MATCH, MIN_PAGES
from quire.fragments.site.collection import Collection
from quire.fragments.site.site_lifetimes import all_lifetimes
from quire.fragments.study.access_log import AccessLog, log_address, read_access_log
from quire.fragments.study.advice import advised
from quire.fragments.study.benefits import Benefit, benefit, worth
from quire.fragments.study.delivering import Place, delivered
from quire.fragments.study.differences import differences
from quire.fragments.study.exact_tier import exact_fragments
from quire.fragments.study.facts import NO_TOTALS, FragmentFacts, Tier, Totals
from quire.fragments.trees.af_tree import AfTree
from quire.progress import Progress, no_progress

#: Fragments of each tier that are told of one by one; totals are of all.
MOST_LISTED = 200
# Approximate ones cost four pages each.
_MOST_APPROXIMATE = 50
# Places that are asked for their pace, of one fragment.
_MOST_PACES = 100
_MOST_SAMPLE = 160
_NOTHING = Benefit(0, 0)
_DAY_S = 86_400


@dataclass(frozen=True, slots=True, eq=False)
class FragmentStudy:
    """What was found out about the fragments of a site.

    Attributes:
        site: the pages.
        exact: what they share byte for byte.
        alike: what they share when parts that are alike are one.
        lives: what versions tell, of pages that have some, by their place in ``site.pages``.
        facts: fragments that are told of: exact, approximate, own pace, each by rank.
        totals: figures over all.
        log: what the access log says.
        requests: how often each page was asked for; 1 for each where there is no log.
    """

    site: Collection
    exact: SharedFragments
    alike: SharedFragments
    lives: dict[int, Lifetimes]
    facts: tuple[FragmentFacts, ...]
    totals: Totals
    log: AccessLog | None
    requests: tuple[int, ...]


def study_fragments(
    site: Collection,
    *,
    log: str | Path | None = None,
    min_match: float = MIN_MATCH,
    min_bytes: int = MIN_BYTES,
    min_pages: int = MIN_PAGES,
    tell: Progress = no_progress,
) -> FragmentStudy:
    """Find the fragments of a site, and say what each would save.

    >>> from quire.sources.capture import Capture
    >>> menu = "<nav>" + "".join(f"<a href=/{n}>Entry number {n}</a>" for n in range(30)) + "</nav>"
    >>> news = [f"{menu}<h1>Day {day}</h1>".encode() for day in range(3)]
    >>> with Collection(Capture(f"{n}.html", f"{n}.html", None, b"", page) for n, page in enumerate(news)) as site:
    ...     found = study_fragments(site)
    >>> one = found.facts[0]
    >>> one.tier, one.source_bytes, one.pages, one.stored_saved, one.path
    ('exact', 921, 3, 1635, 'html > body > nav')

    Args:
        site: the pages.
        log: an access log in common or combined log format, plain or gzip.
        min_match: overlap of shingles, from which parts are one fragment.
        min_bytes: bytes of text that a fragment has at least.
        min_pages: pages that share a fragment, at least.
        tell: is told of progress: the step, how much is done, and of how much.

    Raises:
        OSError: the log cannot be read, or is none.
        ValueError: a rule is out of range.
    """
    # What may not be readable comes before what takes long.
    read, requests = (None, [1] * len(site.pages)) if log is None else _requests(site, log)
    alike = shared_fragments(
        _told(site, "alike", tell), min_match=min_match, min_bytes=min_bytes, min_pages=min_pages
    )
    exact = exact_fragments(_told(site, "equal", tell), min_bytes=min_bytes, min_pages=min_pages)
    lives = all_lifetimes(site, tell)
    study = _Study(FragmentStudy(site, exact, alike, lives, (), NO_TOTALS, read, tuple(requests)))
    cut, places = study.composable()
    listed = delivered(cut, places, site, lives, tell)
    exact_ones = sum(one.tier == "exact" for one in listed)
    every = (*listed[:exact_ones], *study.approximate(tell), *listed[exact_ones:])
    placed = tuple(_placed([advised(one) for one in every], site, tell))
    return replace(study.given, facts=placed, totals=study.totals())


class _Study:
    """The figures of each tier."""

    def __init__(self, given: FragmentStudy) -> None:
        self.given, self.site, self.lives, self.log = given, given.site, given.lives, given.log
        self.requests = given.requests
        self._lengths: dict[int, int] = {}
        self.watched = {page: PageParts(one) for page, one in given.lives.items()}
        self.exact_saved = [benefit(one, given.requests) for one in given.exact]
        self.alike_saved = {
            one.number: benefit(one, given.requests) for one in given.alike if not one.exact
        }
        exact = range(len(given.exact))
        self.exact_order = sorted(exact, key=lambda n: (*self._rank(self.exact_saved[n]), n))
        alike = list(self.alike_saved)
        self.alike_order = sorted(alike, key=lambda n: (*self._rank(self.alike_saved[n]), n))
        # What is smaller would not be cut out by a plan either.
        large = [n for n in self.exact_order if _length(given.exact[n]) >= MIN_PART_BYTES]
        self.beyond = worth(given.exact, large, given.requests)

    def _rank(self, saved: Benefit) -> tuple[int, int]:
        """What saves most comes first: where a log says how often pages are asked for, what is moved; else what is stored."""
        if self.log is None:
            return -saved.stored, -saved.moved
        return -saved.moved, -saved.stored

    def composable(self) -> tuple[list[FragmentFacts], list[list[Place]]]:
        """The parts that could be cut out, and where each is."""
        exact, own = self.exact(), self.own_pace()
        return [*exact, *own], [*map(self._exact_places, exact), *map(self._own_places, own)]

    def _exact_places(self, one: FragmentFacts) -> list[Place]:
        members = self.given.exact[one.number].members
        columns = (members.page, members.byte_start, members.byte_end)
        return list(zip(*(column.tolist() for column in columns), strict=True))

    def _own_places(self, one: FragmentFacts) -> list[Place]:
        lives = self.lives[one.page]
        if one.version != len(lives.times) - 1:
            return []
        start, end = lives.latest_span[one.part].tolist()
        return [(one.page, start, end)] if start >= 0 else []

    def exact(self) -> list[FragmentFacts]:
        """Those that are worth it, the best first; then what is inside of them, or too small."""
        order = sorted(self.exact_order, key=lambda number: number not in self.beyond)
        return [
            self._shared_facts(
                rank,
                self.given.exact[number],
                "exact",
                self.exact_saved[number],
                self.beyond.get(number, _NOTHING),
            )
            for rank, number in enumerate(order[:MOST_LISTED], start=1)
        ]

    def approximate(self, tell: Progress) -> list[FragmentFacts]:
        found = []
        for rank, number in enumerate(self.alike_order[:_MOST_APPROXIMATE], start=1):
            one = self.given.alike[number]
            facts = self._shared_facts(rank, one, "approximate", self.alike_saved[number])
            found.append(
                replace(facts, same_text=one.same_text, differs=differences(one, self.site))
            )
            tell("differences", rank, min(_MOST_APPROXIMATE, len(self.alike_order)))
        return found

    def _shared_facts(
        self,
        rank: int,
        one: SharedFragment,
        tier: Tier,
        saved: Benefit,
        beyond: Benefit = _NOTHING,
    ) -> FragmentFacts:
        members = one.members
        pages, parts = members.page.tolist(), members.part.tolist()
        watched = [pair for pair in zip(pages, parts, strict=True) if pair[0] in self.watched]
        pace = shared_pace(watched[:_MOST_PACES], self.watched)
        asked = sum(self.requests[page] for page in one.pages.tolist())
        return FragmentFacts(
            tier=tier,
            rank=rank,
            number=one.number,
            page=pages[0],
            part=parts[0],
            source_bytes=_length(one),
            text_bytes=one.value_bytes,
            pages=len(one.pages),
            uses=len(members),
            pace=pace,
            requests=asked if self.log is not None else None,
            requests_per_day=self._per_day(asked),
            stored_saved=saved.stored,
            moved_saved=saved.moved,
            stored_beyond=beyond.stored,
            moved_beyond=beyond.moved,
        )

    def _per_day(self, asked: int) -> float | None:
        per_day = self.log.per_day if self.log is not None else None
        return asked * per_day if per_day is not None else None

    def own_pace(self) -> list[FragmentFacts]:
        """The L-P fragments, by what the rest of the page would not be moved again for."""
        found: list[tuple[int, int, LpFragment]] = []
        for page, lives in self.lives.items():
            for one in lives.parts:
                if not one.gone:
                    rest = self._version_bytes(page, one.last) - max(one.source_bytes, 0)
                    found.append((self._own_saved(one, rest, page), page, one))
        found.sort(key=lambda row: (-row[0], row[1], row[2].number))
        return [
            self._own_facts(rank, saved, page, one)
            for rank, (saved, page, one) in enumerate(found[:MOST_LISTED], start=1)
        ]

    def _version_bytes(self, page: int, version: int) -> int:
        """How long a version is: not all parts are on the last one, which may be of another kind."""
        pages = self.site.pages[page]
        if version == len(pages.versions) - 1:
            return pages.source_bytes
        body = pages.versions[version].body
        if body not in self._lengths:
            self._lengths[body] = len(self.site.source(pages.versions[version]))
        return self._lengths[body]

    def _own_saved(self, one: LpFragment, rest: int, page: int) -> int:
        """What of the rest of a page need not come again: once for each change that is followed by a request.

        At a rate a of requests and u of changes, a u / (a + u) of the requests find the page changed.
        """
        if self.log is None:
            return one.changes * rest
        asked = self._per_day(self.requests[page])
        if asked is None:
            return min(one.changes, self.requests[page]) * rest
        often, changes = asked / _DAY_S * one.watched_s, one.changes
        return round(often * changes / (often + changes) * rest) if often + changes else 0

    def _own_facts(self, rank: int, saved: int, page: int, one: LpFragment) -> FragmentFacts:
        asked = self.requests[page]
        return FragmentFacts(
            tier="own pace",
            rank=rank,
            number=one.number,
            page=page,
            part=one.node,
            source_bytes=one.source_bytes,
            text_bytes=one.value_bytes,
            pages=1,
            uses=1,
            pace=pace_of(one),
            requests=asked if self.log is not None else None,
            requests_per_day=self._per_day(asked),
            stored_saved=0,
            moved_saved=saved,
            page_share=max(one.source_bytes, 0) / max(self._version_bytes(page, one.last), 1),
            path=one.path,
            version=one.last,
        )

    def totals(self) -> Totals:
        pages = self.site.pages
        return Totals(
            pages=len(pages),
            page_bytes=sum(page.source_bytes for page in pages),
            watched_pages=sum(len(page.versions) > 1 for page in pages),
            versions=sum(len(page.versions) for page in pages),
            other_readers=sum(len(page.others) for page in pages),
            unreadable=len(self.site.unreadable),
            exact=len(self.exact_order),
            approximate=len(self.alike_order),
            own_pace=sum(not part.gone for lives in self.lives.values() for part in lives.parts),
            worth_it=len(self.beyond),
            stored_saved=sum(one.stored for one in self.beyond.values()),
            moved_saved=sum(one.moved for one in self.beyond.values()),
            moved_bytes=sum(
                page.source_bytes * asked for page, asked in zip(pages, self.requests, strict=True)
            ),
        )


def _length(one: SharedFragment) -> int:
    """Bytes in the source, of the longest member."""
    return int((one.members.byte_end - one.members.byte_start).max())


def _told(site: Collection, step: str, tell: Progress) -> Iterator[Digest]:
    for done, page in enumerate(site.latest(), start=1):
        yield page
        tell(step, done, len(site.pages))


def _requests(site: Collection, path: str | Path) -> tuple[AccessLog, list[int]]:
    """How often each page was asked for: by the path and query of its address, or its name below the folder that all are in."""
    folder = common_folder(page.url for page in site.pages if not is_web_address(page.url))
    addresses = [
        log_address(page.url if is_web_address(page.url) else page.url.removeprefix(folder))
        for page in site.pages
    ]
    found = read_access_log(path, addresses)
    return found, [found.requests.get(address, 0) for address in addresses]


def _placed(
    facts: Sequence[FragmentFacts], site: Collection, tell: Progress
) -> list[FragmentFacts]:
    """Add a path and a sample of the text; a page is read once for all that is on it."""
    found = list(facts)
    order = sorted(range(len(found)), key=lambda place: (found[place].page, found[place].version))
    at, page, tree = None, None, None
    for done, place in enumerate(order, start=1):
        one = found[place]
        if at != (one.page, one.version) or page is None or tree is None:
            at = (one.page, one.version)
            page = site.digest(site.pages[one.page].versions[one.version])
            tree = AfTree.of(page)
        sample = tree.value(one.part)[: 4 * _MOST_SAMPLE].decode("utf-8", "replace")
        path = one.path or selector_of(page, int(tree.node[one.part]))
        found[place] = replace(one, path=path, sample=" ".join(sample.split())[:_MOST_SAMPLE])
        tell("places", done, len(order))
    return found
