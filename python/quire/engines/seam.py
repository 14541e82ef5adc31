"""The seam: what batch work may ask of whoever runs it.

Work over a crawl is written once, as functions of Arrow record batches, and handed to an engine: the pool of
this machine, or a cluster. An engine knows three verbs.

* ``map_paths``: every path is read once, somewhere, and turned into rows.
* ``group_by_key``: rows of one key come together, whatever task made them.
* ``write``: rows become Parquet files, whole or not at all.

Engines lose machines and run tasks again, some of them twice at once. So a function is *pure* (the same rows in,
the same rows out, nothing else touched), *deterministic* (no clock, no chance, no order of a set) and *importable*: a
function of a module, or a ``functools.partial`` of one. In what order rows come out of an engine is not said, nor
in what order the rows of one key come to a function: one that cares sorts them.

A ``Data`` is only a handle, and lazy: a step runs when its rows are read or written, and again each time they are. What is
needed twice is written once, and its files are paths for ``map_paths``. No engine's own type shows above this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self, TypeAlias

if TYPE_CHECKING:
    import pyarrow as pa

#: Rows for some of the paths: gets a batch with the one column ``path``.
PathsToRows: TypeAlias = "Callable[[pa.RecordBatch], Iterator[pa.RecordBatch]]"

#: Rows for some of the groups: each table it gets holds whole groups. All rows of a key are in it, one after the other;
#: in what order the keys are is not said, since a cluster may know no unsigned numbers to sort by.
GroupsToRows: TypeAlias = "Callable[[pa.Table], Iterator[pa.RecordBatch]]"


class Data(Protocol):
    """Rows that an engine holds, or knows how to make."""

    @property
    def schema(self) -> pa.Schema:
        """The columns."""
        ...

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Bring the rows here, a batch at a time. Runs the work; what a function raises comes out here."""
        ...


class Engine(Protocol):
    """Runs batch work. A context manager: leaving it lets go of threads and machines."""

    def map_paths(
        self, paths: Sequence[str], fn: PathsToRows, schema: pa.Schema, *, step: str = "read"
    ) -> Data:
        """Turn paths into rows.

        Args:
            paths: what to read, in the engine's own choice of portions.
            fn: gets a portion, gives its rows.
            schema: the columns of those.
            step: a name for progress and logs.
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
        """Bring rows of one key together and turn each group into rows.

        Args:
            data: rows, of this engine.
            key: the column of the key: integers, strings or bytes. Rows without one are a group of their own.
            fn: gets whole groups, gives their rows.
            schema: the columns of those.
            step: a name for progress and logs.
            tasks: at least so many, for an engine that has to know before: a task's rows go through memory when they are read.

        Raises:
            KeyError: the rows have no such column.
            TypeError: the column is of another type.
        """
        ...

    def write(self, data: Data, sink: str, *, step: str = "write") -> list[str]:
        """Write rows as Parquet files into a folder, and name the files, sorted.

        A file is written under a hidden name of its attempt; all are renamed when all are whole. A task that runs twice
        leaves one file, one that dies leaves none, and neither does work that fails. Without rows there is one file, that
        of the schema.

        Args:
            data: rows, of this engine.
            sink: a folder, as a path or an address that fsspec knows; made where it is not there.
            step: a name for progress and logs.

        Raises:
            FileExistsError: the folder holds something already.
        """
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
