"""Grouping: makes tables of whole groups from rows with a key.

There are two ways. ``Sorted`` sorts rows that are all in memory by key. ``whole_groups`` takes a
stream that is already sorted and joins groups that a batch boundary has split. Neither looks at
single rows, so millions of groups of two cost no more than a few large ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

#: Minimum rows of a table passed to a function, while there are more groups; the last group may
#: exceed it.
TABLE_ROWS = 1 << 16
#: The same limit in bytes: if rows hold pages, few of them are seconds of work.
TABLE_BYTES = 2 << 20
# Limit of 32-bit offsets; longer text columns need 64-bit offsets.
_NARROW_BYTES = (1 << 31) - 1


def check_key(schema: pa.Schema, key: str, step: str) -> None:
    """Refuse a key that cannot be used for grouping.

    Raises:
        KeyError: The column does not exist.
        TypeError: Values of this type cannot be compared exactly, or not the same way everywhere.
    """
    if key not in schema.names:
        raise KeyError(f"step {step}: no column {key}; there are {', '.join(schema.names)}")
    kind = schema.field(key).type
    types = pa.types
    if not any(
        is_it(kind)
        for is_it in (
            types.is_integer,
            types.is_string,
            types.is_large_string,
            types.is_binary,
            types.is_large_binary,
        )
    ):
        raise TypeError(
            f"step {step}: the key {key} is of type {kind}; expected integers, strings or bytes"
        )


def starts(keys: pa.ChunkedArray[Any]) -> npt.NDArray[np.int64]:
    """Return the rows, except the first, where a new key begins. Equal keys must be adjacent.

    >>> starts(pa.chunked_array([["a", "a", "b"], ["b", None, None]])).tolist()
    [2, 4]
    """
    if len(keys) < 2:  # noqa: PLR2004 - a comparison needs two rows
        return np.empty(0, np.int64)
    here, before = keys.slice(1), keys.slice(0, len(keys) - 1)
    differ = pc.not_equal(here, before)
    if keys.null_count:
        # The result is null if either is null: then they differ if only one is.
        differ = pc.coalesce(differ, pc.xor(pc.is_null(here), pc.is_null(before)))
    return np.flatnonzero(differ.to_numpy()) + 1


class Sorted:
    """Rows sorted by key, as tables of whole groups that are made on demand.

    Holds all rows once, and eight bytes for each row; a table is a copy of its rows.
    """

    def __init__(self, table: pa.Table, key: str) -> None:
        self._schema = table.schema
        # One chunk per column: picking rows from thousands of chunks costs four times as much.
        self._table = _one_chunk(table)
        del table
        # Stable, so that the same rows give the same tables.
        self._order = pc.sort_indices(self._table[key])
        self._cuts = cuts_of(pc.take(self._table[key], self._order), self._table.nbytes)

    def __len__(self) -> int:
        """Return the number of tables."""
        return len(self._cuts) - 1

    def __getitem__(self, number: int) -> pa.Table:
        first, end = self._cuts[number], self._cuts[number + 1]
        return self._table.take(self._order.slice(first, end - first)).cast(self._schema)


def _one_chunk(table: pa.Table) -> pa.Table:
    if table.nbytes > _NARROW_BYTES:
        table = table.cast(
            pa.schema([field.with_type(_wide(field.type)) for field in table.schema])
        )
    return table.combine_chunks()


def _wide(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_string(kind):
        return pa.large_string()
    if pa.types.is_binary(kind):
        return pa.large_binary()
    if pa.types.is_list(kind):
        return pa.large_list(kind.value_field.with_type(_wide(kind.value_type)))
    return kind


def cuts_of(keys: pa.ChunkedArray[Any], n_bytes: int) -> list[int]:
    """Return where tables of whole groups begin, and where the last one ends.

    Args:
        keys: Sorted keys of all rows.
        n_bytes: Bytes of all rows together.
    """
    n = len(keys)
    new = starts(keys)
    # Estimated from the average size of a row.
    rows = max(1, min(TABLE_ROWS, n * TABLE_BYTES // max(1, n_bytes)))
    cuts = [0]
    while cuts[-1] < n:
        after = int(np.searchsorted(new, cuts[-1] + rows))
        cuts.append(int(new[after]) if after < len(new) else n)
    return cuts


def whole_groups(batches: Iterator[pa.RecordBatch], key: str) -> Iterator[pa.Table]:
    """Split a stream, in which equal keys are adjacent, into tables of whole groups.

    >>> cut = [pa.record_batch({"k": [1, 1, 2]}), pa.record_batch({"k": [2, 2, 3]})]
    >>> [table["k"].to_pylist() for table in whole_groups(iter(cut), "k")]
    [[1, 1, 2, 2, 2, 3]]

    Holds one table, or the longest group if that is larger.
    """
    held: list[pa.RecordBatch] = []
    rows = n_bytes = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        if rows >= TABLE_ROWS or n_bytes >= TABLE_BYTES:
            # The last group held continues up to the first row with another key.
            last = held[-1].column(key)
            keys = pa.chunked_array([last.slice(len(last) - 1), batch.column(key)])
            new = starts(keys)
            if len(new):
                ends = int(new[0]) - 1
                yield pa.Table.from_batches([*held, batch.slice(0, ends)])
                held = [batch.slice(ends)]
                rows, n_bytes = held[0].num_rows, held[0].nbytes
                continue
        held.append(batch)
        rows += batch.num_rows
        n_bytes += batch.nbytes
    if held:
        yield pa.Table.from_batches(held)
