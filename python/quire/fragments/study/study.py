"""Study: figures for every fragment of a plan and for parts beside it, and what to do about each.

Three tiers, each ranked by the bytes that the origin does not send (``columns.MOVED``), if every
page is fetched once or as in an access log:

``exact``        the fragments of the plan, with the figures of ``plan`` and ``esi``; they add up.
``approximate``  parts that are alike on several pages: advice, with samples of the differences.
                 Composing them would change pages, so the plan does not.
``own pace``     parts of the newest version of a page that change when the rest does not. The plan
                 isolates those that no cache may keep.

No two rows with advice overlap on a page (``steps``).

Cost: linear in the pages; for fragments that are listed (``MOST_LISTED`` of each tier) a few pages
are read again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from quire.digest.page import Digest
from quire.digest.source_spans import source_spans
from quire.fragments.caching.change_rate import Pace, joined_pace, pace_of
from quire.fragments.caching.plan import FragmentPlan
from quire.fragments.caching.region import Region
from quire.fragments.caching.region_history import PageHistory, Watched
from quire.fragments.cuts.candidates import CutKind, elements_of
from quire.fragments.cuts.hazards import HazardKind
from quire.fragments.cuts.site_cuts import CutPage, Part
from quire.fragments.esi.composition import Composition
from quire.fragments.lifetime.results import Lifetimes, LpFragment
from quire.fragments.shared.find import SharedFragment, SharedFragments, shared_fragments
from quire.fragments.shared.rules import MIN_BYTES, MIN_MATCH, MIN_PAGES
from quire.fragments.site.collection import Collection
from quire.fragments.study.advice import advised
from quire.fragments.study.differences import differences
from quire.fragments.study.facts import PLANNED, FragmentFacts, PartHazard, Planned, Totals
from quire.fragments.study.page_requests import PageRequests
from quire.fragments.study.part_names import part_name
from quire.fragments.study.steps import PartPlace, ranked
from quire.fragments.trees.af_tree import AfTree
from quire.progress import Progress, no_progress
from quire.sdiff.volatile import selector_of
from quire.sources.access_log import AccessLog

#: Fragments of each tier that are listed one by one; totals are of all.
MOST_LISTED = 200
# Approximate ones cost four pages each.
_MOST_APPROXIMATE = 50
# Pages on which one fragment is followed.
_MOST_PACES = 100
_MOST_SAMPLE = 160
_DAY_S = 86_400


@dataclass(frozen=True, slots=True, eq=False)
class FragmentStudy:
    """The fragments of a site with figures and advice.

    Attributes:
        plan: the plan.
        composition: its files and figures.
        alike: the parts that pages share if parts that are alike count as one.
        asked: how often pages were requested.
        facts: the fragments that are listed: exact, approximate, own pace, each by rank.
        totals: figures over all.
    """

    plan: FragmentPlan
    composition: Composition
    alike: SharedFragments
    asked: PageRequests
    facts: tuple[FragmentFacts, ...]
    totals: Totals

    @property
    def site(self) -> Collection:
        """The pages."""
        return self.plan.site

    @property
    def lives(self) -> Mapping[int, Lifetimes]:
        """The lifetimes of the parts of pages, by place."""
        return self.plan.measured.lives

    @property
    def advised(self) -> tuple[FragmentFacts, ...]:
        """The rows with advice, those that save the most first. No two are about the same part."""
        found = [one for one in self.facts if one.action != "leave"]
        return tuple(sorted(found, key=lambda one: (-one.moved_saved, -one.stored_saved)))

    @property
    def log(self) -> AccessLog | None:
        """The access log, if there is one."""
        return self.asked.log

    def parts_on(self, place: int) -> Iterator[tuple[Part, int, int]]:
        """List the parts that the plan cuts out of a page, with their places in it."""
        cuts = self.plan.cuts
        return cuts.spans(cuts.pages[self.site.pages[place].body])


def study_fragments(
    plan: FragmentPlan,
    *,
    asked: PageRequests | None = None,
    min_match: float = MIN_MATCH,
    min_bytes: int = MIN_BYTES,
    min_pages: int = MIN_PAGES,
    progress: Progress = no_progress,
) -> FragmentStudy:
    """Study the fragments of a plan, and the parts that it leaves.

    >>> from quire.fragments import SourcePage, plan_fragments
    >>> menu = "<nav>" + "".join(f"<a href=/{n}>Entry number {n}</a>" for n in range(30)) + "</nav>"
    >>> news = [f"{menu}<h1>Day {day}</h1>".encode() for day in range(3)]
    >>> pages = [SourcePage(f"{n}", f"{n}", page) for n, page in enumerate(news)]
    >>> with plan_fragments(pages) as plan:
    ...     found = study_fragments(plan)
    >>> one = found.facts[0]
    >>> one.tier, one.source_bytes, one.pages, one.stored_saved, one.path
    ('exact', 921, 3, 1635, 'html > body > nav')

    Args:
        plan: the plan.
        asked: how often each page was requested; once each by default.
        min_match: minimum overlap of shingles for two parts to count as the same approximate one.
        min_bytes: minimum length of an approximate part, in bytes of text.
        min_pages: number of pages that must share an approximate part.
        progress: called with the step, the amount done and the total.

    Raises:
        ValueError: a rule is out of range.
    """
    alike = shared_fragments(
        _told(plan.site, progress), min_match=min_match, min_bytes=min_bytes, min_pages=min_pages
    )
    study = _Study(plan, alike, asked or PageRequests.once(plan.site))
    every = [*study.exact(), *study.approximate(progress), *study.own_pace()]
    rows = ranked([study.finished(one) for one in every], study.places)
    placed = tuple(_placed(rows, plan.site, progress))
    return FragmentStudy(
        plan, study.composition, alike, study.asked, placed, study.totals(len(plan.site.unreadable))
    )


def planned_fragments(
    plan: FragmentPlan, *, progress: Progress = no_progress
) -> tuple[FragmentFacts, ...]:
    """Return the fragments of a plan as ``study_fragments`` lists them, without studying the rest.

    Args:
        plan: the plan.
        progress: called for the step ``places``.
    """
    study = _Study(plan, (), PageRequests.once(plan.site))
    rows = ranked([study.finished(one) for one in study.exact()], study.places)
    return tuple(_placed(rows, plan.site, progress))


class _Study:
    """The figures of each tier."""

    def __init__(
        self, plan: FragmentPlan, alike: Iterable[SharedFragment], asked: PageRequests
    ) -> None:
        self.plan, self.site, self.lives = plan, plan.site, plan.measured.lives
        self.alike, self.asked = [one for one in alike if not one.exact], asked
        self.composition = Composition.of(plan)
        self.include_bytes = self.composition.manifest.include_bytes
        self.requests: Counter[int] = Counter()
        for page, often in zip(plan.site.pages, asked.pages, strict=True):
            self.requests[page.body] += often

    def places(self, facts: FragmentFacts) -> Iterator[PartPlace]:
        """List the places of a part on the newest versions of pages, as far as known."""
        if facts.tier == "exact":
            yield from self._cut_places.get(facts.name, ())
        elif facts.tier == "approximate":
            members = self._alike_by_number[facts.number].members
            columns = (members.page, members.byte_start, members.byte_end)
            for page, start, end in zip(*(one.tolist() for one in columns), strict=True):
                if start >= 0:
                    yield page, start, end
        elif facts.offset >= 0:
            yield facts.page, facts.offset, facts.offset + max(facts.source_bytes, 1)

    @cached_property
    def _alike_by_number(self) -> dict[int, SharedFragment]:
        return {one.number: one for one in self.alike}

    @cached_property
    def _cut_places(self) -> dict[str, list[PartPlace]]:
        found: defaultdict[str, list[PartPlace]] = defaultdict(list)
        for place, page in enumerate(self.site.pages):
            for part, start, end in self.plan.cuts.spans(self.plan.cuts.pages[page.body]):
                found[part.name].append((place, start, end))
        return found

    def _order(self, saved: Sequence[tuple[int, int]]) -> list[int]:
        """Rank by bytes moved less, then by bytes stored less."""
        return sorted(range(len(saved)), key=lambda n: (-saved[n][1], -saved[n][0], n))

    def exact(self) -> Iterator[FragmentFacts]:
        """List the fragments of the plan."""
        fragments = self.composition.manifest.fragments
        saved = [
            (one.saved(self.include_bytes), self.composition.moved_saved(one, self.requests))
            for one in fragments
        ]
        listed = self._order(saved)[:MOST_LISTED]
        cuts = [self.plan.cuts.fragments[one.file] for one in fragments]
        hazards = self._hazards({cuts[n].key for n in listed} - {None})
        for rank, number in enumerate(listed, start=1):
            one, cut = fragments[number], cuts[number]
            bodies = self.composition.holders[one.file]
            watched = self.plan.measured.watched.get(one.file, ())
            yield FragmentFacts(
                tier="exact",
                rank=rank,
                number=number,
                name=one.file,
                page=one.first_page,
                offset=one.first_offset,
                source_bytes=one.length,
                pages=one.pages,
                uses=one.uses,
                pace=joined_pace(watched),
                requests=sum(self.requests[body] for body in bodies),
                stored_saved=saved[number][0],
                moved_saved=saved[number][1],
                planned=PLANNED[cut.kind],
                policy=one.policy,
                hazards=_most_common(hazards.get(cut.key, Counter())),
            )

    def finished(self, facts: FragmentFacts) -> FragmentFacts:
        """Add advice, and requests per day; without a log, requests are not known."""
        log = self.asked.log
        per_day = log.per_day if log is not None else None
        often = None if log is None else facts.requests
        daily = None if per_day is None or often is None else often * per_day
        return advised(replace(facts, requests=often, requests_per_day=daily))

    def _hazards(self, keys: set[int | None]) -> dict[int | None, Counter[HazardKind]]:
        """Count the pages that keep some parts, by hazard."""
        found: defaultdict[int | None, Counter[HazardKind]] = defaultdict(Counter)
        rules = self.plan.rules
        for page in self.plan.cuts.pages.values():
            kept = {(one.cut.key, one.kind) for one in page.stopped if one.cut.key in keys}
            if page.is_refused and not page.stopped:  # the plan did not look for parts in it
                last = self.site.pages[page.place].versions[-1]
                mine = set(elements_of(self.site.digest(last), rules.min_bytes).key.tolist())
                kept = {(key, page.hazards[0].kind) for key in mine & keys}
            for key, kind in kept:
                found[key][kind] += 1
        return found

    def approximate(self, progress: Progress) -> Iterator[FragmentFacts]:
        """List the parts that are alike, as if all members had the bytes of the longest one."""
        saved = [self._could_save(one) for one in self.alike]
        listed = self._order(saved)[:_MOST_APPROXIMATE]
        paces = self._paces([self.alike[n] for n in listed])
        for rank, number in enumerate(listed, start=1):
            one = self.alike[number]
            first = (int(one.members.page[0]), int(one.members.byte_start[0]))
            end = int(one.members.byte_end[0])
            page = self.plan.cuts.pages[self.site.pages[first[0]].body]
            spans = [(s, e) for _, s, e in self.plan.cuts.spans(page) if s < end and e > first[1]]
            yield FragmentFacts(
                tier="approximate",
                rank=rank,
                number=one.number,
                page=first[0],
                part=int(one.members.part[0]),
                offset=first[1],
                source_bytes=int((one.members.byte_end - one.members.byte_start).max()),
                text_bytes=one.value_bytes,
                pages=len(one.pages),
                uses=len(one.members),
                pace=paces[rank - 1],
                requests=sum(self.asked.pages[n] for n in one.pages.tolist()),
                stored_saved=saved[number][0],
                moved_saved=saved[number][1],
                planned="cut" if spans else "left",
                same_text=one.same_text,
                differs=differences(one, self.site),
            )
            progress("differences", rank, len(listed))

    def _could_save(self, one: SharedFragment) -> tuple[int, int]:
        members = one.members
        lengths = np.maximum(members.byte_end - members.byte_start, 0)
        often = np.asarray(self.asked.pages, np.int64)[members.page]
        stored = int(lengths.sum() - lengths.max()) - self.include_bytes * len(members)
        return stored, int(((lengths - self.include_bytes) * often).sum())

    def _paces(self, parts: Sequence[SharedFragment]) -> list[Pace]:
        """Follow parts on the pages that have versions."""
        on_page: defaultdict[int, list[tuple[int, int, int]]] = defaultdict(list)
        for number, one in enumerate(parts):
            rows = zip(one.members.page, one.members.byte_start, one.members.byte_end, strict=True)
            places = {
                int(p): (int(s), int(e)) for p, s, e in rows if int(p) in self.lives and s >= 0
            }
            for place, span in list(places.items())[:_MOST_PACES]:
                on_page[place].append((number, *span))
        told: list[list[Watched]] = [[] for _ in parts]
        for place, mine in on_page.items():
            page = self.site.pages[place]
            source = self.site.body(page.body)
            regions = [Region.of("part", start, end, (), source) for _, start, end in mine]
            history = PageHistory(self.site, page, self.lives[place]).watched(regions)
            for (number, _, _), watched in zip(mine, history, strict=True):
                told[number].append(watched)
        return [joined_pace(rows) for rows in told]

    def own_pace(self) -> Iterator[FragmentFacts]:
        """List the L-P fragments, by how much of the rest of their pages is not moved again."""
        found: list[tuple[int, int, LpFragment]] = []
        for place, lives in self.lives.items():
            length = self.site.pages[place].source_bytes
            for one in _newest_parts(lives):
                rest = length - max(one.source_bytes, 0)
                found.append((self._own_saved(one, rest, place), place, one))
        found.sort(key=lambda row: (-row[0], row[1], row[2].number))
        for rank, (saved, place, one) in enumerate(found[:MOST_LISTED], start=1):
            length = self.site.pages[place].source_bytes
            facts = FragmentFacts(
                tier="own pace",
                rank=rank,
                number=one.number,
                page=place,
                part=one.node,
                source_bytes=one.source_bytes,
                text_bytes=one.value_bytes,
                pace=pace_of(one),
                requests=self.asked.pages[place],
                moved_saved=saved,
                page_share=max(one.source_bytes, 0) / max(length, 1),
                path=one.path,
                version=one.last,
            )
            yield self._as_planned(facts)

    def _as_planned(self, facts: FragmentFacts) -> FragmentFacts:
        """Add what the plan does with a part, and the policy of the file that it is in."""
        lives = self.lives[facts.page]
        if facts.version != len(lives.times) - 1:
            return facts
        start, end = lives.latest_span[facts.part].tolist()
        if start < 0:
            return facts
        body = self.site.pages[facts.page].body
        page: CutPage = self.plan.cuts.pages[body]
        planned: Planned = "left"
        policy = self.plan.measured.page(body)
        for part, first, stop in self.plan.cuts.spans(page):
            if first <= start and end <= stop:  # the innermost one comes last
                planned = PLANNED[part.kind]
                policy = self.plan.measured.fragment(part.name)
        kinds = Counter(
            one.kind for one in page.stopped if one.cut.start <= start and end <= one.cut.end
        )
        return replace(
            facts, offset=start, planned=planned, policy=policy, hazards=_most_common(kinds)
        )

    def _own_saved(self, one: LpFragment, rest: int, place: int) -> int:
        """Bytes of the rest of a page that are not sent, in the requests that find it changed.

        With requests at rate a and changes at rate u, u / (a + u) of the requests do. Without a log,
        the page is fetched once, at the pace of the captures: as many as captures show a change.
        """
        log, often = self.asked.log, self.asked.pages[place]
        share = one.changes / max(1, len(self.site.pages[place].versions) - 1)
        if log is not None and log.per_day is not None:
            asked, changes = often * log.per_day / _DAY_S, one.change_rate
            share = changes / (asked + changes) if asked + changes else 0.0
        return round(often * min(share, 1.0) * rest)

    def totals(self, unreadable: int) -> Totals:
        """Return the figures over all; those of the plan are the manifest's."""
        pages, manifest = self.site.pages, self.composition.manifest
        fetched = [
            (often * page.source_bytes, often * self.composition.moved[page.body])
            for page, often in zip(pages, self.asked.pages, strict=True)
        ]
        kinds = Counter(one.kind for one in self.plan.cuts.fragments.values())
        return Totals(
            pages=len(pages),
            page_bytes=manifest.volumes.pages,
            watched_pages=sum(len(page.versions) > 1 for page in pages),
            versions=sum(len(page.versions) for page in pages),
            other_readers=sum(len(page.others) for page in pages),
            unreadable=unreadable,
            refused=sum(page.is_refused for page in manifest.pages),
            worth_it=len(manifest.fragments),
            isolated=kinds[CutKind.ISOLATED],
            paced=kinds[CutKind.PACED],
            approximate=len(self.alike),
            own_pace=sum(len(_newest_parts(lives)) for lives in self.lives.values()),
            stored_saved=manifest.volumes.pages - manifest.volumes.stored,
            moved_saved=sum(whole - less for whole, less in fetched),
            moved_bytes=sum(whole for whole, _ in fetched),
        )


