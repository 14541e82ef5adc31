"""The fragments of a whole history by their definitions: all captures at hand, nothing kept from step to step.

Every two neighbouring captures of a kind of page are matched by the plain rules of ``lp_oracle``. A part is then a chain of nodes, found by following places
back to the first capture that has it. Fragments, their changes and their sizes are read off these chains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from quire import AfTree, Digest
from quire.fragments import NodeStatus, overlap
from quire.similar.measures import Bag
from tests.fragments import lp_oracle

#: A part: the first capture that has it, and its node there.
Part = tuple[int, int]


@dataclass(frozen=True)
class Fragment:
    """What is compared with an ``LpFragment``."""

    part: Part
    parent: Part | None
    depth: int
    last: int
    node: int
    value_bytes: int
    gone: bool
    changed: tuple[int, ...]
    moves: int


class Pair(lp_oracle.Marked):
    """Two captures matched, with successors: new nodes in the place of old ones."""

    def __init__(
        self, old: AfTree, new: AfTree, min_overlap: float, child_change: float, tags: TagNames
    ) -> None:
        super().__init__(old, new, min_overlap, child_change)
        self.known = dict(self.partner)
        self._tags = tags
        for b in sorted(self.known):
            self._succeed(self.known[b], b)
        self.place = self.partner
        self.partner = self.known

    def _succeed(self, a: int, b: int) -> None:
        """Give new children the places of removed ones with the same tag after the same sibling."""
        if self.old.value(a) == self.new.value(b):
            return
        known = dict(self.partner)
        olds, news = list(self.old.children(a)), list(self.new.children(b))
        stayed = {known[child] for child in news if child in known}
        for child in news:
            if child in known:
                continue
            before = [known[one] for one in news if one < child and known.get(one) in olds]
            for old in olds:
                same = self._tags.old(old) == self._tags.new(child)
                earlier = [one for one in olds if one < old and one in stayed]
                if same and earlier[-1:] == before[-1:] and old not in self.partner.values():
                    self.partner[child] = old
                    held = set(self.partner)
                    self._pair_below(old, child)
                    for below in [child, *sorted(set(self.partner) - held)]:
                        self._succeed(self.partner[below], below)
                    break

    @property
    def changed_bytes(self) -> float:
        """Bytes of new leaves, and the share of the others that is not like the old leaf."""
        total = 0.0
        for b in range(self.new.n):
            if self.new.size[b] > 1:
                continue
            alike = 0.0
            if b in self.partner:
                a = self.partner[b]
                same = self.old.value(a) == self.new.value(b)
                alike = (
                    1.0 if same else overlap(self.old.shingles().of(a), self.new.shingles().of(b))
                )
            total += int(self.new.value_bytes[b]) * (1 - alike)
        return total

    def own_changes(self) -> set[int]:
        """The old nodes that changed themselves: a leaf's text, or which children a node has, and in which order."""
        found = set()
        continued = {a: b for b, a in self.place.items()}
        for a, b in continued.items():
            leaf = self.old.size[a] == 1 or self.new.size[b] == 1
            if leaf and self.old.value(a) != self.new.value(b):
                found.add(a)
            if any(child not in continued for child in self.old.children(a)):
                found.add(a)
            if any(child not in self.place for child in self.new.children(b)):
                found.add(a)
        for b, status in self.status.items():
            if status == NodeStatus.POSITION_CHANGED:
                found.add(int(self.old.parent[self.place[b]]))
                holder = int(self.new.parent[b])
                if holder in self.place:
                    found.add(self.place[holder])
        return found


@dataclass(frozen=True)
class TagNames:
    """The tag of each node of two trees."""

    before: Sequence[str]
    after: Sequence[str]

    def old(self, node: int) -> str:
        """Of a node of the old tree."""
        return self.before[node]

    def new(self, node: int) -> str:
        """Of a node of the new tree."""
        return self.after[node]


