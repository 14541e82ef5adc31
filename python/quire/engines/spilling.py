"""Spilling: groups rows on this machine that do not fit into its memory.

Up to 64 MB of rows stay in memory (``Sorted``). Beyond that, rows are written to a temporary file
and only their keys stay in memory; a table of groups is read from the file on demand. The file is
memory-mapped. What was read of it is given back to the system now and then, because mapped pages
count as memory of this process.
"""

from __future__ import annotations

import mmap
import shutil
import tempfile
import weakref
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from quire.atomic import naming
from quire.engines.grouping import Sorted, cuts_of

#: Maximum bytes of rows in memory; for a moment they are there twice.
HELD_BYTES = 64 << 20
#: About how many bytes of the file are mapped into memory at most.
MAPPED_BYTES = 64 << 20
#: How many bytes the system may map when a byte is touched: a huge page.
AROUND_BYTES = 2 << 20


def gathered(batches: Iterator[pa.RecordBatch], schema: pa.Schema, key: str) -> Sorted | Spilled:
    """Collect rows, and return them as tables of whole groups."""
    held: deque[pa.RecordBatch] = deque()
    n_bytes = 0
    for batch in batches:
        held.append(batch)
        n_bytes += batch.nbytes
        if n_bytes > HELD_BYTES:
            del batch
            # Taken out one by one: what is in the file should not stay in memory as well.
            return Spilled(chain(_taken_out(held), batches), schema, key)
    return Sorted(pa.Table.from_batches(held, schema), key)


def _taken_out(held: deque[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    while held:
        yield held.popleft()


class Spilled:
    """Rows in a file, as tables of whole groups that are made on demand, equal to ``Sorted``.

    Holds the keys, and eight bytes for each row. The file is in the temporary folder (``TMPDIR``),
    and is removed with this object.
    """

    def __init__(self, batches: Iterator[pa.RecordBatch], schema: pa.Schema, key: str) -> None:
        self._schema = schema
        folder = Path(tempfile.mkdtemp(prefix="quire-groups-"))
        # Kept as an attribute, so that it runs when this object goes, and not before.
        self._end = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        keys: list[pa.Array[Any]] = []
        n_bytes = 0
        # The stream format, since dictionaries may differ from batch to batch.
        with (
            naming(str(folder)),
            pa.OSFile(str(folder / "rows"), "wb") as file,
            pa.ipc.new_stream(file, schema) as writer,
        ):
            for batch in batches:
                writer.write_batch(batch)
                # A copy: a slice would keep the whole batch in memory.
                column = batch.column(key)
                keys.append(pa.concat_arrays([column, column.slice(0, 0)]))
                n_bytes += batch.nbytes
        with (folder / "rows").open("rb") as rows:
            self._file = mmap.mmap(rows.fileno(), 0, access=mmap.ACCESS_READ)
        self._batches = list(pa.ipc.open_stream(pa.py_buffer(self._file)))
        self._touched_bytes = 0
        with suppress(OSError):  # where a mapped file can be removed, a crash leaves nothing behind
            (folder / "rows").unlink()
            folder.rmdir()
        self._starts = np.cumsum([0, *(batch.num_rows for batch in self._batches)])
        all_keys = pa.chunked_array(keys, schema.field(key).type)
        # Stable, so that the same rows give the same tables.
        order = pc.sort_indices(all_keys)
        self._cuts = cuts_of(pc.take(all_keys, order), n_bytes)
        self._order = order.to_numpy().astype(np.int64)

    def __len__(self) -> int:
        """Return the number of tables."""
        return len(self._cuts) - 1

    def __getitem__(self, number: int) -> pa.Table:
        rows = self._order[self._cuts[number] : self._cuts[number + 1]]
        in_file = np.argsort(rows, kind="stable")
        wanted = rows[in_file]
        batch_of = np.searchsorted(self._starts, wanted, "right") - 1
        parts = []
        for batch in np.unique(batch_of).tolist():
            mine = wanted[batch_of == batch] - self._starts[batch]
            whole = self._batches[batch]
            parts.append(whole.take(pa.array(mine)))
            # Not after the loop: a table may have rows in all parts of the file.
            self._touch(min(whole.nbytes, parts[-1].nbytes + AROUND_BYTES * len(mine)))
        back = np.empty_like(in_file)
        back[in_file] = np.arange(len(rows))
        return pa.Table.from_batches(parts, self._schema).take(back)

    def _touch(self, n_bytes: int) -> None:
        """Count what was read, and unmap it if it is much. Threads read on: it is mapped again."""
        self._touched_bytes += n_bytes
        if self._touched_bytes > MAPPED_BYTES and hasattr(mmap, "MADV_DONTNEED"):
            self._touched_bytes = 0
            self._file.madvise(mmap.MADV_DONTNEED)
