"""One page and all sentinels on it: the evaluation of paper 002 with its shortcuts.

The question for each sentinel is whether one of its parts changed since the version it saw last (its
base). Sentinels with different intervals have different bases, so they are taken base by base, and
there is one annotation for each pair of versions. For one base, questions get dearer step by step,
and most sentinels are settled early:

1. Equal source: nothing changed.
2. No facet that the sentinel depends on has another signature: nothing changed.
3. The signatures of its parts, stored when they were last read, are those of the new version:
   nothing changed. Other signatures mean that it changed: they are a final answer.
4. Without stored signatures, the old version is loaded and annotated. A covering subset of the
   sentinels is asked first, then the others from large parts to small ones: nothing changed if
   the annotation has no change at the location. Everything else compares readings.

Steps 1 to 3 never load the old version. Only sentinels that changed get to their conditions.

Which of 3 and 4 is better? Reading a part costs a selector and the text of the part; annotating
costs about two encodings of the page. So signatures win unless a page has very many different
parts; ``part_signatures`` can be switched off for such a page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from quire.digest.page import Digest
from quire.digest.signatures import Signatures
from quire.sdiff.annotation import annotate
from quire.sdiff.facets import Facet, differing
from quire.sentinels.conditions.comparison import Circumstances, Comparison
from quire.sentinels.groups.cover import covering_subset
from quire.sentinels.groups.masks import ChangeMap
from quire.sentinels.groups.outcome import Outcome, SettledBy
from quire.sentinels.groups.shortcuts import ALL_SHORTCUTS, Shortcuts
from quire.sentinels.parts.location import Location, Roots, inside
from quire.sentinels.parts.part import ASPECTS, Aspect, Part
from quire.sentinels.parts.reading import PageReader
from quire.sentinels.sentinel import Sentinel

#: What a selector of CSS looks at. If none of these changed, every selector finds the same nodes.
SELECTABLE: frozenset[Facet] = frozenset({"structure", "tags", "attributes"})


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a page, as it is kept in memory.

    Attributes:
        number: identifies the version of its page.
        signatures: its signatures.
    """

    number: int
    signatures: Signatures


@dataclass(slots=True)
class Member:
    """A sentinel on a page, and what it saw last.

    Attributes:
        sentinel: the sentinel.
        base: the number of the version it saw last.
        signatures: for each part the signatures of its aspects on that version; empty if they are
            not stored.
        missing: whether a part was not on that version; None if it is not known.
    """

    sentinel: Sentinel
    base: int
    signatures: tuple[tuple[bytes, ...], ...] = ()
    missing: bool | None = None


_Settled: TypeAlias = tuple[Member, SettledBy, tuple[Aspect, ...]]


@dataclass(frozen=True, slots=True)
class Cover:
    """A covering subset that was found before.

    Attributes:
        selectable: signatures of the page that decide what selectors find.
        locations: the locations that were to be covered.
        chosen: those that cover all of them.
    """

    selectable: tuple[int, ...]
    locations: frozenset[Location]
    chosen: tuple[Location, ...]


