"""Shingles: a sample of a text that changes little when the text does.

All windows of W bytes are hashed to K bits, and the S smallest different hashes are the shingles. The share of shingles
that two texts have in common tells how alike they are (Broder). A text shorter than a window has one: the hash of all of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quire import _core

#: How the overlap of two texts is estimated from their shingles.
Estimate: TypeAlias = Literal["paper", "unbiased"]
ESTIMATES: tuple[Estimate, ...] = ("paper", "unbiased")


@dataclass(frozen=True, slots=True)
class Shingling:
    """How shingles are made.

    Attributes:
        window: bytes in a window, up to 1,024 (the paper's W).
        sample: hashes kept of a text, up to 1,024 (S).
        bits: bits of a hash, up to 32 (K).
    """

    window: int = 20
    sample: int = 25
    bits: int = 32


@dataclass(frozen=True, slots=True, eq=False)
class Shingles:
    """The shingles of all nodes of an AF tree.

    Attributes:
        starts: where those of each node begin in ``values``.
        ends: where they end. Nodes may share theirs, as parent and only child do.
        values: all of them; those of a node ascending.
        hashes: how many hashes were computed to get them.
        seconds: how long that took.
    """

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    values: NDArray[np.uint32]
    hashes: int
    seconds: float

    def of(self, node: int) -> NDArray[np.uint32]:
        """Those of one node, ascending."""
        return self.values[self.starts[node] : self.ends[node]]


def window_hashes(data: bytes, shingling: Shingling | None = None) -> NDArray[np.uint32]:
    """Hash all windows of a text, in order; a text shorter than a window as one.

    >>> len(window_hashes(b"twenty-three bytes long"))
    4

    Raises:
        ValueError: a setting is out of range.
    """
    how = shingling or Shingling()
    return np.frombuffer(_core.window_hashes(data, how.window, how.bits), "<u4")


def overlap(
    one: NDArray[np.uint32],
    other: NDArray[np.uint32],
    estimate: Estimate = "paper",
    *,
    sample: int = Shingling().sample,
) -> float:
    """Tell which share of shingles two texts have in common: the paper's overlap, and its resemblance.

    >>> overlap(np.array([1, 2, 3], np.uint32), np.array([2, 3, 4], np.uint32))
    0.5

    Args:
        one: shingles of a text, all different.
        other: those of another.
        estimate: ``paper`` divides by all that are in either. ``unbiased`` looks at the smallest ``sample`` of both
            together, and is expected to be the overlap of all windows; the paper's is lower where texts are long.
        sample: shingles of a text, at most; only the unbiased estimate asks.
    """
    either = np.union1d(one, other)
    if estimate == "unbiased":
        either = either[:sample]
    both = np.intersect1d(one, other, assume_unique=True)
    shared = np.isin(both, either).sum()
    return float(shared) / max(len(either), 1)
