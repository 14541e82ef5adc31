"""Readings: what a part of a page says on one version.

A ``PageReader`` stands for one version of a page. It runs each selector and reads each part at most
once, however many sentinels ask: on a popular page many of them watch the same thing.

Cost: selectors as ``Digest.select``; everything else is linear in the part.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from urllib.parse import parse_qsl, urlencode, urlsplit

import numpy as np
from numpy.typing import NDArray

from quire.digest.page import Digest
from quire.sentinels.parts.location import NONE, Location, Roots, inside, outermost
from quire.sentinels.parts.part import Aspect, Ignore, Part

#: Elements whose target is a link for people. Scripts and style sheets are links too, but belong to
#: how a page is made.
FOLLOWED = frozenset({"a", "area"})


@dataclass(frozen=True, slots=True)
class Reading:
    """What a part says on one version.

    Attributes:
        found: the number of elements and texts at the location; 0 if there is nothing there.
        aspects: the aspects that were read.
        items: for each aspect its items: lines of text, addresses, elements, attributes.
    """

    found: int
    aspects: tuple[Aspect, ...]
    items: tuple[tuple[str, ...], ...]

    def of(self, aspect: Aspect) -> tuple[str, ...]:
        """Return the items of one aspect; none if it was not read."""
        return self.items[self.aspects.index(aspect)] if aspect in self.aspects else ()

    @property
    def text(self) -> str:
        """The text, one line below the other."""
        return "\n".join(self.of("text"))

    def differs(self, other: Reading) -> tuple[Aspect, ...]:
        """Return the aspects in which two readings of the same part differ."""
        return tuple(
            aspect
            for aspect, one, two in zip(self.aspects, self.items, other.items, strict=True)
            if one != two
        )

    def signatures(self) -> tuple[bytes, ...]:
        """Return 16 bytes for each aspect: the same for equal items, and different for others."""
        return tuple(_signature(items) for items in self.items)


def _signature(items: tuple[str, ...]) -> bytes:
    # Lengths come first, so that no item can look like the end of another one.
    hashed = blake2b(b"%d " % len(items), digest_size=16)
    hashed.update(np.fromiter(map(len, items), "<u8", len(items)).tobytes())
    hashed.update("".join(items).encode("utf-8", "surrogatepass"))
    return hashed.digest()


class PageReader:
    """One version of a page, and all that was read from it so far.

    >>> import quire
    >>> reader = PageReader(quire.encode(b"<h1>Menu</h1><p id=fish>Fish <b>9.50</b>"))
    >>> reader.read(Part(Location(("#fish",), without=("b",)))).text
    'Fish'

    Attributes:
        page: the page.
        noise: nodes that never count, with everything below them.
    """

    __slots__ = ("_found", "_left_out", "_links", "_readings", "_signatures", "noise", "page")

    def __init__(self, page: Digest, noise: Roots = NONE) -> None:
        self.page: Digest = page
        self.noise: Roots = noise
        self._found: dict[tuple[str, ...], tuple[Roots, tuple[str, ...]]] = {}
        self._left_out: dict[tuple[str, ...], Roots] = {}
        self._readings: dict[Part, Reading] = {}
        self._signatures: dict[Part, tuple[bytes, ...]] = {}
        self._links: dict[Aspect, tuple[NDArray[np.int64], list[str]]] = {}

    def roots(self, location: Location) -> Roots:
        """Return the outermost nodes at a location."""
        return self._at(location)[0]

    def texts(self, location: Location) -> tuple[str, ...]:
        """Return the texts that the selectors of a location give."""
        return self._at(location)[1]

    def is_missing(self, location: Location) -> bool:
        """Tell whether there is nothing at a location."""
        roots, texts = self._at(location)
        return not len(roots) and not texts

    def _at(self, location: Location) -> tuple[Roots, tuple[str, ...]]:
        found = self._found.get(location.where)
        if found is None:
            found = self._found[location.where] = location.read(self.page)
        return found

    def left_out(self, location: Location) -> Roots:
        """Return the outermost nodes that a location leaves out, the noise of the page included."""
        found = self._left_out.get(location.without)
        if found is None:
            found = location.left_out(self.page)
            if len(self.noise):
                found = outermost(self.page, np.concatenate([found, self.noise]))
            self._left_out[location.without] = found
        return found

    def read(self, part: Part) -> Reading:
        """Return what a part says.

        Raises:
            SelectorError: a selector is not valid.
            SelectorBudgetExceeded: a selector took too many steps on this page.
            WrongLocation: an expression for what to leave out gives texts.
        """
        found = self._readings.get(part)
        if found is None:
            roots, texts = self._at(part.location)
            left_out = self.left_out(part.location)
            items = tuple(
                part.ignore.items(self._items(aspect, part, roots, left_out))
                for aspect in part.watch
            )
            found = self._readings[part] = Reading(len(roots) + len(texts), part.watch, items)
        return found

    def signatures(self, part: Part) -> tuple[bytes, ...]:
        """Return the signatures of what a part says, one for each aspect that it watches."""
        found = self._signatures.get(part)
        if found is None:
            found = self._signatures[part] = self.read(part).signatures()
        return found

    # ------------------------------------------------------------ aspects

    def _items(self, aspect: Aspect, part: Part, roots: Roots, left_out: Roots) -> Iterable[str]:
        if aspect == "text":
            return self._lines(part, roots, left_out)
        if aspect in ("links", "images"):
            return self._addresses(aspect, part.ignore, roots, left_out)
        nodes = self._elements(roots, left_out)
        if aspect == "attributes":
            return self._attributes(part, nodes)
        names = self.page.tags
        tags = [str(names[tag]) for tag in self.page.tag[nodes].tolist()]
        if aspect == "tags":
            return tags
        depths = self.page.depth[nodes].tolist()
        return [f"{depth} {tag}" for depth, tag in zip(_relative(depths), tags, strict=True)]

    def _lines(self, part: Part, roots: Roots, left_out: Roots) -> Iterator[str]:
        without = left_out.tolist()
        texts = (self.page.text(root, without=without or None) for root in roots.tolist())
        for text in itertools.chain(texts, self.texts(part.location)):
            lines = text.split("\n")
            compared = map(part.ignore.line, lines) if part.ignore.changes_lines else lines
            yield from (line for line in compared if line and not line.isspace())

    def _addresses(
        self, aspect: Aspect, ignore: Ignore, roots: Roots, left_out: Roots
    ) -> Iterator[str]:
        known = self._links.get(aspect)
        if known is None:
            listed = self.page.addresses("links" if aspect == "links" else "images")
            nodes = np.array([node for node, _ in listed], np.int64)
            addresses = [address for _, address in listed]
            if aspect == "links" and len(nodes):
                is_followed = np.array([str(name) in FOLLOWED for name in self.page.tags], np.bool_)
                places = np.flatnonzero(is_followed[self.page.tag[nodes]])
                nodes, addresses = nodes[places], [addresses[place] for place in places.tolist()]
            known = self._links[aspect] = (nodes, addresses)
        nodes, addresses = known
        is_inside = inside(self.page, nodes, roots) & ~inside(self.page, nodes, left_out)
        for place in np.flatnonzero(is_inside).tolist():
            yield without_queries(addresses[place], ignore.queries)

    def _elements(self, roots: Roots, left_out: Roots) -> NDArray[np.int64]:
        page = self.page
        is_element = np.array([not str(name).startswith("#") for name in page.tags], np.bool_)
        nodes = np.flatnonzero(is_element[page.tag])
        is_inside = inside(page, nodes, roots) & ~inside(page, nodes, left_out)
        return np.compress(is_inside, nodes)

    def _attributes(self, part: Part, nodes: NDArray[np.int64]) -> Iterable[str]:
        with_some = nodes[self.page.attr[nodes] >= 0].tolist()
        if not part.ignore.changes_lines:
            return self.page.attribute_lines(with_some, part.attributes)
        return (line for node in with_some for line in self._compared_attributes(part, node))

    def _compared_attributes(self, part: Part, node: int) -> Iterator[str]:
        tag = str(self.page.tags[self.page.tag[node]])
        for name, value in sorted(self.page.attributes(node).items()):
            if not part.attributes or name in part.attributes:
                yield f"{tag} {name}={part.ignore.line(value)}"


def _relative(depths: list[int]) -> Iterator[int]:
    """Count depths from the shallowest, so a part that is nested deeper is the same part."""
    top = min(depths, default=0)
    return (depth - top for depth in depths)


def without_queries(address: str, ignored: tuple[str, ...]) -> str:
    """Return an address without the parameters that do not count.

    >>> without_queries("/a?page=2&v=17", ("v",)), without_queries("/a?x=1#top", ("*",))
    ('/a?page=2', '/a#top')
    """
    if not ignored or "?" not in address:
        return address
    try:
        split = urlsplit(address)
        kept = [
            (name, value)
            for name, value in parse_qsl(split.query, keep_blank_values=True)
            if "*" not in ignored and name not in ignored
        ]
        return split._replace(query=urlencode(kept)).geturl()
    except ValueError:  # such as an unclosed bracket in the host: compared as it is written
        return address
