"""The seam: the interface between batch work and the engine that runs it.

Work over a crawl is written once, as functions of Arrow record batches, and handed to an engine:
the threads of this machine, or a cluster. An engine has three operations.

* ``map_paths``: read every path once, anywhere, and turn it into rows.
* ``group_by_key``: bring rows with the same key together, whichever task made them.
* ``write``: write rows to Parquet files, all or nothing.

Engines lose machines and run tasks again, sometimes twice at once. So a function must be *pure*
(the same rows in give the same rows out, and nothing else is touched), *deterministic* (no clock,
no randomness, no order of a set) and *importable*: a function of a module, or a
``functools.partial`` of one. Neither the order of an engine's rows nor the order of the rows of a
key is defined; a function that needs an order sorts them.

A ``Data`` is only a lazy handle: a step runs when its rows are read or written, and again each
time. Write data that is needed twice; its files are paths for ``map_paths``. Types of a particular
engine never appear above this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self, TypeAlias

if TYPE_CHECKING:
    import pyarrow as pa

#: Makes rows from some paths: gets a batch with the single column ``path``.
PathsToRows: TypeAlias = "Callable[[pa.RecordBatch], Iterator[pa.RecordBatch]]"

#: Makes rows from some groups: each table holds whole groups, with all rows of a key in a row. The
#: order of the keys is not defined, since a cluster may have no unsigned numbers to sort by.
GroupsToRows: TypeAlias = "Callable[[pa.Table], Iterator[pa.RecordBatch]]"


class Data(Protocol):
    """Rows that an engine has or can make."""

    @property
    def schema(self) -> pa.Schema:
        """The columns."""
        ...

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Run the work and yield its rows, a batch at a time; raises the errors of functions."""
        ...


class Engine(Protocol):
    """Runs batch work. Leaving the context manager releases its threads and machines."""

    def map_paths(
        self, paths: Sequence[str], fn: PathsToRows, schema: pa.Schema, *, step: str = "read"
    ) -> Data:
        """Turn paths into rows.

        Args:
            paths: Paths to read; the engine splits them into portions.
            fn: Gets a portion, yields its rows.
            schema: Columns of these rows.
            step: Name of the step for progress and logs.
        """
        ...

    def group_by_key(
        self,
        data: Data,
        key: str,
        fn: GroupsToRows,
        schema: pa.Schema,
        *,
        step: str = "group",
        tasks: int = 1,
    ) -> Data:
        """Bring rows with the same key together, and turn each group into rows.

        Args:
            data: Rows of this engine.
            key: Column of the key: integers, strings or bytes. Rows without a key form a group.
            fn: Gets whole groups, yields their rows.
            schema: Columns of these rows.
            step: Name of the step for progress and logs.
            tasks: Minimum number of tasks, for an engine that must know it beforehand: the rows of
                a task pass through memory when they are read.

        Raises:
            KeyError: The rows have no such column.
            TypeError: The column has another type.
        """
        ...

    def write(self, data: Data, sink: str, *, step: str = "write") -> list[str]:
        """Write rows as Parquet files into a folder, and return the files, sorted.

        A file is written under a hidden name for each attempt; all are renamed when all are
        complete. A task that runs twice leaves one file; a task that dies, or work that fails,
        leaves none. Without any rows, one file with the schema is written.

        Args:
            data: Rows of this engine.
            sink: A folder, as a path or an fsspec address; created if needed.
            step: Name of the step for progress and logs.

        Raises:
            FileExistsError: The folder is not empty.
        """
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
