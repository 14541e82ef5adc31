"""Segments: many pages kept small, any of them back by one read.

A segment is written once and never changed. Pages that are alike are a *cluster*: a **base** (some of its pages in a row,
compressed as one) and **blocks** of up to 128 pages, each page a frame of its own that leans on the base and on nothing
else. So one page is one read, once its base is at hand.

Pages lean on a base, so it is guarded (``bases``); one on which many pages lean, so that a copy costs little, is there a
second time altogether.

Records: ``base`` and ``guard`` (``bases``), ``block`` (meta: number of the base, 0 for none, and length of the columns, 32
bits each, then the columns as a zstd frame; payload: the frames of its pages in a row), and at the end what the file is once
more, with the number of its pages.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from quire import _core
from quire.archive.disk.storage import Disk, Writer, failing
from quire.archive.format.base_record import Bases, OpenBase, base_meta, base_number, guard_of
from quire.archive.format.page_meta import About, Codec, pack, unpack_delta, unpack_frame
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
    read_file_record,
    read_head,
    record,
)
from quire.errors import ArchiveError

#: Pages of a block, at most: what a reader of one has to know of the others.
BLOCK_PAGES = 128
#: A base is kept twice where it is at most this part of what leans on it.
TWICE_SHARE = 16
COLUMNS_LEVEL = 12
#: Pages that a page leans on, one on the other, at most; a duplicate may add one.
MOST_DEPTH = 10

_BLOCK = struct.Struct("<II")


@dataclass(frozen=True, slots=True)
class Piece:
    """A base or a block on its way into a segment: all of its record but the head, which has the tag of the file.

    Whoever makes one need not know the file, so pieces can be made on other machines.

    Attributes:
        kind: base or block.
        meta: of the record.
        payload: of the record.
        base: its number, or that of the base its pages lean on; 0 for none.
        pages: how many are in it.
        leaning: bytes of its pages that lean on a base, by its number.
    """

    kind: RecordKind
    meta: bytes
    payload: bytes
    base: int
    pages: int
    leaning: Mapping[int, int]


def base_piece(number: int, content: bytes, frame: bytes) -> Piece:
    """Make the piece of a base."""
    return Piece(RecordKind.BASE, base_meta(number, content), frame, number, pages=0, leaning={})


def block_piece(base: int, pages: Sequence[About], frames: Sequence[bytes]) -> Piece:
    """Put pages of a cluster together that lean on a base; 0 for none."""
    known = [replace(page, frame=len(frame)) for page, frame in zip(pages, frames, strict=True)]
    columns = pack(known)
    meta = _BLOCK.pack(base, len(columns)) + PLAIN_ZSTD.encode(columns, COLUMNS_LEVEL)
    payload = b"".join(frames)
    leaning = Counter({base: len(payload)}) if base else Counter()
    for page in known:
        if page.codec in {Codec.DENSE, Codec.ZSTD_BASE} and page.same_as:
            leaning[base + page.same_as] += page.frame
    return Piece(RecordKind.BLOCK, meta, payload, base, len(known), leaning)


class SegmentWriter:
    """Writes a segment under another name, and gives it its name when it is whole.

    Args:
        path: the segment.
        disk: where it is.
        replaces: names of the files whose pages it takes over.
    """

    def __init__(self, path: Path, disk: Disk, replaces: Sequence[str]) -> None:
        self.path = path
        part = path.with_name(path.name + ".part")
        self._replaces = list(replaces)
        self._tag = new_tag()
        self._bases: dict[int, tuple[bytes, int, int]] = {}
        self._leaning: Counter[int] = Counter()
        self.pages: int = 0
        with failing(part):
            disk.remove(part)
        self._writer = Writer(disk, part)
        try:
            self._writer.append(self._about(pages=None))
        except BaseException:
            self.discard()
            raise

    def _about(self, pages: int | None) -> bytes:
        return file_record("segment", self._tag, replaces=self._replaces, pages=pages)

    def _record(self, kind: RecordKind, meta: bytes, payload_bytes: int) -> bytes:
        return record(kind, meta, payload_bytes, self._tag)

    def add_base(self, content: bytes, frame: bytes) -> int:
        """Write a base, and give its number."""
        number = max(self._bases, default=0) + 1
        self.append(base_piece(number, content, frame))
        return number

    def add_block(self, base: int, pages: Sequence[About], frames: Sequence[bytes]) -> None:
        """Write pages of a cluster that lean on a base; 0 for none."""
        self.append(block_piece(base, pages, frames))

    def append(self, piece: Piece) -> None:
        """Write what was made elsewhere; a base has a number of its own, and may come behind its blocks."""
        length = len(piece.payload)
        self._writer.append(self._record(piece.kind, piece.meta, length), piece.payload)
        if piece.kind == RecordKind.BASE:
            self._bases[piece.base] = (piece.meta, self._writer.end - length, length)
        else:
            self.pages += piece.pages
            self._leaning.update(piece.leaning)

    def finish(self) -> None:
        """Make the segment part of the archive, safe against a power cut."""
        source = Source(self._writer.path)
        try:
            for number, (meta, place, length) in self._bases.items():
                frame = source.at(place, length)
                guard, stripe = guard_of(meta, place, frame)
                self._writer.append(self._record(RecordKind.GUARD, guard, len(stripe)), stripe)
                if TWICE_SHARE * length <= self._leaning[number]:
                    self._writer.append(self._record(RecordKind.BASE, meta, length), frame)
        finally:
            source.close()
        self._writer.append(self._about(self.pages))
        self._writer.finish(self.path)

    def discard(self) -> None:
        """Leave nothing behind."""
        self._writer.discard()


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a segment, without its frames.

    Attributes:
        head: where it is.
        base: the base its pages lean on; 0 for none.
        pages: what is known of them.
        offsets: where their frames begin in the file.
        columns_bytes: how much memory what is known takes, about.
    """

    head: Head
    base: int
    pages: list[About]
    offsets: list[int]
    columns_bytes: int


