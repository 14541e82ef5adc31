"""The Spark engine: runs batch work on a cluster, or on this machine as if it were one.

A step is a Spark stage. Its tasks read portions of paths, or whole groups from a shuffle. Spark's
own shuffle is used, sorted and on disk, so all groups together may exceed memory, and a lost
machine costs only its own work. Workers need this Python, with quire and the module of the function
installed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self, TypeVar

from quire.engines.seam import Data, GroupsToRows, PathsToRows
from quire.errors import EngineError, MissingExtra
from quire.progress import Progress, no_progress

try:
    import pyarrow as pa
    import pyspark  # noqa: F401 - check that it is installed
except ImportError as _missing:
    raise MissingExtra(f"{_missing.name} is not installed", extra="spark") from None

from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # it has no types
from pyspark.errors import PySparkException, PythonException
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.udf import UserDefinedFunction
from pyspark.storagelevel import StorageLevel
from pyspark.util import PythonEvalType

from quire.engines.grouping import check_key
from quire.engines.portions import portions
from quire.engines.sinks import Sink
from quire.engines.spark.session import Session
from quire.engines.spark.tasks import (
    FAILURE,
    PACKED,
    WRITTEN,
    MapGroups,
    MapPaths,
    Packed,
    Shuffled,
    Task,
    Written,
)
from quire.engines.spark.types import spark_schema
from quire.engines.spark.watch import POLL_S, Watch, no_worker, wait_until_quiet, workers

#: Maximum tasks of a step that reads paths: with more, Spark is busy counting them. Each task then
#: takes several portions.
MAX_TASKS = 10_000
#: Tasks of a group step for each core, and the minimum.
PARTITIONS_PER_CORE = 4
MIN_PARTITIONS = 32

T = TypeVar("T")


class SparkData:
    """Rows that a cluster makes when they are read."""

    def __init__(
        self, engine: SparkEngine, source: DataFrame, task: Task, steps: tuple[str, ...]
    ) -> None:
        self.engine = engine
        self.source = source
        self.task = task
        self.steps = steps

    @property
    def schema(self) -> pa.Schema:
        """The columns."""
        return self.task.schema

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Run the work, once for each call, and yield its rows.

        Rows wait on the disks of the workers and arrive one partition at a time.
        """
        self.engine.check_open()
        packed = _map_in_arrow(self.source, Packed(self.task), PACKED)
        packed.persist(StorageLevel.DISK_ONLY)
        try:
            self.engine.run(self.steps, packed.write.format("noop").mode("overwrite").save)
            rows = packed.toLocalIterator(prefetchPartitions=True)
            while True:
                with self.engine.explained(self.steps[-1]):
                    row = next(rows, None)
                if row is None:
                    return
                with pa.ipc.open_stream(row[0]) as stream:
                    yield from stream
        finally:
            if self.engine.is_open:
                packed.unpersist()


