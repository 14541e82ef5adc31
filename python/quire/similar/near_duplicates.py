"""Near-duplicates: pages of a collection that say almost the same.

Pages whose sketches agree in four values in a row are compared exactly, in 25 rounds with other
values. In each round the pages are sorted by their values, and a page is compared with the four
before it, which share most of these values with it. So the cost is at most 100 comparisons for
each page, also where thousands of pages are equal. Pages are in one group if a chain of
near-duplicates connects them.

A pair can be missed where hundreds of pages are about as similar as the threshold. On three corpora
of 600 to 1,500 pages the groups by ``content`` were those of comparing all pages with all, for
thresholds from 0.8 up.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quire import _core
from quire.digest.page import Digest
from quire.similar.groups import check_threshold, likenesses, packed_bags
from quire.similar.measures import BagMeasure
from quire.similar.sketches import EMPTY, VALUES, Sketch

#: Default measure: five words in a row.
MEASURE: BagMeasure = "content"
#: Default similarity from which two pages are near-duplicates.
THRESHOLD = 0.9
# Values of a sketch that two pages must share in a round to be compared.
_IN_A_ROW = 4
# Pages that a page is compared with in a round, at most.
_NEIGHBOURS = 4


@dataclass(frozen=True, slots=True, eq=False)
class Duplicates:
    """Pages that are near-duplicates of each other.

    Attributes:
        pages: the numbers of the pages in the collection, ascending.
        similarities: for each of them, its similarity to the first.
    """

    pages: NDArray[np.int64]
    similarities: NDArray[np.float64]

    def __repr__(self) -> str:
        return f"<Duplicates: {len(self.pages):,} pages, least {self.similarities.min():.2f}>"


class Collection:
    """Pages to search for near-duplicates; keeps what it compares of them, but not the pages.

    >>> import quire
    >>> text = "the boats come in with the tide and the market opens at nine " * 3
    >>> found = Collection()
    >>> for end in ("cod", "haddock", "cod"):
    ...     found.add(quire.encode(f"<p>{text}{end}".encode()))
    >>> [group.pages.tolist() for group in found.near_duplicates(0.8)]
    [[0, 1, 2]]
    """

    def __init__(self, on: BagMeasure = MEASURE) -> None:
        self.on = on
        self._bags: list[bytes] = []
        self._sketches: list[NDArray[np.uint32]] = []

    def __len__(self) -> int:
        return len(self._bags)

    def add(self, page: Digest) -> None:
        """Add a page; the first one is number 0.

        Raises:
            ValueError: there is no such measure.
        """
        bags = _core.Bags.of_pages([page._native], self.on)
        self._sketches.append(Sketch.of(page, self.on, m=VALUES).values.astype(np.uint32))
        self._bags.append(bags.packed(0))

    def near_duplicates(self, threshold: float = THRESHOLD) -> tuple[Duplicates, ...]:
        """Find groups of near-duplicates, largest first. Pages without any parts are in none.

        Args:
            threshold: minimum similarity of two pages to be near-duplicates.

        Raises:
            ValueError: the threshold is not between 0 and 1.
        """
        check_threshold(threshold)
        if not self._bags:
            return ()
        bags = packed_bags(self._bags)
        one, other = _candidates(np.stack(self._sketches))
        _, alike = likenesses(one, bags, other, bags)
        near = alike >= threshold
        first = _connected(len(self), one[near], other[near])
        _, similarity = likenesses(np.arange(len(self), dtype=np.uint32), bags, first, bags)
        order = np.argsort(first, kind="stable")
        _, starts = np.unique(first[order], return_index=True)
        groups = [
            Duplicates(pages=pages, similarities=similarity[pages])
            for pages in np.split(order, starts[1:])
            if len(pages) > 1
        ]
        return tuple(sorted(groups, key=lambda group: (-len(group.pages), group.pages[0])))


def near_duplicates(
    pages: Iterable[Digest], *, on: BagMeasure = MEASURE, threshold: float = THRESHOLD
) -> tuple[Duplicates, ...]:
    """Find the pages of a collection that say almost the same, in groups, largest first.

    >>> import quire
    >>> news = "Rain is expected on the coast today, and the boats stay in the harbour. " * 4
    >>> pages = [news + "Monday.", news + "Tuesday.", "Fish is sold out until the boats return."]
    >>> near_duplicates((quire.encode(page.encode()) for page in pages), threshold=0.8)
    (<Duplicates: 2 pages, least 0.88>,)

    Args:
        pages: the pages; they are read one after the other and not kept.
        on: the measure; any except Kang's.
        threshold: minimum similarity of two pages to be near-duplicates.

    Raises:
        ValueError: the measure does not exist, or the threshold is not between 0 and 1.
    """
    check_threshold(threshold)
    collection = Collection(on)
    for page in pages:
        collection.add(page)
    return collection.near_duplicates(threshold)


def _candidates(matrix: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Give the pairs of pages to compare, each once."""
    rows = np.flatnonzero((matrix != EMPTY).any(axis=1))
    pairs: list[NDArray[np.int64]] = [np.empty((0, 2), np.int64)]
    for start in range(0, matrix.shape[1], _IN_A_ROW):
        # Sorted by the values of this round, then by the others: neighbours are most alike.
        turned = np.roll(matrix[rows], -start, axis=1)
        order = np.lexsort(turned[:, : 4 * _IN_A_ROW].T[::-1])
        here = turned[order, :_IN_A_ROW]
        sorted_rows = rows[order]
        for back in range(1, _NEIGHBOURS + 1):
            same = (here[back:] == here[:-back]).all(axis=1)
            pairs.append(np.stack([sorted_rows[:-back][same], sorted_rows[back:][same]], axis=1))
    together = np.sort(np.concatenate(pairs), axis=1)
    unique = np.unique(together, axis=0).astype(np.uint32)
    return unique[:, 0], unique[:, 1]


def _connected(n: int, one: NDArray[np.uint32], other: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Give for every page the first page that a chain of pairs connects it with."""
    first = np.arange(n, dtype=np.uint32)
    while True:
        least = np.minimum(first[one], first[other])
        before = first.copy()
        np.minimum.at(first, one, least)
        np.minimum.at(first, other, least)
        # The first page of the first page, so that long chains take few rounds.
        first = np.minimum(first, first[first])
        np.minimum.at(first, before, first)
        if (first == before).all():
            return first
