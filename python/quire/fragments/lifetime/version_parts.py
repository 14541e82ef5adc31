"""Parts: one version of a page, prepared for comparison with other versions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from quire.digest.page import Digest
from quire.fragments.trees.af_tree import FORMATTING, AfTree
from quire.fragments.trees.shingles import Shingling
from quire.similar.measures import Bag

#: The paper's ChildChangeThreshold, the larger of its two values: at 0.5 a list of which half
#: changed is one fragment, at 0.7 its items are.
CHILD_CHANGE = 0.7
#: The paper's OvlpThrshld. The paper gives no value, but its Slashdot example needs at most a third.
#: ``benchmarks/fragments/overlap_threshold.py`` chose this one: on half of the histories it pairs
#: parts best, and on the other half a cache of fragments transfers least (there, lower values pair
#: parts slightly better).
MIN_OVERLAP = 0.2


class NodeStatus(IntEnum):
    """How a node of an AF tree changed since another version."""

    UNCHANGED = 0
    POSITION_CHANGED = 1
    VALUE_CHANGED = 2


@dataclass(frozen=True, slots=True)
class Comparing:
    """When two parts count as the same, and when a part counts as changed.

    The paper's names are in brackets.

    Attributes:
        min_overlap: resemblance from which two parts count as the same (OvlpThrshld).
        child_change: share of changed children from which their parent counts as changed
            (ChildChangeThreshold).
        shingling: settings for shingles.

    Raises:
        ValueError: a share is out of range.
    """

    min_overlap: float = MIN_OVERLAP
    child_change: float = CHILD_CHANGE
    shingling: Shingling = field(default_factory=Shingling)

    def __post_init__(self) -> None:
        for name in ("min_overlap", "child_change"):
            value = getattr(self, name)
            if not 0 < value <= 1:
                raise ValueError(f"{name} {value}: expected more than 0, and at most 1")


class Parts:
    """The parts of a version: its AF tree, with columns as lists, which Python loops read faster.

    Attributes:
        page: the page.
        tree: its AF tree.
        structure: its sequences of four tags in a row.
    """

    def __init__(
        self, page: Digest, how: Comparing, formatting: Iterable[str] = FORMATTING
    ) -> None:
        self.page: Digest = page
        self.tree: AfTree = AfTree.of(page, formatting=formatting)
        self.structure: Bag = Bag.of(page, "structure")
        self.size: list[int] = self.tree.size.tolist()
        self.parent: list[int] = self.tree.parent.tolist()
        self.index: list[int] = self.tree.index.tolist()
        # Values count as equal if their lengths and hashes are equal.
        lengths, hashes = self.tree.value_bytes.tolist(), self.tree.value_hash.tolist()
        self.value: list[tuple[int, int]] = list(zip(lengths, hashes, strict=True))
        self.tag: list[int] = page.tag[self.tree.node].tolist()
        self._shingles = self.tree.shingles(how.shingling)
        self._sets: dict[int, frozenset[int]] = {}

    @cached_property
    def source(self) -> bytes:
        """The bytes of the page."""
        return self.page.decode()

    def children(self, node: int) -> list[int]:
        """Return the children of a node."""
        found, child, end = [], node + 1, node + self.size[node]
        while child < end:
            found.append(child)
            child += self.size[child]
        return found

    def shingles(self, node: int) -> frozenset[int]:
        """Return the shingles of a node."""
        if node not in self._sets:
            self._sets[node] = frozenset(self._shingles.of(node).tolist())
        return self._sets[node]

    def rows(
        self, nodes: list[int]
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]:
        """Return the shingles of some nodes as rows for the kernel.

        The three arrays are all shingles in order, the end of each node's row, and the position of
        each node among its siblings.
        """
        starts, ends = self._shingles.starts[nodes], self._shingles.ends[nodes]
        after = np.cumsum(ends - starts)
        # The index of each shingle in all values: its index here, shifted by the offset of its row.
        at = np.arange(after[-1]) + np.repeat(ends - after, ends - starts)
        places = self.tree.index[nodes].astype(np.uint32)
        return self._shingles.values[at], after.astype(np.uint32), places

    def tag_name(self, node: int) -> str:
        """Return the tag name of a node."""
        return str(self.page.tags[self.tag[node]])


def resemblance(old: Parts, a: int, new: Parts, b: int) -> float:
    """Return the share of shingles that two nodes have in common: the paper's Resemblance."""
    if old.value[a] == new.value[b]:
        return 1.0
    one, other = old.shingles(a), new.shingles(b)
    both = len(one & other)
    return both / max(len(one) + len(other) - both, 1)
