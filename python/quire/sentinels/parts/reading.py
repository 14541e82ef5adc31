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
from quire.extraction.page_lists import PageLists
from quire.extraction.region import Region
from quire.sentinels.parts.listed_records import TRACKING, RecordList, record_list
from quire.sentinels.parts.location import Location, Roots, inside, outermost
from quire.sentinels.parts.noisy import NOTHING_NOISY, NoiseFinder, NoisyNodes
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
        items: for each aspect its items: lines of text, addresses, elements, attributes, or what
            identifies each record of a list.
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
        finder: finds the nodes that never count; None if everything counts.
    """

    __slots__ = (
        "_found",
        "_left_out",
        "_links",
        "_lists",
        "_noise",
        "_readings",
        "_records",
        "_signatures",
        "finder",
        "page",
    )

    def __init__(self, page: Digest, finder: NoiseFinder | None = None) -> None:
        self.page: Digest = page
        self.finder: NoiseFinder | None = finder
        self._found: dict[tuple[str, ...], tuple[Roots, tuple[str, ...]]] = {}
        self._left_out: dict[Location, Roots] = {}
        self._noise: dict[tuple[str, ...], NoisyNodes] = {}
        self._readings: dict[Part, Reading] = {}
        self._signatures: dict[Part, tuple[bytes, ...]] = {}
        self._lists: PageLists | None = None
        self._records: dict[tuple[Location, Ignore], RecordList | None] = {}
        self._links: dict[Aspect, tuple[NDArray[np.int64], list[str]]] = {}

    def of(self, page: Digest) -> PageReader:
        """Return a reader for another version, for which the same does not count."""
        return PageReader(page, self.finder)

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

    def lacks(self, part: Part) -> bool:
        """Tell whether there is nothing at the location of a part, or no list if it watches one."""
        if self.is_missing(part.location):
            return True
        return "records" in part.watch and self.records(part) is None

    def records(self, part: Part) -> RecordList | None:
        """Return the list of records at the location of a part; None if there is none."""
        key = (part.location, part.ignore)
        if key not in self._records:
            region = self._page_lists().at(self.roots(part.location))
            self._records[key] = None if region is None else self._identified(part, region)
        return self._records[key]

    def all_records(self, part: Part) -> Iterator[RecordList]:
        """Return all lists of the page, read as a part reads its own."""
        return (self._identified(part, region) for region in self._page_lists().all())

    def _page_lists(self) -> PageLists:
        if self._lists is None:
            self._lists = PageLists(self.page)
        return self._lists

    def _identified(self, part: Part, region: Region) -> RecordList:
        ignore = part.ignore

        def address(written: str) -> str:
            found = without_queries(written, (*ignore.queries, *TRACKING))
            return found.lower() if ignore.case else found

        return record_list(
            self.page,
            region,
            self.left_out(part.location),
            self.noise(part.location),
            address=address,
            text=ignore.line,
        )

    def _at(self, location: Location) -> tuple[Roots, tuple[str, ...]]:
        found = self._found.get(location.where)
        if found is None:
            found = self._found[location.where] = location.read(self.page)
        return found

    def left_out(self, location: Location) -> Roots:
        """Return the outermost nodes that a location leaves out, the noise of the page included."""
        found = self._left_out.get(location)
        if found is None:
            found = location.left_out(self.page)
            regions = self.noise(location).regions
            if len(regions):
                found = outermost(self.page, np.concatenate([found, regions]))
            self._left_out[location] = found
        return found

    def noise(self, location: Location) -> NoisyNodes:
        """Return what of a location does not count, because it changes at every fetch."""
        if self.finder is None:
            return NOTHING_NOISY
        whole = self._noise.get(())
        if whole is None:
            whole = self._noise[()] = self.finder(self.page)
        found = self._noise.get(location.where)
        if found is None:
            found = whole.below(self.page, self.roots(location))
            self._noise[location.where] = found
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
            noise = self.noise(part.location)
            items = tuple(
                part.ignore.items(self._items(aspect, part, roots, left_out, noise))
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

    def _items(
        self, aspect: Aspect, part: Part, roots: Roots, left_out: Roots, noise: NoisyNodes
    ) -> Iterable[str]:
        if aspect == "text":
            return self._lines(part, roots, left_out, noise)
        if aspect == "records":
            found = self.records(part)
            return () if found is None else sorted({each.key for each in found.records})
        if aspect in ("links", "images"):
            nodes, items = self._addresses(aspect, part.ignore, roots, left_out, noise)
        else:
            nodes = self._elements(roots, left_out)
            if aspect == "attributes":
                nodes, items = self._attributes(part, nodes, noise)
            else:
                names = self.page.tags
                items = [str(names[tag]) for tag in self.page.tag[nodes].tolist()]
                if aspect == "structure":
                    depths = _relative(self.page.depth[nodes].tolist())
                    items = [f"{depth} {tag}" for depth, tag in zip(depths, items, strict=True)]
        return self._in_order(nodes, items, noise.shuffled)

    def _in_order(
        self, nodes: NDArray[np.int64], items: list[str], shuffled: Roots
    ) -> Iterable[str]:
        """Put items of elements whose order does not count behind the others, sorted."""
        if not len(shuffled):
            return items
        is_shuffled = inside(self.page, nodes, shuffled).tolist()
        fixed = [item for item, moves in zip(items, is_shuffled, strict=True) if not moves]
        return fixed + sorted(item for item, moves in zip(items, is_shuffled, strict=True) if moves)

    def _lines(self, part: Part, roots: Roots, left_out: Roots, noise: NoisyNodes) -> Iterator[str]:
        texts = self._texts(roots, left_out, noise)
        for text in itertools.chain(texts, self.texts(part.location)):
            lines = text.split("\n")
            compared = map(part.ignore.line, lines) if part.ignore.changes_lines else lines
            yield from (line for line in compared if line and not line.isspace())

    def _texts(self, roots: Roots, left_out: Roots, noise: NoisyNodes) -> Iterator[str]:
        """Give the texts of all roots, then those whose place or words are noise."""
        page = self.page
        fixed = [*left_out.tolist(), *noise.texts]
        without = [*fixed, *noise.shuffled.tolist()]
        for root in roots.tolist():
            yield page.text(root, without=without or None)
        counts = [node for node in noise.shuffled.tolist() if self._counts(node, left_out)]
        for node in counts:
            yield "\n".join(sorted(page.text(node, without=fixed or None).split("\n")))
        for node, text in noise.texts.items():
            if text and page.visible[node] and self._counts(node, left_out):
                yield " ".join(text.split())

    def _counts(self, node: int, left_out: Roots) -> bool:
        return not inside(self.page, np.array([node], np.int64), left_out)[0]

    def _addresses(
        self, aspect: Aspect, ignore: Ignore, roots: Roots, left_out: Roots, noise: NoisyNodes
    ) -> tuple[NDArray[np.int64], list[str]]:
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
        masks = noise.links if aspect == "links" else noise.images
        owners: list[int] = []
        found: list[str] = []
        for place in np.flatnonzero(is_inside).tolist():
            node = int(nodes[place])
            address = masks[node](addresses[place]) if node in masks else addresses[place]
            if address or node not in masks:
                owners.append(node)
                found.append(without_queries(address, ignore.queries))
        return np.array(owners, np.int64), found

    def _elements(self, roots: Roots, left_out: Roots) -> NDArray[np.int64]:
        page = self.page
        is_element = np.array([not str(name).startswith("#") for name in page.tags], np.bool_)
        nodes = np.flatnonzero(is_element[page.tag])
        is_inside = inside(page, nodes, roots) & ~inside(page, nodes, left_out)
        return np.compress(is_inside, nodes)

    def _attributes(
        self, part: Part, nodes: NDArray[np.int64], noise: NoisyNodes
    ) -> tuple[NDArray[np.int64], list[str]]:
        with_some = nodes[self.page.attr[nodes] >= 0].tolist()
        if not (part.ignore.changes_lines or noise.attributes or len(noise.shuffled)):
            return nodes, list(self.page.attribute_lines(with_some, part.attributes))
        wanted = set(part.attributes)
        owners: list[int] = []
        items: list[str] = []
        for node in with_some:
            tag = str(self.page.tags[self.page.tag[node]])
            for name, value in sorted(self.page.attributes(node).items()):
                if not wanted or name in wanted:
                    mask = noise.attributes.get((node, name))
                    compared = value if mask is None else mask(value)
                    owners.append(node)
                    items.append(f"{tag} {name}={part.ignore.line(compared)}")
        return np.array(owners, np.int64), items


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
