"""Checks that the rows a function yields have the columns it promised."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa


def checked(
    batches: Iterator[pa.RecordBatch], schema: pa.Schema, step: str
) -> Iterator[pa.RecordBatch]:
    """Pass on batches that have the right columns; skip empty ones.

    Raises:
        TypeError: A batch has other columns.
    """
    for batch in batches:
        if not batch.schema.equals(schema):
            raise TypeError(
                f"step {step}: a batch has the columns {_named(batch.schema)}; "
                f"expected {_named(schema)}"
            )
        if batch.num_rows:
            yield batch


def _named(schema: pa.Schema) -> str:
    fields = [
        f"{field.name}: {field.type}{'' if field.nullable else ' not null'}" for field in schema
    ]
    return "(" + ", ".join(fields) + ")"


def sample(paths: list[str]) -> str:
    """Name a portion briefly.

    >>> sample(["a.html", "b.html", "c.html"])
    'a.html and 2 more'
    """
    return paths[0] if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"
