"""Storage: the few system calls that an archive depends on.

Everything an archive writes goes through this module. So the rules for surviving a power cut are
in one place, and tests can substitute a disk that forgets, tears and reorders everything that was
not synced.

The rules: a file is only appended to, or written under a temporary name, synced and renamed.
After a file is created, renamed or removed, its folder is synced. An ``fsync`` error is final:
the written data may be gone, and a second call may wrongly report success
(https://wiki.postgresql.org/wiki/Fsync_Errors).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from quire.errors import ArchiveError, StorageFailed

if sys.platform == "darwin":
    import fcntl


class Disk:
    """The real disk."""

    def create(self, path: Path) -> int:
        """Create a new file for appending and return its descriptor.

        Raises:
            FileExistsError: The file already exists.
        """
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | getattr(os, "O_BINARY", 0)
        return os.open(path, flags, 0o666)

    def append(self, file: int, parts: Iterable[bytes]) -> int:
        """Append all bytes to a file and return how many were written."""
        data = memoryview(b"".join(parts))
        written = 0
        while written < len(data):
            written += os.write(file, data[written:])
        return written

    def sync(self, file: int) -> None:
        """Wait until the file's data is on disk."""
        if sys.platform == "darwin":  # fsync stops at the drive's own cache there
            fcntl.fcntl(file, fcntl.F_FULLFSYNC)
        else:
            os.fsync(file)

    def close(self, file: int) -> None:
        """Close a file."""
        os.close(file)

    def make_folder(self, path: Path) -> None:
        """Create a folder and missing parents, if needed, and sync their names to disk."""
        missing = [folder for folder in [path, *path.parents] if not folder.exists()]
        for folder in reversed(missing):
            folder.mkdir(exist_ok=True)
            self.sync_folder(folder.parent)

    def sync_folder(self, path: Path) -> None:
        """Wait until the names in a folder are on disk."""
        if sys.platform == "win32":  # cannot open folders, and needs no sync
            return
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def rename(self, old: Path, new: Path) -> None:
        """Rename a file, replacing any other; the name is safe after ``sync_folder``."""
        old.replace(new)

    def remove(self, path: Path) -> None:
        """Remove a file if it exists; it may come back before ``sync_folder``."""
        path.unlink(missing_ok=True)


class Writer:
    """A new file, written from start to end. After an error it accepts no more data.

    Args:
        disk: The disk the file is on.
        path: The file, which must not exist.

    Raises:
        StorageFailed: The disk could not create the file. All methods raise it too.
    """

    def __init__(self, disk: Disk, path: Path) -> None:
        self.path = path
        self._disk = disk
        self._has_failed = False
        with failing(path):
            self._file: int | None = disk.create(path)
        self.end: int = 0

    def append(self, *parts: bytes) -> int:
        """Append bytes and return the offset where they begin."""
        start = self.end
        with self._failing():
            self.end += self._disk.append(self.check(), parts)
        return start

    def sync(self) -> None:
        """Wait until everything written is on disk."""
        with self._failing(is_final=True):
            self._disk.sync(self.check())
            self.path.stat()  # fsync also succeeds on a file that was removed meanwhile

    def finish(self, name: Path) -> None:
        """Sync the file and give it its final name, safely on disk."""
        self.sync()
        self.close()
        with failing(name, is_final=True):
            self._disk.rename(self.path, name)
            self._disk.sync_folder(name.parent)

    def close(self) -> None:
        """Close the file; data that was not synced may be lost."""
        if self._file is not None:
            file, self._file = self._file, None
            with failing(self.path, is_final=True):
                self._disk.close(file)

    def discard(self) -> None:
        """Remove the file. If that fails, the next writer removes it."""
        with suppress(OSError):
            self.close()
        with suppress(OSError):
            self._disk.remove(self.path)

    def check(self) -> int:
        """Return the descriptor.

        Raises:
            ArchiveError: The writer is closed, or an earlier write failed.
        """
        if self._file is None:
            raise ArchiveError(f"{self.path}: this writer is closed; open the archive again")
        if self._has_failed:
            raise ArchiveError(
                f"{self.path}: an earlier write failed, and its data may be lost; "
                "open the archive again to continue"
            )
        return self._file

    @contextmanager
    def _failing(self, *, is_final: bool = False) -> Iterator[None]:
        try:
            with failing(self.path, is_final=is_final):
                yield
        except BaseException:
            # Also on an interrupt: half a record may be written, and the next record would be
            # read as the rest of it.
            self._has_failed = True
            raise


@contextmanager
def failing(path: Path, *, is_final: bool = False) -> Iterator[None]:
    """Turn an operating system error into a ``StorageFailed`` that names the file."""
    try:
        yield
    except (StorageFailed, FileExistsError):
        raise
    except OSError as error:
        what = "was not confirmed by the disk" if is_final else "could not be written"
        raise StorageFailed(
            f"{path}: {what}: {error.strerror or error}",
            file=str(path),
            code=error.errno,
            is_final=is_final,
        ) from error


DISK = Disk()
