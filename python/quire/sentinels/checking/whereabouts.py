"""Whereabouts: is a watched part still where its selector looks, and if not, where did it go?

A member is looked at when its page gets a new version. Its part is

* ``same``: the selector finds what the annotation calls the partner of the old part;
* ``moved``: it is somewhere else, and that place is proposed to the user;
* ``lost``: it is not on the page, and nothing is like it;
* ``doubtful``: the selector finds something that is not like the old part, and nothing else is.

All but the first make one event, which asks. A member whose part moved is evaluated at the
new place if that is like enough (``CONFIDENT``), until the user accepts or rejects it. If the part is
doubtful, the member is evaluated where its selector looks. Otherwise it keeps the version it saw
last, and is compared with that when the part is there again.

A list of records is known again by its records, and found at another place by its columns, as an
extractor does it. A list that is gone, or that became another list, is ``lost``.

A member stores the proposal, and the fingerprint of a part that was lost, to look for it on later
versions.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from quire.digest.page import Digest
from quire.digest.signatures import Signatures
from quire.display import format_count
from quire.errors import SelectorError, TemplateDrift
from quire.extraction.extractor.extractor import Extractor
from quire.extraction.extractor.selectors import record_selector
from quire.extraction.region import Region
from quire.sdiff.annotation import Annotation, annotate
from quire.sdiff.facets import differing
from quire.sentinels.groups.group import SELECTABLE, Member, Version
from quire.sentinels.pages.following import LIKE_ENOUGH, Fingerprint, PartFinder
from quire.sentinels.parts.listed_records import ListedRecord, RecordList
from quire.sentinels.parts.location import Location
from quire.sentinels.parts.part import Part
from quire.sentinels.parts.reading import PageReader
from quire.sentinels.store.results import PageMember

#: A place is used before the user accepts it if it is at least this much like the part.
CONFIDENT = 0.6
#: Characters of the old and the new text of a part that are kept.
MOST_LETTERS = 300
#: New records of a list that moved that the question names.
MOST_NAMED = 5
#: Attributes that make a selector that lasts longer than a path, in the order of trying.
LASTING = ("id", "itemprop", "data-testid", "data-test", "name")

Where: TypeAlias = Literal["moved", "lost", "doubtful"]


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """What became of a part that is not where its selector looks.

    Attributes:
        where: what became of it.
        part: its place among the parts of the sentinel.
        selector: the selectors that used to find it.
        fingerprint: its fingerprint.
        path: a selector for the place that is proposed; empty if there is none.
        score: how much that place is like the part, from 0 to 1.
        before: the text of the part on the version seen last.
        after: the text at the proposed place.
        is_told: whether the user was asked already, or need not be asked.
        is_list: whether the part is a list of records; ``before`` and ``after`` then say how many.
    """

    where: Where
    part: int
    selector: tuple[str, ...]
    fingerprint: Fingerprint | None
    path: str = ""
    score: float = 0.0
    before: str = ""
    after: str = ""
    is_told: bool = False
    is_list: bool = False

    @property
    def is_used(self) -> bool:
        """Whether the proposed place is used until the user decides."""
        return self.where == "moved" and self.score >= CONFIDENT

    @property
    def message(self) -> str:
        """A sentence for people, with the question."""
        selector = ", ".join(self.selector)
        if self.is_list:
            return self._list_message(selector)
        if self.where == "lost":
            return f"nothing on the page matches {selector} any more, and nothing is like it"
        if self.where == "doubtful":
            return f"{selector} finds something else now: is it still the right part?"
        said = f"it said {_short(self.before)!r}, and says {_short(self.after)!r} now"
        asked = "Is this the part?"
        if self.is_used:
            asked += " Until you decide, it is watched there"
        return f"the part that {selector} found is at {self.path} now ({said}). {asked}"

    def _list_message(self, selector: str) -> str:
        what = f"the list of records at {selector}" if selector else "the list of records"
        if self.where == "lost":
            return f"{what} is gone ({self.before} before), and no other list is like it"
        asked = "Is this the list?"
        if self.is_used:
            asked += " Until you decide, it is watched there"
        return f"{what} is at {self.path} now ({self.before} before, {self.after} now). {asked}"

    @property
    def is_away(self) -> bool:
        """Whether the part cannot be compared with its earlier text."""
        return self.where != "doubtful"

    @classmethod
    def from_proposal(cls, proposal: dict[str, Any]) -> Whereabouts:
        """Return the whereabouts that the user was asked about before."""
        return cls(
            proposal["where"],
            proposal["part"],
            tuple(proposal["selector"]),
            None,
            proposal["path"],
            is_told=True,
        )

    def to_proposal(self, now: float) -> dict[str, Any]:
        """Return the proposal, as it is stored until the user decides."""
        return {
            "where": self.where,
            "part": self.part,
            "selector": list(self.selector),
            "path": self.path,
            "score": round(self.score, 3),
            "before": self.before[:MOST_LETTERS],
            "after": self.after[:MOST_LETTERS],
            "used": self.is_used,
            "since": now,
            "fingerprint": fingerprint_to_json(self),
        }


class Follower:
    """Looks for parts on one new version of a page.

    Args:
        version: the new version.
        reader: its page.
        load: loads an old version.
        signatures: signatures of old versions, by number.
    """

    def __init__(
        self,
        version: Version,
        reader: PageReader,
        load: Callable[[int], Digest],
        signatures: Callable[[int], Signatures],
    ) -> None:
        self.version = version
        self.reader = reader
        self._load = load
        self._signatures = signatures
        self._old: dict[int, PageReader] = {}
        self._finders: dict[int, PartFinder] = {}
        self._annotations: dict[int, Annotation] = {}
        self._finder: PartFinder | None = None

    def look(self, member: Member, known: PageMember) -> Whereabouts | None:
        """Return what became of a part of a member; None if all are where they were."""
        if member.base < 0 or not known.watch.follow:
            return None
        for place, part in enumerate(member.sentinel.parts):
            if part.location.where or "records" in part.watch:
                found = self._look(member, known, place, part)
                if found is not None:
                    return found
        return None

    def _look(
        self, member: Member, known: PageMember, place: int, part: Part
    ) -> Whereabouts | None:
        location = part.location
        is_missing = self.reader.lacks(part)
        if not is_missing and not self._can_differ(member.base):
            return None
        if "records" in part.watch:
            listed = self._reader(member.base).records(part)
            return None if listed is None else self._look_for_list(member.base, place, part, listed)
        stored = _stored(known, place)
        if stored is not None:
            return self._followed(place, part, stored, -1, "") if is_missing else None
        before = self._reader(member.base)
        roots = before.roots(location)
        text = _text(before, part)
        if len(roots) != 1:  # a list of elements has no fingerprint
            was_missing = before.is_missing(location)
            return _lost(place, location, None, text) if is_missing and not was_missing else None
        old = int(roots[0])
        partner = -1 if is_missing else int(self._annotation(member.base).to_new[old])
        wanted = self._finder_of(member.base).fingerprint(old)
        return self._followed(place, part, wanted, partner, text)

    def _look_for_list(
        self, base: int, place: int, part: Part, old: RecordList
    ) -> Whereabouts | None:
        """Return what became of a list of records."""
        page, now = self.reader.page, self.reader.records(part)
        keys = {each.key for each in old.records}
        if now is not None and any(each.key in keys for each in now.records):
            return None
        extractor = Extractor.of_region(self._reader(base).page, old.region)
        region = self._with_known(part, old)
        if now is not None and (
            now.region.records == region.records
            if region is not None
            else not extractor.missing(page, now.region)
        ):
            return None
        lost = Whereabouts(
            "lost", place, part.location.where, None, before=_counted(old.records), is_list=True
        )
        try:
            region = region or extractor.apply(page).region
        except TemplateDrift:
            return lost
        found = self._chosen(part, region)
        if found is None:
            return lost
        path, listed = found
        titles = {each.title for each in old.records if each.title}
        new = [each for each in listed if each.key not in keys and each.title not in titles]
        share = 1 - len(new) / max(len(listed), 1)
        after = _counted(listed)
        if new:
            names = ", ".join(_short(each.title or each.key) for each in new[:MOST_NAMED])
            after += f", {len(new)} of them new: {names}{', …' if len(new) > MOST_NAMED else ''}"
        # Columns alone are enough to ask, and records that are known again are enough to go on.
        return replace(
            lost,
            where="moved",
            path=path,
            score=CONFIDENT + (1 - CONFIDENT) * share if share else LIKE_ENOUGH,
            after=after,
        )

    def _with_known(self, part: Part, old: RecordList) -> Region | None:
        """Return the list of the new version that has most records of an old one, if it has half."""
        keys = {each.key for each in old.records}
        titles = {each.title for each in old.records if each.title}
        best: tuple[int, Region] | None = None
        for each in self.reader.all_records(part):
            count = sum(one.key in keys or one.title in titles for one in each.records)
            if count * 2 >= min(len(old.records), len(each.records)) and (
                best is None or count > best[0]
            ):
                best = (count, each.region)
        return None if best is None else best[1]

    def _chosen(self, part: Part, region: Region) -> tuple[str, tuple[ListedRecord, ...]] | None:
        """Return a selector that chooses a list of the new version, and the list's records."""
        page = self.reader.page
        made = record_selector(page, region)
        selectors = [lasting_selector(page, region.node), *([] if made is None else [made.starts])]
        for selector in selectors:
            moved = replace(part, location=Location((selector,), part.location.without))
            found = self.reader.records(moved)
            if found is not None and found.region.records == region.records:
                return selector, found.records
        return None

    def _followed(
        self, place: int, part: Part, wanted: Fingerprint, partner: int, text: str
    ) -> Whereabouts | None:
        now = self.reader.roots(part.location)
        if partner >= 0 and partner in now:
            return None
        if self._finder is None:
            self._finder = PartFinder(self.reader.page)
        found = self._finder.follow(wanted, now, partner, part.location.where)
        if found.where == "moved" and found.node is not None:
            page = self.reader.page
            return Whereabouts(
                "moved",
                place,
                part.location.where,
                wanted,
                lasting_selector(page, found.node),
                found.score,
                text,
                _one_line(page.text(found.node)),
            )
        if found.where == "same":
            if found.node is not None:
                return None
            return Whereabouts("doubtful", place, part.location.where, wanted, before=text)
        return _lost(place, part.location, wanted, text)

    # ------------------------------------------------------------ old versions

    def _can_differ(self, base: int) -> bool:
        """Tell whether selectors can find other elements than on an old version."""
        changed = differing(self._signatures(base), self.version.signatures)
        return not SELECTABLE.isdisjoint(changed)

    def _reader(self, base: int) -> PageReader:
        found = self._old.get(base)
        if found is None:
            found = self._old[base] = self.reader.of(self._load(base))
        return found

    def _finder_of(self, base: int) -> PartFinder:
        found = self._finders.get(base)
        if found is None:
            found = self._finders[base] = PartFinder(self._reader(base).page)
        return found

    def _annotation(self, base: int) -> Annotation:
        found = self._annotations.get(base)
        if found is None:
            page = self._reader(base).page
            found = self._annotations[base] = annotate(page, self.reader.page)
        return found


