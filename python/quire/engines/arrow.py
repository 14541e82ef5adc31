"""Arrow in few words: the helpers that every step over record batches uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from quire.errors import MissingExtra

try:
    import pyarrow as pa
except ImportError:
    raise MissingExtra("pyarrow is not installed", extra="archive") from None


def schema_of(**columns: pa.DataType) -> pa.Schema:
    """Make a schema of names and types.

    >>> schema_of(page=pa.uint64(), size=pa.int64()).names
    ['page', 'size']
    """
    return pa.schema(list(columns.items()))


def as_text(text: str) -> str:
    r"""Turn a text into one that Arrow accepts.

    A file name whose bytes are not UTF-8 holds lone surrogates, which Arrow rejects.

    >>> as_text("caf\udce9.html")
    'caf\\udce9.html'
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def paths_of(batch: pa.RecordBatch) -> list[str]:
    """Read the column ``path`` that every ``map_paths`` step gets.

    >>> paths_of(pa.RecordBatch.from_pydict({"path": ["a.html", "b.html"]}))
    ['a.html', 'b.html']
    """
    return [str(path) for path in batch["path"].to_pylist()]


#: Rows of a batch, and bytes of its heavy column: what a task holds before it passes rows on.
MOST_ROWS = 1024
MOST_BYTES = 8 << 20


def in_batches(
    rows: Iterable[dict[str, Any]],
    schema: pa.Schema,
    *,
    heavy: str,
    most_rows: int = MOST_ROWS,
    most_bytes: int = MOST_BYTES,
) -> Iterator[pa.RecordBatch]:
    """Collect rows into batches of bounded size.

    The column ``heavy`` holds nearly all bytes of a row (a page, its parts) and may be missing from
    some rows. A batch ends with the row that reaches ``most_rows`` or ``most_bytes``.

    >>> rows = [{"body": b"abc"}, {"body": b"defg"}, {}, {"body": b"h"}]
    >>> schema = schema_of(body=pa.binary())
    >>> [batch.num_rows for batch in in_batches(rows, schema, heavy="body", most_bytes=5)]
    [2, 2]
    """
    held: list[dict[str, Any]] = []
    held_bytes = 0
    for row in rows:
        held.append(row)
        held_bytes += len(row.get(heavy, ""))
        if len(held) >= most_rows or held_bytes >= most_bytes:
            yield pa.RecordBatch.from_pylist(held, schema)
            held, held_bytes = [], 0
    yield pa.RecordBatch.from_pylist(held, schema)
