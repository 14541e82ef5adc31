"""The writer lock, held by an open file: it ends with the process, however the process ends."""

from __future__ import annotations

import errno
import os
import stat
import sys
from pathlib import Path

from quire.errors import ArchiveError, ArchiveLocked

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

#: Name of the lock in an archive.
LOCK = "lock"
#: A lock holds the number of a process. A file with anything else in it is not a lock.
_MOST_BYTES = 20


class WriterLock:
    """A lock held from construction until ``release``.

    Raises:
        ArchiveLocked: Another writer holds the lock.
        ArchiveError: Something else has the name of the lock. It is left as it is.
    """

    def __init__(self, folder: Path) -> None:
        self._file = _opened(folder / LOCK)
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
        found = os.pread(self._file, _MOST_BYTES + 1, 0)
        if found and (len(found) > _MOST_BYTES or not found.isdigit()):
            raise _refusal(folder / LOCK, "is not the lock of an archive")
        os.truncate(self._file, 0)
        os.write(self._file, str(os.getpid()).encode())

    def _holder(self) -> str:
        try:
            name = os.pread(self._file, _MOST_BYTES, 0).decode("ascii", "replace")
        except OSError:
            return ""
        return f" (process {name})" if name.isdigit() else ""

    def release(self) -> None:
        """Release the lock for the next writer."""
        os.close(self._file)


def _opened(path: Path) -> int:
    """Open the lock; never through a link, and without waiting for the other end of a pipe."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        file = os.open(path, flags, 0o666)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.EISDIR, errno.ENXIO}:
            raise _refusal(path, "is not a plain file") from None
        raise
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise _refusal(path, "is not a plain file")
    return file


def _refusal(path: Path, finding: str) -> ArchiveError:
    return ArchiveError(f"{path}: {finding}, so the archive cannot be locked; move it away")