@dataclass(slots=True)
class Group:
    """All sentinels on one page.

    Attributes:
        load: loads a version of the page from disk.
        versions: the versions that members have as their base, by number.
        members: the sentinels, by name.
        cover: the covering subset that was found last.
    """

    load: Callable[[int], Digest]
    versions: dict[int, Version] = field(default_factory=dict)
    members: dict[str, Member] = field(default_factory=dict)
    cover: Cover | None = None

    def install(
        self, sentinel: Sentinel, version: Version, page: Digest | PageReader | None = None
    ) -> Member:
        """Add a sentinel that has seen a version. With its page, the parts are read in advance."""
        member = Member(sentinel, version.number)
        if page is not None:
            reader = page if isinstance(page, PageReader) else PageReader(page)
            member.signatures = tuple(reader.signatures(part) for part in sentinel.parts)
            member.missing = _is_missing(reader, sentinel)
        self.versions[version.number] = version
        self.members[sentinel.name] = member
        return member

    def remove(self, name: str) -> None:
        """Remove a sentinel, and versions that only it needed."""
        del self.members[name]
        self._forget_versions()

    def evaluate(
        self,
        version: Version,
        page: PageReader,
        about: Circumstances | Callable[[Member], Circumstances],
        due: Iterable[str] | None = None,
        shortcuts: Shortcuts = ALL_SHORTCUTS,
    ) -> list[Outcome]:
        """Evaluate the sentinels that are due on a new version. ``accept`` makes it their base.

        Args:
            version: the new version.
            page: its page.
            about: what conditions can ask about besides the versions, for all members or for each.
            due: names of sentinels; None for all.
            shortcuts: which shortcuts to take.

        Returns:
            One outcome for each, in the order of ``due``.
        """
        names = list(self.members) if due is None else list(due)
        chosen = [self.members[name] for name in names]
        by_base: dict[int, list[Member]] = {}
        for member in chosen:
            by_base.setdefault(member.base, []).append(member)
        found: dict[str, Outcome] = {}
        for base, members in by_base.items():
            pair = _Pair(self.versions[base], version, page, self.load, shortcuts)
            pair.cover = self.cover
            pair.evaluate(members, about if callable(about) else _always(about), found)
            self.cover = pair.cover
        return [found[name] for name in names]

    def accept(self, version: Version, outcomes: Iterable[Outcome]) -> None:
        """Make a version the base of the sentinels that were evaluated on it.

        A version that no sentinel saw a change on need not be accepted: their parts are the same
        on the base that they have.
        """
        for outcome in outcomes:
            member = self.members[outcome.sentinel]
            member.base, member.missing = version.number, outcome.missing
            if outcome.signatures is not None:
                member.signatures = outcome.signatures
            elif outcome.changed:
                member.signatures = ()  # those of an older version
        self.versions[version.number] = version
        self._forget_versions()

    def _forget_versions(self) -> None:
        needed = {member.base for member in self.members.values()}
        for number in set(self.versions).difference(needed):
            del self.versions[number]


def _always(about: Circumstances) -> Callable[[Member], Circumstances]:
    return lambda _: about