def _newest_parts(lives: Lifetimes) -> list[LpFragment]:
    """Return the L-P fragments that the newest version has."""
    there = set(lives.latest_fragment.tolist())
    return [one for one in lives.parts if one.number in there and one.last == len(lives.times) - 1]


def parts_in(
    span: NDArray[np.int64], parent: NDArray[np.signedinteger], start: int, end: int
) -> list[int]:
    """Return the outermost nodes of an AF tree that lie between two places of the source.

    Args:
        span: first byte of each node and the end after its last; -1 if not known.
        parent: the parent of each node.
        start: the first byte.
        end: after the last one.
    """
    inside = (span[:, 0] >= max(start, 0)) & (span[:, 1] <= end)
    nodes: list[int] = np.flatnonzero(inside & ~(inside[parent] & (parent >= 0))).tolist()
    return nodes


def _most_common(kinds: Counter[HazardKind]) -> tuple[PartHazard, ...]:
    return tuple(PartHazard(kind, count) for kind, count in kinds.most_common())


def _told(site: Collection, progress: Progress) -> Iterator[Digest]:
    for done, page in enumerate(site.latest(), start=1):
        yield page
        progress("alike", done, len(site.pages))


def _placed(
    facts: Sequence[FragmentFacts], site: Collection, progress: Progress
) -> list[FragmentFacts]:
    """Add a path and a sample of the text; a page is read once for all that is on it."""
    found = list(facts)
    done = 0

    def at(place: int) -> tuple[int, int]:
        return found[place].page, found[place].version

    for (number, version), places in groupby(sorted(range(len(found)), key=at), key=at):
        page = site.digest(site.pages[number].versions[version])
        tree = AfTree.of(page)
        for place in places:
            found[place] = _described(found[place], page, tree, site)
            done += 1
            progress("places", done, len(found))
    return found


def _described(one: FragmentFacts, page: Digest, tree: AfTree, site: Collection) -> FragmentFacts:
    start, end = one.offset, one.offset + one.source_bytes
    parts, path, size = [one.part], one.path, one.text_bytes
    if one.tier == "exact":
        parts = parts_in(tree.span, tree.parent, start, end)
        size = int(sum(tree.value_bytes[part] for part in parts))
    text = b" ".join(tree.value(part)[: 4 * _MOST_SAMPLE] for part in parts[:_MOST_SAMPLE])
    if not text.strip():
        text = site.body(site.pages[one.page].body)[start:end][: 4 * _MOST_SAMPLE]
    spans = source_spans(page) if one.tier == "exact" else None
    nodes = np.zeros(0, np.int64)
    if spans is not None:
        nodes = np.flatnonzero((spans.start == start) & (spans.end == end))
    node = int(nodes[-1]) if len(nodes) else int(tree.node[parts[0]]) if parts else 0
    path = path or selector_of(page, node)
    sample = " ".join(text.decode("utf-8", "replace").split())[:_MOST_SAMPLE]
    return replace(
        one, path=path, label=part_name(page, node) or path, sample=sample, text_bytes=size
    )
