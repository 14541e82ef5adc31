"""Differences: what changed on a page, as a short list for notices.

Each entry is one place with its path, what happened, and the value before and after. The list comes
from the views of ``quire.sdiff``: passages that read differently, then links, images and the rest.
Values that change at every load are left out. Everything is limited, since pages are strangers':
``left_out`` counts the entries beyond the limits.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from typing import Any, Literal, SupportsInt, TypeAlias, get_args

from quire.digest.page import Digest
from quire.sdiff.annotation import Annotation, Change, Side
from quire.sdiff.views.other_changes import other_changes
from quire.sdiff.views.passages import passages
from quire.sdiff.views.places import places
from quire.sentinels.parts.part import ASPECTS, Aspect

DifferenceKind: TypeAlias = Literal["inserted", "deleted", "edited", "moved", "renamed"]
DIFFERENCE_KINDS: tuple[DifferenceKind, ...] = get_args(DifferenceKind)

#: Entries of one event. A person reads the first ten; programs that need all ask the API.
MOST_ENTRIES = 100
#: Characters of one value. Enough for a long paragraph.
MOST_VALUE = 2_000
#: Characters of all values of one event. Webhooks accept bodies of 100 kB and more.
MOST_CHARACTERS = 50_000

# Attributes that describe an element without text, the most telling first.
_TELLING = ("src", "href", "srcset", "action", "data", "alt", "name")


@dataclass(frozen=True, slots=True)
class Difference:
    """What happened at one place.

    Attributes:
        kind: ``inserted``, ``deleted``, ``edited``, ``moved`` or ``renamed`` (another tag).
        path: where: a selector, a JSON Pointer or the number of a line; on the old page if it was
            deleted.
        what: ``text``, ``element``, or the name of an attribute.
        before: the value before; None if there was none. For moved parts, the old path.
        after: the value after; None if there is none. For moved parts, the new path.
    """

    kind: DifferenceKind
    path: str
    what: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Differences:
    """What changed.

    Attributes:
        entries: the differences, those that matter most first.
        left_out: how many more there are.
    """

    entries: tuple[Difference, ...] = ()
    left_out: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {"entries": [asdict(each) for each in self.entries], "left_out": self.left_out}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Differences:
        """Make differences from what ``to_dict`` returned.

        Raises:
            KeyError: a value is missing.
            ValueError: a value is not one of differences.
        """
        entries = []
        for each in data["entries"]:
            if each["kind"] not in DIFFERENCE_KINDS:
                raise ValueError(f"kind {each['kind']!r}; expected {', '.join(DIFFERENCE_KINDS)}")
            entries.append(
                Difference(each["kind"], each["path"], each["what"], each["before"], each["after"])
            )
        return cls(tuple(entries), int(data["left_out"]))

    def cut(self, most: int) -> Differences:
        """Return only the first entries, as many as fit into a number of characters."""
        return limited(self.entries, self.left_out, most_characters=most)


NO_DIFFERENCES = Differences()


def differences(
    annotation: Annotation,
    aspects: Iterable[Aspect] = ASPECTS,
    *,
    old_roots: Iterable[SupportsInt] | None = None,
    new_roots: Iterable[SupportsInt] | None = None,
    old_left_out: Iterable[SupportsInt] = (),
    new_left_out: Iterable[SupportsInt] = (),
) -> Differences:
    """List what changed between two versions of a page.

    >>> import quire
    >>> old = quire.encode(b"<p>Fish 8.40</p><a href=/menu>Menu</a>")
    >>> new = quire.encode(b"<p>Fish 8.60</p><a href=/food>Menu</a>")
    >>> for each in differences(quire.annotate(old, new)).entries:
    ...     print(each.kind, each.what, each.before, each.after)
    edited text Fish 8.40 Fish 8.60
    edited href /menu /food

    Args:
        annotation: the comparison of the two versions.
        aspects: the watched aspects; changes of others are left out.
        old_roots: the watched parts on the old version; None for the whole page.
        new_roots: the watched parts on the new version; None for the whole page.
        old_left_out: what the watched parts leave out, on the old version.
        new_left_out: what the watched parts leave out, on the new version.
    """
    inside: dict[Side, _Inside] = {
        "old": _Inside(annotation.old, old_roots, old_left_out),
        "new": _Inside(annotation.new, new_roots, new_left_out),
    }
    found = _differences(annotation, frozenset(aspects), inside)
    entries: list[Difference] = []
    left_out = 0
    for each in found:
        if len(entries) < MOST_ENTRIES:
            entries.append(each)
        else:
            left_out += 1
    return limited(entries, left_out)


def limited(
    entries: Sequence[Difference], left_out: int = 0, *, most_characters: int = MOST_CHARACTERS
) -> Differences:
    """Cut long values, and leave out entries until the rest fits the limits."""
    kept: list[Difference] = []
    characters = 0
    for each in entries[:MOST_ENTRIES]:
        short = Difference(
            each.kind,
            _cut(each.path) or "",
            _cut(each.what) or "",
            _cut(each.before),
            _cut(each.after),
        )
        characters += len(short.path) + len(short.before or "") + len(short.after or "")
        if characters > most_characters:
            break
        kept.append(short)
    return Differences(tuple(kept), left_out + len(entries) - len(kept))


def _cut(text: str | None) -> str | None:
    """Return a value without the line breaks around it, and not too long."""
    if text is None:
        return None
    text = text.strip("\r\n")
    return text if len(text) <= MOST_VALUE else text[: MOST_VALUE - 1] + "…"


class _Inside:
    """Tells whether nodes are in the watched parts of a page."""

    def __init__(
        self,
        page: Digest,
        roots: Iterable[SupportsInt] | None,
        left_out: Iterable[SupportsInt],
    ) -> None:
        self._spans = None if roots is None else _spans(page, roots)
        self._left_out = _spans(page, left_out)

    def __call__(self, node: int) -> bool:
        is_inside = self._spans is None or _covers(self._spans, node)
        return is_inside and not _covers(self._left_out, node)


def _spans(page: Digest, roots: Iterable[SupportsInt]) -> list[tuple[int, int]]:
    starts = sorted({int(root) for root in roots})
    ends = accumulate((start + int(page.size[start]) for start in starts), max)
    return list(zip(starts, ends, strict=True))


def _covers(spans: list[tuple[int, int]], node: int) -> bool:
    # The last part that starts at the node or before it. Parts inside others end with them.
    at = bisect_right(spans, (node, sys.maxsize)) - 1
    return at >= 0 and node < spans[at][1]


def _differences(
    annotation: Annotation, aspects: frozenset[Aspect], inside: Mapping[Side, _Inside]
) -> Iterator[Difference]:
    if "text" in aspects:
        for passage in passages(annotation):
            if inside[passage.page](passage.node):
                before = "".join(s.text for s in passage.segments if s.kind != "inserted")
                after = "".join(s.text for s in passage.segments if s.kind != "deleted")
                yield Difference(
                    passage.kind,
                    passage.place,
                    "text",
                    None if passage.kind == "inserted" else before,
                    None if passage.kind == "deleted" else after,
                )
    others = other_changes(annotation)
    chosen: list[Change] = []
    if "links" in aspects:
        chosen += others.links
    if "images" in aspects:
        chosen += others.images
    if aspects & {"structure", "tags", "attributes"}:
        chosen += others.rest
    chosen = [each for each in chosen if _is_watched(each, inside)]
    named: dict[Side, dict[int, str]] = {
        "old": places(annotation.old, _nodes(chosen, "old")),
        "new": places(annotation.new, _nodes(chosen, "new")),
    }
    for change in chosen:
        yield from _changed(annotation, change, named)


def _is_watched(change: Change, inside: Mapping[Side, _Inside]) -> bool:
    # Texts of scripts and comments are passages.
    if change.kind == "updated" and "content" in change.facets:
        return False
    if inside[change.page](change.node):
        return True
    return change.partner is not None and inside["old"](change.partner)


def _nodes(changes: Iterable[Change], side: Side) -> list[int]:
    found = [each.node for each in changes if each.page == side]
    if side == "old":
        found += [each.partner for each in changes if each.partner is not None]
    return found


def _changed(
    annotation: Annotation, change: Change, named: Mapping[Side, Mapping[int, str]]
) -> Iterator[Difference]:
    path = named[change.page][change.node]
    if change.kind == "deleted":
        yield Difference("deleted", path, "element", _shown(annotation.old, change.node), None)
    elif change.kind == "inserted" or change.partner is None:
        yield Difference("inserted", path, "element", None, _shown(annotation.new, change.node))
    else:
        if change.kind == "moved":
            yield Difference("moved", path, "element", named["old"][change.partner], path)
        if change.kind == "renamed":
            was, now = _tag(annotation.old, change.partner), _tag(annotation.new, change.node)
            yield Difference("renamed", path, "element", was, now)
        for each in annotation.attribute_changes(change.node):
            yield Difference("edited", path, each.name, each.old, each.new)


def _tag(page: Digest, node: int) -> str:
    return page.tags[int(page.tag[node])]


def _shown(page: Digest, node: int) -> str:
    """Describe an element that has no words."""
    attributes = page.attributes(node)
    telling = next((name for name in _TELLING if attributes.get(name)), None)
    tag = _tag(page, node)
    return tag if telling is None else f"{tag} {telling}={attributes[telling]}"
