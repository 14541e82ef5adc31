"""Tracking: follow each part through all versions of a page, and record when it changed.

A *part* is a node of an AF tree that continues from version to version: as the partner of an old
node, or as the successor of a removed one. Versions arrive one at a time. Only the last version and
the base of each *kind* of page stay in memory. A capture that resembles no earlier one in structure
or text (an error page, a cookie banner, a redesign) starts a new kind, and parts are tracked
within their kind.

An *event* is a change of the part itself: different text in a leaf, or a child added, removed or
moved in any other node. A change inside a child is not an event of the parent. This is how a cache
of fragments works: a fragment stays fresh when a fragment that it includes changes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from quire.fragments.lifetime.matching import Matching, match_versions
from quire.fragments.lifetime.version_parts import Comparing, NodeStatus, Parts

#: Maximum number of kinds of page in memory; beyond that, the least recently seen one is dropped.
MOST_KINDS = 8
#: Share of changed bytes from which a version becomes the new base: the paper's "drastic change".
#: Also the overlap of texts from which two versions are of the same kind.
DRASTIC = 0.5
#: Structural similarity from which two versions are of the same kind, as for templates of a site.
SAME_TEMPLATE = 0.45


@dataclass(slots=True)
class Kind:
    """A kind of page: its base, its last version and the parts of its last version.

    Attributes:
        number: kinds are numbered in order of appearance.
        base: the version that others are compared with.
        last: the last version.
        part: the part of each node of the last version.
    """

    number: int
    base: Parts
    last: Parts
    part: NDArray[np.int64]


@dataclass(slots=True)
class Step:
    """The result of comparing a version with those before.

    Attributes:
        kind: its kind of page, which now includes this version.
        old: the previous version of the same kind, or None for the first.
        old_part: the parts of the previous version.
        matching: how the nodes of the two versions relate.
        part: the part of each node.
        is_base: whether this version becomes a base.
        status: the paper's status of each node, compared with the base.
    """

    kind: Kind
    old: Parts | None
    old_part: NDArray[np.int64]
    matching: Matching | None
    part: NDArray[np.int64]
    is_base: bool
    status: NDArray[np.uint8]


@dataclass(slots=True)
class Tracker:
    """Processes versions one by one and identifies the parts of each.

    Attributes:
        how: when two parts count as the same.
        kinds: the kinds of page in memory, the most recently seen last.
        parts: number of parts so far.
        seen: number of kinds so far.
    """

    how: Comparing
    kinds: list[Kind] = field(default_factory=list)
    parts: int = 0
    seen: int = 0

    def step(self, new: Parts) -> Step:
        """Process the next version."""
        kind = self._kind_of(new)
        if kind is None:
            return self._begin(new)
        old, old_part = kind.last, kind.part
        matching = match_versions(old, new, self.how)
        part = self._continued(old_part, matching)
        to_base = matching if kind.base is old else match_versions(kind.base, new, self.how)
        is_base = to_base.changed_bytes > DRASTIC * max(len(new.tree.text), 1)
        status = to_base.status
        if is_base:
            # Compared with the base everything changed, but perhaps not since the last version.
            status = matching.status
            if matching.changed_bytes > DRASTIC * max(len(new.tree.text), 1):
                status = np.zeros_like(status)
            kind.base = new
        kind.last, kind.part = new, part
        self.kinds.remove(kind)
        self.kinds.append(kind)
        return Step(kind, old, old_part, matching, part, is_base, status)

    def _kind_of(self, new: Parts) -> Kind | None:
        scores = [(likeness(kind.last, new, self.how), kind) for kind in reversed(self.kinds)]
        best, kind = max(scores, key=lambda one: one[0], default=(0.0, None))
        return kind if best else None

    def _begin(self, new: Parts) -> Step:
        part = np.arange(self.parts, self.parts + new.tree.n)
        self.parts += new.tree.n
        kind = Kind(self.seen, new, new, part)
        self.seen += 1
        self.kinds = [*self.kinds[1 - MOST_KINDS :], kind]
        nothing = np.zeros(new.tree.n, np.uint8)
        none = np.empty(0, np.int64)
        return Step(kind, None, none, None, part, is_base=True, status=nothing)

    def _continued(self, old_part: NDArray[np.int64], matching: Matching) -> NDArray[np.int64]:
        part = np.where(matching.place >= 0, old_part[matching.place], -1)
        fresh = np.flatnonzero(part < 0)
        part[fresh] = np.arange(self.parts, self.parts + len(fresh))
        self.parts += len(fresh)
        return part


def likeness(old: Parts, new: Parts, how: Comparing) -> float:
    """Return how similar two versions are; 0 if they are of different kinds.

    Texts are compared by the unbiased estimate, because the paper's is too low for long documents.
    """
    if old.value[0] == new.value[0]:
        return 2.0
    one, other = old.shingles(0), new.shingles(0)
    smallest = sorted(one | other)[: how.shingling.sample]
    text = sum(value in one and value in other for value in smallest) / max(len(smallest), 1)
    structure = old.structure.similarity(new.structure)
    return text + structure if text >= DRASTIC or structure >= SAME_TEMPLATE else 0.0


def own_changes(
    old: Parts, old_part: NDArray[np.int64], new: Parts, matching: Matching
) -> NDArray[np.int64]:
    """Return the parts of the old version with a change of their own, without duplicates."""
    place = matching.place
    continued = np.flatnonzero(place >= 0)
    theirs = place[continued]
    other = (old.tree.value_hash[theirs] != new.tree.value_hash[continued]) | (
        old.tree.value_bytes[theirs] != new.tree.value_bytes[continued]
    )
    leaf = (old.tree.size[theirs] == 1) | (new.tree.size[continued] == 1)
    changed = theirs[other & leaf]
    # An added node is a change of its parent. The document is never added, so there is a parent.
    parent = new.tree.parent
    fresh = np.flatnonzero(place < 0)
    around = place[parent[fresh]]
    # Removed nodes, and nodes whose position among their siblings changed.
    left = np.ones(old.tree.n, np.bool_)
    left[theirs] = False
    gone = old.tree.parent[np.flatnonzero(left)]
    gone = gone[~left[gone]]
    moved = np.flatnonzero(matching.status == NodeStatus.POSITION_CHANGED)
    holders = place[parent[moved]]
    left_behind = old.tree.parent[place[moved]]
    found = np.concatenate([changed, around[around >= 0], gone, holders[holders >= 0], left_behind])
    return np.unique(old_part[found])
