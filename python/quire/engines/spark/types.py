"""Converts Arrow types to Spark types and back: Spark has fewer.

Spark has no unsigned numbers, no fixed sizes and no dictionaries, and its times are in
microseconds. Only a shuffle goes through Spark's columns, so rows are converted before it and back
after it. Unsigned 64-bit numbers become signed ones with the same bits, narrower ones the next
wider type; times become numbers; fixed sizes and dictionaries are dropped. Columns are numbered,
because Spark treats ``Key`` and ``key`` as one name, and a dot in a name as a path.
"""

from __future__ import annotations

import pyarrow as pa

_SAME = (
    pa.bool_(),
    pa.int8(),
    pa.int16(),
    pa.int32(),
    pa.int64(),
    pa.float32(),
    pa.float64(),
    pa.string(),
    pa.binary(),
    pa.date32(),
)
_SPARK_TYPES: dict[pa.DataType, pa.DataType] = {
    **{kind: kind for kind in _SAME},
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.int64(),
    pa.float16(): pa.float32(),
    pa.large_string(): pa.string(),
    pa.string_view(): pa.string(),
    pa.large_binary(): pa.binary(),
    pa.binary_view(): pa.binary(),
    pa.date64(): pa.int64(),
}


def spark_schema(schema: pa.Schema) -> pa.Schema:
    """Return the schema that rows have in Spark.

    >>> print(spark_schema(pa.schema([("key", pa.uint64()), ("sketch", pa.list_(pa.uint32(), 4))])))
    c0: int64
    c1: list<item: int64>
      child 0, item: int64

    Raises:
        TypeError: A type cannot be represented in Spark.
    """
    return pa.schema(
        [pa.field(f"c{i}", _type(field.type, field.name)) for i, field in enumerate(schema)]
    )


def _type(kind: pa.DataType, name: str) -> pa.DataType:
    types = pa.types
    if kind in _SPARK_TYPES:
        return _SPARK_TYPES[kind]
    if types.is_fixed_size_binary(kind):
        return pa.binary()
    if types.is_timestamp(kind) or types.is_duration(kind) or types.is_time64(kind):
        return pa.int64()
    if types.is_dictionary(kind):
        return _type(kind.value_type, name)
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return pa.list_(_type(kind.value_type, name))
    if types.is_struct(kind):
        return pa.struct([pa.field(part.name, _type(part.type, name)) for part in kind])
    raise TypeError(f"column {name}: rows of type {kind} cannot be grouped on Spark")


def recast(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Convert rows to the Spark schema, or back."""
    # "Unsafe" in Arrow's terms: 64-bit numbers keep their bits but change their meaning, and change
    # it back afterwards.
    arrays = [
        column.cast(field.type, safe=False)
        for column, field in zip(batch.columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
