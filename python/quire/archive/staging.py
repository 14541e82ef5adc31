"""Staging: a new archive appears only when it is complete.

It is made in a hidden folder beside its final place (``.crawl.quire.3f9c01d27a5be846.part``) and
renamed at the end. The name is random, so that a folder or link that is already there is never used.
The lock in it shows whether an earlier attempt crashed or is still running. What a crash left is
removed by the next attempt: it is known by its name, and holds only files of an archive.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from quire.archive.archive import Archive
from quire.archive.disk.lock import LOCK, WriterLock
from quire.archive.disk.storage import Disk, failing
from quire.archive.format.marker import MARK
from quire.archive.format.stored_file import is_part, is_stored
from quire.errors import ArchiveError, ArchiveLocked

#: Suffix of the folder of a new archive until it is complete.
PART = ".part"
# Few characters of the archive's name: with four bytes each they still fit into a file name.
_KEPT_CHARACTERS = 40


@contextmanager
def staged(folder: Path, disk: Disk) -> Iterator[Archive]:
    """Open an archive for writing, or make a new one.

    A new archive gets its name at the end, if no error occurs and it is not empty.

    Raises:
        ArchiveError: The folder exists and is not an archive.
        ArchiveLocked: Another writer has it open, or is making it.
        StorageFailed: The disk did not confirm the rename.
    """
    folder = folder.absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        with Archive.open(folder, write=True, disk=disk) as archive:
            yield archive
        return
    part = new_part(folder, disk)
    try:
        with Archive.create(part, disk=disk) as archive:
            yield archive
            is_empty = not len(archive) and not archive.companion_count()
        if not is_empty:
            with failing(folder, is_final=True):
                disk.rename(part, folder)  # also replaces an empty folder
                disk.sync_folder(folder.parent)
    finally:
        discard(part, disk)


def new_part(folder: Path, disk: Disk) -> Path:
    """Choose the folder for a new archive, and remove what crashed attempts have left.

    Raises:
        ArchiveLocked: Another process is making this archive.
    """
    start = f".{folder.name[:_KEPT_CHARACTERS]}."
    pattern = re.compile(re.escape(start) + r"[0-9a-f]{16}" + re.escape(PART))
    left = []
    if folder.parent.is_dir():
        left = [path for path in folder.parent.iterdir() if pattern.fullmatch(path.name)]
    for path in left:
        with suppress(OSError):
            _clear(path, disk)
    return folder.with_name(f"{start}{secrets.token_hex(8)}{PART}")


def discard(part: Path, disk: Disk) -> None:
    """Remove the folder of an archive that was not completed. If that fails, the next attempt does."""
    with suppress(OSError, ArchiveError):
        _clear(part, disk)


def _clear(part: Path, disk: Disk) -> None:
    """Remove a folder with the files of an archive. A folder with anything else is left alone.

    Raises:
        ArchiveLocked: A writer has it open.
    """
    if not stat.S_ISDIR(part.lstat().st_mode):
        return
    names = [path.name for path in part.iterdir()]
    if not all(_is_ours(part / name) for name in names):
        return
    if LOCK in names:
        try:
            lock = WriterLock(part)
        except ArchiveLocked:
            raise ArchiveLocked(
                f"{part}: another process is making this archive; wait until it is done"
            ) from None
        except ArchiveError:
            return
        lock.release()
    for name in names:
        disk.remove(part / name)
    part.rmdir()


def _is_ours(path: Path) -> bool:
    is_known = path.name in {MARK, LOCK} or is_stored(path.name) or is_part(path.name)
    return is_known and stat.S_ISREG(os.lstat(path).st_mode)
