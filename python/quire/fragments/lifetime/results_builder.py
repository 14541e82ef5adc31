"""Build the result of ``lifetimes`` from everything that was recorded while versions went by."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from quire.fragments.lifetime.capture_spans import longest_gap_s
from quire.fragments.lifetime.results import Lifetimes, LpFragment
from quire.fragments.lifetime.survival import Lives
from quire.fragments.lifetime.version_record import VersionRecord
from quire.fragments.policy import Sharing
from quire.sdiff.volatile import VersionVerdict

_TAKEN = ("first", "last", "node", "value_bytes", "source_bytes", "moves")


def build_lifetimes(record: VersionRecord) -> Lifetimes:
    """Build the fragments of a page from the record of its versions."""
    columns = {name: column[: record.tracker.parts] for name, column in record.columns.items()}
    parent = columns["parent"]
    flagged = parent < 0
    flagged[list(record.fragments)] = True
    owner = _owners(parent, flagged)
    numbers = np.flatnonzero(flagged)
    # Pages first, then in order of appearance.
    numbers = numbers[np.lexsort((numbers, columns["first"][numbers], parent[numbers] >= 0))]
    number_of = np.full(len(parent), -1, np.int64)
    number_of[numbers] = np.arange(len(numbers))
    changed = _changed_at(record, columns, owner)
    sharing = _sharing(record, columns, owner, changed)
    timeline = _Timeline(record)
    fragments: list[LpFragment] = []
    depth: dict[int, int] = {}
    for part in numbers.tolist():
        around = int(owner[parent[part]]) if parent[part] >= 0 else -1
        at = changed.get(part, [])
        fragments.append(
            LpFragment(
                number=len(fragments),
                parent=int(number_of[around]) if around >= 0 else None,
                depth=_depth(part, parent, owner, depth),
                tag=record.tags[part],
                path=record.paths[part],
                **{name: int(columns[name][part]) for name in _TAKEN},
                gone=bool(columns["gone"][part] >= 0),
                changes=len(at),
                lives=timeline.lives(columns, part, at),
                sharing=sharing.get(part, "unknown"),
            )
        )
    versions = range(1, len(record.times))
    volatile = record.changes.volatile()
    if record.latest is None:
        raise ValueError("no versions: expected at least one version of the page")
    latest, latest_part = record.latest
    return Lifetimes(
        times=np.array(record.times),
        kinds=tuple(record.kinds),
        bases=tuple(record.bases),
        fragments=tuple(fragments),
        volatile=volatile,
        verdicts=tuple(_verdict(record, version, leave_out=True) for version in versions),
        plain_verdicts=tuple(_verdict(record, version, leave_out=False) for version in versions),
        quiet=tuple(
            record.same[version] or not record.changes.changed_otherwise(version)
            for version in versions
        ),
        latest_fragment=number_of[latest_part],
        latest_parent=latest.tree.parent.astype(np.int64),
        latest_span=latest.tree.span,
        latest_first=columns["first"][latest_part],
        text_changes=_by_node(record.events, parent, latest_part),
        source_changes=_by_node(record.source_changes, parent, latest_part),
    )


def _by_node(
    noted: list[tuple[int, NDArray[np.int64]]],
    parent: NDArray[np.int64],
    latest_part: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return pairs of a node of the last version and a version in which it changed.

    Changes of parts that no longer exist count for the nearest part around them that does.
    """
    there = parent < 0
    there[latest_part] = True
    owner = _owners(parent, there)
    node_of = np.full(len(parent), -1, np.int64)
    node_of[latest_part] = np.arange(len(latest_part))
    rows = [np.empty((0, 2), np.int64)]
    for version, parts in noted:
        nodes = node_of[np.unique(owner[parts])]
        nodes = nodes[nodes >= 0]
        rows.append(np.stack([nodes, np.full(len(nodes), version)], axis=1))
    found = np.unique(np.concatenate(rows), axis=0)
    return found.astype(np.int64)


