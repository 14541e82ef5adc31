"""Nesting: which groups are around the members of a group.

Only groups on enough pages count, here called by their rank in the order of the groups. Of nested
members of a group only the outermost counts. The *surroundings* of a member are the groups of lower
rank that have a member around it. Members of a group with equal surroundings are alike, so a task
sends one of them; and if a member has none, its group is a fragment, and nothing else is sent.

Parts are compared with their ancestors one level at a time, for all pages of a block together. The
cost is linear in the parts and the depth of pages.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quire.engines.arrow import paths_of
from quire.engines.tables import read_groups, read_table
from quire.errors import MissingExtra
from quire.fragments.shared.large.blocks import Blocks, Parts
from quire.fragments.shared.large.records import (
    Records,
    bucketed,
    bulk,
    taken,
    unpacked,
)

try:
    import pyarrow as pa
except ImportError:
    raise MissingExtra("pyarrow is not installed", extra="archive") from None

#: Surroundings that a task collects before it hands them over.
MOST_RECORDS = 1 << 17

#: The surroundings of some member: its group, how many are around it, and their mixed sum.
SURROUNDINGS = np.dtype([("rank", "<u4"), ("count", "<u4"), ("mixed", "<u8")])


def mixed(numbers: NDArray[Any]) -> NDArray[np.uint64]:
    """Mix numbers over all 64 bits: sums of different sets differ, except by chance (2^-64)."""
    found = numbers.astype(np.uint64) + np.uint64(1)
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        found = (found ^ (found >> np.uint64(33))) * np.uint64(factor)
    return np.asarray(found ^ (found >> np.uint64(33)))


def parents(sizes: NDArray[Any]) -> NDArray[np.int64]:
    """Return the parent of each row, -1 if it has none; sizes are those of subtrees in pre-order.

    >>> parents(np.array([4, 2, 1, 1, 1])).tolist()
    [-1, 0, 1, 0, -1]
    """
    n = len(sizes)
    place = np.arange(n)
    change = np.zeros(n + 1, np.int64)
    np.add.at(change, place + 1, 1)
    np.add.at(change, place + sizes.astype(np.int64), -1)
    depth = np.cumsum(change)[:n]
    order = np.argsort(depth, kind="stable")
    cuts = np.searchsorted(depth[order], np.arange(int(depth.max(initial=-1)) + 2))
    parent = np.full(n, -1)
    for level in range(1, len(cuts) - 1):
        above = order[cuts[level - 1] : cuts[level]]
        here = order[cuts[level] : cuts[level + 1]]
        parent[here] = above[np.searchsorted(above, here) - 1]
    return parent


def ranks_of(groups: NDArray[np.uint32], candidates: Records) -> NDArray[np.int64]:
    """Return a number for each group, -1 if it is not among the candidates, sorted by group."""
    if not len(candidates):
        return np.full(len(groups), -1)
    at = np.minimum(np.searchsorted(candidates["group"], groups), len(candidates) - 1)
    found = candidates["group"][at] == groups
    return np.where(found, candidates["number"][at].astype(np.int64), -1)


#: A group with a number: its rank, or the number of its fragment.
NUMBERED = np.dtype([("group", "<u4"), ("number", "<u4")])


def read_numbered(path: str) -> Records:
    """Read groups and their numbers from a file, sorted by group."""
    table = read_table(path, ["group", "number"])
    found = np.empty(len(table), NUMBERED)
    for name in ("group", "number"):
        found[name] = table[name].to_numpy()
    return found


def outermost(parent: NDArray[np.int64], groups: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which parts are not inside a part of the same group."""
    is_outermost = np.ones(len(parent), bool)
    rows = np.arange(len(parent))
    above = parent
    while len(rows := rows[above >= 0]):
        above = above[above >= 0]
        is_outermost[rows[groups[above] == groups[rows]]] = False
        above = parent[above]
    return is_outermost


