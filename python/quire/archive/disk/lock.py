"""The writer lock, held by an open file: it ends with the process, however the process ends."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from quire.errors import ArchiveLocked

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_NAME = "lock"


class WriterLock:
    """A lock held from construction until ``release``.

    Raises:
        ArchiveLocked: Another writer holds the lock.
    """

    def __init__(self, folder: Path) -> None:
        self._file = os.open(folder / _NAME, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            self._take(folder)
        except BaseException:
            os.close(self._file)
            raise

    def _take(self, folder: Path) -> None:
        try:
            if sys.platform == "win32":
                msvcrt.locking(self._file, msvcrt.LK_NBLCK, 1)
            else:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):  # Linux raises the first, Windows the second
            raise ArchiveLocked(
                f"{folder}: another writer{self._holder()} has this archive open; "
                "wait until it is done"
            ) from None
        os.truncate(self._file, 0)
        os.write(self._file, str(os.getpid()).encode())

    def _holder(self) -> str:
        try:
            name = os.pread(self._file, 20, 0).decode("ascii", "replace")
        except OSError:
            return ""
        return f" (process {name})" if name.isdigit() else ""

    def release(self) -> None:
        """Release the lock for the next writer."""
        os.close(self._file)
