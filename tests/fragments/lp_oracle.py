"""Phase 1 and 2 of Algorithm 2 by their definitions, by recursion, everything compared with everything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from quire import AfTree
from quire.fragments import NodeStatus, overlap

WINDOW = 20
SAME, MOVED, CHANGED = NodeStatus.UNCHANGED, NodeStatus.POSITION_CHANGED, NodeStatus.VALUE_CHANGED


class Marked:
    """The status of every node of a new version, and its partner."""

    def __init__(self, old: AfTree, new: AfTree, min_overlap: float, child_change: float) -> None:
        self.old, self.new = old, new
        self.min_overlap, self.child_change = min_overlap, child_change
        self.partner: dict[int, int] = {0: 0}
        self._pair_below(0, 0)
        self._find_moved()
        self.status = dict.fromkeys(range(new.n), CHANGED)
        self._mark(0, 0)

    def _resemblance(self, a: int, b: int) -> float:
        if self.old.value(a) == self.new.value(b):
            return 1.0
        if min(self.old.value_bytes[a], self.new.value_bytes[b]) < 2 * WINDOW:
            return 0.0
        return overlap(self.old.shingles().of(a), self.new.shingles().of(b))

    def _pair_below(self, a: int, b: int) -> None:
        """Children in pairs, equal ones and then the most alike first; ties by the same place, then in order."""
        scored = sorted(
            (
                self.old.value(one)
                != self.new.value(other),  # samples may be equal where texts are not
                -self._resemblance(one, other),
                bool(self.old.index[one] != self.new.index[other]),
                other,
                one,
            )
            for one in self.old.children(a)
            for other in self.new.children(b)
            if self._resemblance(one, other) >= self.min_overlap
        )
        found = []
        for *_, other, one in scored:
            if other not in self.partner and one not in self.partner.values():
                self.partner[other] = one
                found.append((one, other))
        for one, other in found:
            self._pair_below(one, other)

    def _find_moved(self) -> None:
        for b in range(self.new.n):
            if b in self.partner or self.new.value_bytes[b] < WINDOW:
                continue
            for a in range(self.old.n):
                free = a not in self.partner.values()
                if free and self.old.value(a) == self.new.value(b):
                    self.partner[b] = a
                    self._pair_below(a, b)
                    break

    def _mark(self, a: int, b: int) -> None:
        parent = int(self.new.parent[b])
        here = parent < 0 or (
            self.old.index[a] == self.new.index[b]
            and self.partner.get(parent) == self.old.parent[a]
        )
        self.status[b] = SAME if here else MOVED
        if self.old.value(a) == self.new.value(b):
            for below in range(b + 1, b + int(self.new.size[b])):
                self.status[below] = SAME
            return
        before, after = list(self.old.children(a)), list(self.new.children(b))
        for child in after:
            if child in self.partner:
                self._mark(self.partner[child], child)
            else:
                self._mark_new(child)
        if not before or not after:
            self.status[b] = CHANGED
            return
        kept = [child for child in after if child in self.partner]
        gone = [child for child in before if child not in self.partner.values()]
        replaced = max(len(after) - len(kept), len(gone))
        changed = replaced + sum(self.status[child] == CHANGED for child in kept)
        if changed >= self.child_change * (len(kept) + replaced):
            self.status[b] = CHANGED

    def _mark_new(self, b: int) -> None:
        """Below what is new only what moved there is not."""
        for child in self.new.children(b):
            if child in self.partner:
                self._mark(self.partner[child], child)
            else:
                self._mark_new(child)


def fragments(tree: AfTree, status: dict[int, NodeStatus], min_bytes: int) -> set[int]:
    """Phase 2: what is largest of what changed, and what moved; the small in what is around them."""
    found: set[int] = set()

    def visit(node: int) -> None:
        large = tree.value_bytes[node] >= min_bytes
        if node and status[node] == CHANGED:
            around = node
            while around and tree.value_bytes[around] < min_bytes:
                around = int(tree.parent[around])
            found.add(around)
            return
        if status[node] == MOVED and large:
            found.add(node)
        for child in tree.children(node):
            visit(child)

    visit(0)
    return found


def kaplan_meier(lives: Sequence[tuple[float, bool]], at: float) -> float:
    """The share of lives that ended by a time: the product over all ends before it."""
    alive = 1.0
    for when, deaths in sorted(Counter(length for length, ended in lives if ended).items()):
        if when <= at:
            alive *= 1 - deaths / sum(length >= when for length, _ in lives)
    return 1 - alive
