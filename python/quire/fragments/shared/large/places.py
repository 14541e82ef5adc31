"""Places: gives every part of every page the number of its group, and counts the pages of groups.

A group has the number of the value that leads it. The result has one row for each block: the group
of each of its parts, in the order of the block, and for each group the number of pages that have it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from quire.engines.arrow import paths_of, schema_of
from quire.errors import MissingExtra
from quire.fragments.shared.large.records import Collected, unpacked
from quire.fragments.shared.large.values import Shelves

try:
    import pyarrow as pa
except ImportError:
    raise MissingExtra("pyarrow is not installed", extra="archive") from None

_SENT = np.dtype([("page", "<u4"), ("row", "<u4"), ("group", "<u4")])
#: On how many pages of a block a group is.
SEEN = np.dtype([("group", "<u4"), ("pages", "<u4")])
#: A group that is on enough pages: its number, and length and hash of its leader.
LEADER = np.dtype([("group", "<u4"), ("bytes", "<u4"), ("hash", "<u8")])

RESOLVED = schema_of(block=pa.int64(), groups=pa.large_binary(), seen=pa.large_binary())
LEADERS = schema_of(leaders=pa.large_binary())


def send_places(paths: pa.RecordBatch, *, shelves: Shelves, name: str) -> Iterator[pa.RecordBatch]:
    """Send the group of each part to its block; ``name`` has the leader of each value."""
    collected = Collected()
    for file in paths_of(paths):
        leaders = shelves.numbers(name, file)
        for shelf, places in shelves.places(file):
            start = shelf.first - shelves.first_of(file)
            mine = leaders[start : start + len(shelf.values)]
            sent = np.empty(len(places), _SENT)
            sent["page"], sent["row"] = places["page"], places["row"]
            sent["group"] = np.repeat(mine, shelf.values["places"])
            yield from collected.add(places["block"].astype(np.int64), sent)
    yield from collected.rows()


def resolve(groups: pa.Table) -> Iterator[pa.RecordBatch]:
    """Put the groups of a block's parts into the order of the block."""
    blocks = groups["bucket"].to_numpy()
    starts = np.flatnonzero(np.diff(blocks, prepend=-1))
    rows = []
    for start, end in pairwise([*starts.tolist(), len(blocks)]):
        sent = unpacked(groups["records"].slice(start, end - start), _SENT)
        sent = sent[np.lexsort((sent["row"], sent["page"]))]
        pages = np.unique(sent[["page", "group"]])
        found, counts = np.unique(pages["group"], return_counts=True)
        seen = np.empty(len(found), SEEN)
        seen["group"], seen["pages"] = found, counts
        rows.append(
            {
                "block": int(blocks[start]),
                "groups": np.ascontiguousarray(sent["group"]).tobytes(),
                "seen": seen.tobytes(),
            }
        )
    yield pa.RecordBatch.from_pylist(rows, RESOLVED)


def describe_leaders(
    paths: pa.RecordBatch, *, shelves: Shelves, name: str
) -> Iterator[pa.RecordBatch]:
    """Give length and hash of chosen groups; ``name`` tells whether each value leads one."""
    for file in paths_of(paths):
        chosen = shelves.numbers(name, file)
        for shelf in shelves.read(file):
            start = shelf.first - shelves.first_of(file)
            mine = np.flatnonzero(chosen[start : start + len(shelf.values)])
            found = np.empty(len(mine), LEADER)
            found["group"] = shelf.numbers[mine]
            found["bytes"], found["hash"] = shelf.values["bytes"][mine], shelf.values["hash"][mine]
            yield pa.RecordBatch.from_pylist([{"leaders": found.tobytes()}], LEADERS)
