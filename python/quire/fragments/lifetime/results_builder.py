"""Arranging: fragments with their lives, of all that was noted while versions went by."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from quire.fragments.lifetime.algorithm_2 import Record
from quire.fragments.lifetime.results import Lifetimes, LpFragment
from quire.fragments.lifetime.survival import Lives
from quire.fragments.lifetime.volatile import Verdict
from quire.fragments.policy import Sharing

_TAKEN = ("first", "last", "node", "value_bytes", "source_bytes", "moves")


def arranged(record: Record) -> Lifetimes:
    """Make fragments of what was noted."""
    columns = {name: column[: record.follower.parts] for name, column in record.columns.items()}
    parent = columns["parent"]
    flagged = parent < 0
    flagged[list(record.fragments)] = True
    owner = _owners(parent, flagged)
    numbers = np.flatnonzero(flagged)
    # Pages first, then as they appeared.
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
    restless = record.changes.restless()
    if record.latest is None:
        raise ValueError("no versions: lifetimes are found from one version at least")
    latest, latest_part = record.latest
    return Lifetimes(
        times=np.array(record.times),
        kinds=tuple(record.kinds),
        bases=tuple(record.bases),
        fragments=tuple(fragments),
        restless=restless,
        verdicts=tuple(_verdict(record, version, leave_out=True) for version in versions),
        plain_verdicts=tuple(_verdict(record, version, leave_out=False) for version in versions),
        quiet=tuple(
            record.same[version] or not record.changes.changed_otherwise(version)
            for version in versions
        ),
        latest_fragment=number_of[latest_part],
        latest_parent=latest.tree.parent.astype(np.int64),
        latest_span=np.stack([latest.tree.byte_start, latest.tree.byte_end], axis=1),
        latest_first=columns["first"][latest_part],
        retellings=_by_node(record.events, parent, latest_part),
        rewritings=_by_node(record.rewritings, parent, latest_part),
    )


def _by_node(
    noted: list[tuple[int, NDArray[np.int64]]],
    parent: NDArray[np.int64],
    latest_part: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Nodes of the last version and versions in which they changed; what is gone was part of what it was in."""
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
    """The nearest fragment around every part, itself included: steps upward, twice as many each time."""
    up = np.where(flagged, np.arange(len(parent)), parent)
    while True:
        further = up[up]
        if (further == up).all():
            return up
        up = further


def _depth(
    part: int, parent: NDArray[np.int64], owner: NDArray[np.int64], known: dict[int, int]
) -> int:
    """How deep a fragment is in others."""
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
    record: Record, columns: dict[str, NDArray[np.int64]], owner: NDArray[np.int64]
) -> dict[int, list[int]]:
    """The versions in which each fragment changed itself."""
    found: dict[int, list[int]] = {}
    first, last, parent = columns["first"], columns["last"], columns["parent"]
    for version, parts in record.events:
        changed = set()
        for part in np.unique(owner[parts]).tolist():
            around = part
            # What moved into a fragment changed in another one before that was there.
            while not first[around] < version <= last[around] and parent[around] >= 0:
                around = int(owner[parent[around]])
            changed.add(around)
        for part in changed:
            found.setdefault(part, []).append(version)
    return found


def _sharing(
    record: Record,
    columns: dict[str, NDArray[np.int64]],
    owner: NDArray[np.int64],
    changed: dict[int, list[int]],
) -> dict[int, Sharing]:
    """Whether readers get the same of fragments, where there was more than one."""
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
    """The versions of every kind of page, to say what was before each."""

    def __init__(self, record: Record) -> None:
        self._time = record.times
        self._before: dict[int, int] = {}
        last: dict[int, int] = {}
        for version, kind in enumerate(record.kinds):
            self._before[version] = last.get(kind, -1)
            last[kind] = version
        self._last = last

    def lives(self, columns: dict[str, NDArray[np.int64]], part: int, changed: list[int]) -> Lives:
        """The lives of a fragment between its changes."""
        gone = int(columns["gone"][part])
        starts = [int(columns["first"][part]), *changed]
        before = [self._before[start] for start in starts]
        after = [self._time[one] if one >= 0 else -math.inf for one in before]
        first = [self._time[start] for start in starts]
        last = [self._time[one] for one in before[1:]]
        last.append(self._time[int(columns["last"][part])])
        until = [*first[1:], self._time[gone] if gone >= 0 else math.inf]
        return Lives(np.array(after), np.array(first), np.array(last), np.array(until))


def _verdict(record: Record, version: int, *, leave_out: bool) -> Verdict:
    return "same" if record.same[version] else record.changes.verdict(version, leave_out=leave_out)
