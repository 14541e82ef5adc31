"""Site cuts: which parts are cut out of the newest version of each page, and what stays.

Only parts with the same bytes are one fragment, and pages that are equal count once. quire scans
every page once with the cuts that were chosen for it; the result is kept, so that measuring,
writing and reporting all use the same cuts. Cuts that hazards leave in one place alone would add an
include and a request and save nothing: they are dropped, and the pages that had them are scanned
again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection as Some
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from quire.errors import InternalError
from quire.fragments.cuts.candidates import (
    Cut,
    CutKind,
    Elements,
    SharedElements,
    Span,
    elements_of,
    without_around,
)
from quire.fragments.cuts.cutting import Scanned, Stopped, scan
from quire.fragments.cuts.hazards import Hazard, refusals
from quire.fragments.cuts.includes import DEEPEST, DIGITS, checked_prefix, include
from quire.fragments.cuts.select import Uses, choose
from quire.fragments.site.collection import Collection
from quire.progress import Progress, no_progress

#: Minimum length of a part. An include takes some 70 bytes and a request inside the cache; a part
#: of 500 bytes pays for both.
MIN_PART_BYTES = 500
#: How deep includes nest by default: every cache does one level well.
MAX_DEPTH = 1
# A part that stays may hide those after it, so pages are scanned again; in practice once or twice.
_ROUNDS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRules:
    """What to cut out.

    Attributes:
        min_bytes: minimum length of a part in the source.
        min_pages: number of different pages that must have it.
        max_depth: how deep includes may nest, 1 to 5.
        prefix: begins the addresses of templates and fragments.
        xml_check: refuse pages that do not begin with a tag. Varnish composes those only when
            started with ``-p feature=+esi_disable_xml_check``.
    """

    min_bytes: int = MIN_PART_BYTES
    min_pages: int = 2
    max_depth: int = MAX_DEPTH
    prefix: str = ""
    xml_check: bool = True

    def __post_init__(self) -> None:
        if self.min_bytes <= self.include_bytes:
            raise ValueError(
                f"min_bytes {self.min_bytes}: expected more than the {self.include_bytes} bytes "
                "of an include"
            )
        if self.min_pages < 2:  # noqa: PLR2004 - shared
            raise ValueError(f"min_pages {self.min_pages}: expected at least 2")
        if not 1 <= self.max_depth <= DEEPEST:
            raise ValueError(f"max_depth {self.max_depth}: expected 1 to {DEEPEST}")
        checked_prefix(self.prefix)

    @property
    def include_bytes(self) -> int:
        """The length of an include."""
        return len(include(self.prefix, "fragments", "0" * DIGITS))


class Part(NamedTuple):
    """A cut that is made.

    Attributes:
        start: its first byte in the page or fragment around it.
        end: after its last byte.
        key: the key of the shared element; None for a part that is cut out of this page alone.
        sha256: of its bytes, in hexadecimal digits.
        kind: why it is cut out.
    """

    start: int
    end: int
    key: int | None
    sha256: str
    kind: CutKind

    @property
    def name(self) -> str:
        """The name of the fragment."""
        return self.sha256[:DIGITS]

    @property
    def cut(self) -> Cut:
        """The cut, without the bytes."""
        return Cut(self.start, self.end, self.key, self.kind)


@dataclass(frozen=True, slots=True)
class CutPage:
    """A different page and its cuts.

    Attributes:
        place: the first page with these bytes, by its place in the collection.
        length: its bytes.
        sha256: of its bytes.
        parts: the cuts that are made, in page order.
        stopped: the cuts that hazards stop.
        hazards: all hazards of the page.
        is_refused: whether it stays whole because it must not be composed.
    """

    place: int
    length: int
    sha256: str
    parts: tuple[Part, ...] = ()
    stopped: tuple[Stopped, ...] = ()
    hazards: tuple[Hazard, ...] = ()
    is_refused: bool = False

    @property
    def isolates(self) -> bool:
        """Whether a part of the page was to be isolated, made or stopped by a hazard."""
        return any(one.kind is CutKind.ISOLATED for one in self.cuts)

    @property
    def cuts(self) -> list[Cut]:
        """All cuts of the page, made or stopped by a hazard, in page order."""
        every = [part.cut for part in self.parts] + [one.cut for one in self.stopped]
        return sorted(every, key=lambda one: one.start)


@dataclass(frozen=True, slots=True)
class CutFragment:
    """A fragment.

    Attributes:
        sha256: of its bytes, includes filled in.
        length: its bytes, includes filled in.
        key: the key of the shared element; None for a part that is cut out of one page alone.
        kind: why it is cut out, where it is met first.
        parts: the cuts inside it.
        first_page: the first page that has it, by its place in the collection.
        first_offset: its first byte there.
    """

    sha256: str
    length: int
    key: int | None
    kind: CutKind
    parts: tuple[Part, ...]
    first_page: int
    first_offset: int


@dataclass(frozen=True, slots=True, eq=False)
class SiteCuts:
    """The cuts of all pages of a collection.

    Attributes:
        rules: what to cut out.
        pages: every different page, by the number of its bytes, in the order of the collection.
        inside: cuts inside fragments, by the key of the fragment.
        fragments: by name; a fragment comes after those inside it.
    """

    rules: PlanRules
    pages: Mapping[int, CutPage]
    inside: Mapping[int, Sequence[Cut]]
    fragments: Mapping[str, CutFragment]

    def stored(self, cut: CutPage | CutFragment) -> int:
        """Return the length of the file of a page or fragment, with includes."""
        taken = sum(part.end - part.start for part in cut.parts)
        return cut.length - taken + len(cut.parts) * self.rules.include_bytes

    def spans(self, page: CutPage) -> Iterator[tuple[Part, int, int]]:
        """List the parts of a page, also those inside fragments, with their places in the page."""
        opened = [(part, 0) for part in reversed(page.parts)]
        while opened:
            part, base = opened.pop()
            yield part, base + part.start, base + part.end
            inside = self.fragments[part.name].parts
            opened += [(one, base + part.start) for one in reversed(inside)]

    def without_isolated(self, site: Collection, bodies: Some[int]) -> SiteCuts:
        """Return the same cuts without the isolated parts of some pages.

        Args:
            site: the pages.
            bodies: the pages, by the numbers of their bytes.
        """
        kept = {
            body: [one for one in self.pages[body].cuts if one.kind is not CutKind.ISOLATED]
            for body in bodies
        }
        return self._cut_again(site, kept)

    def with_paced(self, site: Collection, paced: Mapping[int, Sequence[Span]]) -> SiteCuts:
        """Return the same cuts with other parts that are cut out for their pace, instead of those.

        Args:
            site: the pages.
            paced: the parts, by the number of the page's bytes. None overlaps another or any cut
                of another kind. Pages that are not named keep theirs.
        """
        cuts = {}
        for body, spans in paced.items():
            kept = [one for one in self.pages[body].cuts if one.kind is not CutKind.PACED]
            kept += [Cut(start, end, None, CutKind.PACED) for start, end in spans]
            cuts[body] = sorted(kept, key=lambda one: one.start)
        return self._cut_again(site, cuts)

    def _cut_again(self, site: Collection, cuts: Mapping[int, Sequence[Cut]]) -> SiteCuts:
        pages = dict(self.pages)
        for body, mine in cuts.items():
            pages[body] = _cut_page(pages[body], site.body(body), mine)
        return replace(
            self, pages=pages, fragments=_fragments(site, pages, self.inside, self.rules)
        )


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The larger elements of the newest version of each page.

    Attributes:
        rules: what to cut out.
        pages: every different page, by the number of its bytes, without cuts.
        elements: its elements; none for a page that must not be composed.
    """

    rules: PlanRules
    pages: Mapping[int, CutPage]
    elements: Mapping[int, Elements]

    def most(self, isolated: Mapping[int, Sequence[Span]]) -> dict[int, list[Span]]:
        """Return the most that could be cut out of some pages, next to parts to isolate.

        Args:
            isolated: the parts, by the number of the page's bytes.
        """
        free = without_around(self.elements, isolated)
        shared = SharedElements.of(list(free.values()), self.rules.min_pages)
        found: dict[int, list[Span]] = {}
        for body, spans in isolated.items():
            page = shared.among(free[body])
            every = sorted([*zip(page.start.tolist(), page.end.tolist(), strict=True), *spans])
            merged: list[Span] = []
            for start, end in every:
                if merged and start < merged[-1][1]:
                    merged[-1] = merged[-1][0], max(end, merged[-1][1])
                else:
                    merged.append((start, end))
            found[body] = merged
        return found


