"""Journals: where new pages go, one after the other.

A page in a journal stands alone, compressed quickly: whatever happens to its neighbours, it can be read. ``compact`` makes
segments of journals. A writer never goes on with a journal that it did not begin: after a crash its end may be torn,
and what was torn stays as it is, to be passed over.

A commit leaves a record of its own behind its pages, once the disk has confirmed them: its meta is the number of pages so far
(64 bits). So what is broken before the last such record was acknowledged, and is damage; behind it, it is what a crash cut
off, and nobody was promised it. Whole pages count wherever they are: nobody waits for the record itself to be safe.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from quire.archive.disk.storage import Disk, Writer, failing
from quire.archive.format.page_meta import About, Codec, pack, unpack
from quire.archive.format.record import (
    HEAD_BYTES,
    PLAIN_ZSTD,
    Gap,
    Head,
    RecordKind,
    Source,
    file_record,
    heads,
    new_tag,
    read_head,
    record,
)
from quire.errors import ArchiveError, CodecError, DamagedRecord

#: As quick as reading from a network, and a fifth of the bytes.
LEVEL = 3

_COMMIT = struct.Struct("<Q")


@dataclass(frozen=True, slots=True)
class Packed:
    """A page as a journal holds it.

    Attributes:
        about: what is known of it.
        frame: its body, compressed where that makes it shorter.
    """

    about: About
    frame: bytes


def packed(page: About, body: bytes) -> Packed:
    """Compress a page. Any thread may do so."""
    frame = PLAIN_ZSTD.encode(body, LEVEL)
    codec = Codec.ZSTD
    if len(frame) >= len(body):
        frame, codec = body, Codec.RAW
    return Packed(replace(page, frame=len(frame), codec=codec, same_as=0), frame)


class JournalWriter:
    """Appends pages to a journal of its own.

    Args:
        path: the file, which must not be there.
        disk: where it is.

    Raises:
        StorageFailed: the disk did not take it; so do all methods.
    """

    def __init__(self, path: Path, disk: Disk) -> None:
        self.path = path
        self._tag = new_tag()
        self._writer = Writer(disk, path)
        self._pages = 0
        self._committed = 0
        try:
            self._writer.append(file_record("journal", self._tag))
            self._writer.sync()
            with failing(path.parent, is_final=True):
                disk.sync_folder(path.parent)
        except BaseException:
            self._writer.discard()
            raise

    @property
    def end(self) -> int:
        """Where the next page goes."""
        return self._writer.end

    def add(self, page: Packed) -> int:
        """Write a page, and say where it is. It is safe after ``sync``."""
        head = record(RecordKind.PAGE, pack([page.about]), len(page.frame), self._tag)
        offset = self._writer.append(head, page.frame)
        self._pages += 1
        return offset

    def sync(self) -> None:
        """Wait until every page that was added is on the disk.

        Raises:
            StorageFailed: it may not be. Nothing more can be added: open the archive again.
        """
        # Also where there is nothing new: a writer that has failed must not say that all is well.
        self._writer.check()
        if self._committed < self._pages:
            self._writer.sync()
            self._committed = self._pages
            self._writer.append(record(RecordKind.COMMIT, _COMMIT.pack(self._pages), 0, self._tag))

    def finish(self) -> None:
        """Make all of it safe, and let go of the file."""
        self.sync()
        self._writer.sync()
        self._writer.close()

    def close(self) -> None:
        """Let go of the file; what was not synchronised may be lost."""
        self._writer.close()


def journal_pages(source: Source, start: int = 0) -> Iterator[tuple[int, About] | Gap | Head]:
    """Find the pages of a journal, with their places; damaged ones are gaps. Commits are given as their heads."""
    for found in heads(source, start):
        if isinstance(found, Gap):
            yield found
        elif found.kind == RecordKind.PAGE:
            try:
                yield found.offset, page_at(source, found)
            except ArchiveError:
                yield Gap(found.offset, found.end)
        elif found.kind == RecordKind.COMMIT:
            yield found
        elif found.kind == RecordKind.FILE:
            try:
                source.meta(found)
            except DamagedRecord:
                yield Gap(found.offset, found.end)


def committed_pages(source: Source, commit: Head) -> int:
    """Read how many pages a journal has up to a commit.

    Raises:
        DamagedRecord: the record is not what was written.
    """
    meta = source.meta(commit)
    if len(meta) != _COMMIT.size:
        raise source.damaged(commit.offset, "is no commit")
    count: int = _COMMIT.unpack(meta)[0]
    return count


def page_at(source: Source, head: Head) -> About:
    """Read what is known of a page in a journal.

    Raises:
        DamagedRecord: it is not what was written.
    """
    try:
        pages = unpack(source.meta(head))
    except CodecError as error:
        raise source.damaged(head.offset, f"does not describe a page: {error}") from None
    if (
        len(pages) != 1
        or pages[0].frame != head.payload_bytes
        or pages[0].codec not in {Codec.RAW, Codec.ZSTD}
    ):
        raise source.damaged(head.offset, "does not describe its page")
    return pages[0]


def read_page(source: Source, offset: int) -> tuple[About, bytes]:
    """Read a page of a journal, checked.

    Raises:
        DamagedRecord: it is not what was written.
    """
    head = read_head(source.at(offset, HEAD_BYTES), offset)
    if head is None or head.kind != RecordKind.PAGE:
        raise DamagedRecord(
            f"{source.name}: no page begins at {offset}", file=source.name, offset=offset
        )
    page = page_at(source, head)
    body = source.at(head.payload_offset, page.frame)
    if page.codec == Codec.ZSTD:
        try:
            body = PLAIN_ZSTD.decode(body, page.length)
        except CodecError as error:
            raise source.damaged(head.offset, f"has a damaged page: {error}") from None
    if not page.is_of(body):
        raise source.damaged(head.offset, "has a page whose bytes are not those that were stored")
    return page, body
