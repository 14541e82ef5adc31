"""A disk whose n-th call fails, once or from then on, or is the last call before a kill."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from tests.archive.crash.ingest import Quick


class Killed(BaseException):
    """The process is dead: nothing it still tries has any effect."""


class FaultyDisk(Quick):
    """A disk with one fault.

    Args:
        call: Number of the call that fails, from 1.
        error: Error number; None for a kill.
        is_sticky: Whether all later calls fail too.
    """

    def __init__(self, call: int, error: int | None, *, is_sticky: bool = False) -> None:
        self._call = call
        self._error = error
        self._is_sticky = is_sticky or error is None
        self.calls: list[str] = []

    @property
    def has_failed(self) -> bool:
        """Whether the call was reached."""
        return len(self.calls) >= self._call

    def _count(self, name: str) -> None:
        self.calls.append(name)
        if self._is_now():
            self._fail()

    def _is_now(self) -> bool:
        done = len(self.calls)
        return done == self._call or (self._is_sticky and done > self._call)

    def _fail(self) -> None:
        if self._error is None:
            raise Killed
        raise OSError(self._error, os.strerror(self._error))

    def create(self, path: Path) -> int:
        """Create a file, or fail."""
        self._count("create")
        return super().create(path)

    def append(self, file: int, parts: Iterable[bytes]) -> int:
        """Write everything, or a part of it before failing."""
        data = b"".join(parts)
        self.calls.append("append")
        if self._is_now():
            if len(self.calls) == self._call:
                super().append(file, [data[: len(data) * 2 // 3]])
            self._fail()
        return super().append(file, [data])

    def sync(self, file: int) -> None:
        """Sync, or fail."""
        self._count("sync")
        super().sync(file)

    def close(self, file: int) -> None:
        """Close in any case, so that the test keeps no files open."""
        super().close(file)
        self._count("close")

    def make_folder(self, path: Path) -> None:
        """Make a folder, or fail."""
        self._count("make_folder")
        super().make_folder(path)

    def sync_folder(self, path: Path) -> None:
        """Sync, or fail."""
        self._count("sync_folder")
        super().sync_folder(path)

    def rename(self, old: Path, new: Path) -> None:
        """Rename, or fail."""
        self._count("rename")
        super().rename(old, new)

    def remove(self, path: Path) -> None:
        """Remove, or fail."""
        self._count("remove")
        super().remove(path)