def find_candidates(
    site: Collection,
    rules: PlanRules,
    progress: Progress = no_progress,
) -> Candidates:
    """List the elements of pages that could be cut out, and the pages that must stay whole.

    Args:
        site: the pages.
        rules: what to cut out.
        progress: called with the step, the amount done and the total.
    """
    pages: dict[int, CutPage] = {}
    elements: dict[int, Elements] = {}
    for place, page in enumerate(site.pages):
        progress("equal", place + 1, len(site.pages))
        if page.body in pages:
            continue
        why = tuple(refusals(site.body(page.body), xml_check=rules.xml_check))
        pages[page.body] = CutPage(
            place, page.source_bytes, site.sha256(page.body), hazards=why, is_refused=bool(why)
        )
        if not why:
            elements[page.body] = elements_of(site.digest(page.versions[-1]), rules.min_bytes)
    return Candidates(rules, pages, elements)


def cut_site(
    site: Collection, found: Candidates, isolated: Mapping[int, Sequence[Span]] | None = None
) -> SiteCuts:
    """Choose the elements to cut out of each page, so that the least is stored.

    Args:
        site: the pages.
        found: their elements.
        isolated: parts to cut out regardless of the saving, by the number of the page's bytes. None
            overlaps another, and nothing is cut out around them. A page that must not be composed
            keeps them.
    """
    rules = found.rules
    spans = {body: mine for body, mine in (isolated or {}).items() if body in found.elements}
    free = without_around(found.elements, spans)
    choice = choose(
        list(free.values()),
        min_pages=rules.min_pages,
        include_bytes=rules.include_bytes,
        max_depth=rules.max_depth,
    )
    cuts = dict(zip(free, choice.pages, strict=True))
    for body, mine in spans.items():
        cuts[body] = _with_isolated(cuts[body], mine)
    scanned = _scanned(site, found.pages, cuts, choice.inside, rules.include_bytes)
    pages = {**found.pages, **scanned}
    return SiteCuts(rules, pages, choice.inside, _fragments(site, pages, choice.inside, rules))


