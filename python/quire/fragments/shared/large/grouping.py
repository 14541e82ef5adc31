"""Grouping: finds the leader of every value that is linked to others, with the kernel.

Values go through the kernel in their order (longer first, then by hash), a portion at a time,
together with the leaders that could still take one. Leaders do not take each other, so the kernel
repeats their groups and continues from there. Other leaders are too long for all that follows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quire.engines.arrow import paths_of
from quire.errors import MissingExtra
from quire.fragments.shared.crawl_steps import Packing
from quire.fragments.shared.large.records import (
    PART,
    Collected,
    Records,
    bulk,
    taken,
    unpacked,
)
from quire.fragments.shared.large.values import Shelves
from quire.fragments.shared.rules import SharingRules

try:
    import pyarrow as pa
except ImportError:
    raise MissingExtra("pyarrow is not installed", extra="archive") from None

_SENT = np.dtype([("hash", "<u8"), ("bytes", "<u4"), ("count", "<u4"), ("value", "<u4")])
#: A value and the leader that took it.
JOINED = np.dtype([("value", "<u4"), ("leader", "<u4")])

#: Values in a portion, and in a bucket: about 50 megabytes in the kernel.
PORTION = 100_000
# Values that go to the kernel at once.
_PUSHED = 20_000


def send_values(paths: pa.RecordBatch, *, shelves: Shelves, name: str) -> Iterator[pa.RecordBatch]:
    """Put linked values into their buckets; ``name`` has the bucket of each value."""
    collected = Collected()
    for file in paths_of(paths):
        buckets = shelves.numbers(name, file)
        for shelf in shelves.read(file):
            start = shelf.first - shelves.first_of(file)
            mine = buckets[start : start + len(shelf.values)]
            linked = np.flatnonzero(mine >= 0)
            sent = np.empty(len(linked), _SENT)
            for column in ("hash", "bytes", "count"):
                sent[column] = shelf.values[column][linked]
            sent["value"] = shelf.numbers[linked]
            shingles = taken(shelf.shingles, shelf.values["count"], linked)
            yield from collected.add(mine[linked].astype(np.int64), sent, sent["count"], shingles)
    yield from collected.rows()


def group(
    groups: pa.Table, *, packing: Packing, rules: SharingRules, portion: int = PORTION
) -> Iterator[pa.RecordBatch]:
    """Find the leaders of the values of some buckets."""
    sent = unpacked(groups["records"], _SENT)
    shingles = unpacked(groups["lists"], "<u4")
    del groups  # a large component would be in memory twice
    order = np.lexsort((sent["hash"], -sent["bytes"].astype(np.int64)))
    values = _Values(sent[order], taken(shingles, sent["count"], order))
    del sent, shingles
    leaders = np.empty(0, np.int64)
    at = 0
    while at < len(order):
        longest = float(values.records["bytes"][at])
        lengths = values.records["bytes"][leaders].astype(float)
        leaders = leaders[longest >= rules.size_ratio * lengths]
        end = at + max(portion, len(leaders))
        rows = np.concatenate([leaders, np.arange(at, min(end, len(order)))])
        leader = rows[values.leaders(rows, packing, rules)]
        joined = np.empty(len(rows), JOINED)
        joined["value"] = values.records["value"][rows]
        joined["leader"] = values.records["value"][leader]
        yield bulk(joined[rows != leader])
        leaders = rows[rows == leader]
        at = end


@dataclass(frozen=True, slots=True)
class _Values:
    """Values in their order, with their shingles."""

    records: Records
    shingles: NDArray[np.uint32]

    def leaders(
        self, rows: NDArray[np.int64], packing: Packing, rules: SharingRules
    ) -> NDArray[np.int64]:
        """Group these values, and return the position in ``rows`` of the leader of each.

        Each value is a part without parts below it, so every group is a fragment.
        """
        pool = packing.pool()
        for start in range(0, len(rows), _PUSHED):
            chosen = rows[start : start + _PUSHED]
            parts = np.zeros(len(chosen), PART)
            parts["size"] = 1
            parts["count"] = self.records["count"][chosen]
            parts["value_bytes"] = self.records["bytes"][chosen]
            parts["value_hash"] = self.records["hash"][chosen]
            shingles = taken(self.shingles, self.records["count"], chosen)
            number = np.array([len(chosen)], "<u4")
            pool.push_packed(number.tobytes() + parts.tobytes() + shingles.tobytes())
        starts, found = pool.fragments(
            rules.min_match, rules.size_ratio, 1, rules.estimate == "unbiased"
        )
        first = np.frombuffer(starts, "<u4").astype(np.int64)
        members = np.frombuffer(found, "<u4")
        leader = np.empty(len(rows), np.int64)
        # Values were added in their order, so the leader is the first member.
        leader[members] = np.repeat(members[first[:-1]], np.diff(first))
        return leader
