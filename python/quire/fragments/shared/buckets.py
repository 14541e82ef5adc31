"""Node buckets of paper 004, section 4: the sorted pool of Algorithm 1.

Each bucket holds the nodes of a range of sizes. A bucket that grows out of its capacity is split;
after all nodes have arrived, neighbours that fit into one are merged, and every bucket is sorted.
The largest node and the nodes to compare it with (CSet) are then found in the last few buckets.

The paper's three parameters are ``count``, ``capacity`` and ``bounds``. They change how the pool is
built, never which fragments are found.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

#: The paper's N_B; it gives no value.
BUCKETS = 32
#: Maximum number of nodes in a bucket before it is split; the paper gives no value.
CAPACITY = 1024


class Sized(Protocol):
    """A node with the length of its text and an order among nodes of equal length."""

    @property
    def value_bytes(self) -> int: ...  # noqa: D102
    @property
    def order(self) -> tuple[int, ...]: ...  # noqa: D102


Node = TypeVar("Node", bound=Sized)


@dataclass(frozen=True, slots=True)
class BucketRules:
    """The three parameters of the buckets.

    Attributes:
        count: number of buckets to begin with (N_B).
        capacity: maximum number of nodes in a bucket; a larger one is split (Bs).
        bounds: the smallest size of each bucket except the first, ascending. By default each
            bucket's range is twice as wide as the one before, as the paper recommends: small nodes
            are many.

    Raises:
        ValueError: a parameter is out of range.
    """

    count: int = BUCKETS
    capacity: int = CAPACITY
    bounds: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        for name in ("count", "capacity"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} {getattr(self, name)}: expected at least 1")
        if self.bounds is not None and (
            len(self.bounds) != self.count - 1 or list(self.bounds) != sorted(set(self.bounds))
        ):
            raise ValueError(
                f"bounds {list(self.bounds)}: expected {self.count - 1} sizes in ascending order"
            )

    def smallest_sizes(self, min_bytes: int) -> list[int]:
        """Return the smallest size of each bucket, beginning with 0.

        >>> BucketRules(4).smallest_sizes(30)
        [0, 60, 120, 240]
        """
        if self.bounds is not None:
            return [0, *self.bounds]
        return [0, *(min_bytes << place for place in range(1, self.count))]


@dataclass(slots=True)
class Bucket(Generic[Node]):
    """The nodes of a range of sizes, smallest first once sorted.

    Attributes:
        min_size: the smallest size that belongs here (MinSize); the next bucket's is the limit.
        limit: number of nodes from which to try a split.
        nodes: its nodes.
    """

    min_size: int
    limit: int
    nodes: list[Node] = field(default_factory=list)


class NodeBuckets(Generic[Node]):
    """The pool of Algorithm 1: nodes by size, in buckets.

    Attributes:
        rules: the parameters.
        buckets: the buckets, smallest sizes first.
        splits: how often a bucket was split.
        merges: how often two were merged.
    """

    def __init__(self, rules: BucketRules, min_bytes: int) -> None:
        self.rules = rules
        self.buckets: list[Bucket[Node]] = [
            Bucket(size, rules.capacity) for size in rules.smallest_sizes(min_bytes)
        ]
        self.splits: int = 0
        self.merges: int = 0

    def __len__(self) -> int:
        return sum(len(bucket.nodes) for bucket in self.buckets)

    def put(self, node: Node) -> None:
        """Put a node into its bucket; split the bucket if it is too full."""
        at = self._at(node.value_bytes)
        bucket = self.buckets[at]
        bucket.nodes.append(node)
        # Looked at after each doubling: a bucket of nodes of one size cannot be split, and trying
        # it for every node would take quadratic time.
        if len(bucket.nodes) > bucket.limit and not self._split(at):
            bucket.limit *= 2

    def sort_and_merge(self) -> None:
        """Split buckets that are too full, merge neighbours that fit into one, and sort each."""
        at = 0
        while at < len(self.buckets):
            if len(self.buckets[at].nodes) <= self.rules.capacity or not self._split(at):
                at += 1
        merged: list[Bucket[Node]] = []
        for bucket in self.buckets:
            before = merged[-1] if merged else None
            if before and len(before.nodes) + len(bucket.nodes) <= self.rules.capacity:
                before.nodes += bucket.nodes
                self.merges += 1
            else:
                merged.append(bucket)
        for bucket in merged:
            bucket.nodes.sort(key=_key)
        self.buckets = merged

    def largest(self) -> Node | None:
        """Return the largest node, or None if all buckets are empty."""
        while self.buckets and not self.buckets[-1].nodes:
            self.buckets.pop()
        return self.buckets[-1].nodes[-1] if self.buckets else None

    def at_least(self, size: float) -> Iterator[Node]:
        """Iterate over the nodes of at least this size, the largest first."""
        for bucket in reversed(self.buckets):
            for node in reversed(bucket.nodes):
                if node.value_bytes < size:
                    return
                yield node

    def remove(self, nodes: Iterable[Node]) -> None:
        """Remove some nodes."""
        for node in nodes:
            bucket = self.buckets[self._at(node.value_bytes)]
            del bucket.nodes[bisect_left(bucket.nodes, _key(node), key=_key)]

    def _at(self, size: int) -> int:
        return max(bisect_right(self.buckets, size, key=lambda one: one.min_size) - 1, 0)

    def _split(self, at: int) -> bool:
        """Split a bucket at its median size; not if all sizes are equal."""
        bucket = self.buckets[at]
        sizes = sorted(node.value_bytes for node in bucket.nodes)
        middle = sizes[len(sizes) // 2]
        if middle == sizes[0]:
            middle = next((size for size in sizes if size > middle), 0)
            if not middle:
                return False
        upper = [node for node in bucket.nodes if node.value_bytes >= middle]
        bucket.nodes = [node for node in bucket.nodes if node.value_bytes < middle]
        self.buckets.insert(at + 1, Bucket(middle, self.rules.capacity, upper))
        self.splits += 1
        return True


def _key(node: Sized) -> tuple[int, ...]:
    """Return the order in a bucket; the last is the first that Algorithm 1 takes."""
    return (node.value_bytes, *node.order)
