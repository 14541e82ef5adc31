"""Journals: the files that new pages are appended to.

A page in a journal is compressed quickly and on its own, so it can be read whatever happens to its
neighbours. ``compact`` turns journals into segments. A writer never continues a journal that it
did not start: after a crash the end may be torn, and the torn part stays there and is skipped.

A companion is stored like a page, in a record of another kind. A page with the same bytes as an
earlier page of the journal is stored as a pointer: the frame is the offset of that record (64
bits). Such pages are revisits, and copies under several addresses.

Once the disk has confirmed some pages, a commit record follows them; its meta is the number of
pages and companions so far (64 bits). So anything broken before the last commit record had been
acknowledged and is damage; anything broken after it was cut off by a crash and never promised.
Intact pages count wherever they are, because a commit does not wait for its own record to be on
disk.
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

#: As fast as reading from a network, at a fifth of the size.
LEVEL = 3

#: Kinds of records that hold a page or a companion.
PAGE_KINDS = frozenset({RecordKind.PAGE, RecordKind.COMPANION})

#: Maximum number of earlier pages that a writer compares new ones with, some 20 MB of memory.
MOST_REMEMBERED = 1 << 17

_COMMIT = struct.Struct("<Q")
_POINTER = struct.Struct("<Q")


@dataclass(frozen=True, slots=True)
class Packed:
    """A page as a journal stores it.

    Attributes:
        about: Metadata of the page.
        frame: Its body, compressed if that makes it shorter.
    """

    about: About
    frame: bytes


def packed(page: About, body: bytes) -> Packed:
    """Compress a page. Any thread may call this."""
    frame = PLAIN_ZSTD.encode(body, LEVEL)
    codec = Codec.ZSTD
    if len(frame) >= len(body):
        frame, codec = body, Codec.RAW
    return Packed(replace(page, frame=len(frame), codec=codec, same_as=0), frame)


class JournalWriter:
    """Appends pages and companions to a new journal.

    Args:
        path: The file, which must not exist.
        disk: The disk the journal is on.

    Raises:
        StorageFailed: The disk could not create the file. All methods raise it too.
    """

    def __init__(self, path: Path, disk: Disk) -> None:
        self.path = path
        self._tag = new_tag()
        self._writer = Writer(disk, path)
        self._pages = 0
        self._committed = 0
        # Offsets of earlier pages with bytes of their own, by length and hashes of these.
        self._places: dict[tuple[int, int, bytes], int] = {}
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
        """Offset of the next page."""
        return self._writer.end

    def add(self, page: Packed) -> int:
        """Append a page and return its offset. It is safe after ``sync``."""
        kind = RecordKind.COMPANION if page.about.is_companion else RecordKind.PAGE
        about, frame = page.about, page.frame
        content = (about.length, about.check, about.digest)
        earlier = self._places.get(content)
        if earlier is not None:
            frame = _POINTER.pack(earlier)
            about = replace(about, codec=Codec.DUPLICATE, frame=len(frame))
        offset = self._writer.append(record(kind, pack([about]), len(frame), self._tag), frame)
        if earlier is None and len(frame) > _POINTER.size:
            self._remember(content, offset)
        self._pages += 1
        return offset

    def _remember(self, content: tuple[int, int, bytes], offset: int) -> None:
        if len(self._places) == MOST_REMEMBERED:
            del self._places[next(iter(self._places))]  # the oldest
        self._places[content] = offset

    def sync(self) -> None:
        """Wait until every added page is on disk.

        Raises:
            StorageFailed: The disk did not confirm it. Nothing more can be added: open the archive
                again.
        """
        # Also if there is nothing new: a writer that has failed must not report success.
        self._writer.check()
        if self._committed < self._pages:
            self._writer.sync()
            self._committed = self._pages
            self._writer.append(record(RecordKind.COMMIT, _COMMIT.pack(self._pages), 0, self._tag))

    def finish(self) -> None:
        """Sync everything and close the file."""
        self.sync()
        self._writer.sync()
        self._writer.close()

    def close(self) -> None:
        """Close the file; data that was not synced may be lost."""
        self._writer.close()


def journal_pages(source: Source, start: int = 0) -> Iterator[tuple[int, About] | Gap | Head]:
    """Find the pages and companions of a journal with their offsets.

    Damaged pages are given as gaps, commits as their heads.
    """
    for found in heads(source, start):
        if isinstance(found, Gap):
            yield found
        elif found.kind in PAGE_KINDS:
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
    """Read how many pages and companions a journal has up to a commit.

    Raises:
        DamagedRecord: The record is damaged.
    """
    meta = source.meta(commit)
    if len(meta) != _COMMIT.size:
        raise source.damaged(commit.offset, "is not a commit")
    count: int = _COMMIT.unpack(meta)[0]
    return count


def page_at(source: Source, head: Head) -> About:
    """Read the metadata of a page in a journal.

    Raises:
        DamagedRecord: The record is damaged.
    """
    try:
        pages = unpack(source.meta(head), are_companions=head.kind == RecordKind.COMPANION)
    except CodecError as error:
        raise source.damaged(head.offset, f"does not describe a page: {error}") from None
    if (
        len(pages) != 1
        or pages[0].frame != head.payload_bytes
        or pages[0].codec not in {Codec.RAW, Codec.ZSTD, Codec.DUPLICATE}
    ):
        raise source.damaged(head.offset, "does not describe its page")
    return pages[0]


def read_page(source: Source, offset: int) -> tuple[About, bytes]:
    """Read and check a page of a journal.

    Raises:
        DamagedRecord: The page is damaged.
    """
    head = read_head(source.at(offset, HEAD_BYTES), offset)
    if head is None or head.kind not in PAGE_KINDS:
        raise DamagedRecord(
            f"{source.name}: no page begins at {offset}", file=source.name, offset=offset
        )
    page = page_at(source, head)
    return page, _checked(source, head, page)


def _checked(source: Source, head: Head, page: About, *, is_pointed_to: bool = False) -> bytes:
    """Read and check the body of a page."""
    body = source.at(head.payload_offset, page.frame)
    if page.codec == Codec.DUPLICATE:
        # One step back, and only back: a forged pointer must not lead in circles.
        place = _POINTER.unpack(body)[0] if len(body) == _POINTER.size else head.offset
        earlier = read_head(source.at(place, HEAD_BYTES), place) if place < head.offset else None
        if is_pointed_to or earlier is None or earlier.kind not in PAGE_KINDS:
            raise source.damaged(head.offset, "points to a page that is not there")
        body = _checked(source, earlier, page_at(source, earlier), is_pointed_to=True)
    elif page.codec == Codec.ZSTD:
        try:
            body = PLAIN_ZSTD.decode(body, page.length)
        except CodecError as error:
            raise source.damaged(head.offset, f"has a damaged page: {error}") from None
    if not page.is_of(body):
        raise source.damaged(head.offset, "has a page whose bytes do not match the checksum")
    return body
