"""Components: values that are linked, directly or through others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Values that are looked at together.
_PORTION = 1 << 18


class Components:
    """Union-find over numbered values, many links at a time. Holds four bytes for each value.

    >>> found = Components(5)
    >>> found.link(np.array([3, 4]), np.array([1, 3]))
    >>> found.root.tolist()
    [0, 1, 2, 1, 1]
    """

    def __init__(self, n: int) -> None:
        #: The smallest value of each value's component.
        self.root: NDArray[np.uint32] = np.arange(n, dtype=np.uint32)

    def link(self, one: NDArray[np.uint32], other: NDArray[np.uint32]) -> None:
        """Join the components of pairs."""
        while len(one):
            one, other = self.root[one], self.root[other]
            differ = one != other
            one, other = one[differ], other[differ]
            low, high = np.minimum(one, other), np.maximum(one, other)
            # Roots point to smaller ones, so this ends; several links of a root take the smallest.
            np.minimum.at(self.root, high, low)
            self._compress()

    def _compress(self) -> None:
        """Let every value point to its root; chains are halved in every step."""
        is_shorter = True
        while is_shorter:
            is_shorter = False
            for some in self._portions():
                here = self.root[some]
                shorter = self.root[here]
                if not np.array_equal(shorter, here):
                    self.root[some] = shorter
                    is_shorter = True

    def buckets(self, most: int) -> NDArray[np.int32]:
        """Return a bucket for each value; -1 if it is linked to none.

        A component is in one bucket. A bucket has about ``most`` values, or one large component.
        """
        sizes = np.zeros(len(self.root), np.uint32)
        for some in self._portions():
            np.add.at(sizes, self.root[some], np.uint32(1))
        bucket = np.full(len(self.root), -1, np.int32)
        before = 0
        for some in self._portions():
            # A root comes before the other values of its component.
            linked = np.flatnonzero(sizes[some] > 1)
            ends = before + np.cumsum(sizes[some][linked], dtype=np.int64)
            bucket[some][linked] = (ends - sizes[some][linked]) // most
            before = int(ends[-1]) if len(ends) else before
            bucket[some] = bucket[self.root[some]]
        return bucket

    def _portions(self) -> list[slice]:
        """Cut the values: numpy takes positions as eight bytes each, twice the size of a root."""
        starts = range(0, len(self.root), _PORTION)
        return [slice(start, start + _PORTION) for start in starts]
