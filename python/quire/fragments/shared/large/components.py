"""Components: values that are linked, directly or through others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


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
        while True:
            shorter = self.root[self.root]
            if np.array_equal(shorter, self.root):
                return
            self.root = shorter

    def buckets(self, most: int) -> NDArray[np.int32]:
        """Return a bucket for each value; -1 if it is linked to none.

        A component is in one bucket. A bucket has about ``most`` values, or one large component.
        """
        sizes = np.bincount(self.root, minlength=len(self.root))
        linked = np.flatnonzero(sizes > 1)
        sizes = sizes[linked]
        bucket = np.full(len(self.root), -1, np.int32)
        bucket[linked] = (np.cumsum(sizes) - sizes) // most
        return bucket[self.root]