def _owners(parent: NDArray[np.int64], flagged: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the nearest flagged part at or above each part, by pointer doubling."""
    up = np.where(flagged, np.arange(len(parent)), parent)
    while True:
        further = up[up]
        if (further == up).all():
            return up
        up = further


def _depth(
    part: int, parent: NDArray[np.int64], owner: NDArray[np.int64], known: dict[int, int]
) -> int:
    """Return the nesting depth of a fragment."""
    chain = []
    while part not in known and parent[part] >= 0:
        chain.append(part)
        part = int(owner[parent[part]])
    depth = known.setdefault(part, 1)
    for one in reversed(chain):
        depth += 1
        known[one] = depth
    return depth


def _changed_at(
    record: VersionRecord, columns: dict[str, NDArray[np.int64]], owner: NDArray[np.int64]
) -> dict[int, list[int]]:
    """Return the versions in which each fragment changed, not counting nested fragments."""
    found: dict[int, list[int]] = {}
    first, last, parent = columns["first"], columns["last"], columns["parent"]
    for version, parts in record.events:
        changed = set()
        for part in np.unique(owner[parts]).tolist():
            around = part
            # The part may have moved here later: then the change belongs to a fragment further out.
            while not first[around] < version <= last[around] and parent[around] >= 0:
                around = int(owner[parent[around]])
            changed.add(around)
        for part in changed:
            found.setdefault(part, []).append(version)
    return found


def _sharing(
    record: VersionRecord,
    columns: dict[str, NDArray[np.int64]],
    owner: NDArray[np.int64],
    changed: dict[int, list[int]],
) -> dict[int, Sharing]:
    """Return whether each fragment is the same for all users, if there was more than one user."""
    found: dict[int, Sharing] = {}
    changes = {part: set(versions) for part, versions in changed.items()}
    fragments = np.unique(owner)
    for one in record.differences:
        differing = set(owner[one.parts].tolist())
        there = (columns["first"][fragments] <= one.before) & (
            columns["last"][fragments] >= one.before
        )
        there &= columns["kind"][fragments] == record.kinds[one.before]
        for part in fragments[there].tolist():
            if one.after in changes.get(part, ()):
                continue  # time may explain it
            if part in differing:
                found[part] = "private"
            else:
                found.setdefault(part, "shared")
    return found


class _Timeline:
    """Looks up the version before each version, of the same kind of page."""

    def __init__(self, record: VersionRecord) -> None:
        self._time = record.times
        self._before: dict[int, int] = {}
        last: dict[int, int] = {}
        for version, kind in enumerate(record.kinds):
            self._before[version] = last.get(kind, -1)
            last[kind] = version
        self._times_of = {
            kind: np.array([record.times[n] for n, one in enumerate(record.kinds) if one == kind])
            for kind in last
        }
        self._longest_gap_s = longest_gap_s(np.unique(np.array(record.times)))

    def lives(self, columns: dict[str, NDArray[np.int64]], part: int, changed: list[int]) -> Lives:
        """Return the lives of a fragment between its changes."""
        gone = int(columns["gone"][part])
        starts = [int(columns["first"][part]), *changed]
        before = [self._before[start] for start in starts]
        after = [self._time[one] if one >= 0 else -math.inf for one in before]
        first = [self._time[start] for start in starts]
        last = [self._time[one] for one in before[1:]]
        last.append(self._time[int(columns["last"][part])])
        until = [*first[1:], self._time[gone] if gone >= 0 else math.inf]
        longest = np.full(len(starts), self._longest_gap_s)
        whole = Lives(np.array(after), np.array(first), np.array(last), np.array(until), longest)
        return whole.split(self._times_of[int(columns["kind"][part])])


def _verdict(record: VersionRecord, version: int, *, leave_out: bool) -> VersionVerdict:
    return "same" if record.same[version] else record.changes.verdict(version, leave_out=leave_out)