def read_block(source: Source, offset: int) -> Block:
    """Read a block.

    Raises:
        DamagedRecord: it is not what was written.
    """
    head = read_head(source.at(offset, HEAD_BYTES), offset)
    if head is None or head.kind != RecordKind.BLOCK:
        raise source.damaged(offset, "is no block")
    meta = source.meta(head)
    try:
        base, length = _BLOCK.unpack_from(meta)
        pages = unpack_frame(meta[_BLOCK.size :], length)
    except (ArchiveError, struct.error) as error:
        raise source.damaged(offset, f"has damaged columns: {error}") from None
    offsets = []
    at = head.payload_offset
    for page in pages:
        offsets.append(at)
        at += page.frame
    if at != head.end:
        raise source.damaged(offset, "is not as long as its pages")
    return Block(head, base, pages, offsets, length)


def read_body(
    source: Source, block: Block, slot: int, bases: Bases, deepest: int = MOST_DEPTH
) -> bytes:
    """Read the body of a page, unchecked.

    Raises:
        DamagedRecord: the pages it leans on are later ones, or too many.
    """
    page = block.pages[slot]
    frame = source.at(block.offsets[slot], page.frame)
    if page.codec == Codec.RAW:
        return frame
    if page.codec == Codec.ZSTD:
        return PLAIN_ZSTD.decode(frame, page.length)
    if page.codec in {Codec.DUPLICATE, Codec.ZSTD_PAGE}:
        if page.same_as >= slot or deepest == 0:
            raise source.damaged(block.head.offset, f"has page {slot} lean on one that cannot be")
        other = read_body(source, block, page.same_as, bases, deepest - 1)
        if page.codec == Codec.DUPLICATE:
            return other
        return _core.Base(other).decode(frame, page.length)
    return _read_leaning(page, frame, bases.get(block.base + page.same_as))


def _read_leaning(page: About, frame: bytes, base: OpenBase) -> bytes:
    if page.codec == Codec.DENSE:
        return base.dense.decode(frame, page.length)
    if page.codec == Codec.TBC:
        return _core.tbc_apply(base.content, unpack_delta(frame, page.length), page.length)
    return base.zstd.decode(frame, page.length)


def segment_records(source: Source) -> Iterator[tuple[RecordKind, int, int] | Gap]:
    """Find what is in a segment: kind and place of each record; the number of a base, the number of pages at the end.

    A guard is given as the base that it guards. Where the end is missing, the last is a gap of no length.
    """
    is_finished = False
    for found in heads(source):
        if isinstance(found, Gap):
            yield found
            continue
        try:
            if found.kind == RecordKind.BLOCK:
                yield RecordKind.BLOCK, found.offset, 0
            elif found.kind in {RecordKind.BASE, RecordKind.GUARD}:
                yield RecordKind.BASE, found.offset, base_number(source, found)
            elif found.kind == RecordKind.FILE:
                pages = read_file_record(source, found).get("pages")
                is_finished = isinstance(pages, int)
                if isinstance(pages, int):
                    yield RecordKind.FILE, found.offset, pages
        except ArchiveError:
            yield Gap(found.offset, found.end)
    if not is_finished:
        length = source.length()
        yield Gap(length, length)
