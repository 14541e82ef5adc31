"""A part of a page: where it is, what of it counts, and which differences do not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from quire import _core
from quire.sdiff.facets import Facet
from quire.sentinels.parts.location import EVERYWHERE, Location

#: What of a part is watched. ``text`` is the visible text, ``links`` the targets of links, ``images``
#: the addresses of images; paper 002 calls these three together content. ``structure`` is the
#: elements and how they are nested, ``tags`` the elements alone, in document order; ``attributes``
#: are all attributes, or those with chosen names. ``records`` are the records of a list, whatever
#: their order and their fields.
Aspect: TypeAlias = Literal["text", "links", "images", "structure", "tags", "attributes", "records"]
ASPECTS: tuple[Aspect, ...] = get_args(Aspect)
CONTENT: tuple[Aspect, ...] = ("text", "links", "images")

#: The facets of a digest that an aspect is read from. If none of them has another signature, the
#: aspect of the whole page is the same. Links and images are attributes; the text of a page
#: depends on its elements too, because blocks break lines.
FACETS: dict[Aspect, frozenset[Facet]] = {
    "text": frozenset({"content", "tags", "structure"}),
    "links": frozenset({"links"}),
    "images": frozenset({"images"}),
    "structure": frozenset({"structure", "tags"}),
    "tags": frozenset({"tags"}),
    "attributes": frozenset({"attributes", "tags"}),
    "records": frozenset({"content", "tags", "structure", "attributes", "links", "images"}),
}
#: What a selector looks at. A location can match other nodes if one of these changed.
SELECTED: frozenset[Facet] = frozenset({"structure", "tags", "attributes", "content"})


@dataclass(frozen=True, slots=True)
class Ignore:
    r"""Differences that do not count. White space never counts.

    >>> Ignore(case=True, text=(r"\d+ visitors",)).line("Open. 12 visitors")
    'open.'

    Attributes:
        case: compare texts and addresses in lower case.
        order: compare items as a set with counts, so a list in another order is the same list.
        text: regular expressions; text that they match does not count. The syntax is that of Rust's
            ``regex``, which runs in linear time and has no look-around.
        queries: names of parameters in addresses that do not count; ``*`` for all.

    Raises:
        PatternError: an expression is not valid.
    """

    case: bool = False
    order: bool = False
    text: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    _patterns: tuple[_core.Pattern, ...] = field(default=(), init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_patterns", tuple(_core.Pattern(each) for each in self.text))

    @property
    def changes_lines(self) -> bool:
        """Whether lines are compared otherwise than as they are."""
        return self.case or bool(self.text)

    def line(self, text: str) -> str:
        """Return a line of text as it is compared; empty if nothing of it counts."""
        for pattern in self._patterns:
            text = pattern.remove(text)
        if self._patterns:
            text = " ".join(text.split())
        return text.lower() if self.case else text

    def items(self, items: Iterable[str]) -> tuple[str, ...]:
        """Return items as they are compared, in the order in which they are compared."""
        lowered = (item.lower() for item in items) if self.case else items
        return tuple(sorted(lowered)) if self.order else tuple(lowered)


NOTHING_IGNORED = Ignore()


@dataclass(frozen=True, slots=True)
class Part:
    """What of a page counts.

    >>> Part(Location(("#price",))).facets == {"content", "structure", "tags", "attributes"}
    True

    Attributes:
        location: where on the page; everywhere by default.
        watch: the aspects that count, in the order of ``ASPECTS``.
        attributes: names of attributes, for the aspect ``attributes``; empty for all.
        ignore: differences that do not count.

    Raises:
        ValueError: no aspect is watched, or an aspect does not exist.
    """

    location: Location = EVERYWHERE
    watch: tuple[Aspect, ...] = ("text",)
    attributes: tuple[str, ...] = ()
    ignore: Ignore = NOTHING_IGNORED
    # Parts are keys of every table of readings, so their hash is computed once.
    _hash: int = field(default=0, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        unknown = set(self.watch).difference(ASPECTS)
        if unknown or not self.watch:
            found = repr(min(unknown)) if unknown else "nothing"
            raise ValueError(f"cannot watch {found}; expected one or more of {', '.join(ASPECTS)}")
        ordered = tuple(aspect for aspect in ASPECTS if aspect in self.watch)
        object.__setattr__(self, "watch", ordered)
        values = (self.location, ordered, self.attributes, self.ignore)
        object.__setattr__(self, "_hash", hash(values))

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[type[Part], tuple[object, ...]]:
        # Hashes of strings differ between processes, so the stored one must not travel.
        return Part, (self.location, self.watch, self.attributes, self.ignore)

    @property
    def facets(self) -> frozenset[Facet]:
        """The facets that decide: if their signatures are the same, the part is the same."""
        read = frozenset().union(*(FACETS[aspect] for aspect in self.watch))
        return read if self.location.is_whole else read | SELECTED