@dataclass
class History:
    """A history of one user, with all that is known of it."""

    pages: Sequence[Digest]
    min_overlap: float
    child_change: float
    min_bytes: int
    kinds: list[int] = field(default_factory=list)
    bases: list[bool] = field(default_factory=list)
    #: The node of each part in each capture that has it.
    places: dict[Part, dict[int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.trees = [AfTree.of(page) for page in self.pages]
        self.tags = [
            [str(page.tags[page.tag[node]]) for node in tree.node]
            for page, tree in zip(self.pages, self.trees, strict=True)
        ]
        for version in range(len(self.pages)):
            self.kinds.append(self._kind(version))
        runs = [
            [version for version, one in enumerate(self.kinds) if one == kind]
            for kind in sorted(set(self.kinds))
        ]
        self.pairs = {new: self._pair(old, new) for run in runs for old, new in pairwise(run)}
        self.before = {new: old for run in runs for old, new in pairwise(run)}
        self.after = {old: new for new, old in self.before.items()}
        self.bases = [version not in self.before for version in range(len(self.pages))]
        self.flagged: set[Part] = {(run[0], 0) for run in runs}
        for run in runs:
            self._flag(run)

    def _pair(self, old: int, new: int) -> Pair:
        tags = TagNames(self.tags[old], self.tags[new])
        return Pair(self.trees[old], self.trees[new], self.min_overlap, self.child_change, tags)

    def _kind(self, version: int) -> int:
        """The most similar kind by its last capture, the one seen last if several are; or a new one."""
        best: tuple[float, int] = (0.0, -1)
        for earlier in range(version):
            if self.kinds[earlier] not in self.kinds[earlier + 1 :]:
                best = max(best, (self._likeness(earlier, version), earlier))
        return self.kinds[best[1]] if best[0] else len(set(self.kinds))

    def _likeness(self, one: int, other: int) -> float:
        old, new = self.trees[one], self.trees[other]
        if old.value(0) == new.value(0):
            return 2.0
        a, b = (set(tree.shingles().of(0).tolist()) for tree in (old, new))
        smallest = sorted(a | b)[:25]
        text = sum(value in a and value in b for value in smallest) / max(len(smallest), 1)
        bags = [Bag.of(self.pages[place], "structure") for place in (one, other)]
        structure = bags[0].similarity(bags[1])
        return text + structure if text >= 0.5 or structure >= 0.45 else 0.0

    def part(self, version: int, node: int) -> Part:
        """Follow a node back to the first capture with it."""
        while version in self.pairs and node in self.pairs[version].place:
            version, node = self.before[version], self.pairs[version].place[node]
        return version, node

    def _flag(self, run: list[int]) -> None:
        """The fragments of a kind: what is largest of what changed since the base."""
        base = run[0]
        for version in run[1:]:
            tree = self.trees[version]
            since_last, since_base = self.pairs[version], self._pair(base, version)
            half = 0.5 * max(len(tree.text), 1)
            if since_base.changed_bytes <= half:
                status = since_base.status
            else:
                self.bases[version], base = True, version
                if since_last.changed_bytes > half:
                    continue
                status = since_last.status
            for node in lp_oracle.fragments(tree, status, self.min_bytes):
                self.flagged.add(self.part(version, node))

    def fragments(self) -> list[Fragment]:
        """All fragments: pages first, then by their first capture and node."""
        for version, tree in enumerate(self.trees):
            for node in range(tree.n):
                self.places.setdefault(self.part(version, node), {})[version] = node
        changed = self._changed()
        chosen = sorted(self.flagged, key=lambda one: (self._around(one) is not None, one))
        return [self._fragment(part, tuple(sorted(changed.get(part, ())))) for part in chosen]

    def _around(self, part: Part) -> Part | None:
        """The part around another, where that was seen last."""
        last = max(self.places[part])
        parent = int(self.trees[last].parent[self.places[part][last]])
        return None if parent < 0 else self.part(last, parent)

    def _outer(self, part: Part) -> Part | None:
        """The nearest fragment around a part."""
        outer = self._around(part)
        while outer is not None and outer not in self.flagged:
            outer = self._around(outer)
        return outer

    def _changed(self) -> dict[Part, set[int]]:
        """The captures in which each fragment changed, without the fragments inside it."""
        changed: dict[Part, set[int]] = {}
        for version, pair in self.pairs.items():
            for node in pair.own_changes():
                one = self.part(self.before[version], node)
                if one not in self.flagged:
                    one = self._outer(one) or one
                # It may have moved into its fragment later: then an outer one changed.
                while not min(self.places[one]) < version <= max(self.places[one]):
                    outer = self._outer(one)
                    if outer is None:
                        break
                    one = outer
                changed.setdefault(one, set()).add(version)
        return changed

    def _fragment(self, part: Part, changed: tuple[int, ...]) -> Fragment:
        at = self.places[part]
        last = max(at)
        depth, outer = 1, self._outer(part)
        while outer is not None:
            depth, outer = depth + 1, self._outer(outer)
        moves = sum(
            version in self.pairs
            and self.pairs[version].status[node] == NodeStatus.POSITION_CHANGED
            for version, node in at.items()
        )
        return Fragment(
            part=part,
            parent=self._outer(part),
            depth=depth,
            last=last,
            node=at[last],
            value_bytes=int(self.trees[last].value_bytes[at[last]]),
            gone=last in self.after,
            changed=changed,
            moves=moves,
        )
