"""Matching: pair the parts of two versions of a page, and classify each change.

Two AF trees in, arrays out (paper 004, section 5, phase 1). Pairs of nodes are processed from the
top down, starting with the two documents. If their values are equal, the whole subtrees are paired.
Otherwise their children are paired:

1. children with equal values, at the same position first;
2. the others by resemblance, highest first, down to the threshold. Values shorter than two windows
   must be equal.

Nodes that are still unpaired are looked up by value in the whole tree: those that are found have
moved. Finally, a new child that took the place of a removed one becomes its *successor*. Their
values have nothing in common, but a part that is tracked over time continues in its successor.

The status of a node is the paper's: for a leaf it depends on its value, for other nodes on the
share of children that changed. Positions are counted among siblings.

Cost: n log n in the number of changed children, in a kernel, with at most ``MOST_CANDIDATES``
comparisons for each. No recursion.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quire import _core
from quire.fragments.lifetime.version_parts import Comparing, NodeStatus, Parts, resemblance

#: Maximum number of children that one child is compared with. Also, a shingle that more children
#: share is ignored. Without this, a list of thousands of similar items would take quadratic time.
MOST_CANDIDATES = 32


@dataclass(frozen=True, slots=True, eq=False)
class Matching:
    """How the nodes of a new version relate to those of the old one.

    Attributes:
        partner: the node of the old version that each node was paired with; -1 for new nodes.
        place: the node of the old version that each node continues: its partner or the node that it
            succeeds; -1 for none.
        status: a ``NodeStatus`` for each node.
        changed_bytes: estimated bytes of text that the old version does not contain.
    """

    partner: NDArray[np.int64]
    place: NDArray[np.int64]
    status: NDArray[np.uint8]
    changed_bytes: float


def match_versions(old: Parts, new: Parts, how: Comparing) -> Matching:
    """Compare two versions of a page; the two documents are always paired."""
    work = _Work(old, new, how)
    work.pair(0, 0)
    work.descend([(0, 0)])
    work.find_moved()
    status = work.statuses()
    partner = np.array(work.partner, np.int64)
    work.find_successors()
    changed = _bytes_changed(old, new, partner)
    return Matching(partner, np.array(work.partner, np.int64), status, changed)


class _Work:
    """The state of one comparison."""

    def __init__(self, old: Parts, new: Parts, how: Comparing) -> None:
        self.old, self.new, self.how = old, new, how
        self.partner = [-1] * new.tree.n
        self.taken = bytearray(old.tree.n)
        self.pairs: list[tuple[int, int]] = []  # with different values, parents before children

    def pair(self, a: int, b: int) -> None:
        self.partner[b] = a
        self.taken[a] = 1

    def descend(self, waiting: list[tuple[int, int]]) -> None:
        """Pair the descendants of pairs."""
        old, new = self.old, self.new
        while waiting:
            a, b = waiting.pop()
            same = old.value[a] == new.value[b]
            if same and self._is_copy(a, b):
                size = new.size[b]
                self.partner[b : b + size] = range(a, a + size)
                self.taken[a : a + size] = b"\1" * size
                continue
            # Equal values in different elements: no change, but their parts are still tracked.
            if not same:
                self.pairs.append((a, b))
            waiting += self._pair_children(a, b)

    def _is_copy(self, a: int, b: int) -> bool:
        """Return whether equal values have equal subtrees, none of them paired elsewhere."""
        size = self.new.size[b]
        return (
            self.old.size[a : a + size] == self.new.size[b : b + size]
            and not any(self.taken[a + 1 : a + size])
            and max(self.partner[b + 1 : b + size], default=-1) < 0
        )

    def _pair_children(self, a: int, b: int) -> list[tuple[int, int]]:
        """Pair the children of partners."""
        if self.old.size[a] == 1 or self.new.size[b] == 1:
            return []
        olds = [child for child in self.old.children(a) if not self.taken[child]]
        news = [child for child in self.new.children(b) if self.partner[child] < 0]
        return self._equal(olds, news) + self._alike(olds, news)

    def _equal(self, olds: list[int], news: list[int]) -> list[tuple[int, int]]:
        """Pair equal values: first at the same position, then in order."""
        by_value: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
        for a in olds:
            by_value[self.old.value[a]].append(a)
        found = []
        at = {(self.old.index[a], self.old.value[a]): a for a in olds}
        for b in news:
            same_place = at.get((self.new.index[b], self.new.value[b]))
            if same_place is not None:
                self.pair(same_place, b)
                found.append((same_place, b))
        left = {
            value: iter([a for a in group if not self.taken[a]])
            for value, group in by_value.items()
        }
        for b in news:
            if self.partner[b] < 0:
                first = next(left.get(self.new.value[b], iter(())), None)
                if first is not None:
                    self.pair(first, b)
                    found.append((first, b))
        return found

    def _alike(self, olds: list[int], news: list[int]) -> list[tuple[int, int]]:
        """Pair similar values, the most similar first; ties go by same position, then by order."""
        shortest = 2 * self.how.shingling.window
        olds = [a for a in olds if not self.taken[a] and self.old.value[a][0] >= shortest]
        news = [b for b in news if self.partner[b] < 0 and self.new.value[b][0] >= shortest]
        if not olds or not news:
            return []
        found = _core.pair_alike(
            self.old.rows(olds), self.new.rows(news), self.how.min_overlap, MOST_CANDIDATES
        )
        which_old, which_new = (np.frombuffer(rows, "<u4").tolist() for rows in found)
        pairs = [(olds[a], news[b]) for a, b in zip(which_old, which_new, strict=True)]
        for a, b in pairs:
            self.pair(a, b)
        return pairs

    def find_moved(self) -> None:
        """Find unpaired parts elsewhere by their values, outermost first.

        Values shorter than a window are skipped: they occur anywhere by chance.
        """
        shortest = self.how.shingling.window
        free: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
        for a in range(self.old.tree.n - 1, -1, -1):
            if not self.taken[a] and self.old.value[a][0] >= shortest:
                free[self.old.value[a]].append(a)
        b, n = 0, self.new.tree.n
        while b < n:
            step = 1
            if self.partner[b] < 0 and self.new.value[b] in free:
                group = free[self.new.value[b]]
                # Parts inside one that moved have been paired meanwhile.
                while group and self.taken[group[-1]]:
                    group.pop()
                if group:
                    a = group.pop()
                    self.pair(a, b)
                    self.descend([(a, b)])
                    step = self.new.size[b]
            b += step

    def statuses(self) -> NDArray[np.uint8]:
        """Return the status of every node: new nodes changed, pairs are decided bottom up."""
        old, new = self.old, self.new
        # As an int: looking up the enum member would take longer than the comparison.
        value_changed = int(NodeStatus.VALUE_CHANGED)
        status = np.zeros(new.tree.n, np.uint8)
        partner = np.array(self.partner, np.int64)
        status[partner < 0] = NodeStatus.VALUE_CHANGED
        status[self._is_elsewhere(partner)] = NodeStatus.POSITION_CHANGED
        for a, b in reversed(self.pairs):
            before, after = old.children(a), new.children(b)
            if not before or not after:
                status[b] = NodeStatus.VALUE_CHANGED
                continue
            matched = [child for child in after if self.partner[child] >= 0]
            gone = sum(not self.taken[child] for child in before)
            # A removed and a new child count as one replaced: 4 of 8, as in the paper's example.
            replaced = max(len(after) - len(matched), gone)
            changed = sum(int(status[child]) == value_changed for child in matched)
            if changed + replaced >= self.how.child_change * (len(matched) + replaced):
                status[b] = NodeStatus.VALUE_CHANGED
        self._settle_equal(status)
        return status

    def _is_elsewhere(self, partner: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which nodes differ from their partners in position or in parent."""
        old, new = self.old.tree, self.new.tree
        known = np.flatnonzero(partner > 0)
        theirs = partner[known]
        moved = new.index[known] != old.index[theirs]
        moved |= partner[new.parent[known]] != old.parent[theirs]
        found = np.zeros(new.n, np.bool_)
        found[known[moved]] = True
        return found

    def _settle_equal(self, status: NDArray[np.uint8]) -> None:
        """Set nodes below equal values to unchanged, even if their elements differ."""
        new, node = self.new, 0
        while node < new.tree.n:
            a = self.partner[node]
            if a >= 0 and self.old.value[a] == new.value[node]:
                end = node + new.size[node]
                status[node + 1 : end] = NodeStatus.UNCHANGED
                node = end
            else:
                node += 1

    def find_successors(self) -> None:
        """Pair each new child with a removed one of the same tag between the same siblings."""
        waiting = list(self.pairs)
        while waiting:
            a, b = waiting.pop()
            after = self.new.children(b)
            gone = self._gone(a, {self.partner[child] for child in after})
            before = -1
            for child in after:
                place = self.partner[child]
                if place >= 0:
                    before = place if self.old.parent[place] == a else before
                    continue
                group = gone.get((before, self.new.tag_name(child)))
                if group:
                    place = group.pop()
                    self.pair(place, child)
                    held = len(self.pairs)
                    self.descend(self._pair_children(place, child))
                    waiting += [(place, child), *self.pairs[held:]]

    def _gone(self, a: int, stayed: set[int]) -> dict[tuple[int, str], list[int]]:
        """Return the removed children of an old node, last first.

        They are keyed by the nearest preceding sibling that stayed, and by tag.
        """
        found: defaultdict[tuple[int, str], list[int]] = defaultdict(list)
        before = -1
        for child in self.old.children(a):
            if child in stayed:
                before = child
            elif not self.taken[child]:
                found[before, self.old.tag_name(child)].append(child)
        for group in found.values():
            group.reverse()
        return found


def _bytes_changed(old: Parts, new: Parts, partner: NDArray[np.int64]) -> float:
    """Return the bytes of new leaves plus the changed share of leaves that are only similar."""
    leaf = new.tree.size == 1
    total = float(new.tree.value_bytes[leaf & (partner < 0)].sum())
    known = np.flatnonzero(leaf & (partner >= 0))
    other = new.tree.value_hash[known] != old.tree.value_hash[partner[known]]
    for b in known[other].tolist():
        total += new.value[b][0] * (1 - resemblance(old, int(partner[b]), new, b))
    return total
