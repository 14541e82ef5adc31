"""Staging: a new archive appears only when it is complete.

It is built in a folder beside its final place (``crawl.quire.part``) and renamed at the end. A
folder that a crash leaves there does not count as an archive, and the next attempt removes it. The
lock in it shows whether the earlier attempt crashed or is still running.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from quire.archive.archive import Archive
from quire.archive.disk.lock import WriterLock
from quire.archive.disk.storage import Disk, failing
from quire.archive.format.stored_file import data_files
from quire.errors import ArchiveError

#: Suffix of the folder of a new archive until it is complete.
PART = ".part"


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
    part = folder.with_name(folder.name + PART)
    _clear(part, disk)
    try:
        with Archive.create(part, disk=disk) as archive:
            yield archive
            is_empty = not len(archive) and not archive.companion_count()
        if not is_empty:
            with failing(folder, is_final=True):
                disk.rename(part, folder)  # also replaces an empty folder
                disk.sync_folder(folder.parent)
    finally:
        if part.exists():
            # If this fails, the next attempt cleans up; the original error matters more.
            with suppress(OSError, ArchiveError):
                _clear(part, disk)
                part.rmdir()


def _clear(part: Path, disk: Disk) -> None:
    """Remove the leftovers of an interrupted attempt.

    Raises:
        ArchiveLocked: The attempt is still running.
        ArchiveError: The folder holds something else.
    """
    if not part.exists():
        return
    if not part.is_dir():
        raise ArchiveError(
            f"{part}: is a file, but a folder of this name is needed for the work; rename it"
        )
    known = {path.name for path in data_files(part)} | {"archive.json", "lock"}
    for path in part.iterdir():
        is_ours = path.name in known or path.suffix in {".index", ".part"}
        if not is_ours or not path.is_file():
            raise ArchiveError(
                f"{part}: holds {path.name}, which no build has left there; move it away"
            )
    lock = WriterLock(part)
    try:
        for path in part.iterdir():
            disk.remove(path)
    finally:
        lock.release()