class SparkEngine:
    """Runs batch work on a Spark cluster.

    Args:
        address: Master of the cluster, ``spark://host:7077``; or ``local[2]`` for Spark with two
            threads on this machine.
        progress: called from a separate thread.
        memory: Memory for Java on each worker; Python needs more on top.
        python: Python of the workers (default: ``PYSPARK_PYTHON``, or the path of this Python).
        partitions: Tasks of a step that groups (default: depends on the number of cores).
        patience_s: How long to wait for a worker, in seconds.
        settings: Spark settings by name; they override ours.

    Raises:
        EngineError: Java, the master or a worker is missing, or a session is already open.
    """

    def __init__(
        self,
        address: str,
        *,
        progress: Progress = no_progress,
        memory: str = "1g",
        python: str | None = None,
        partitions: int | None = None,
        patience_s: float = 60,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self._progress = progress
        self._partitions = partitions
        self._patience_s = patience_s if address.startswith("spark://") else None
        self._session = Session(address, memory=memory, python=python, settings=settings or {})
        self._spark = self._session.spark
        self._context = self._spark.sparkContext
        self.is_open: bool = True
        try:
            self._wait_for_a_worker()
        except BaseException:
            self._close()
            raise

    def map_paths(
        self, paths: Sequence[str], fn: PathsToRows, schema: pa.Schema, *, step: str = "read"
    ) -> SparkData:
        """Turn paths into rows; see ``Engine``."""
        self.check_open()
        cut = list(portions(paths, self._context.defaultParallelism))
        task = MapPaths(self._context.broadcast(cut), fn, schema, step)
        numbers = self._spark.range(0, len(cut), 1, max(1, min(len(cut), MAX_TASKS)))
        return SparkData(self, numbers, task, (step,))

    def group_by_key(
        self,
        data: Data,
        key: str,
        fn: GroupsToRows,
        schema: pa.Schema,
        *,
        step: str = "group",
        tasks: int = 1,
    ) -> SparkData:
        """Bring rows with the same key together; see ``Engine``.

        A group must fit into the memory of a worker.
        """
        data = self._own(data)
        check_key(data.schema, key, step)
        column = f"c{data.schema.get_field_index(key)}"
        rows = _map_in_arrow(data.source, Shuffled(data.task), spark_schema(data.schema))
        cores = self._context.defaultParallelism
        n = self._partitions or max(MIN_PARTITIONS, PARTITIONS_PER_CORE * cores)
        n = max(n, min(tasks, MAX_TASKS))
        together = rows.repartition(n, column).sortWithinPartitions(column)
        return SparkData(
            self, together, MapGroups(data.schema, key, fn, schema, step), (*data.steps, step)
        )

    def write(self, data: Data, sink: str, *, step: str = "write") -> list[str]:
        """Write rows as Parquet files into a folder that all machines share; see ``Engine``.

        Raises:
            FileExistsError: The folder is not empty.
            EngineError: A step failed, or the folder is not shared.
        """
        data = self._own(data)
        folder = Sink(sink)
        folder.prepare()
        written = _map_in_arrow(data.source, Written(data.task, sink), WRITTEN)
        try:
            # The last step and the writing are one stage.
            found = self.run((*data.steps[:-1], step), written.collect)
            attempts = [(int(row[0]), str(row[1])) for row in found]
            return folder.commit(attempts or [(0, folder.write_attempt(0, data.schema, iter(())))])
        except BaseException:
            wait_until_quiet(self._context)
            folder.clear()
            raise

    def check_open(self) -> None:
        """Raise an error if the engine is closed."""
        if not self.is_open:
            raise EngineError("the engine is closed; its data can no longer be read")

    def run(self, steps: tuple[str, ...], action: Callable[[], T]) -> T:
        """Run a job, report its progress, and turn Spark's errors into ours."""
        watch = Watch(self._context, steps, self._progress, self._patience_s)
        with self.explained(steps[-1], watch), watch:
            return action()

    @contextmanager
    def explained(self, step: str, watch: Watch | None = None) -> Iterator[None]:
        """Turn Spark's errors into ours."""
        try:
            yield
        except (Py4JError, PySparkException) as error:
            lost = watch.lost if watch else None
            raise (lost or explain(error, step, self._session)) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()

    def _close(self) -> None:
        self.is_open = False
        self._session.close()

    def _own(self, data: Data) -> SparkData:
        self.check_open()
        if not isinstance(data, SparkData) or data.engine is not self:
            raise TypeError(f"{type(data).__name__} of another engine; expected data of this one")
        return data

    def _wait_for_a_worker(self) -> None:
        if self._patience_s is None:
            return
        end = time.monotonic() + self._patience_s
        while not workers(self._context):
            if time.monotonic() > end:
                raise no_worker(self._context, self._patience_s)
            time.sleep(POLL_S)


def _map_in_arrow(
    frame: DataFrame,
    task: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]],
    schema: pa.Schema,
) -> DataFrame:
    """Do what ``DataFrame.mapInArrow`` does, without requiring pandas, which it does not use."""
    udf = UserDefinedFunction(
        task, from_arrow_schema(schema), evalType=PythonEvalType.SQL_MAP_ARROW_ITER_UDF
    )
    column: Any = udf(*[frame[name] for name in frame.columns])
    mapped = frame._jdf.mapInArrow(column._jc, False, None)  # noqa: FBT003, SLF001 - no barrier
    return DataFrame(mapped, frame.sparkSession)


def explain(error: Exception, step: str, session: Session) -> EngineError:
    """Turn the error of a Spark job into the function's own error, or into one line of Spark's."""
    text = str(error)
    at = text.find(FAILURE)
    if at >= 0:
        failure, _ = json.JSONDecoder().raw_decode(text[at + len(FAILURE) :])
        found = EngineError(failure["error"])
        found.add_note(failure["where"])
        found.add_note("on a worker:\n" + failure["trace"])
        return found
    lines = [line for line in text.strip().splitlines() if line.strip()]
    if isinstance(error, PythonException):
        found = EngineError(f"step {step}: a worker failed: {lines[-1].strip()}")
        found.add_note("workers need this Python, with quire and the module of the function in it")
    else:
        found = EngineError(f"step {step}: {lines[0]}")
        found.add_note("Spark's log ends:\n" + session.tail())
    return found
