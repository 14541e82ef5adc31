"""L-P fragments: the parts of a page that live at their own pace, or differ by reader (paper 004, section 5).

Versions of one page in, fragments with their lives out. Algorithm 2 compares every version with a base and finds what changed in value or
position, the largest such parts; ``Follower`` says which parts those are in all other versions, and when each changed. A version that changed
drastically is the next base.

*Private* is what differs between readers (a cookie, a query) when time does not explain it: the part is another for one reader, and the
same for the first reader before and after.

Cost: linear in the versions; of each kind of page two are kept. The plain loop is in Python: it visits what changed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from quire.fragments.lifetime.byte_changes import rewritten
from quire.fragments.lifetime.matching import match_versions
from quire.fragments.lifetime.tracking import Follower, Step, likeness, own_changes
from quire.fragments.lifetime.version_parts import Comparing, NodeStatus, Parts
from quire.fragments.lifetime.volatile import MOST_NAMED, Changes, selector_of

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
    """Phase 2: the nodes that are fragments, in pre-order.

    What changed in value is one, with all below it; what changed in position is one, and what is below it may be too. What
    is smaller than ``min_bytes`` is part of what it is in: that is a fragment then, beside whatever else changed in it.
    """
    changed: set[int] = set()
    around_small: set[int] = set()
    values = status == NodeStatus.VALUE_CHANGED
    values[0] = False  # a page is a fragment anyway: what of it changed is the question
    for node in _outermost(parts, values):
        around = node
        while around > 0 and parts.value[around][0] < min_bytes:
            around = parts.parent[around]
        (changed if around == node else around_small).add(around)
    # A subtree without any change has equal sums at both ends.
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
class _Reader:
    """A version that another reader got, until the next version of the first one tells whether time explains it."""

    parts: Parts
    time_s: float


@dataclass(slots=True)
class Difference:
    """Parts that another reader got otherwise.

    Attributes:
        before: the version that it was compared with.
        after: the next one, whose changes time explains; -1 for a capture of the same time.
        parts: parts of that version that differ.
    """

    before: int
    after: int
    parts: NDArray[np.int64]


@dataclass(slots=True)
class Record:
    """All that is noted while versions go by.

    Attributes:
        times: when each version was captured, seconds.
        kinds: the kind of page that each is.
        bases: whether each was installed as a base.
        events: version and parts that changed themselves.
        rewritings: version and parts whose own source changed.
        fragments: numbers of the parts that are fragments.
        differences: what other readers got.
        paths: a selector for fragments, where they were last seen.
        tags: their tags.
        columns: of every part: first and last version, the version that showed that it is gone, parent, kind, node and sizes
            in the last version, changes of position.
        latest: the last version, and its parts.
    """

    how: Comparing
    min_bytes: int
    times: list[float] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    bases: list[bool] = field(default_factory=list)
    same: list[bool] = field(default_factory=list)
    events: list[tuple[int, NDArray[np.int64]]] = field(default_factory=list)
    rewritings: list[tuple[int, NDArray[np.int64]]] = field(default_factory=list)
    fragments: set[int] = field(default_factory=set)
    differences: list[Difference] = field(default_factory=list)
    paths: dict[int, str] = field(default_factory=dict)
    tags: dict[int, str] = field(default_factory=dict)
    columns: dict[str, NDArray[np.int64]] = field(
        default_factory=lambda: {name: np.empty(0, np.int64) for name in _COLUMNS}
    )
    latest: tuple[Parts, NDArray[np.int64]] | None = None
    changes: Changes = field(default_factory=Changes)
    follower: Follower = field(init=False)
    _waiting: list[_Reader] = field(default_factory=list)
    _source: bytes = b""

    def __post_init__(self) -> None:
        self.follower = Follower(self.how)

    def take(self, parts: Parts, time_s: float) -> None:
        """Take the next version that the first reader got."""
        version = len(self.times)
        self._take_readers(version, time_s)
        before = list(self.follower.kinds)
        step = self.follower.step(parts, version)
        for kind in before:
            if kind not in self.follower.kinds:
                self._name(kind.last, kind.part)
        self.changes.step(step.kind.number, version, parts.page)
        self.changes.keep(kind.number for kind in self.follower.kinds)
        self.same.append(bool(self.times) and parts.source == self._source)
        self._source = parts.source
        self.times.append(time_s)
        self.kinds.append(step.kind.number)
        self.bases.append(step.is_base)
        self.latest = (parts, step.part)
        self._note(step, parts, version)
        self._take_readers(version + 1, time_s, same_time=True)

    def take_reader(self, parts: Parts, time_s: float) -> None:
        """Take a version that another reader got."""
        self._waiting.append(_Reader(parts, time_s))
        if self.times and self.times[-1] == time_s:
            self._take_readers(len(self.times), time_s, same_time=True)

    def finish(self) -> None:
        """Name what is still there."""
        self._waiting.clear()
        for kind in self.follower.kinds:
            self._name(kind.last, kind.part)

    def _note(self, step: Step, parts: Parts, version: int) -> None:
        columns = self._grown(self.follower.parts)
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
        self.fragments.update(part[largest_changed(parts, step.status, self.min_bytes)].tolist())
        if step.old is None or step.matching is None:
            return
        moved = step.matching.status == NodeStatus.POSITION_CHANGED
        columns["moves"][part[moved]] += 1
        self.events.append((version, own_changes(step.old, step.old_part, parts, step.matching)))
        self.rewritings.append((version, part[rewritten(step.old, parts, step.matching.place)]))
        gone = np.setdiff1d(step.old_part, part)
        columns["gone"][gone] = version
        self._name(step.old, step.old_part, set(gone.tolist()) & self.fragments)

    def _name(self, parts: Parts, part: NDArray[np.int64], only: set[int] | None = None) -> None:
        """Say where fragments are on a page, while it is there."""
        chosen = self.fragments | {int(part[0])} if only is None else only
        nodes = np.flatnonzero(np.isin(part, list(chosen))).tolist() if chosen else []
        for count, node in enumerate(nodes):
            number = int(part[node])
            named = count < MOST_NAMED
            self.paths[number] = (
                selector_of(parts.page, int(parts.tree.node[node])) if named else ""
            )
            self.tags[number] = parts.tag_name(node)

    def _grown(self, size: int) -> dict[str, NDArray[np.int64]]:
        """The columns, with room for all parts."""
        room = len(self.columns["first"])
        if size > room:
            more = max(size, 2 * room) - room
            for name, column in self.columns.items():
                empty = np.full(more, 0 if name == "moves" else -1, np.int64)
                self.columns[name] = np.concatenate([column, empty])
        return self.columns

    def _take_readers(self, after: int, time_s: float, *, same_time: bool = False) -> None:
        """Compare what other readers got with the last version."""
        ready = [one for one in self._waiting if not same_time or one.time_s == time_s]
        if not same_time:
            # Of the same time as the version that comes: compared with that.
            ready = [one for one in ready if one.time_s < time_s]
        self._waiting = [one for one in self._waiting if one not in ready]
        if self.latest is None:
            return
        parts, part = self.latest
        for reader in ready:
            if not likeness(parts, reader.parts, self.how):
                continue
            matching = match_versions(parts, reader.parts, self.how)
            differing = own_changes(parts, part, reader.parts, matching)
            version = len(self.times) - 1
            self.differences.append(Difference(version, -1 if same_time else after, differing))
            for node in largest_changed(reader.parts, matching.status, self.min_bytes):
                place = node
                while matching.place[place] < 0:
                    place = reader.parts.parent[place]
                self.fragments.add(int(part[matching.place[place]]))