def _with_isolated(cuts: Sequence[Cut], spans: Sequence[Span]) -> list[Cut]:
    """Add isolated parts, except those that are cut out already."""
    more = [
        Cut(start, end, None, CutKind.ISOLATED)
        for start, end in spans
        if all(end <= cut.start or cut.end <= start for cut in cuts)
    ]
    return sorted([*cuts, *more], key=lambda cut: cut.start)


def _scanned(
    site: Collection,
    pages: Mapping[int, CutPage],
    chosen: Mapping[int, Sequence[Cut]],
    inside: Mapping[int, Sequence[Cut]],
    include_bytes: int,
) -> dict[int, CutPage]:
    """Scan the pages that have cuts; drop cuts that do not pay because hazards stop others."""
    cuts = {body: mine for body, mine in chosen.items() if mine}
    found: dict[int, CutPage] = {}
    pending: Some[int] = cuts.keys()
    for last in [False] * _ROUNDS + [True]:
        for body in pending:
            found[body] = _cut_page(pages[body], site.body(body), cuts[body])
        # Without hazards every cut is made, and the choice pays already.
        if last or not any(page.stopped for page in found.values()):
            break
        made = [[part.cut for part in page.parts] for page in found.values()]
        lost = Uses.of(pages=made, inside=inside).lost(include_bytes, inside)
        pending = [body for body, page in found.items() if any(p.key in lost for p in page.parts)]
        for body in pending:
            # Cuts that hazards stop stay in the list, to be named with the hazard.
            held = {one.cut for one in found[body].stopped}
            cuts[body] = [cut for cut in cuts[body] if cut.key not in lost or cut in held]
    return found


def _cut_page(page: CutPage, source: bytes, cuts: Sequence[Cut]) -> CutPage:
    scanned = scan(source, cuts)
    return replace(
        page,
        parts=_parts(source, scanned),
        stopped=scanned.stopped,
        hazards=scanned.hazards,
        # Refused is also a page of which hazards leave nothing to cut.
        is_refused=bool(scanned.hazards) and not scanned.made,
    )


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _parts(source: bytes, scanned: Scanned) -> tuple[Part, ...]:
    return tuple(
        Part(cut.start, cut.end, cut.key, _sha256(source[cut.start : cut.end]), cut.kind)
        for cut in scanned.made
    )


def _fragments(
    site: Collection,
    pages: Mapping[int, CutPage],
    inside: Mapping[int, Sequence[Cut]],
    rules: PlanRules,
) -> dict[str, CutFragment]:
    """List the fragments; each is cut where it is met first."""
    found: dict[str, CutFragment] = {}

    def add(part: Part, data: bytes | None, page: int, base: int) -> None:
        known = found.get(part.name)
        if known is not None:
            if known.sha256 != part.sha256:
                raise InternalError(f"fragments {part.sha256} and {known.sha256} have one name")
            return
        mine = b"" if data is None else data[part.start : part.end]
        parts: tuple[Part, ...] = ()
        cuts = inside.get(part.key, ()) if part.key is not None else ()
        # Hashes of 64 bits may be equal by chance: cuts of other bytes do no harm, but must fit.
        if cuts and cuts[-1].end <= len(mine) and not refusals(mine, xml_check=rules.xml_check):
            parts = _parts(mine, scan(mine, cuts))
        for one in parts:  # as deep as includes nest
            add(one, mine, page, base + part.start)
        found[part.name] = CutFragment(
            part.sha256, part.end - part.start, part.key, part.kind, parts, page, base + part.start
        )

    for body, page in pages.items():
        # Without cuts inside fragments, nothing has to be read again.
        source = site.body(body) if inside and page.parts else None
        for part in page.parts:
            add(part, source, page.place, 0)
    return found
