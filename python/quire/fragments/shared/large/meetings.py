"""Meetings: which values could match at all.

Two values that match share one of their rarest shingles, as
``crates/quire-core/src/fragments/groups.rs`` explains: any fixed order of shingles works, and
enough of each value's first ones are keys. The order here is by how common shingles are, counted in
bins.

Under a key with few values, each is compared with each by length and by *sketch*: 64 bits, one of
them set for each shingle. Bits that only one of two values has come from shingles that only it has,
so values with many such bits cannot match. Without this, all pages that share a teaser with others
become one component. Under a key with many values, sorted by length, neighbours are linked if the
shorter one is long enough for the longer one. Either way, values that could match are linked,
directly or through others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quire.engines.arrow import paths_of, schema_of
from quire.engines.tables import read_table
from quire.errors import MissingExtra
from quire.fragments.shared.large.records import Collected, Records, bulk, unpacked
from quire.fragments.shared.large.values import Shelves
from quire.fragments.shared.rules import SharingRules

try:
    import pyarrow as pa
except ImportError:
    raise MissingExtra("pyarrow is not installed", extra="archive") from None

KEY = np.dtype(
    [
        *((name, "<u4") for name in ("shingle", "value", "bytes", "count")),
        ("sketch", "<u8"),
    ]
)
LINK = np.dtype([("one", "<u4"), ("other", "<u4")])
BINS = schema_of(bins=pa.large_binary())

#: At most 2^23 bins. If there are many more shingles than bins, rare ones are hard to tell from
#: common ones: then more values meet, and components are larger.
_MOST_BITS = 23
# A task counts up to here: its bins fit into bytes.
_MOST_COUNT = 255
_MAX_SAMPLE = 1024
#: Up to so many values under a key are compared with each other.
MOST_COMPARED = 64


def bits_for(shingles: int) -> int:
    """Return the bits of a bin's number, for about as many bins as there are shingles.

    >>> bits_for(0), bits_for(1000), bits_for(10**9)
    (1, 10, 23)
    """
    return min(max(shingles.bit_length(), 1), _MOST_BITS)


def _spread(shingles: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Mix the bits: the smallest hashes are equal in their first bits."""
    return shingles * np.uint32(0x9E3779B1)


def count_shingles(
    paths: pa.RecordBatch, *, shelves: Shelves, min_bytes: int, bits: int
) -> Iterator[pa.RecordBatch]:
    """Count the shingles of values that are long enough, in bins."""
    bins = np.zeros(1 << bits, np.uint32)
    for file in paths_of(paths):
        for shelf in shelves.read(file):
            is_long = np.repeat(shelf.values["bytes"] >= min_bytes, shelf.values["count"])
            at = _spread(shelf.shingles[is_long]) >> np.uint32(32 - bits)
            np.add.at(bins, at, np.uint32(1))
    counts = np.minimum(bins, _MOST_COUNT).astype(np.uint8)
    yield pa.RecordBatch.from_pylist([{"bins": counts.tobytes()}], BINS)


@dataclass(frozen=True, slots=True)
class Keys:
    """How keys are chosen.

    Attributes:
        rarity: a file with the count of each bin.
        bits: bits of a bin's number.
        min_bytes: shorter values have no keys.
        min_match: minimum overlap.
    """

    rarity: str
    bits: int
    min_bytes: int
    min_match: float

    def number(self) -> NDArray[np.int64]:
        """Return the number of keys for each number of shingles.

        >>> Keys("", 1, 40, 0.9).number()[[0, 1, 10, 25]].tolist()
        [0, 1, 2, 3]
        """
        count = np.arange(_MAX_SAMPLE + 1)
        return np.where(count > 0, count + 1 - needed(self.min_match), 0)


def needed(min_match: float) -> NDArray[np.int64]:
    """Return how many shingles two values must share at least, by the count of the larger one.

    >>> needed(0.9)[[1, 10, 25]].tolist()
    [1, 9, 23]
    """
    count = np.arange(_MAX_SAMPLE + 1)
    found = np.maximum(np.floor(min_match * count).astype(np.int64) - 2, 0)
    # The same division as in the kernel, so that rounding cannot differ.
    for _ in range(4):
        found += found / np.maximum(count, 1) < min_match
    at_least: NDArray[np.int64] = np.maximum(found, 1)
    return at_least


