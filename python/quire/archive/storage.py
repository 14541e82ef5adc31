"""Storage: the few calls of the operating system that an archive rests on.

Everything an archive writes goes through here, so that what must survive a power cut can be read in one place, and a
test can put a disk under it that forgets, tears and reorders whatever was not synchronised.

The rules: a file is only ever appended to, or written under another name, synchronised and renamed. After a file is made,
renamed or removed its folder is synchronised. An error of ``fsync`` is final: what was written may be gone, and asking
again may say otherwise (https://wiki.postgresql.org/wiki/Fsync_Errors).

Above: ``journal``, ``segment``, ``index``, ``archive``. Below: nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


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
        os.fsync(file)

    def close(self, file: int) -> None:
        """Let go of a file."""
        os.close(file)

    def sync_folder(self, path: Path) -> None:
        """Wait until the names in a folder are on the disk."""
        try:
            folder = os.open(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        except PermissionError:  # Windows does not open folders, and needs none of this
            return
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def rename(self, old: Path, new: Path) -> None:
        """Give a file its name, and wait until it is on the disk."""
        old.replace(new)
        self.sync_folder(new.parent)

    def remove(self, path: Path) -> None:
        """Take a file away."""
        path.unlink(missing_ok=True)


DISK = Disk()
