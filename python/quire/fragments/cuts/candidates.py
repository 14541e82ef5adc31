"""Candidates: elements that could be cut out, because other pages contain the same bytes; cuts.

For every page quire lists the larger elements with their source bytes, in page order, hashed by the
digest's kernel. Once all pages are known, elements that too few pages have are dropped. The result
is a forest of nested spans for each page. Drawings and other elements without text are among them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from quire.digest.page import Digest
from quire.digest.source_spans import source_spans

#: First byte in the source, and the end after the last one.
Span = tuple[int, int]


class CutKind(Enum):
    """Why a part is cut out.

    Several pages have it, no cache may keep it, or it changes at another pace than the rest of its
    page.
    """

    SHARED = "shared"
    ISOLATED = "isolated"
    PACED = "paced"


@dataclass(frozen=True, slots=True)
class Cut:
    """A part of a page or of a fragment that becomes an include.

    Attributes:
        start: its first byte, counted from the beginning of the page or fragment.
        end: after its last byte.
        key: the key of the shared element; None for a part that is cut out of this page alone.
        kind: why it is cut out.
    """

    start: int
    end: int
    key: int | None
    kind: CutKind = CutKind.SHARED


@dataclass(frozen=True, slots=True, eq=False)
class Elements:
    """Elements of one page, outer before inner.

    Attributes:
        start: first byte of each in the source.
        end: after its last byte.
        key: 64-bit hash of its bytes. Equal keys may be chance: fragments are named by a SHA-256.
    """

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    key: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.start)

    @classmethod
    def none(cls) -> Elements:
        """Return no elements."""
        return cls(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint64))

    def only(self, chosen: NDArray[np.bool_]) -> Elements:
        """Return the elements for which ``chosen`` is true."""
        return Elements(self.start[chosen], self.end[chosen], self.key[chosen])


def elements_of(page: Digest, min_bytes: int) -> Elements:
    """List the elements of a page that are long enough; none if source places are not known.

    >>> import quire
    >>> found = elements_of(quire.encode(b"<ul><li>Fish<li>Chips and peas</ul>"), 10)
    >>> list(zip(found.start.tolist(), found.end.tolist()))
    [(0, 35), (12, 30)]
    """
    spans = source_spans(page)
    if spans is None:
        return Elements.none()
    is_element = np.array([not name.startswith(("#", "!", "?")) for name in page.tags], np.bool_)
    start, end = spans.start.astype(np.int64), spans.end.astype(np.int64)
    chosen = np.flatnonzero(is_element[page.tag] & (end - start >= min_bytes))
    # By place in the source: a browser moves some text out of tables in the tree.
    chosen = chosen[np.lexsort((-end[chosen], start[chosen]))]
    found = Elements(start[chosen], end[chosen], spans.hash[chosen])
    # An element that fills its parent, like an implied html or body, is the same bytes twice.
    starts, ends = np.diff(found.start, prepend=-1), np.diff(found.end, prepend=-1)
    return found.only((starts != 0) | (ends != 0))


@dataclass(frozen=True, slots=True, eq=False)
class SharedElements:
    """Elements that enough pages have, by key, ascending.

    Attributes:
        key: their keys.
        places: how many times each occurs in all pages together.
    """

    key: NDArray[np.uint64]
    places: NDArray[np.int64]

    @classmethod
    def of(cls, pages: Sequence[Elements], min_pages: int) -> SharedElements:
        """Count over all pages."""
        none = Elements.none().key
        once = np.concatenate([none, *(np.unique(page.key) for page in pages)])
        key, count = np.unique(once, return_counts=True)
        key = key[count >= min_pages]
        keys = np.concatenate([none, *(page.key for page in pages)])
        every, places = np.unique(keys, return_counts=True)
        return cls(key, places[np.searchsorted(every, key)])

    def among(self, page: Elements) -> Elements:
        """Return the elements of a page that are shared."""
        if not len(self.key) or not len(page):
            return Elements.none()
        place = np.minimum(np.searchsorted(self.key, page.key), len(self.key) - 1)
        return page.only(self.key[place] == page.key)


def without_around(
    pages: Mapping[int, Elements], isolated: Mapping[int, Sequence[Span]]
) -> dict[int, Elements]:
    """Leave out the elements that stand in the way of isolated parts.

    A part that no cache may keep must not be inside a fragment, or no cache could keep the
    fragment: a greeting in a header would send the menu past the cache. So elements around such a
    part are not candidates on any page; elements inside it or across its ends are not on its own
    page.

    Args:
        pages: the elements of each page.
        isolated: the parts to isolate, by page.
    """
    found = dict(pages)
    around: set[int] = set()
    for number, spans in isolated.items():
        page = found[number]
        free = np.ones(len(page), np.bool_)
        for start, end in spans:
            holds = (page.start <= start) & (page.end >= end)
            same = (page.start == start) & (page.end == end)
            around.update(page.key[holds & ~same].tolist())
            free &= (page.end <= start) | (page.start >= end) | same
        found[number] = page.only(free)
    if not around:
        return found
    keys = np.array(sorted(around), np.uint64)
    return {number: page.only(~np.isin(page.key, keys)) for number, page in found.items()}
