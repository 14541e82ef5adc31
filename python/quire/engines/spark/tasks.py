"""Tasks: the code that the workers of a Spark cluster run.

A task takes the Arrow batches of one partition and yields batches. ``MapPaths`` and ``MapGroups``
make the rows of a step. ``Shuffled``, ``Packed`` and ``Written`` wrap one of them and send its rows
into a shuffle, to the driver, or into a file. So a step and the delivery of its rows are one task,
and rows go through Spark's columns only in a shuffle.

Tasks are pickled by name, so workers need this module and everything it imports.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

import pyarrow as pa
from pyspark import TaskContext
from pyspark.core.broadcast import Broadcast

from quire.engines.grouping import whole_groups
from quire.engines.rows import checked, sample
from quire.engines.seam import GroupsToRows, PathsToRows
from quire.engines.sinks import Sink
from quire.engines.spark.types import recast, spark_schema

#: Maximum bytes of a batch that leaves a task; Java holds a few of them at once.
BATCH_BYTES = 4 << 20
#: Prefix of a failure message, by which the driver finds it in a Java trace.
FAILURE = "quire-task-failure "

PACKED = pa.schema([("rows", pa.binary())])
WRITTEN = pa.schema({"part": pa.int32()}).append(pa.field("attempt", pa.string()))


class TaskFailed(Exception):
    """An error of a function, in a form that survives the way through Java."""

    def __init__(self, error: Exception, where: str) -> None:
        found = {
            "error": f"{type(error).__name__}: {error}",
            "where": where,
            "trace": "".join(traceback.format_exception(error)),
        }
        super().__init__(FAILURE + json.dumps(found))


class Task(Protocol):
    """Makes the rows of a partition."""

    @property
    def schema(self) -> pa.Schema:
        """Columns of the rows."""
        ...

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Turn the batches of a partition into rows."""
        ...


@dataclass(frozen=True)
class MapPaths:
    """Runs a function on portions, given by their numbers."""

    portions: Broadcast[list[list[str]]]
    fn: PathsToRows
    schema: pa.Schema
    step: str

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Read the portions with these numbers."""
        for batch in batches:
            for number in batch.column(0).to_numpy():
                paths = self.portions.value[int(number)]
                portion = pa.record_batch({"path": pa.array(paths, pa.string())})
                try:
                    yield from checked(self.fn(portion), self.schema, self.step)
                except Exception as error:
                    where = f"in step {self.step}, reading {sample(paths)}"
                    raise TaskFailed(error, where) from error


@dataclass(frozen=True)
class MapGroups:
    """Runs a function on whole groups; the input has Spark types and is sorted by key."""

    came: pa.Schema
    key: str
    fn: GroupsToRows
    schema: pa.Schema
    step: str

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Call the function with whole groups."""
        rows = (recast(batch, self.came) for batch in batches)
        for table in whole_groups(rows, self.key):
            try:
                yield from checked(self.fn(table), self.schema, self.step)
            except Exception as error:
                raise TaskFailed(error, f"in step {self.step}") from error


@dataclass(frozen=True)
class Shuffled:
    """Converts rows to Spark types for a shuffle."""

    task: Task

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Make rows and convert them."""
        schema = spark_schema(self.task.schema)
        for batch in small(self.task(batches)):
            yield recast(batch, schema)


@dataclass(frozen=True)
class Packed:
    """Packs each batch into one value, so that it reaches the driver unchanged."""

    task: Task

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Make rows and pack them."""
        for batch in small(self.task(batches)):
            stream = pa.BufferOutputStream()
            with pa.ipc.new_stream(stream, self.task.schema) as writer:
                writer.write_batch(batch)
            packed = pa.array([stream.getvalue().to_pybytes()], pa.binary())
            yield pa.RecordBatch.from_arrays([packed], schema=PACKED)


@dataclass(frozen=True)
class Written:
    """Writes rows to a file under the name of an attempt; without rows it writes none."""

    task: Task
    sink: str

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Make and write rows; yield the number of the part and the name of the attempt."""
        rows = self.task(batches)
        first = next(rows, None)
        if first is None:
            return
        context = TaskContext.get()
        assert context is not None, "Spark runs tasks in a context"  # noqa: S101
        part = context.partitionId()
        name = Sink(self.sink).write_attempt(part, self.task.schema, chain([first], rows))
        yield pa.record_batch({"part": [part], "attempt": [name]}, schema=WRITTEN)


def small(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Split large batches, estimating from the average size of a row.

    >>> batch = pa.record_batch({"text": ["x" * 1000] * 10_000})
    >>> [part.num_rows for part in small(iter([batch]))]
    [4177, 4177, 1646]
    """
    for batch in batches:
        rows = max(1, batch.num_rows * BATCH_BYTES // max(1, batch.nbytes))
        for start in range(0, batch.num_rows, rows):
            yield batch.slice(start, rows)
