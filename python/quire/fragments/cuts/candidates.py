"""Candidates: the elements of pages that could be cut out, because other pages have the same bytes.

Of every page the elements are listed with their source bytes, in the order of the page, and hashed by the digest's kernel; those that
fewer pages have than asked for are dropped once all pages are known. What is kept is a forest of nested spans for each page.

The exact tier of ``shared_fragments`` is among them. So are drawings and other elements without text, which are no parts of AF trees.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quire.digest.page import Digest
from quire.fragments.trees.source_spans import source_spans


@dataclass(frozen=True, slots=True, eq=False)
class Elements:
    """Elements of one page, outer before inner.

    Attributes:
        start: first byte of each in the source.
        end: after its last byte.
        key: 64 bits for its bytes. Equal keys are not proof: whoever cuts, names what was cut by a digest.
    """

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    key: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.start)

    @classmethod
    def none(cls) -> Elements:
        """No elements."""
        return cls(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint64))

    def only(self, chosen: NDArray[np.bool_]) -> Elements:
        """Those for which it is true."""
        return Elements(self.start[chosen], self.end[chosen], self.key[chosen])


def elements_of(page: Digest, min_bytes: int) -> Elements:
    """List the elements of a page that are long enough; none where places are not known.

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
    # By place: what a browser moves out of a table stands elsewhere in the tree than in the source.
    chosen = chosen[np.lexsort((-end[chosen], start[chosen]))]
    found = Elements(start[chosen], end[chosen], spans.hash[chosen])
    if len(found) < 2:  # noqa: PLR2004 - a pair
        return found
    # An element that is all of its parent, as html and body without tags are, is the same bytes again.
    again = (found.start[1:] == found.start[:-1]) & (found.end[1:] == found.end[:-1])
    return found.only(np.concatenate([[True], ~again]))


@dataclass(frozen=True, slots=True, eq=False)
class Sharing:
    """How often elements are there, by their keys, ascending.

    Attributes:
        key: those that enough pages have.
        pages: how many do.
        places: how many times all together.
    """

    key: NDArray[np.uint64]
    pages: NDArray[np.int64]
    places: NDArray[np.int64]

    @classmethod
    def of(cls, pages: Sequence[Elements], min_pages: int) -> Sharing:
        """Count over all pages."""
        if not pages:
            none = Elements.none()
            return cls(none.key, none.start, none.start)
        once = np.concatenate([np.unique(page.key) for page in pages])
        key, count = np.unique(once, return_counts=True)
        key, count = key[count >= min_pages], count[count >= min_pages]
        every, places = np.unique(np.concatenate([page.key for page in pages]), return_counts=True)
        return cls(key, count, places[np.searchsorted(every, key)])

    def among(self, page: Elements) -> Elements:
        """The elements of a page that are shared."""
        if not len(self.key) or not len(page):
            return Elements.none()
        place = np.minimum(np.searchsorted(self.key, page.key), len(self.key) - 1)
        return page.only(self.key[place] == page.key)
