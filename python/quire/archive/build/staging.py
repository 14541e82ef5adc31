"""Staging: an archive that is there when it is whole, and before that not at all.

A new archive is made in a folder beside its own (``crawl.quire.part``), which gets its name when the work is done. What a
crash leaves there is no archive of that name, and the next attempt clears it away; the lock in it tells a crash from
work that still goes on.
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

#: What the folder of a new archive is called until it is whole.
PART = ".part"


@contextmanager
def staged(folder: Path, disk: Disk) -> Iterator[Archive]:
    """Open an archive for writing; or make one, which gets its name if all goes well and it has a page.

    Raises:
        ArchiveError: the folder is there and is no archive.
        ArchiveLocked: another writer holds it, or makes it at this moment.
        StorageFailed: the disk did not take the name.
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
            is_empty = not len(archive)
        if not is_empty:
            with failing(folder, is_final=True):
                disk.rename(part, folder)  # in place of an empty folder too
                disk.sync_folder(folder.parent)
    finally:
        if part.exists():
            # What cannot be removed is left to the next attempt; what went wrong before matters more.
            with suppress(OSError, ArchiveError):
                _clear(part, disk)
                part.rmdir()


def _clear(part: Path, disk: Disk) -> None:
    """Remove what was left by work that was cut off.

    Raises:
        ArchiveLocked: it was not cut off.
        ArchiveError: there is something else.
    """
    if not part.exists():
        return
    if not part.is_dir():
        raise ArchiveError(
            f"{part}: a file, in the way of a folder for the work; give it another name"
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
