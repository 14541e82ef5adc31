"""Following: one part through all versions of a page, and when it changed.

A *part* is a node of an AF tree that continues from version to version: as its partner, or in the place of one that is gone. Versions come one
at a time; kept are the last one and the base of each *kind* of page. A capture that has neither the structure nor the text of any before (an
error page, a question about cookies, a new design) begins a kind of its own, and parts are followed within kinds.

An *event* is a change of a part itself: another text in a leaf, a child that came, went or moved in any other. A part does not change when only
something within its children does. That is what a cache needs: a fragment that includes another stays fresh when the other does not.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from quire.fragments.lifetime.matching import Matching, match_versions
from quire.fragments.lifetime.version_parts import Comparing, NodeStatus, Parts

#: Kinds of page that are kept to compare with; of more, the one that was not seen for longest goes.
MOST_KINDS = 8
#: Share of bytes that changed from which a new base is installed: the paper's "drastic change". Also the overlap of texts from which
#: two versions are of one kind.
DRASTIC = 0.5
#: Similarity of structure from which they are: that of the templates of a site.
SAME_TEMPLATE = 0.45


@dataclass(slots=True)
class Kind:
    """A kind of page: its base, its last version and the parts of that.

    Attributes:
        number: kinds are numbered as they come.
        base: what versions are compared with.
        last: the last version.
        part: the part of each node of it.
        version: its number.
    """

    number: int
    base: Parts
    last: Parts
    part: NDArray[np.int64]
    version: int


@dataclass(slots=True)
class Step:
    """What a version was found to be.

    Attributes:
        kind: the kind of page, after it was put there.
        old: the version of its kind before, or None for the first.
        old_part: the parts of that.
        old_version: its number; -1 for none.
        matching: what became of it since then.
        part: the part of each node.
        is_base: whether it is a base.
        status: what the paper says of each node, compared with the base.
    """

    kind: Kind
    old: Parts | None
    old_part: NDArray[np.int64]
    old_version: int
    matching: Matching | None
    part: NDArray[np.int64]
    is_base: bool
    status: NDArray[np.uint8]


@dataclass(slots=True)
class Follower:
    """Takes versions one by one and tells the parts of each.

    Attributes:
        how: when parts are the same.
        kinds: kinds of page that are kept, the last seen last.
        parts: parts so far.
        seen: kinds so far.
    """

    how: Comparing
    kinds: list[Kind] = field(default_factory=list)
    parts: int = 0
    seen: int = 0

    def step(self, new: Parts, version: int) -> Step:
        """Take the next version."""
        kind = self._kind_of(new)
        if kind is None:
            return self._begin(new, version)
        old, old_part, old_version = kind.last, kind.part, kind.version
        matching = match_versions(old, new, self.how)
        part = self._continued(old_part, matching)
        to_base = matching if kind.base is old else match_versions(kind.base, new, self.how)
        is_base = to_base.changed_bytes > DRASTIC * max(len(new.tree.text), 1)
        status = to_base.status
        if is_base:
            # Compared with the base everything changed; since the version before perhaps not.
            status = matching.status
            if matching.changed_bytes > DRASTIC * max(len(new.tree.text), 1):
                status = np.zeros_like(status)
            kind.base = new
        kind.last, kind.part, kind.version = new, part, version
        self.kinds.remove(kind)
        self.kinds.append(kind)
        return Step(kind, old, old_part, old_version, matching, part, is_base, status)

    def _kind_of(self, new: Parts) -> Kind | None:
        best, found = 0.0, None
        for kind in reversed(self.kinds):
            score = likeness(kind.last, new, self.how)
            if score > best:
                best, found = score, kind
        return found

    def _begin(self, new: Parts, version: int) -> Step:
        part = np.arange(self.parts, self.parts + new.tree.n)
        self.parts += new.tree.n
        kind = Kind(self.seen, new, new, part, version)
        self.seen += 1
        self.kinds = [*self.kinds[1 - MOST_KINDS :], kind]
        nothing = np.zeros(new.tree.n, np.uint8)
        none = np.empty(0, np.int64)
        return Step(kind, None, none, -1, None, part, is_base=True, status=nothing)

    def _continued(self, old_part: NDArray[np.int64], matching: Matching) -> NDArray[np.int64]:
        part = np.where(matching.place >= 0, old_part[matching.place], -1)
        fresh = np.flatnonzero(part < 0)
        part[fresh] = np.arange(self.parts, self.parts + len(fresh))
        self.parts += len(fresh)
        return part


def likeness(old: Parts, new: Parts, how: Comparing) -> float:
    """How alike two versions are, 0 for other kinds.

    Texts by the unbiased estimate: the paper's is lower where documents are long.
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
    """Parts of the old version that changed themselves, each once."""
    place = matching.place
    continued = np.flatnonzero(place >= 0)
    theirs = place[continued]
    other = (old.tree.value_hash[theirs] != new.tree.value_hash[continued]) | (
        old.tree.value_bytes[theirs] != new.tree.value_bytes[continued]
    )
    leaf = (old.tree.size[theirs] == 1) | (new.tree.size[continued] == 1)
    changed = theirs[other & leaf]
    # What came: it changed the node it came to. The document never comes, so there always is one.
    parent = new.tree.parent
    fresh = np.flatnonzero(place < 0)
    around = place[parent[fresh]]
    # What went, or has another place among its siblings now.
    left = np.ones(old.tree.n, np.bool_)
    left[theirs] = False
    gone = old.tree.parent[np.flatnonzero(left)]
    gone = gone[~left[gone]]
    moved = np.flatnonzero(matching.status == NodeStatus.POSITION_CHANGED)
    holders = place[parent[moved]]
    left_behind = old.tree.parent[place[moved]]
    found = np.concatenate([changed, around[around >= 0], gone, holders[holders >= 0], left_behind])
    return np.unique(old_part[found])
