"""The changes that lines of text do not show: links, images, attributes, scripts, moved parts.

What a reader can meet comes first: where links lead, which images are shown. Values that change
whenever the page is loaded are kept apart, so that they hide nothing; ``volatile_values`` has the
rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from quire.sdiff.annotation import Annotation, Change, check_annotation
from quire.sdiff.facets import ALL_FACETS, Facet
from quire.sdiff.views.volatile_values import VolatileKind, volatile_attribute, volatile_text

if TYPE_CHECKING:
    from quire.digest.page import Digest

_Rank: TypeAlias = Literal["links", "images", "rest"]

# Links that a reader can follow or that show another page; those to scripts and styles are files.
_FOLLOWED = frozenset({"a", "area", "form", "iframe", "frame", "embed"})
# Elements whose text is not shown.
_UNREAD = frozenset({"script", "style", "noscript", "template"})


@dataclass(frozen=True, slots=True)
class OtherChanges:
    """The changes that lines of text do not show.

    Attributes:
        links: changes of links that a reader can follow.
        images: changes of images.
        rest: all others: attributes, tags, moved parts, scripts, comments.
        volatile: changes of nothing but values that change whenever a page is loaded.
        volatile_kinds: how many of them are of each kind: ``nonce``, ``token``, ``time`` or
            ``query`` (of an address, to avoid caches).
    """

    links: tuple[Change, ...]
    images: tuple[Change, ...]
    rest: tuple[Change, ...]
    volatile: tuple[Change, ...]
    volatile_kinds: Mapping[VolatileKind, int]

    def __iter__(self) -> Iterator[Change]:
        """List all but the volatile ones, those that matter most first."""
        yield from self.links
        yield from self.images
        yield from self.rest


def other_changes(
    annotation: Annotation, facets: Iterable[Facet] | Facet = ALL_FACETS
) -> OtherChanges:
    """List the changes that lines of text do not show, those that matter most first.

    >>> import quire
    >>> old = quire.encode(b"<p class=a><script nonce=1>f()</script><a href=/fish>Fish</a>")
    >>> new = quire.encode(b"<p class=b><script nonce=2>f()</script><a href=/meat>Fish</a>")
    >>> found = other_changes(quire.annotate(old, new))
    >>> [new.tags[new.tag[change.node]] for change in found]
    ['a', 'p']
    >>> found.volatile_kinds
    {'nonce': 1}
    """
    check_annotation(annotation)
    ranked: dict[_Rank, list[Change]] = {"links": [], "images": [], "rest": []}
    volatile: list[Change] = []
    kinds: Counter[VolatileKind] = Counter()
    for change in _beside(annotation, facets):
        kind = _volatile(annotation, change)
        if kind is None:
            ranked[_rank(annotation, change)].append(change)
        else:
            volatile.append(change)
            kinds[kind] += 1
    return OtherChanges(
        links=tuple(ranked["links"]),
        images=tuple(ranked["images"]),
        rest=tuple(ranked["rest"]),
        volatile=tuple(volatile),
        volatile_kinds=dict(kinds),
    )


def _beside(annotation: Annotation, facets: Iterable[Facet] | Facet) -> Iterator[Change]:
    """List the changes that the lines of text do not show."""
    for change in annotation.parts(facets):
        page = _page(annotation, change)
        if change.kind == "layout":
            continue
        if change.kind in {"renamed", "moved"} or (
            change.kind == "updated" and "attributes" in change.facets
        ):
            if _name(page, change.node) != "#text":
                yield change
        elif not _has_words(page, change.node):
            yield change


def _page(annotation: Annotation, change: Change) -> Digest:
    return annotation.old if change.page == "old" else annotation.new


def _name(page: Digest, node: int) -> str:
    return page.tags[int(page.tag[node])]


def _has_words(page: Digest, node: int) -> bool:
    """Tell whether a part has visible words; scripts, comments and bytes have none."""
    name = _name(page, node)
    if name in {"#bytes", "#comment", "#doctype", "#instruction"}:
        return False
    if int(page.content[node]) >= 0:
        return _name(page, int(page.parent[node])) not in _UNREAD | {"iframe"}
    return name not in _UNREAD and bool(page.text(node).strip())


def _rank(annotation: Annotation, change: Change) -> _Rank:
    name = _name(_page(annotation, change), change.node)
    if "links" in change.facets and (name in _FOLLOWED or change.kind in {"inserted", "deleted"}):
        return "links" if name not in {"script", "link"} else "rest"
    return "images" if "images" in change.facets else "rest"


def _volatile(annotation: Annotation, change: Change) -> VolatileKind | None:
    """Say which kind of volatile value changed, if nothing else did."""
    if change.kind != "updated" or change.partner is None:
        return None
    old, new = annotation.old, annotation.new
    if "content" in change.facets:
        return volatile_text(old.text(change.partner), new.text(change.node))
    tag, attributes = _name(new, change.node), new.attributes(change.node)
    kinds = {
        volatile_attribute(tag, attributes, each.name, each.old, each.new)
        for each in annotation.attribute_changes(change.node)
    }
    if not kinds or None in kinds:
        return None
    return min(kind for kind in kinds if kind is not None)
