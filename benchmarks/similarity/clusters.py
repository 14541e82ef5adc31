"""How well scores and groups agree with the truth, and the obvious way from scores to groups.

``auc`` judges scores of pairs, ``ari`` judges groups. ``Linkage`` is average linkage (UPGMA) over all pairs: what one
would do with a measure that has no grouping of its own, for as many pages as fit in a square.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray


def auc(same: ArrayLike, other: ArrayLike) -> float:
    """The chance that a pair of one template scores higher than a pair of two; ties count half.

    By ranks, so that it is exact and quick.

    >>> auc([0.9, 0.5], [0.5, 0.1])
    0.875
    """
    one, two = np.asarray(same, float), np.asarray(other, float)
    _, place, count = np.unique(np.concatenate([one, two]), return_inverse=True, return_counts=True)
    middle = np.cumsum(count) - (count - 1) / 2
    ranks = middle[place[: len(one)]].sum()
    return float((ranks - len(one) * (len(one) + 1) / 2) / (len(one) * len(two)))


def ari(truth: Sequence[object] | NDArray[np.generic], found: NDArray[np.generic]) -> float:
    """The adjusted Rand index of two groupings: 1 where they are the same, about 0 where chance made one.

    Where the truth is one group it is 1 or 0, as its definition has it.

    >>> ari(["a", "a", "b", "b"], np.array([7, 7, 3, 3])), ari(["a", "a", "a"], np.array([0, 0, 1]))
    (1.0, 0.0)
    """
    one = np.unique(np.asarray(truth), return_inverse=True)[1]
    two = np.unique(np.asarray(found), return_inverse=True)[1]
    # Groups together as one number: a table of all by all would be wide where pages are alone.
    both = np.unique(one.astype(np.int64) * (int(two.max()) + 1) + two, return_counts=True)[1]

    def pairs(counts: NDArray[np.int64]) -> float:
        return float((counts * (counts - 1) / 2).sum())

    together, left, right = pairs(both), pairs(np.bincount(one)), pairs(np.bincount(two))
    chance = left * right / max(1.0, len(one) * (len(one) - 1) / 2)
    top = (left + right) / 2
    return 1.0 if top == chance else (together - chance) / (top - chance)


class Linkage:
    """Average linkage of a square of scores: the two groups that are most alike become one, again and again."""

    def __init__(self, scores: NDArray[np.float64]) -> None:
        n = len(scores)
        near = scores.astype(float)
        np.fill_diagonal(near, -np.inf)
        weight = np.ones(n)
        self._n = n
        self._merges: list[tuple[float, int, int]] = []
        for _ in range(n - 1):
            i, j = divmod(int(near.argmax()), n)
            self._merges.append((float(near[i, j]), i, j))
            near[i] = (weight[i] * near[i] + weight[j] * near[j]) / (weight[i] + weight[j])
            near[:, i] = near[i]
            near[i, i] = -np.inf
            near[j], near[:, j] = -np.inf, -np.inf
            weight[i] += weight[j]

    def groups(self, threshold: float) -> NDArray[np.int64]:
        """The group of each, where groups of at least this average score are one."""
        group = np.arange(self._n)
        for score, i, j in self._merges:
            if score < threshold:
                break
            group[group == group[j]] = group[i]
        return group