def lasting_selector(page: Digest, node: int) -> str:
    """Return a selector that finds one element, and is likely to find it on later versions.

    >>> import quire
    >>> page = quire.encode(b"<p>a<p id=x>b<p class='c d'>e<p>f")
    >>> [lasting_selector(page, node) for node in (4, 6, 8, 10)]
    ['html > body > p:nth-of-type(1)', 'p[id="x"]', 'p[class~="c"][class~="d"]', ...]
    """
    tag = str(page.tags[page.tag[node]])
    attributes = page.attributes(node) if page.attr[node] >= 0 else {}
    tried = [f"{tag}[{name}={_quoted(attributes[name])}]" for name in LASTING if name in attributes]
    classes = attributes.get("class", "").split()
    if classes:
        tried.append(tag + "".join(f"[class~={_quoted(name)}]" for name in classes))
    for selector in tried:
        try:
            if page.select(selector).tolist() == [node]:
                return selector
        except SelectorError:
            continue
    return page.path(node)


def fingerprint_to_json(found: Whereabouts) -> dict[str, Any] | None:
    """Return the fingerprint of a part that was lost, as JSON."""
    if found.fingerprint is None:
        return None
    return {"part": found.part, **dataclasses.asdict(found.fingerprint)}


def _stored(known: PageMember, place: int) -> Fingerprint | None:
    data = known.fingerprint
    if not isinstance(data, dict) or data.get("part") != place:
        return None
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in data.items()
        if name != "part"
    }
    return Fingerprint(**values)


def _lost(place: int, location: Location, wanted: Fingerprint | None, before: str) -> Whereabouts:
    return Whereabouts("lost", place, location.where, wanted, before=before)


def _text(reader: PageReader, part: Part) -> str:
    return " ".join(reader.read(part).of("text") or reader.texts(part.location))[:MOST_LETTERS]


def _counted(records: Sequence[ListedRecord]) -> str:
    return format_count(len(records), "record")


def _one_line(text: str) -> str:
    return " ".join(text.split())[:MOST_LETTERS]


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"  # noqa: PLR2004 - fits a line


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\a ")
    return f'"{escaped}"'
