"""Reads and writes tables as Parquet or CSV files, locally or through fsspec."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import IO, cast

from quire.atomic import naming
from quire.errors import MissingExtra

try:
    import fsspec  # type: ignore[import-untyped]
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet as pq
except ImportError:
    raise MissingExtra("pyarrow or fsspec is not installed", extra="archive") from None


def read_table(path: str, columns: Sequence[str]) -> pa.Table:
    """Read some columns of a Parquet file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_table(f"{folder}/t.parquet", pa.table({"a": [1], "b": [2]}))
    ...     read_table(f"{folder}/t.parquet", ["b"]).to_pylist()
    [{'b': 2}]

    Args:
        path: A path or an fsspec address.
        columns: Names of the columns.
    """
    with _opened(path, "rb") as file:
        return pq.ParquetFile(file).read(columns=list(columns))


def read_groups(path: str, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Read some columns of a Parquet file, one row group at a time: only one is in memory.

    An engine writes every batch as a row group.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_table(f"{folder}/t.parquet", pa.table({"a": [1], "b": [2]}))
    ...     [table.to_pylist() for table in read_groups(f"{folder}/t.parquet", ["b"])]
    [[{'b': 2}]]

    Args:
        path: A path or an fsspec address.
        columns: Names of the columns.
    """
    with _opened(path, "rb") as file:
        source = pq.ParquetFile(file)
        for number in range(source.num_row_groups):
            yield source.read_row_group(number, columns=list(columns))


def read_group(path: str, number: int, columns: Sequence[str]) -> pa.Table:
    """Read some columns of one row group of a Parquet file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_groups(f"{folder}/t.parquet", [pa.table({"a": [1]}), pa.table({"a": [2, 3]})])
    ...     read_group(f"{folder}/t.parquet", 1, ["a"]).to_pylist()
    [{'a': 2}, {'a': 3}]

    Args:
        path: A path or an fsspec address.
        number: Number of the row group, from 0.
        columns: Names of the columns.
    """
    with _opened(path, "rb") as file:
        return pq.ParquetFile(file).read_row_group(number, columns=list(columns))


def write_groups(path: str, tables: Sequence[pa.Table]) -> None:
    """Write a Parquet file with one row group for each table; at least one, all alike."""
    with (
        _opened(path, "wb") as file,
        pq.ParquetWriter(file, tables[0].schema, compression="zstd") as writer,
    ):
        for table in tables:
            writer.write_table(table, max(len(table), 1))


def write_table(path: str, table: pa.Table) -> None:
    """Write a Parquet file, replacing an existing one and creating folders as needed."""
    with _opened(path, "wb") as file:
        pq.write_table(table, file, compression="zstd")


def table_bytes(table: pa.Table, suffix: str) -> bytes:
    """Return a table in a file format.

    >>> table_bytes(pa.table({"a": [1], "b": ["x"]}), ".csv").splitlines()
    [b'"a","b"', b'1,"x"']

    Args:
        table: The table.
        suffix: ``.csv`` or ``.parquet``.

    Raises:
        ValueError: The suffix is another one.
    """
    stream = pa.BufferOutputStream()
    if suffix == ".csv":
        pyarrow.csv.write_csv(table, stream)
    elif suffix == ".parquet":
        pq.write_table(table, stream, compression="zstd")
    else:
        raise ValueError(f"{suffix!r}: expected .csv or .parquet")
    return stream.getvalue().to_pybytes()


@contextlib.contextmanager
def _opened(path: str, mode: str) -> Iterator[IO[bytes]]:
    if "://" in path:
        with fsspec.open(path, mode, auto_mkdir=True) as file:
            yield cast("IO[bytes]", file)
        return
    if "w" in mode:
        folder = os.path.dirname(path) or "."  # noqa: PTH120 - a plain string like the path
        os.makedirs(folder, exist_ok=True)  # noqa: PTH103 - same
    with naming(path), open(path, mode) as file:  # noqa: PTH123 - same
        yield cast("IO[bytes]", file)
