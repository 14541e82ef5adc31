"""Shingles: a small sample of a text that changes little when the text changes little.

Every window of W bytes is hashed to K bits, and the S smallest distinct hashes are the shingles.
The share of shingles that two texts have in common estimates how similar they are (Broder). A text
shorter than one window has a single shingle: the hash of the whole text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quire import _core

#: How to estimate the overlap of two texts from their shingles.
Estimate: TypeAlias = Literal["paper", "unbiased"]
ESTIMATES: tuple[Estimate, ...] = ("paper", "unbiased")


@dataclass(frozen=True, slots=True)
class Shingling:
    """Settings for computing shingles.

    Attributes:
        window: bytes in a window, up to 1,024 (the paper's W).
        sample: hashes to keep for a text, up to 1,024 (S).
        bits: bits of a hash, up to 32 (K).
    """

    window: int = 20
    sample: int = 25
    bits: int = 32


@dataclass(frozen=True, slots=True, eq=False)
class Shingles:
    """The shingles of all nodes of an AF tree.

    Attributes:
        starts: index in ``values`` of the first shingle of each node.
        ends: index after the last one. Ranges may coincide, as for a parent and its only child.
        values: all shingles, in ascending order within a node.
        hashes: number of hashes that were computed.
        seconds: time that this took.
    """

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    values: NDArray[np.uint32]
    hashes: int
    seconds: float

    def of(self, node: int) -> NDArray[np.uint32]:
        """Return the shingles of one node, in ascending order."""
        return self.values[self.starts[node] : self.ends[node]]


def window_hashes(data: bytes, shingling: Shingling | None = None) -> NDArray[np.uint32]:
    """Hash all windows of a text, in order; a text shorter than one window is hashed whole.

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
    """Return the share of shingles that two texts have in common.

    The paper calls this *overlap* in Algorithm 1 and *resemblance* in Algorithm 2.

    >>> overlap(np.array([1, 2, 3], np.uint32), np.array([2, 3, 4], np.uint32))
    0.5

    Args:
        one: shingles of one text, all distinct.
        other: shingles of the other text, all distinct.
        estimate: ``paper`` divides by the number of shingles in either text; for long texts it is
            too low. ``unbiased`` uses only the ``sample`` smallest shingles of both texts
            together; its expected value is the overlap of all windows.
        sample: maximum number of shingles of a text; used by the unbiased estimate only.
    """
    either = np.union1d(one, other)
    if estimate == "unbiased":
        either = either[:sample]
    both = np.intersect1d(one, other, assume_unique=True)
    shared = np.isin(both, either).sum()
    return float(shared) / max(len(either), 1)
