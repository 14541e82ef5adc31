"""Parts: a version of a page as the nodes of its AF tree, made for comparing with other versions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from quire.digest.page import Digest
from quire.fragments.trees.af_tree import FORMATTING, AfTree
from quire.fragments.trees.shingles import Shingling
from quire.similar.measures import Bag

#: The paper's ChildChangeThreshold, the larger of its two: at 0.5 most pages of today are one fragment.
CHILD_CHANGE = 0.7
#: The paper's OvlpThrshld, for which it has no value.
MIN_OVERLAP = 0.5


class NodeStatus(IntEnum):
    """What became of a node of an AF tree since another version."""

    UNCHANGED = 0
    POSITION_CHANGED = 1
    VALUE_CHANGED = 2


@dataclass(frozen=True, slots=True)
class Comparing:
    """When parts are the same, and when they changed. Names of the paper in brackets.

    Attributes:
        min_overlap: resemblance from which parts are the same (OvlpThrshld).
        child_change: share of children that changed, from which their parent did (ChildChangeThreshold).
        shingling: how shingles are made.

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
                raise ValueError(f"{name} {value}: a share is more than 0, and at most 1")


class Parts:
    """A version as its parts: an AF tree, its columns as lists, which loops in Python read faster.

    Attributes:
        page: the page.
        tree: its AF tree.
        structure: its tags, four in a row.
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
        # Values are equal when their lengths and hashes are.
        lengths, hashes = self.tree.value_bytes.tolist(), self.tree.value_hash.tolist()
        self.value: list[tuple[int, int]] = list(zip(lengths, hashes, strict=True))
        self.tag: list[int] = page.tag[self.tree.node].tolist()
        self._shingles = self.tree.shingles(how.shingling)
        self._sets: dict[int, frozenset[int]] = {}
        self._source: bytes | None = None

    @property
    def source(self) -> bytes:
        """The bytes of the page."""
        if self._source is None:
            self._source = self.page.decode()
        return self._source

    def children(self, node: int) -> list[int]:
        """The children of a node."""
        found, child, end = [], node + 1, node + self.size[node]
        while child < end:
            found.append(child)
            child += self.size[child]
        return found

    def shingles(self, node: int) -> frozenset[int]:
        """The shingles of a node."""
        if node not in self._sets:
            self._sets[node] = frozenset(self._shingles.of(node).tolist())
        return self._sets[node]

    def rows(
        self, nodes: list[int]
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]:
        """The shingles of some nodes, one after the other; where those of each end; their places among siblings."""
        starts, ends = self._shingles.starts[nodes], self._shingles.ends[nodes]
        after = np.cumsum(ends - starts)
        # The place of each value in all values: how far its row begins from where the row is put.
        at = np.arange(after[-1]) + np.repeat(ends - after, ends - starts)
        places = self.tree.index[nodes].astype(np.uint32)
        return self._shingles.values[at], after.astype(np.uint32), places

    def tag_name(self, node: int) -> str:
        """The name of the element that a node stands for."""
        return str(self.page.tags[self.tag[node]])


def resemblance(old: Parts, a: int, new: Parts, b: int) -> float:
    """The share of shingles that two nodes of two versions have in common: the paper's Resemblance."""
    if old.value[a] == new.value[b]:
        return 1.0
    one, other = old.shingles(a), new.shingles(b)
    both = len(one & other)
    return both / max(len(one) + len(other) - both, 1)
