"""Values: the distinct texts of a crawl, each with its shingles and all its places.

Parts meet in the bucket of their text. A row of the result is a *shelf*: some values, with their
shingles and places one after another. Values are numbered in the order of files and shelves.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quire.engines.arrow import paths_of, schema_of
from quire.engines.tables import read_groups, read_table, write_table
from quire.errors import MissingExtra
from quire.fragments.shared.large.blocks import Blocks, Parts
from quire.fragments.shared.large.records import PLACE, Collected, Records, taken, unpacked

try:
    import pyarrow as pa
except ImportError:
    raise MissingExtra("pyarrow is not installed", extra="archive") from None

#: A part on its way to the shelf of its value.
_SENT = np.dtype([("hash", "<u8"), ("bytes", "<u4"), ("count", "<u4"), ("place", PLACE)])
#: A value: hash and length of its text, and how many shingles and places it has.
VALUE = np.dtype([("hash", "<u8"), ("bytes", "<u4"), ("count", "<u4"), ("places", "<u4")])

SHELVES = schema_of(
    n=pa.int64(), values=pa.large_binary(), shingles=pa.large_binary(), places=pa.large_binary()
)


@dataclass(frozen=True, slots=True)
class Shelf:
    """Some values.

    Attributes:
        first: number of the first value.
        values: one record for each.
        shingles: their shingles, one after another.
    """

    first: int
    values: Records
    shingles: NDArray[np.uint32]

    @property
    def numbers(self) -> NDArray[np.uint32]:
        """The number of each value."""
        return np.arange(self.first, self.first + len(self.values), dtype=np.uint32)


@dataclass(frozen=True, slots=True)
class Shelves:
    """Where the values are.

    Attributes:
        folder: for files with a number for each value, which the driver writes.
        files: the files.
        firsts: for each file, the number of the first value of each shelf, and of the next file.
    """

    folder: str
    files: tuple[str, ...]
    firsts: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, files: Sequence[str], folder: str) -> Shelves:
        """Number the values of some files."""
        firsts: list[tuple[int, ...]] = []
        first = 0
        for file in files:
            counts = read_table(file, ["n"])["n"].to_numpy()
            ends = first + np.cumsum(counts)
            firsts.append((first, *ends.tolist()))
            first = firsts[-1][-1]
        if first > np.iinfo(np.uint32).max:
            raise ValueError(f"{first:,} distinct texts; expected fewer than 2^32")
        return cls(folder, tuple(files), tuple(firsts))

    @property
    def count(self) -> int:
        """Number of values."""
        return self.firsts[-1][-1] if self.firsts else 0

    def read(self, file: str) -> Iterator[Shelf]:
        """Read the shelves of a file."""
        for at, first, table in self._tables(file, ["values", "shingles"]):
            values = np.frombuffer(table["values"][at].as_buffer(), VALUE)
            yield Shelf(first, values, np.frombuffer(table["shingles"][at].as_buffer(), "<u4"))

    def places(self, file: str) -> Iterator[tuple[Shelf, Records]]:
        """Read the values of a file, without shingles, and their places one after another."""
        for at, first, table in self._tables(file, ["values", "places"]):
            values = np.frombuffer(table["values"][at].as_buffer(), VALUE)
            places = np.frombuffer(table["places"][at].as_buffer(), PLACE)
            yield Shelf(first, values, np.empty(0, np.uint32)), places

    def _tables(self, file: str, columns: list[str]) -> Iterator[tuple[int, int, pa.Table]]:
        firsts = iter(self.firsts[self.files.index(file)])
        for table in read_groups(file, columns):
            for at in range(len(table)):
                yield at, next(firsts), table

    def write(self, name: str, numbers: NDArray[Any]) -> None:
        """Write a number for each value, where tasks find them."""
        for file, firsts in zip(self.files, self.firsts, strict=True):
            mine = numbers[firsts[0] : firsts[-1]]
            write_table(self._beside(name, file), pa.table({"number": mine}))

    def numbers(self, name: str, file: str) -> NDArray[Any]:
        """Read the numbers of the values of a file."""
        numbers: NDArray[Any] = read_table(self._beside(name, file), ["number"])[
            "number"
        ].to_numpy()
        return numbers

    def first_of(self, file: str) -> int:
        """Return the number of the first value of a file."""
        return self.firsts[self.files.index(file)][0]

    def _beside(self, name: str, file: str) -> str:
        return posixpath.join(self.folder, name, posixpath.basename(file))


def send_parts(paths: pa.RecordBatch, *, blocks: Blocks, buckets: int) -> Iterator[pa.RecordBatch]:
    """Put the parts of pages into the buckets of their texts."""
    collected = Collected()
    for file in paths_of(paths):
        for block, table in enumerate(read_groups(file, ["parts"]), blocks.first_of(file)):
            parts = Parts.of(table)
            sent = np.empty(len(parts.records), _SENT)
            for name in ("hash", "bytes"):
                sent[name] = parts.records[f"value_{name}"]
            sent["count"] = parts.records["count"]
            sent["place"]["block"] = block
            sent["place"]["page"] = parts.page
            sent["place"]["row"] = parts.row
            at = (sent["hash"] % np.uint64(buckets)).astype(np.int64)
            yield from collected.add(at, sent, sent["count"], parts.shingles)
    yield from collected.rows()


def shelve(groups: pa.Table) -> Iterator[pa.RecordBatch]:
    """Turn parts with equal text into values."""
    sent = unpacked(groups["records"], _SENT)
    shingles = unpacked(groups["lists"], "<u4")
    del groups
    place = sent["place"]
    # Parts that came with shingles first, so that the first of a value has them.
    order = np.lexsort(
        (
            place["row"],
            place["page"],
            place["block"],
            sent["count"] == 0,
            sent["bytes"],
            sent["hash"],
        )
    )
    ordered = sent[order]
    is_new = np.ones(len(ordered), bool)
    is_new[1:] = (ordered["hash"][1:] != ordered["hash"][:-1]) | (
        ordered["bytes"][1:] != ordered["bytes"][:-1]
    )
    first = np.flatnonzero(is_new)
    values = np.empty(len(first), VALUE)
    for name in ("hash", "bytes", "count"):
        values[name] = ordered[name][first]
    values["places"] = np.diff(np.append(first, len(ordered)))
    if not values["count"].all():
        raise ValueError(
            f"{int((values['count'] == 0).sum())} values have no shingles; expected the page they "
            "were packed with to be read too"
        )
    row = {
        "n": len(values),
        "values": values.tobytes(),
        "shingles": taken(shingles, sent["count"], order[first]).tobytes(),
        "places": np.ascontiguousarray(ordered["place"]).tobytes(),
    }
    yield pa.RecordBatch.from_pylist([row], SHELVES)
