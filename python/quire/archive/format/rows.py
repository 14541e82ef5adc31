"""The rows of an index: where each page of a file is, sorted by the hash of its address and time.

Few rows are packed: their columns, compressed as one. Rows of neighbours are alike, so a row of a
history takes 6 bytes instead of 28. Reading them all takes less than a millisecond.

Many rows are stored as they are, in chunks of 2,048, and after them a table with the first hash and
a checksum of each chunk. Only the table is read when an archive is opened (16 bytes for 2,048
pages); a search then reads and checks the one chunk that can have the address. So opening and
searching take about the same time whatever the number of pages. The file is read in pieces and not
mapped into memory: a mapped file that another process cuts off kills the reader.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quire import _core
from quire.archive.format.record import PLAIN_ZSTD, Source
from quire.errors import ArchiveError

#: Maximum bytes of rows: a hundred million pages in one file. A longer index is ignored.
MOST_ROWS_BYTES = 1 << 32
#: Up to this many rows are packed.
MOST_PACKED_ROWS = 1 << 15
#: Rows of a chunk.
CHUNK_ROWS = 1 << 11
PACK_LEVEL = 9

#: Hash of the url, time, offset of the record, slot in the record.
Row = tuple[int, int, int, int]
ROW = np.dtype([("url", "<u8"), ("time", "<i8"), ("offset", "<u8"), ("slot", "<u4")])
_CHUNK = np.dtype([("url", "<u8"), ("check", "<u8")])


def sorted_rows(entries: list[Row]) -> NDArray[Any]:
    """Sort rows by url and time."""
    return _in_order(np.array(entries, ROW))


def _in_order(rows: NDArray[Any]) -> NDArray[Any]:
    return rows[np.lexsort((rows["slot"], rows["offset"], rows["time"], rows["url"]))]


class Rows:
    """The rows of pages or of companions, in memory or still in the file. Threads may share them.

    Args:
        array: The rows, sorted by url and time.
        stored: Where they are in a file; then ``array`` is None until someone needs all of them.
        rescue: Makes the rows anew from the archive's own file, if a stored chunk is damaged.

    Attributes:
        is_rescued: Whether a chunk was damaged, so that the rows were made anew.
    """

    def __init__(
        self,
        array: NDArray[Any] | None,
        stored: StoredRows | None = None,
        rescue: Callable[[], NDArray[Any]] = lambda: sorted_rows([]),
    ) -> None:
        self._array = array
        self._stored = stored
        self._rescue = rescue
        self.is_rescued: bool = False

    def array(self) -> NDArray[Any]:
        """Return all rows."""
        if self._array is None and self._stored is not None:
            self._array = self._stored.all()
        if self._array is None:
            self._array = self._rescue()
            self.is_rescued = True
        return self._array

    def find(self, url: int) -> NDArray[Any]:
        """Return the rows of a url, given its hash."""
        found = None
        if self._array is None and self._stored is not None:
            found = self._stored.find(url)
        return _found(self.array(), url) if found is None else found

    def with_more(self, entries: list[Row]) -> Rows:
        """Return these rows and more, in sorted order; these stay as they are."""
        if not entries:
            return self
        return Rows(_in_order(np.concatenate([self.array(), np.array(entries, ROW)])))

    def __len__(self) -> int:
        if self._array is None and self._stored is not None:
            return self._stored.count
        return len(self.array())


def _found(rows: NDArray[Any], url: int) -> NDArray[Any]:
    keys = rows["url"]
    key = np.uint64(url)
    start, end = np.searchsorted(keys, key, "left"), np.searchsorted(keys, key, "right")
    return rows[int(start) : int(end)]


class StoredRows:
    """Rows in chunks in a file, read when they are needed.

    Args:
        source: The file of the index.
        offset: Offset of the first row.
        chunks: First url and checksum of each chunk.
        count: Number of rows.
    """

    def __init__(self, source: Source, offset: int, chunks: NDArray[Any], count: int) -> None:
        self._source = source
        self._offset = offset
        self._chunks = chunks
        self.count: int = count

    def all(self) -> NDArray[Any] | None:
        """Read all rows; None if a chunk is damaged."""
        return self._read(0, len(self._chunks))

    def find(self, url: int) -> NDArray[Any] | None:
        """Read the chunks that can have a url, and return its rows; None if one is damaged."""
        first, key = self._chunks["url"], np.uint64(url)
        # A url that begins a chunk may also end the one before.
        start = max(0, int(np.searchsorted(first, key, "left")) - 1)
        end = int(np.searchsorted(first, key, "right"))
        rows = self._read(start, max(start, end))
        return None if rows is None else _found(rows, url)

    def _read(self, start: int, end: int) -> NDArray[Any] | None:
        first, last = start * CHUNK_ROWS, min(end * CHUNK_ROWS, self.count)
        place = self._offset + first * ROW.itemsize
        data = self._source.at(place, (last - first) * ROW.itemsize)
        size = CHUNK_ROWS * ROW.itemsize
        checks = [_core.hash64(data[at : at + size]) for at in range(0, len(data), size)]
        if checks != self._chunks["check"][start:end].tolist():
            return None
        return np.frombuffer(data, ROW)


def pack(rows: NDArray[Any]) -> bytes:
    """Compress a few rows, column by column."""
    columns = [np.diff(rows[name], prepend=rows[name].dtype.type(0)) for name in ROW.names or ()]
    return PLAIN_ZSTD.encode(b"".join(column.tobytes() for column in columns), PACK_LEVEL)


def unpack(frame: bytes, count: int) -> NDArray[Any]:
    """Read rows that were packed.

    Raises:
        ArchiveError: The frame is damaged.
    """
    if count > MOST_PACKED_ROWS:
        raise ArchiveError(f"{count:,} packed rows; at most {MOST_PACKED_ROWS:,} are read")
    data = PLAIN_ZSTD.decode(frame, count * ROW.itemsize)
    rows = np.empty(count, ROW)
    at = 0
    for name in ROW.names or ():
        kind = ROW[name]
        column = np.frombuffer(data, kind, count, at)
        rows[name] = np.add.accumulate(column, dtype=kind)
        at += count * kind.itemsize
    return rows


def chunk_table(rows: NDArray[Any]) -> bytes:
    """Return the first url and the checksum of each chunk."""
    starts = range(0, len(rows), CHUNK_ROWS)
    chunks = [
        (int(rows["url"][at]), _core.hash64(rows[at : at + CHUNK_ROWS].tobytes())) for at in starts
    ]
    return np.array(chunks, _CHUNK).tobytes()


def stored_rows(source: Source, offset: int, table: bytes, count: int) -> StoredRows:
    """Return rows in chunks, with their table as ``chunk_table`` made it."""
    return StoredRows(source, offset, np.frombuffer(table, _CHUNK), count)


def table_bytes(count: int) -> int:
    """Return the length of the table for a number of rows."""
    return -(-count // CHUNK_ROWS) * _CHUNK.itemsize
