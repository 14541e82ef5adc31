"""Arrow in few words: the helpers that every step over record batches uses."""

from __future__ import annotations

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
