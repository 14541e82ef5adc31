"""Records: numbers of fixed size that travel in bulk, as bytes in a column.

A row of a shuffle holds the records of one bucket, thousands at a time. Arrays of varying length,
such as shingles, are stored one after another, with their counts in the records.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quire.errors import MissingExtra

try:
    import pyarrow as pa
except ImportError:
    raise MissingExtra("pyarrow is not installed", extra="archive") from None

from quire.engines.arrow import schema_of

#: Records with varying lists.
Records = NDArray[Any]

#: A part as the packer writes it (``crates/quire-core/src/fragments/packed.rs``).
PART = np.dtype(
    [
        *((name, "<u4") for name in ("part", "node", "node_end", "size")),
        *((name, "<u4") for name in ("byte_start", "byte_end", "value_bytes", "count")),
        *((name, "<u8") for name in ("source_hash", "value_hash")),
    ]
)
#: Where a part is: its block, the page in the block, and the row on the page.
PLACE = np.dtype([("block", "<u4"), ("page", "<u4"), ("row", "<u4")])

#: Rows of a shuffle: records of a bucket, and what varies in length.
BUCKETS = schema_of(bucket=pa.int64(), records=pa.large_binary(), lists=pa.large_binary())
#: Rows that only carry records.
BULK = schema_of(records=pa.large_binary(), lists=pa.large_binary())

#: Bytes that a task collects before it hands them over; for a moment they are there three times.
MOST_BYTES = 16 << 20
#: About how many bytes a bucket has.
BUCKET_BYTES = 4 << 20
#: Maximum number of buckets: a task hands over that many rows at a time.
MOST_BUCKETS = 2048
# Lists that are moved at once.
_MOST_TAKEN = 1 << 15


def bucket_count(n_bytes: int) -> int:
    """Return the number of buckets for that many bytes.

    >>> bucket_count(0), bucket_count(100 << 20), bucket_count(1 << 50)
    (1, 25, 2048)
    """
    return min(max(n_bytes // BUCKET_BYTES, 1), MOST_BUCKETS)


def taken(values: NDArray[Any], counts: NDArray[Any], order: NDArray[np.int64]) -> NDArray[Any]:
    """Take lists in another order; they are stored one after another.

    >>> taken(np.array([1, 2, 2, 3]), np.array([1, 2, 1]), np.array([1, 0])).tolist()
    [2, 2, 1]
    """
    starts = np.cumsum(counts, dtype=np.int64) - counts
    found = np.empty(int(counts[order].sum(dtype=np.int64)), values.dtype)
    end = 0
    # A part at a time: the positions of all values would take more memory than the values.
    for at in range(0, len(order), _MOST_TAKEN):
        some = order[at : at + _MOST_TAKEN]
        sizes = counts[some].astype(np.int64)
        shift = np.repeat(starts[some] - (np.cumsum(sizes) - sizes), sizes)
        shift += np.arange(len(shift))
        found[end : end + len(shift)] = values[shift]
        end += len(shift)
    return found


def bucketed(
    buckets: NDArray[Any],
    records: Records,
    counts: NDArray[Any] | None = None,
    lists: NDArray[Any] | None = None,
) -> pa.RecordBatch:
    """Make one row of ``BUCKETS`` for each bucket.

    Args:
        buckets: the bucket of each record.
        records: the records.
        counts: the length of each record's list; None without lists.
        lists: the lists, one after another.
    """
    order = np.argsort(buckets, kind="stable")
    buckets = buckets[order]
    first = np.flatnonzero(np.diff(buckets, prepend=-1)) if len(buckets) else np.empty(0, np.int64)
    cuts = np.append(first, len(buckets))
    if counts is None or lists is None:
        data, ends = np.empty(0, np.uint8), np.zeros(len(cuts), np.int64)
    else:
        data = taken(lists, counts, order)
        ends = np.concatenate([[0], np.cumsum(counts[order], dtype=np.int64)])[cuts]
    return pa.RecordBatch.from_arrays(
        [
            pa.array(buckets[first].astype(np.int64)),
            _binary(records[order], cuts),
            _binary(data, ends),
        ],
        schema=BUCKETS,
    )


def bulk(records: Records, lists: NDArray[Any] | None = None) -> pa.RecordBatch:
    """Make a single row of records."""
    row = {"records": records.tobytes(), "lists": b"" if lists is None else lists.tobytes()}
    return pa.RecordBatch.from_pylist([row], BULK)


def unpacked(rows: Iterable[Any], kind: np.dtype[Any] | str) -> NDArray[Any]:
    """Read the records of a column, all rows together."""
    found = [np.frombuffer(row.as_buffer(), kind) for row in rows if row.is_valid]
    return np.concatenate(found) if found else np.empty(0, kind)


def _binary(values: NDArray[Any], cuts: NDArray[np.int64]) -> pa.LargeBinaryArray:
    values = np.ascontiguousarray(values)
    offsets = (cuts * values.itemsize).astype("<i8")
    buffers = [
        None,
        pa.py_buffer(offsets.data),
        pa.py_buffer(values.view(np.uint8).data),
    ]
    return pa.Array.from_buffers(pa.large_binary(), len(cuts) - 1, buffers)  # type: ignore[return-value]


class Collected:
    """Records on their way into buckets, handed over when they are many."""

    def __init__(self) -> None:
        self._parts: list[tuple[NDArray[Any], Records, NDArray[Any], NDArray[Any]]] = []
        self._held = 0

    def add(
        self,
        buckets: NDArray[Any],
        records: Records,
        counts: NDArray[Any] | None = None,
        lists: NDArray[Any] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Add records; yield rows if there are enough."""
        none = np.empty(0, np.uint32)
        self._parts.append(
            (buckets, records, none if counts is None else counts, none if lists is None else lists)
        )
        self._held += records.nbytes + (0 if lists is None else lists.nbytes)
        if self._held >= MOST_BYTES:
            yield from self.rows()

    def rows(self) -> Iterator[pa.RecordBatch]:
        """Yield the rest."""
        if self._held:
            buckets, records, counts, lists = (
                np.concatenate(part) for part in zip(*self._parts, strict=True)
            )
            self._parts, self._held = [], 0
            has_lists = len(counts) > 0
            yield bucketed(
                buckets, records, counts if has_lists else None, lists if has_lists else None
            )