class _Pair:
    """Two versions of a page, and everything found out about their difference so far."""

    def __init__(
        self,
        old: Version,
        new: Version,
        page: PageReader,
        load: Callable[[int], Digest],
        shortcuts: Shortcuts,
    ) -> None:
        self.before = old
        self.after = new
        self.page = page
        self.load = load
        self.shortcuts = shortcuts
        self.cover: Cover | None = None
        self._old: PageReader | None = None
        self._changes: ChangeMap | None = None
        self._selects_same: bool | None = None
        self._same: dict[Part, bool] = {}
        # Locations that are the same in some aspects: what is inside need not be asked again.
        self._same_regions: list[tuple[Roots, frozenset[Aspect]]] = []

    def evaluate(
        self,
        members: Sequence[Member],
        about: Callable[[Member], Circumstances],
        found: dict[str, Outcome],
    ) -> None:
        """Evaluate members with the same base; outcomes go to ``found`` by name."""
        left = list(members)
        settled: dict[str, tuple[SettledBy, tuple[Aspect, ...]]] = {}
        for settle in (self._by_source, self._by_facets, self._by_parts, self._by_masks):
            for member, by, changed in settle(left):
                settled[member.sentinel.name] = (by, changed)
            left = [each for each in left if each.sentinel.name not in settled]
        for member in left:
            settled[member.sentinel.name] = ("reading", self._compared(member))
        for member in members:
            by, changed = settled[member.sentinel.name]
            found[member.sentinel.name] = self._outcome(member, by, changed, about)

    # ------------------------------------------------------------ whether something changed

    def _by_source(self, members: Sequence[Member]) -> Iterable[_Settled]:
        if self.shortcuts.source_signature and (
            self.before.signatures.source == self.after.signatures.source
        ):
            yield from ((member, "source", ()) for member in members)

    def _by_facets(self, members: Sequence[Member]) -> Iterable[_Settled]:
        if not self.shortcuts.facet_signatures or not members:
            return
        changed: set[Facet] = set(differing(self.before.signatures, self.after.signatures))
        # Noise is found by paths, which look at elements and their attributes.
        also = SELECTABLE if self.page.finder is not None else frozenset[Facet]()
        for member in members:
            if changed.isdisjoint(member.sentinel.facets | also):
                yield member, "facets", ()

    def _by_parts(self, members: Sequence[Member]) -> Iterable[_Settled]:
        if not self.shortcuts.part_signatures:
            return
        for member in members:
            if member.signatures:
                changed = self._known(member)
                yield member, "part", _in_order(each for _, found in changed for each in found)

    def _by_masks(self, members: Sequence[Member]) -> Iterable[_Settled]:
        if not self.shortcuts.location_masks or not members:
            return
        settled: set[str] = set()
        if self.shortcuts.covering_subset:
            for member in self._settled_by_cover(members):
                settled.add(member.sentinel.name)
                yield member, "cover", ()
        left = [member for member in members if member.sentinel.name not in settled]
        if self.shortcuts.general_first:
            left.sort(key=self._extent, reverse=True)
        for member in left:
            if all(self._is_same(part) for part in member.sentinel.parts):
                yield member, "mask", ()

    def _settled_by_cover(self, members: Sequence[Member]) -> Iterable[Member]:
        """Ask a covering subset about all aspects that anyone watches.

        A selector can look anywhere on the page, so this needs the same elements with the same
        attributes on both versions: then every selector finds the same nodes.
        """
        if not self._finds_same_nodes():
            return
        asked = [member for member in members if all(map(_is_css, member.sentinel.parts))]
        parts = dict.fromkeys(part for member in asked for part in member.sentinel.parts)
        watched = tuple({aspect for part in parts for aspect in part.watch})
        changes = self._change_map()
        if all(changes.is_same(location, watched) for location in self._covering(parts)):
            yield from asked

    def _covering(self, parts: Iterable[Part]) -> tuple[Location, ...]:
        """Return locations that cover those of all parts, as found before if that still holds."""
        locations = dict.fromkeys(part.location for part in parts)
        signatures = self.after.signatures
        selectable = (signatures.structure, signatures.tags, signatures.attributes)
        known = self.cover
        if known is None or known.selectable != selectable or known.locations != locations.keys():
            reader = self._reader()
            listed = list(locations)
            found = covering_subset(reader.page, [reader.roots(each) for each in listed])
            chosen = tuple(listed[place] for place in found)
            known = self.cover = Cover(selectable, frozenset(locations), chosen)
        return known.chosen

    # ------------------------------------------------------------ conditions

    def _outcome(
        self,
        member: Member,
        by: SettledBy,
        changed: tuple[Aspect, ...],
        about: Callable[[Member], Circumstances],
    ) -> Outcome:
        sentinel = member.sentinel
        finding = None
        if changed or sentinel.is_timely:
            if not self.shortcuts.new_page_first:
                self._reader_of_old()
            circumstances = about(member)
            if changed:  # a page that changes now is not quiet
                circumstances = replace(circumstances, last_change=circumstances.now)
            known = dict(self._known(member)) if by == "part" else None
            seen = Comparison(self._reader_of_old, self._reader(), circumstances, known)
            finding = sentinel.condition.judge(seen, explain=not self.shortcuts.short_circuit)
        missing = member.missing
        if missing is None or by in ("part", "mask", "reading"):  # the others find the same nodes
            missing = _is_missing(self._reader(), sentinel)
        return Outcome(
            sentinel=sentinel.name,
            changed=changed,
            fired=finding is not None and finding.holds is True,
            settled_by=by,
            finding=finding,
            missing=missing,
            signatures=self._signatures(member) if self._stores(member, changed) else None,
        )

    def _stores(self, member: Member, changed: tuple[Aspect, ...]) -> bool:
        return self.shortcuts.part_signatures and (bool(changed) or not member.signatures)

    # ------------------------------------------------------------ readings

    def _reader(self) -> PageReader:
        return self.page if self.shortcuts.share_readings else self.page.of(self.page.page)

    def _reader_of_old(self) -> PageReader:
        if self._old is None or not self.shortcuts.share_readings:
            self._old = self.page.of(self.load(self.before.number))
        return self._old

    def _change_map(self) -> ChangeMap:
        if self._changes is None or not self.shortcuts.share_annotation:
            old, new = self._reader_of_old(), self._reader()
            self._changes = ChangeMap(annotate(old.page, new.page), old, new)
        return self._changes

    def _is_same(self, part: Part) -> bool:
        same = self._same.get(part)
        if same is None:
            same = self._is_in_same_region(part) or self._change_map().is_same(
                part.location, part.watch
            )
            self._same[part] = same
            if same and self.shortcuts.general_first and _is_css(part):
                roots = self._reader().roots(part.location)
                self._same_regions.append((roots, frozenset(part.watch)))
        return same

    def _is_in_same_region(self, part: Part) -> bool:
        """Tell whether a part lies in a larger one that was found to be the same.

        This needs selectors that find the same nodes on both versions. Then all nodes of the larger
        part have their partners in place, those of the part inside with them.
        """
        if not self._same_regions or not self._finds_same_nodes() or not _is_css(part):
            return False
        reader = self._reader()
        roots = reader.roots(part.location)
        return any(
            aspects.issuperset(part.watch) and bool(inside(reader.page, roots, region).all())
            for region, aspects in self._same_regions
        )

    def _finds_same_nodes(self) -> bool:
        """Tell whether every selector of CSS finds the same nodes on both versions."""
        if self._selects_same is None:
            changed = differing(self.before.signatures, self.after.signatures)
            self._selects_same = SELECTABLE.isdisjoint(changed)
        return self._selects_same

    def _compared(self, member: Member) -> tuple[Aspect, ...]:
        before, after = self._reader_of_old(), self._reader()
        return _in_order(
            aspect
            for part in member.sentinel.parts
            for aspect in after.read(part).differs(before.read(part))
        )

    def _known(self, member: Member) -> Iterator[tuple[Part, tuple[Aspect, ...]]]:
        """Return what stored signatures say about the parts of a member."""
        return _differing(member, self._signatures(member))

    def _signatures(self, member: Member) -> tuple[tuple[bytes, ...], ...]:
        reader = self._reader()
        return tuple(reader.signatures(part) for part in member.sentinel.parts)

    def _extent(self, member: Member) -> int:
        reader = self._reader()
        sizes = reader.page.size
        return sum(int(sizes[reader.roots(part.location)].sum()) for part in member.sentinel.parts)


def _differing(
    member: Member, found: tuple[tuple[bytes, ...], ...]
) -> Iterator[tuple[Part, tuple[Aspect, ...]]]:
    """Return for each part the aspects whose signatures are not those that a member stored."""
    for part, before, after in zip(member.sentinel.parts, member.signatures, found, strict=True):
        aspects = zip(part.watch, before, after, strict=True)
        yield part, tuple(aspect for aspect, old, new in aspects if old != new)


def _in_order(aspects: Iterable[Aspect]) -> tuple[Aspect, ...]:
    found = set(aspects)
    return tuple(aspect for aspect in ASPECTS if aspect in found) if found else ()


def _is_missing(reader: PageReader, sentinel: Sentinel) -> bool:
    return any(reader.lacks(part) for part in sentinel.parts)


def _is_css(part: Part) -> bool:
    selectors = (*part.location.where, *part.location.without)
    return not any(selector.startswith(("/", "(", "xpath:", "feed:")) for selector in selectors)
