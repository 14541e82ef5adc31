"""Storage: the few calls of the operating system that an archive rests on.

Everything an archive writes goes through here, so that what must survive a power cut can be read in one place, and a
test can put a disk under it that forgets, tears and reorders whatever was not synchronised.

The rules: a file is only ever appended to, or written under another name, synchronised and renamed. After a file is made,
renamed or removed its folder is synchronised. An error of ``fsync`` is final: what was written may be gone, and asking
again may say otherwise (https://wiki.postgresql.org/wiki/Fsync_Errors).
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
    """A real disk."""

    def create(self, path: Path) -> int:
        """Make a new file for appending, and give its descriptor.

        Raises:
            FileExistsError: there is one of that name.
        """
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | getattr(os, "O_BINARY", 0)
        return os.open(path, flags, 0o666)

    def append(self, file: int, parts: Iterable[bytes]) -> int:
        """Write bytes at the end of a file, all of them, and say how many."""
        data = memoryview(b"".join(parts))
        written = 0
        while written < len(data):
            written += os.write(file, data[written:])
        return written

    def sync(self, file: int) -> None:
        """Wait until what was written is on the disk."""
        if sys.platform == "darwin":  # where fsync stops at the drive's own memory
            fcntl.fcntl(file, fcntl.F_FULLFSYNC)
        else:
            os.fsync(file)

    def close(self, file: int) -> None:
        """Let go of a file."""
        os.close(file)

    def make_folder(self, path: Path) -> None:
        """Make a folder that may be there, and the missing ones above it; wait until their names are on the disk."""
        missing = [folder for folder in [path, *path.parents] if not folder.exists()]
        for folder in reversed(missing):
            folder.mkdir(exist_ok=True)
            self.sync_folder(folder.parent)

    def sync_folder(self, path: Path) -> None:
        """Wait until the names in a folder are on the disk."""
        if sys.platform == "win32":  # does not open folders, and needs none of this
            return
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def rename(self, old: Path, new: Path) -> None:
        """Give a file its name, in place of one that has it; the name is safe after ``sync_folder``."""
        old.replace(new)

    def remove(self, path: Path) -> None:
        """Take a file away, if it is there; it may come back before ``sync_folder``."""
        path.unlink(missing_ok=True)


class Writer:
    """A new file, written from its beginning to its end. After an error it takes no more.

    Args:
        disk: where it is.
        path: the file, which must not be there.

    Raises:
        StorageFailed: the disk did not take it; so do all methods.
    """

    def __init__(self, disk: Disk, path: Path) -> None:
        self.path = path
        self._disk = disk
        self._has_failed = False
        with failing(path):
            self._file: int | None = disk.create(path)
        self.end: int = 0

    def append(self, *parts: bytes) -> int:
        """Write bytes at the end, and say where they begin."""
        start = self.end
        with self._failing():
            self.end += self._disk.append(self.check(), parts)
        return start

    def sync(self) -> None:
        """Wait until what was written is on the disk."""
        with self._failing(is_final=True):
            self._disk.sync(self.check())
            self.path.stat()  # a file that was removed meanwhile is safe as well, and gone

    def finish(self, name: Path) -> None:
        """Give the file its name, all of it safe."""
        self.sync()
        self.close()
        with failing(name, is_final=True):
            self._disk.rename(self.path, name)
            self._disk.sync_folder(name.parent)

    def close(self) -> None:
        """Let go of the file; what was not synchronised may be lost."""
        if self._file is not None:
            file, self._file = self._file, None
            with failing(self.path, is_final=True):
                self._disk.close(file)

    def discard(self) -> None:
        """Leave nothing behind; what cannot be removed is left to the next writer."""
        with suppress(OSError):
            self.close()
        with suppress(OSError):
            self._disk.remove(self.path)

    def check(self) -> int:
        """Give the descriptor.

        Raises:
            ArchiveError: it is closed, or has failed.
        """
        if self._file is None:
            raise ArchiveError(f"{self.path}: this writer is closed; open the archive again")
        if self._has_failed:
            raise ArchiveError(
                f"{self.path}: writing failed before, and what was written then may be lost; "
                "open the archive again to go on"
            )
        return self._file

    @contextmanager
    def _failing(self, *, is_final: bool = False) -> Iterator[None]:
        try:
            with failing(self.path, is_final=is_final):
                yield
        except BaseException:
            # Also when it was interrupted: half a record may be there, and the next one would be taken for its rest.
            self._has_failed = True
            raise


@contextmanager
def failing(path: Path, *, is_final: bool = False) -> Iterator[None]:
    """Name the file in what the system has to say against it."""
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
