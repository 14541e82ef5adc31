"""Algorithm 2 of paper 004, step by step: the paper's own rules for L-P fragments.

Every version is compared with the first one. Phase 1 marks each node of the new version, phase 2
collects the largest nodes that changed. ``lifetimes`` departs from these rules where they do not
work on real pages; ``docs/papers.md`` lists how. In this module:

* the nearest node is the most similar child of the partner of the parent (Algorithm 2), or the most
  similar node anywhere (the text of section 5). Several nodes may have the same nearest one;
* a position is a whole NodeID, so everything below a node that moved has moved too;
* deleted nodes are not seen, and the base never changes;
* MinFragSize, which Algorithm 2 takes and never uses, leaves out smaller fragments.

The paper leaves two points open. A leaf, for which Algorithm 2 divides 0 by 0, changed if its value
did, as the text says. Of several nodes that are equally similar, the nearest is the one at the same
NodeID, else the first.

Cost: every node is compared with every candidate, so use it for samples.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from quire.digest.page import Digest
from quire.fragments.lifetime.version_parts import (
    CHILD_CHANGE,
    MIN_OVERLAP,
    Comparing,
    NodeStatus,
)
from quire.fragments.trees.af_tree import FORMATTING, AfTree
from quire.fragments.trees.shingles import Shingles, Shingling

#: The location of a node in its tree: the positions of its ancestors and its own.
NodeId = tuple[int, ...]


class NearestAmong(Enum):
    """Where to look for the nearest node of the base version."""

    #: Among the children of the nearest node of the parent, as in Algorithm 2.
    CHILDREN = "children"
    #: In the whole tree, as in the text of section 5.
    PAGE = "page"


@dataclass(frozen=True, slots=True, eq=False)
class MarkedVersion:
    """A version of a page after both phases.

    Attributes:
        tree: its AF tree.
        nearest: the node of the base version that each node was compared with; -1 for none.
        status: the ``NodeStatus`` of each node that phase 1 reached; ``UNCHANGED`` for others.
        fragments: the nodes that phase 2 declared fragments, in pre-order.
    """

    tree: AfTree
    nearest: NDArray[np.int64]
    status: NDArray[np.uint8]
    fragments: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class PaperFragments:
    """The result of Algorithm 2.

    Attributes:
        versions: every version except the first.
        graph: the object dependency graph: for each fragment, the fragments directly inside it.
            Fragments of different versions are one object if their NodeIDs are equal. The page is
            the NodeID ``()``.
    """

    versions: tuple[MarkedVersion, ...]
    graph: dict[NodeId, frozenset[NodeId]]

    def __repr__(self) -> str:
        found = f"{len(self.graph) - 1:,} fragments"
        return f"<PaperFragments of {len(self.versions) + 1:,} versions: {found}>"


def algorithm_2(
    versions: Iterable[Digest],
    *,
    child_change: float = CHILD_CHANGE,
    min_overlap: float = MIN_OVERLAP,
    min_bytes: int = 1,
    nearest_among: NearestAmong = NearestAmong.CHILDREN,
    shingling: Shingling | None = None,
    formatting: Iterable[str] = FORMATTING,
) -> PaperFragments:
    """Find the L-P fragments of a page by the paper's own rules.

    >>> import quire
    >>> hours = "<ul><li>Mondays from nine to five<li>Fridays from nine to two</ul>"
    >>> old, new = (
    ...     quire.encode(f"<h1>The fish shop</h1>{hours}<p>Fish of the day: {one}</p>".encode())
    ...     for one in ("cod from Mary's boat", "hake, off the island")
    ... )
    >>> found = algorithm_2([old, new])
    >>> found
    <PaperFragments of 2 versions: 1 fragments>
    >>> found.versions[0].tree.value(found.versions[0].fragments[0]).decode().strip()
    'Fish of the day: hake, off the island'

    Args:
        versions: the versions in order of time; all are compared with the first.
        child_change: share of changed children from which a node counts as changed
            (ChildChangeThreshold).
        min_overlap: resemblance from which two nodes are compared (OvlpThrshld).
        min_bytes: minimum bytes of text of a fragment (MinFragSize).
        nearest_among: where to look for the nearest node.
        shingling: settings for shingles.
        formatting: names of the HTML tags to remove; see ``AfTree``.

    Raises:
        ValueError: versions are missing, or a setting is out of range.
    """
    if min_bytes < 1:
        raise ValueError(f"min_bytes {min_bytes}: expected at least 1")
    how = Comparing(min_overlap, child_change, shingling or Shingling())
    removed = frozenset(formatting)
    trees = [AfTree.of(page, formatting=removed) for page in versions]
    if not trees:
        raise ValueError("no versions: expected at least one")
    base = _Shingled(trees[0], how)
    graph: dict[NodeId, set[NodeId]] = {(): set()}
    marked = []
    for tree in trees[1:]:
        new = _Shingled(tree, how)
        nearest, status = _mark_changed_nodes(base, new, how, nearest_among)
        fragments = _detect_fragments(tree, status, min_bytes)
        marked.append(MarkedVersion(tree, nearest, status, tuple(fragments)))
        _merge(graph, tree, fragments)
    return PaperFragments(tuple(marked), {name: frozenset(some) for name, some in graph.items()})


class _Shingled:
    """An AF tree with its shingles as sets."""

    def __init__(self, tree: AfTree, how: Comparing) -> None:
        self.tree = tree
        shingles: Shingles = tree.shingles(how.shingling)
        self.sets = [frozenset(shingles.of(node).tolist()) for node in range(tree.n)]
        self.values = list(zip(tree.value_bytes.tolist(), tree.value_hash.tolist(), strict=True))
        self.ids = [tree.node_id(node) for node in range(tree.n)]


def _resemblance(old: _Shingled, a: int, new: _Shingled, b: int) -> float:
    if old.values[a] == new.values[b]:
        return 1.0
    one, other = old.sets[a], new.sets[b]
    both = len(one & other)
    return both / (len(one) + len(other) - both)


def _nearest(old: _Shingled, among: Iterable[int], new: _Shingled, b: int, least: float) -> int:
    """Return the most similar of some nodes, or -1 if none is similar enough."""
    scored = [
        (-_resemblance(old, a, new, b), old.values[a] != new.values[b], old.ids[a] != new.ids[b], a)
        for a in among
    ]
    best = min(scored, default=(0.0, True, True, -1))
    return best[3] if -best[0] >= least else -1


def _mark_changed_nodes(
    old: _Shingled, new: _Shingled, how: Comparing, nearest_among: NearestAmong
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Phase 1: return the nearest node of each node, and its status.

    The paper's recursion in two passes: nearest nodes from the root down, then the shares of
    changed children from the leaves up.
    """
    tree = new.tree
    nearest = np.full(tree.n, -1, np.int64)
    status = np.zeros(tree.n, np.uint8)
    nearest[0] = 0  # MarkChangedNodes(RootNode_1, RootNode_i)
    visited, waiting = [], [0]
    while waiting:
        b = waiting.pop()
        a = int(nearest[b])
        if a < 0:
            status[b] = NodeStatus.VALUE_CHANGED
            continue
        if old.ids[a] != new.ids[b]:
            status[b] = NodeStatus.POSITION_CHANGED
        if old.values[a] == new.values[b]:
            continue
        visited.append(b)
        for child in tree.children(b):
            among = old.tree.children(a)
            if nearest_among is NearestAmong.PAGE:
                among = iter(range(old.tree.n))
            nearest[child] = _nearest(old, among, new, child, how.min_overlap)
            waiting.append(child)
    for b in reversed(visited):
        children = list(tree.children(b))
        changed = sum(int(status[child]) == NodeStatus.VALUE_CHANGED for child in children)
        if not children or changed / len(children) >= how.child_change:
            status[b] = NodeStatus.VALUE_CHANGED
    return nearest, status


def _detect_fragments(tree: AfTree, status: NDArray[np.uint8], min_bytes: int) -> list[int]:
    """Phase 2: return the nodes that are fragments, in pre-order."""
    found, node = [], 0
    while node < tree.n:
        kind = int(status[node])
        if kind != NodeStatus.UNCHANGED and tree.value_bytes[node] >= min_bytes:
            found.append(node)
        # Algorithm 2 does not descend into a node whose value changed.
        node += int(tree.size[node]) if kind == NodeStatus.VALUE_CHANGED else 1
    return found


def _merge(graph: dict[NodeId, set[NodeId]], tree: AfTree, fragments: list[int]) -> None:
    """Add the fragments of a version to the object dependency graph."""
    around: list[tuple[int, NodeId]] = [(tree.n, ())]  # the end of each fragment that is open
    for node in fragments:
        name = tree.node_id(node)
        if not name:
            continue  # the page, which is in the graph
        while around[-1][0] <= node:
            around.pop()
        graph[around[-1][1]].add(name)
        graph.setdefault(name, set())
        around.append((node + int(tree.size[node]), name))
