"""Journals: where new pages go, one after the other.

A page in a journal stands alone, compressed quickly: whatever happens to its neighbours, it can be read. ``compact`` makes
segments of journals. A writer never goes on with a journal that it did not begin: after a crash its end may be torn,
and what was torn stays as it is, to be passed over.

Above: ``archive``. Below: ``layout``, ``pages``, ``storage``, ``_core``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from quire import _core
from quire.archive.layout import Gap, Head, Kind, Source, file_record, heads, record
from quire.archive.pages import About, Codec, pack, unpack
from quire.archive.storage import Disk
from quire.errors import ArchiveError, DamagedRecord

#: As quick as reading from a network, and a fifth of the bytes.
LEVEL = 3

_ALONE = _core.Base(b"")


class JournalWriter:
    """Appends pages to a journal of its own.

    Args:
        path: the file, which must not be there.
        disk: where it is.
    """

    def __init__(self, path: Path, disk: Disk) -> None:
        self.path = path
        self._disk = disk
        self._file: int | None = disk.create(path)
        self._is_synced = True
        self._has_failed = False
        self.end: int = disk.append(self._file, [file_record("journal")])
        disk.sync(self._file)
        disk.sync_folder(path.parent)

    def add(self, page: About, body: bytes) -> tuple[int, About]:
        """Write a page, and say where it is. It is safe after ``sync``."""
        self._check()
        frame = _ALONE.encode(body, LEVEL)
        codec = Codec.ZSTD
        if len(frame) >= len(body):
            frame, codec = body, Codec.RAW
        stored = replace(page, frame=len(frame), codec=codec)
        offset = self.end
        self._is_synced = False
        self.end += self._write([record(Kind.PAGE, pack([stored]), len(frame)), frame])
        return offset, stored

    def sync(self) -> None:
        """Wait until every page that was added is on the disk.

        Raises:
            OSError: it may not be. Nothing more can be added: open the archive again.
        """
        self._check()
        if self._is_synced or self._file is None:
            return
        try:
            self._disk.sync(self._file)
        except OSError:
            self._has_failed = True
            raise
        self._is_synced = True

    def close(self) -> None:
        """Let go of the file; what was not synchronised may be lost."""
        if self._file is not None:
            self._disk.close(self._file)
            self._file = None

    def _write(self, parts: list[bytes]) -> int:
        assert self._file is not None  # noqa: S101 - checked by the callers
        try:
            return self._disk.append(self._file, parts)
        except OSError:
            # Half a record may be there. What follows it would be found, but not what it meant to be.
            self._has_failed = True
            raise

    def _check(self) -> None:
        if self._file is None:
            raise ArchiveError(f"{self.path}: this writer is closed; open the archive again")
        if self._has_failed:
            raise ArchiveError(
                f"{self.path}: writing failed before, and what was written then may be lost; "
                "open the archive again to go on"
            )


def journal_pages(source: Source, start: int = 0) -> Iterator[tuple[int, About] | Gap]:
    """Find the pages of a journal, with their places; damaged ones are gaps."""
    for found in heads(source, start):
        if isinstance(found, Gap):
            yield found
        elif found.kind == Kind.PAGE:
            try:
                yield found.offset, page_at(source, found)
            except ArchiveError:
                yield Gap(found.offset, found.end)


def page_at(source: Source, head: Head) -> About:
    """Read what is known of a page in a journal."""
    pages = unpack(source.meta(head))
    if len(pages) != 1 or pages[0].frame != head.payload_bytes:
        raise DamagedRecord(
            f"{source.name}: the record at {head.offset} does not describe its page",
            file=source.name,
            offset=head.offset,
        )
    return pages[0]


def read_frame(source: Source, head: Head, page: About) -> bytes:
    """Read the body of a page in a journal, unchecked."""
    frame = source.at(head.payload_offset, page.frame)
    return frame if page.codec == Codec.RAW else _ALONE.decode(frame, page.length)
