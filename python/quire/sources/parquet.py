"""Pages in Parquet files: rows of ``url``, ``time`` and ``body``.

Crawls for search engines and language models are often distributed this way. Only ``body`` is
required. A few rows are read at a time, however long a row group is.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from quire.sources.capture import MOST_BYTES, Capture, Trouble, parse_time
from quire.sources.libraries import pyarrow_parquet
from quire.sources.places import open_place

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

# Pages are about 100 kB: few enough rows to keep a batch small, enough to make calls cheap.
_BATCH_ROWS = 16
_COLUMNS = ("url", "time", "body")


def read_rows(
    path: str, *, most_bytes: int = MOST_BYTES, row: int | None = None
) -> Iterator[Capture | Trouble]:
    """Read the pages of a Parquet file.

    Args:
        path: A file or an fsspec address.
        most_bytes: Maximum page size in bytes; a longer page is a ``Trouble``.
        row: The only row to read, counted from 0 (default: all rows).

    Raises:
        OSError: The file cannot be opened; ``SourceNotFound`` if it does not exist.
        MissingExtra: pyarrow is not installed.
    """
    library, parquet = pyarrow_parquet()
    with open_place(path) as file:
        try:
            table: ParquetFile = parquet.ParquetFile(file)
            wrong = _wrong_columns(table.schema_arrow)
            if wrong:
                yield Trouble(path, wrong)
                return
            yield from _rows(path, table, row, most_bytes)
        # A damaged file can raise any exception of Arrow or the operating system.
        except (library.ArrowException, OSError, ValueError) as error:
            yield Trouble(path, f"not readable as Parquet: {' '.join(str(error).split())[:200]}")


def _wrong_columns(schema: pa.Schema) -> str | None:
    from pyarrow import types  # noqa: PLC0415 - optional, and imported by now

    if "body" not in schema.names:
        names = ", ".join(schema.names[:10])
        return f"has no column body; it has {names}" if names else "has no column body; it has none"
    kind = schema.field("body").type
    if types.is_dictionary(kind):
        kind = kind.value_type
    of_bytes = (types.is_binary, types.is_large_binary, types.is_string, types.is_large_string)
    if not any(is_kind(kind) for is_kind in of_bytes):
        return f"has a column body of type {kind}; expected binary or string"
    return None


def _rows(
    path: str, table: ParquetFile, row: int | None, most_bytes: int
) -> Iterator[Capture | Trouble]:
    import pyarrow as pa  # noqa: PLC0415 - optional, and imported by now

    columns = [name for name in _COLUMNS if name in table.schema_arrow.names]
    groups, first = list(range(table.num_row_groups)), 0
    if row is not None:
        groups, first = _group_of(table, row)
    for batch in table.iter_batches(_BATCH_ROWS, row_groups=groups, columns=columns):
        if row is None or first <= row < first + batch.num_rows:
            bodies = batch.column("body").cast(pa.large_binary())
            for index in range(batch.num_rows):
                if row is None or first + index == row:
                    name = f"{path}#{first + index}"
                    yield _capture(name, batch, bodies[index].as_py(), index, most_bytes)
        first += batch.num_rows


def _group_of(table: ParquetFile, row: int) -> tuple[list[int], int]:
    first = 0
    for group in range(table.num_row_groups):
        rows = table.metadata.row_group(group).num_rows
        if row < first + rows:
            return [group], first
        first += rows
    return [], first


def _capture(
    name: str, batch: pa.RecordBatch, body: object, index: int, most_bytes: int
) -> Capture | Trouble:
    if not isinstance(body, bytes):
        return Trouble(name, "no body: null")
    if len(body) > most_bytes:
        return Trouble(name, f"{len(body)} bytes; at most {most_bytes} are read")
    if not body:
        return Trouble(name, "empty: 0 bytes")
    url = _value(batch, "url", index)
    return Capture(
        name,
        url if isinstance(url, str) and url else name,
        _time(_value(batch, "time", index)),
        b"",
        body,
    )


def _value(batch: pa.RecordBatch, column: str, index: int) -> object:
    if column not in batch.schema.names:
        return None
    try:
        value: object = batch.column(column)[index].as_py()
    except (
        ValueError,
        OverflowError,
    ):  # a year that Python cannot represent, or bytes that are not UTF-8
        return None
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _time(value: object) -> datetime | None:
    if isinstance(value, str):
        return parse_time(value)
    if not isinstance(value, datetime):
        return None
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:  # outside the calendar in UTC
        return None
