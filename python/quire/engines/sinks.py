"""Sinks: folders of Parquet files that are filled completely or not at all.

Each part is written under a name of its own, hidden from readers by a dot. When every part is
complete, one process renames one attempt of each and removes the others. Local paths use the
operating system; addresses (``s3://…``, ``hdfs://…``) use fsspec.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import IO, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from quire.atomic import create, naming, sync_file, sync_folder
from quire.errors import EngineError, MissingExtra

# Renaming in an object store is a copy: do many at once, since each mostly waits.
_RENAMES_AT_ONCE = 16
_ATTEMPT = ".attempt-"


class _Folder(Protocol):
    """The operations a folder must support."""

    def make(self) -> None: ...
    def names(self) -> list[str]: ...
    def open(self, name: str) -> IO[bytes]: ...
    def finish(self, stream: IO[bytes]) -> None: ...
    def rename(self, old: str, new: str) -> None: ...
    def sync(self) -> None: ...
    def remove(self, name: str) -> None: ...
    def address(self, name: str) -> str: ...


class _LocalFolder:
    """A folder on this machine."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)

    def make(self) -> None:
        self._path.mkdir(parents=True, exist_ok=True)

    def names(self) -> list[str]:
        return [entry.name for entry in self._path.iterdir()]

    def open(self, name: str) -> IO[bytes]:
        return os.fdopen(create(self._path / name), "wb")

    def finish(self, stream: IO[bytes]) -> None:
        sync_file(stream)

    def rename(self, old: str, new: str) -> None:
        (self._path / old).replace(self._path / new)

    def sync(self) -> None:
        sync_folder(self._path)

    def remove(self, name: str) -> None:
        (self._path / name).unlink(missing_ok=True)

    def address(self, name: str) -> str:
        return str(self._path / name)


class _RemoteFolder:
    """A folder in a store that fsspec supports."""

    def __init__(self, address: str) -> None:
        try:
            # Optional, slow to import, and without types.
            from fsspec.core import url_to_fs  # type: ignore[import-untyped]  # noqa: PLC0415
        except ImportError:
            raise MissingExtra("fsspec is not installed", extra="archive") from None
        self._address = address.rstrip("/")
        self._store, self._path = url_to_fs(self._address)

    def make(self) -> None:
        self._store.makedirs(self._path, exist_ok=True)

    def names(self) -> list[str]:
        self._store.invalidate_cache(self._path)
        try:
            found = self._store.ls(self._path, detail=False)
        except FileNotFoundError:  # an object store has no empty folders
            return []
        # Some stores list the folder itself.
        return [
            path.rpartition("/")[2] for path in found if path.strip("/") != self._path.strip("/")
        ]

    def open(self, name: str) -> IO[bytes]:
        stream: IO[bytes] = self._store.open(f"{self._path}/{name}", "wb")
        return stream

    def finish(self, stream: IO[bytes]) -> None:
        stream.flush()
        with suppress(OSError, AttributeError):  # a stream of a store has no descriptor
            os.fsync(stream.fileno())

    def rename(self, old: str, new: str) -> None:
        self._store.mv(f"{self._path}/{old}", f"{self._path}/{new}")

    def sync(self) -> None:
        """A store keeps all acknowledged data."""

    def remove(self, name: str) -> None:
        with suppress(FileNotFoundError):
            self._store.rm_file(f"{self._path}/{name}")

    def address(self, name: str) -> str:
        return f"{self._address}/{name}"


class Sink:
    """A folder that is being filled.

    Args:
        address: A path or an fsspec address.
    """

    def __init__(self, address: str) -> None:
        self.address: str = address
        self._folder: _Folder = (
            _RemoteFolder(address) if "://" in address else _LocalFolder(address)
        )

    def prepare(self) -> None:
        """Create the folder if needed.

        Raises:
            FileExistsError: The folder is not empty.
        """
        self._folder.make()
        names = self._folder.names()
        if names:
            raise FileExistsError(
                f"{self.address}: holds {min(names)}{' and more' if len(names) > 1 else ''}; "
                "expected a new or empty folder"
            )

    def write_attempt(self, part: int, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> str:
        """Write a part under a name of its own and return the name. A failure leaves nothing.

        Raises:
            OSError: the disk is full or failed; the error names the folder.
        """
        name = f"{_ATTEMPT}{part:06d}-{uuid.uuid4().hex}"
        try:
            with naming(self.address), self._folder.open(name) as stream:
                with pq.ParquetWriter(stream, schema, compression="zstd") as writer:
                    for batch in batches:
                        writer.write_batch(batch)
                self._folder.finish(stream)
        except BaseException:
            self._folder.remove(name)
            raise
        return name

    def commit(self, attempts: Sequence[tuple[int, str]]) -> list[str]:
        """Give each part its final name, remove other attempts, and return the files, sorted.

        Args:
            attempts: Number of each part, and the name it was written under.

        Raises:
            EngineError: An attempt is missing.
        """
        missing = {name for _, name in attempts} - set(self._folder.names())
        if missing:
            raise EngineError(
                f"{self.address}: {len(missing)} of {len(attempts)} parts were written elsewhere; "
                "expected a folder that all machines share"
            )
        parts = {name: f"part-{part:06d}.parquet" for part, name in attempts}
        with ThreadPoolExecutor(_RENAMES_AT_ONCE) as pool:
            list(pool.map(self._folder.rename, parts.keys(), parts.values()))
        self._folder.sync()
        self.clear()
        return sorted(self._folder.address(name) for name in parts.values())

    def clear(self) -> None:
        """Remove every attempt."""
        for name in self._folder.names():
            if name.startswith(_ATTEMPT):
                self._folder.remove(name)
