"""Version record: find L-P fragments while the versions of a page go by (paper 004, section 5).

L-P fragments are the parts of a page that change independently, or that differ between users.
Algorithm 2 compares every version with a base version and finds the largest parts whose value or
position changed. ``Tracker`` follows these parts through all versions and records their changes. A
version that differs drastically from the base becomes the next base.

A part is *private* if it differs between users (a cookie, a query) and time does not explain the
difference: another user got different content, while the main user got the same content before and
after.

Cost: linear in the number of versions; two versions of each kind of page are held in memory. The
loop in Python visits only the nodes that changed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from quire.fragments.lifetime.byte_changes import changed_source
from quire.fragments.lifetime.matching import match_versions
from quire.fragments.lifetime.tracking import Step, Tracker, likeness, own_changes
from quire.fragments.lifetime.version_parts import Comparing, NodeStatus, Parts
from quire.sdiff.volatile import MOST_NAMED, NodeChanges, selector_of

_COLUMNS = (
    "first",
    "last",
    "gone",
    "parent",
    "kind",
    "node",
    "value_bytes",
    "source_bytes",
    "moves",
)


def largest_changed(parts: Parts, status: NDArray[np.uint8], min_bytes: int) -> list[int]:
    """Phase 2: return the nodes that become fragments, in pre-order.

    A node whose value changed becomes one fragment with everything below it. A node whose position
    changed becomes a fragment, and nodes below it may become fragments too. A changed node smaller
    than ``min_bytes`` does not become a fragment; the nearest large enough node around it does, in
    addition to other changed nodes inside that one.
    """
    changed: set[int] = set()
    around_small: set[int] = set()
    values = status == NodeStatus.VALUE_CHANGED
    values[0] = False  # the page is always a fragment; look for changes inside it
    for node in _outermost(parts, values):
        around = node
        while around > 0 and parts.value[around][0] < min_bytes:
            around = parts.parent[around]
        (changed if around == node else around_small).add(around)
    # A subtree without changes has equal sums at both ends.
    sums = np.concatenate([[0], np.cumsum(status > 0)]).tolist()
    found, node = [], 0
    while node < parts.tree.n:
        end = node + parts.size[node]
        if node in changed:
            found.append(node)
            node = end
        elif sums[node] == sums[end]:
            node = end
        else:
            moved = status[node] == NodeStatus.POSITION_CHANGED
            if node in around_small or (moved and parts.value[node][0] >= min_bytes):
                found.append(node)
            node += 1
    return found


def _outermost(parts: Parts, chosen: NDArray[np.bool_]) -> list[int]:
    found, end = [], 0
    for node in np.flatnonzero(chosen).tolist():
        if node >= end:
            found.append(node)
            end = node + parts.size[node]
    return found


@dataclass(slots=True)
class Difference:
    """The parts that were different for another user.

    Attributes:
        before: the version of the main user that was compared.
        after: the next version of the main user, which shows the changes that time explains; -1 if
            both users were captured at the same time.
        parts: the parts of ``before`` that differ.
    """

    before: int
    after: int
    parts: NDArray[np.int64]


@dataclass(slots=True)
class VersionRecord:
    """Everything that is recorded while versions go by.

    Attributes:
        times: capture time of each version, in seconds.
        kinds: kind of page of each version.
        bases: whether each version became a base.
        events: pairs of a version and the parts that changed in it, not counting nested parts.
        source_changes: the same for parts whose own source changed.
        fragments: numbers of the parts that are fragments.
        found: the same in the order in which they were found.
        differences: parts that were different for other users.
        paths: a selector for each fragment, in the last version that contains it.
        tags: the tag of each fragment.
        columns: for each part: first and last version, the version that no longer has it, parent,
            kind, node and sizes in the last version, and number of moves.
        latest: the last version, and its parts.
    """

    how: Comparing
    min_bytes: int
    times: list[float] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    bases: list[bool] = field(default_factory=list)
    same: list[bool] = field(default_factory=list)
    events: list[tuple[int, NDArray[np.int64]]] = field(default_factory=list)
    source_changes: list[tuple[int, NDArray[np.int64]]] = field(default_factory=list)
    fragments: set[int] = field(default_factory=set)
    found: list[int] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)
    paths: dict[int, str] = field(default_factory=dict)
    tags: dict[int, str] = field(default_factory=dict)
    columns: dict[str, NDArray[np.int64]] = field(
        default_factory=lambda: {name: np.empty(0, np.int64) for name in _COLUMNS}
    )
    latest: tuple[Parts, NDArray[np.int64]] | None = None
    changes: NodeChanges = field(default_factory=NodeChanges)
    tracker: Tracker = field(init=False)
    # Versions of other users, with their times, wait for the next version of the main user, which
    # shows whether time explains a difference.
    _waiting: list[tuple[Parts, float]] = field(default_factory=list)
    _source: bytes = b""

    def __post_init__(self) -> None:
        self.tracker = Tracker(self.how)

    def take(self, parts: Parts, time_s: float) -> Step:
        """Process the next version of the main user."""
        version = len(self.times)
        self._compare_variants(version, time_s)
        before = list(self.tracker.kinds)
        step = self.tracker.step(parts)
        for kind in before:
            if kind not in self.tracker.kinds:
                self._name(kind.last, kind.part)
        self.changes.step(step.kind.number, version, parts.page)
        self.changes.keep(kind.number for kind in self.tracker.kinds)
        self.same.append(bool(self.times) and parts.source == self._source)
        self._source = parts.source
        self.times.append(time_s)
        self.kinds.append(step.kind.number)
        self.bases.append(step.is_base)
        self.latest = (parts, step.part)
        self._note(step, parts, version)
        self._compare_variants(version + 1, time_s, same_time=True)
        return step

    def take_variant(self, parts: Parts, time_s: float) -> None:
        """Process a version that another user got."""
        self._waiting.append((parts, time_s))
        if self.times and self.times[-1] == time_s:
            self._compare_variants(len(self.times), time_s, same_time=True)

    def name_latest(self) -> None:
        """Record paths of the fragments that still exist; more versions may follow."""
        for kind in self.tracker.kinds:
            self._name(kind.last, kind.part)

    def _note(self, step: Step, parts: Parts, version: int) -> None:
        columns = self._grown(self.tracker.parts)
        part, tree = step.part, parts.tree
        columns["first"][part[columns["first"][part] < 0]] = version
        columns["last"][part] = version
        columns["kind"][part] = step.kind.number
        columns["node"][part] = np.arange(tree.n)
        columns["parent"][part] = np.where(tree.parent >= 0, part[tree.parent], -1)
        columns["value_bytes"][part] = tree.value_bytes
        columns["source_bytes"][part] = np.where(
            tree.byte_start >= 0, tree.byte_end - tree.byte_start, -1
        )
        self._find(part[largest_changed(parts, step.status, self.min_bytes)].tolist())
        if step.old is None or step.matching is None:
            return
        moved = step.matching.status == NodeStatus.POSITION_CHANGED
        columns["moves"][part[moved]] += 1
        self.events.append((version, own_changes(step.old, step.old_part, parts, step.matching)))
        self.source_changes.append(
            (version, part[changed_source(step.old, parts, step.matching.place)])
        )
        gone = np.setdiff1d(step.old_part, part)
        columns["gone"][gone] = version
        self._name(step.old, step.old_part, set(gone.tolist()) & self.fragments)

    def _name(self, parts: Parts, part: NDArray[np.int64], only: set[int] | None = None) -> None:
        """Record paths and tags of fragments while their page is in memory."""
        chosen = self.fragments if only is None else only
        numbers = part.tolist()
        nodes = [
            node
            for node, number in enumerate(numbers)
            if number in chosen or (only is None and node == 0)
        ]
        for count, node in enumerate(nodes):
            number = numbers[node]
            named = count < MOST_NAMED
            self.paths[number] = (
                selector_of(parts.page, int(parts.tree.node[node])) if named else ""
            )
            self.tags[number] = parts.tag_name(node)

    def _find(self, parts: list[int]) -> None:
        """Record that parts are fragments."""
        for part in parts:
            if part not in self.fragments:
                self.fragments.add(part)
                self.found.append(part)

    def _grown(self, size: int) -> dict[str, NDArray[np.int64]]:
        """Return the columns, extended to hold all parts."""
        room = len(self.columns["first"])
        if size > room:
            more = max(size, 2 * room) - room
            for name, column in self.columns.items():
                empty = np.full(more, 0 if name == "moves" else -1, np.int64)
                self.columns[name] = np.concatenate([column, empty])
        return self.columns

    def _compare_variants(self, after: int, time_s: float, *, same_time: bool = False) -> None:
        """Compare the versions of other users with the last version of the main user."""
        # Those captured at the same time as the next version are compared with that one.
        is_ready = [at == time_s if same_time else at < time_s for _, at in self._waiting]
        ready = [other for (other, _), now in zip(self._waiting, is_ready, strict=True) if now]
        self._waiting = [one for one, now in zip(self._waiting, is_ready, strict=True) if not now]
        if self.latest is None:
            return
        parts, part = self.latest
        for other in ready:
            if not likeness(parts, other, self.how):
                continue
            matching = match_versions(parts, other, self.how)
            differing = own_changes(parts, part, other, matching)
            version = len(self.times) - 1
            self.differences.append(Difference(version, -1 if same_time else after, differing))
            for node in largest_changed(other, matching.status, self.min_bytes):
                place = node
                while matching.place[place] < 0:
                    place = other.parent[place]
                self._find([int(part[matching.place[place]])])
