"""The local engine: runs batch work on the threads of this machine.

Kernels release the interpreter lock, so threads are enough and nothing is copied between processes.
Only a few tasks are read ahead. Grouping holds rows in memory or, if there are too many, their
keys.

The same paths and functions give the same rows in the same order, whatever the number of threads.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar

from quire.engines.portions import portions
from quire.engines.seam import Data, GroupsToRows, PathsToRows
from quire.errors import MissingExtra
from quire.progress import Progress, no_progress

try:
    import pyarrow as pa
except ImportError:
    raise MissingExtra("pyarrow is not installed", extra="archive") from None

from quire.engines.grouping import Sorted, check_key
from quire.engines.rows import checked, sample
from quire.engines.running import AHEAD, Run
from quire.engines.sinks import Sink
from quire.engines.spilling import Spilled, gathered

#: Maximum rows of a file in bytes of memory: each thread holds one file.
FILE_BYTES = 32 << 20
#: Maximum rows of a file.
FILE_ROWS = 1 << 20

T = TypeVar("T")


class LocalData:
    """Rows that are made when they are read."""

    def __init__(self, schema: pa.Schema, read: Callable[[], Iterator[pa.RecordBatch]]) -> None:
        self._schema = schema
        self._read = read

    @property
    def schema(self) -> pa.Schema:
        """The columns."""
        return self._schema

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Run the work, once for each call, and yield its rows."""
        return self._read()


class LocalEngine:
    """Runs batch work on the threads of this machine.

    A step runs each time its rows are read. If you stop reading early (close the iterator), tasks
    that have not started never run.

    >>> def lengths(paths):
    ...     yield pa.record_batch({"length": [len(path) for path in paths["path"].to_pylist()]})
    >>> with LocalEngine() as engine:
    ...     schema = pa.schema({"length": pa.int64()})
    ...     data = engine.map_paths(["a.html", "bb.html"], lengths, schema)
    ...     [row for batch in data.batches() for row in batch.to_pylist()]
    [{'length': 6}, {'length': 7}]

    Args:
        threads: Number of threads (default: one per core).
        progress: called from any thread.
    """

    def __init__(self, threads: int | None = None, progress: Progress = no_progress) -> None:
        if threads is not None and threads < 1:
            raise ValueError(f"{threads} threads; expected 1 or more")
        self._threads = threads or os.cpu_count() or 1
        self._progress = progress
        self._runs: weakref.WeakSet[Run[Any]] = weakref.WeakSet()

    def map_paths(
        self, paths: Sequence[str], fn: PathsToRows, schema: pa.Schema, *, step: str = "read"
    ) -> LocalData:
        """Turn paths into rows; see ``Engine``. An error of ``fn`` gets a note with its paths."""

        def read() -> Iterator[pa.RecordBatch]:
            cut = list(portions(paths, self._threads))
            tasks = (partial(_map, portion, fn, schema, step) for portion in cut)
            yield from self._run(tasks, step, of=len(cut))

        return LocalData(schema, read)

    def group_by_key(
        self,
        data: Data,
        key: str,
        fn: GroupsToRows,
        schema: pa.Schema,
        *,
        step: str = "group",
        tasks: int = 1,  # noqa: ARG002 - tables are split by their bytes
    ) -> LocalData:
        """Bring rows with the same key together; see ``Engine``.

        If there are many rows, they are kept in a temporary file while they are read.
        """
        check_key(data.schema, key, step)

        def read() -> Iterator[pa.RecordBatch]:
            groups = gathered(data.batches(), data.schema, key)
            tasks = (partial(_group, groups, i, fn, schema, step) for i in range(len(groups)))
            yield from self._run(tasks, step, of=len(groups))

        return LocalData(schema, read)

    def write(self, data: Data, sink: str, *, step: str = "write") -> list[str]:
        """Write rows as Parquet files into a folder; see ``Engine``."""
        folder = Sink(sink)
        folder.prepare()
        try:
            files = enumerate(_files(data))
            tasks = (partial(_write, folder, part, data.schema, rows) for part, rows in files)
            return folder.commit(list(self._run(tasks, step, ahead=1)))
        except BaseException:
            folder.clear()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for run in list(self._runs):
            run.close()

    def _run(
        self,
        tasks: Iterable[Callable[[], Iterator[T]]],
        step: str,
        *,
        of: int = 0,
        ahead: int = AHEAD,
    ) -> Iterator[T]:
        """Run tasks and report how many are done, of all, or of those started if unknown."""

        def note(done: int, begun: int) -> None:
            self._progress(step, done, of or begun)

        run = Run(tasks, self._threads, ahead=ahead, on_done=note)
        self._runs.add(run)
        return iter(run)


def _map(
    paths: list[str], fn: PathsToRows, schema: pa.Schema, step: str
) -> Iterator[pa.RecordBatch]:
    try:
        yield from checked(
            fn(pa.record_batch({"path": pa.array(paths, pa.string())})), schema, step
        )
    except Exception as error:
        error.add_note(f"in step {step}, reading {sample(paths)}")
        raise


def _group(
    groups: Sorted | Spilled, number: int, fn: GroupsToRows, schema: pa.Schema, step: str
) -> Iterator[pa.RecordBatch]:
    try:
        yield from checked(fn(groups[number]), schema, step)
    except Exception as error:
        error.add_note(f"in step {step}, table {number + 1} of {len(groups)}")
        raise


def _write(
    folder: Sink, part: int, schema: pa.Schema, rows: list[pa.RecordBatch]
) -> Iterator[tuple[int, str]]:
    yield part, folder.write_attempt(part, schema, iter(rows))


def _files(data: Data) -> Iterator[list[pa.RecordBatch]]:
    """Group batches into files; there is at least one."""
    rows: list[pa.RecordBatch] = []
    n_rows = n_bytes = 0
    for batch in data.batches():
        if rows and (n_bytes + batch.nbytes > FILE_BYTES or n_rows + batch.num_rows > FILE_ROWS):
            yield rows
            rows, n_rows, n_bytes = [], 0, 0
        rows.append(batch)
        n_rows += batch.num_rows
        n_bytes += batch.nbytes
    yield rows