def send_keys(
    paths: pa.RecordBatch, *, shelves: Shelves, keys: Keys, buckets: int
) -> Iterator[pa.RecordBatch]:
    """Put values into the buckets of their keys."""
    rarity = read_table(keys.rarity, ["count"])["count"].to_numpy()
    number = keys.number()
    collected = Collected()
    for file in paths_of(paths):
        for shelf in shelves.read(file):
            counts = shelf.values["count"].astype(np.int64)
            owner = np.repeat(np.arange(len(counts)), counts)
            common = rarity[_spread(shelf.shingles) >> np.uint32(32 - keys.bits)]
            order = np.lexsort((shelf.shingles, common, owner))
            sketch = sketches(shelf.shingles, counts)
            position = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
            keys_of = np.where(shelf.values["bytes"] >= keys.min_bytes, number[counts], 0)
            chosen = order[position < np.repeat(keys_of, counts)]
            found = np.empty(len(chosen), KEY)
            found["shingle"] = shelf.shingles[chosen]
            found["value"] = shelf.numbers[owner[chosen]]
            for name in ("bytes", "count"):
                found[name] = shelf.values[name][owner[chosen]]
            found["sketch"] = sketch[owner[chosen]]
            at = _spread(found["shingle"]) % np.uint32(buckets)
            yield from collected.add(at.astype(np.int64), found)
    yield from collected.rows()


def sketches(shingles: NDArray[np.uint32], counts: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the sketch of each value; shingles are stored one after another."""
    bits = np.uint64(1) << (_spread(shingles) >> np.uint32(26)).astype(np.uint64)
    found = np.zeros(len(counts), np.uint64)
    has_some = np.flatnonzero(counts)
    starts = (np.cumsum(counts) - counts)[has_some]
    if len(starts):
        found[has_some] = np.bitwise_or.reduceat(bits, starts)
    return found


def link(groups: pa.Table, *, rules: SharingRules) -> Iterator[pa.RecordBatch]:
    """Link values under the same key that could match."""
    keys = unpacked(groups["records"], KEY)
    keys = keys[np.lexsort((keys["value"], -keys["bytes"].astype(np.int64), keys["shingle"]))]
    starts = np.flatnonzero(np.diff(keys["shingle"].astype(np.int64), prepend=-1))
    sizes = np.diff(np.append(starts, len(keys)))
    # How many values come after each one under its key.
    after = np.repeat(starts + sizes, sizes) - np.arange(len(keys)) - 1
    is_short = np.repeat(sizes <= MOST_COMPARED, sizes)
    found = [_links(keys, np.flatnonzero(~is_short & (after > 0)), 1, rules, None)]
    at = np.flatnonzero(is_short)
    least = needed(rules.min_match)
    for distance in range(1, MOST_COMPARED):
        at = at[after[at] >= distance]
        if not len(at):
            break
        found.append(_links(keys, at, distance, rules, least))
    yield bulk(np.unique(np.concatenate(found)))


def _links(
    keys: Records,
    at: NDArray[np.int64],
    distance: int,
    rules: SharingRules,
    least: NDArray[np.int64] | None,
) -> Records:
    """Link values with those that follow at a distance; without ``least``, whatever their sketch."""
    long, short = keys[at], keys[at + distance]
    is_met = short["bytes"].astype(float) >= rules.size_ratio * long["bytes"].astype(float)
    if least is not None:
        shared = least[np.maximum(long["count"], short["count"])]
        for one, other in ((long, short), (short, long)):
            alone = np.bitwise_count(one["sketch"] & ~other["sketch"])
            is_met &= alone + shared <= one["count"]
    links = np.empty(int(is_met.sum()), LINK)
    links["one"], links["other"] = long["value"][is_met], short["value"][is_met]
    return links