def send_surroundings(
    paths: pa.RecordBatch, *, blocks: Blocks, candidates: str, buckets: int
) -> Iterator[pa.RecordBatch]:
    """Send the distinct surroundings of the members of each group."""
    numbered = read_numbered(candidates)
    held = [(np.empty(0, SURROUNDINGS), np.empty(0, np.uint32))]
    for file in paths_of(paths):
        for table in read_groups(file, ["block", "groups"]):
            for block, packed in zip(table["block"].to_numpy(), table["groups"], strict=True):
                parts, _ = blocks.parts_of(int(block))
                groups = np.frombuffer(packed.as_buffer(), "<u4")
                held.append(_distinct(*_surroundings(parts, ranks_of(groups, numbered))))
                if sum(len(found) for found, _ in held) >= MOST_RECORDS:
                    held = [_joined(held)]
                    if len(held[0][0]) >= MOST_RECORDS:
                        yield _rows(held.pop(), buckets)
    if held:
        yield _rows(_joined(held), buckets)


def _rows(found: tuple[Records, NDArray[np.uint32]], buckets: int) -> pa.RecordBatch:
    records, around = found
    return bucketed(records["rank"] % np.uint32(buckets), records, records["count"], around)


def distinct(groups: pa.Table) -> Iterator[pa.RecordBatch]:
    """Keep the distinct surroundings of groups that have some for every member."""
    found, around = _distinct(
        unpacked(groups["records"], SURROUNDINGS), unpacked(groups["lists"], "<u4")
    )
    decided = np.unique(found["rank"][found["count"] == 0])
    left = np.flatnonzero(~np.isin(found["rank"], decided))
    yield bulk(found[left], taken(around, found["count"], left))


def _joined(
    held: list[tuple[Records, NDArray[np.uint32]]],
) -> tuple[Records, NDArray[np.uint32]]:
    records, around = zip(*held, strict=True)
    return _distinct(np.concatenate(records), np.concatenate(around))


def _distinct(found: Records, around: NDArray[np.uint32]) -> tuple[Records, NDArray[np.uint32]]:
    """Keep one of equal surroundings; of a group with a member that has none, only that one."""
    _, first = np.unique(found, return_index=True)
    free = np.unique(found["rank"][found["count"] == 0])
    kept = found[first]
    first = first[(kept["count"] == 0) | ~np.isin(kept["rank"], free)]
    return found[first], taken(around, found["count"], first)


def _surroundings(parts: Parts, ranks: NDArray[np.int64]) -> tuple[Records, NDArray[np.uint32]]:
    """Return the surroundings of all members in a block, and their groups one after another."""
    parent = parents(parts.records["size"])
    is_member = (ranks >= 0) & outermost(parent, ranks)
    # From each part, the next member at or above it.
    rows = np.flatnonzero(is_member)
    owners: list[NDArray[np.int64]] = []
    around: list[NDArray[np.int64]] = []
    at, above = rows, _next_members(parent, is_member)
    here = above[rows]
    while len(at):
        inside = here >= 0
        at, here = at[inside], here[inside]
        counts = ranks[here] < ranks[at]
        owners.append(at[counts])
        around.append(ranks[here][counts])
        here = above[here]
    none = np.empty(0, np.int64)
    owner, lists = np.concatenate([none, *owners]), np.concatenate([none, *around])
    order = np.argsort(owner, kind="stable")
    owner, lists = owner[order], lists[order]
    found = np.zeros(len(rows), SURROUNDINGS)
    found["rank"] = ranks[rows]
    position = np.searchsorted(rows, owner)
    found["count"] = np.bincount(position, minlength=len(rows))
    sums = np.zeros(len(rows), np.uint64)
    np.add.at(sums, position, mixed(lists))
    found["mixed"] = sums
    return found, lists.astype(np.uint32)


def _next_members(parent: NDArray[np.int64], is_member: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the nearest member above each row, -1 if there is none."""
    above = parent.copy()
    rows = np.arange(len(parent))
    while True:
        rows = rows[above[rows] >= 0]
        rows = rows[~is_member[above[rows]]]
        if not len(rows):
            return above
        above[rows] = parent[above[rows]]
