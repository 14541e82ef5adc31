"""Segments: files that store many pages in little space; any page takes one read.

A segment is written once and never changed. Similar pages form a *cluster*: a **base** (some of
its pages, concatenated and compressed as one) and **blocks** of up to 128 pages. Each page is a
frame of its own, encoded against the base and nothing else. So a page takes one read, once its
base is open. Small pages share a frame with a few neighbours: a frame has tables of its own, which
take more bytes than the news of a small page.

Because pages depend on it, a base has a guard (``base_record``). If many pages depend on a base,
a copy costs little, so the whole base is stored a second time.

Records: ``base`` and ``guard`` (``base_record``), ``block`` (meta: number of the base, 0 for none,
and length of the columns, 32 bits each, then the columns as a zstd frame; payload: the frames of
its pages in a row), and at the end the file record again, with the number of pages and of
companions. A block of companions has the same form as a block of pages, and another kind.
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

#: Maximum pages of a block: reading one page decodes the metadata of all.
BLOCK_PAGES = 128
#: A base is stored twice if it is at most this fraction of the pages that use it, as stored: the
#: copy then adds 3 % at most.
TWICE_SHARE = 32
COLUMNS_LEVEL = 12
#: Kinds of records that hold a block.
BLOCK_KINDS = frozenset({RecordKind.BLOCK, RecordKind.COMPANION_BLOCK})
#: Maximum bytes of pages that share a frame: reading one decodes all. Writers stop at an eighth.
MOST_TOGETHER_BYTES = 1 << 19
#: Maximum length of a chain of pages that depend on each other; a duplicate may add one.
MOST_DEPTH = 10

_BLOCK = struct.Struct("<II")


@dataclass(frozen=True, slots=True)
class Piece:
    """A base or block on its way into a segment: its record without the head.

    The head has the tag of the file. A piece does not depend on it, so pieces can be made on
    other machines.

    Attributes:
        kind: Base, block or block of companions.
        meta: Meta of the record.
        payload: Payload of the record.
        base: Number of this base, or of the base that the pages of this block use; 0 for none.
        pages: Number of pages or companions in it.
        dependent_bytes: Bytes of its pages that depend on a base, by the number of the base.
    """

    kind: RecordKind
    meta: bytes
    payload: bytes
    base: int
    pages: int
    dependent_bytes: Mapping[int, int]


def base_piece(number: int, content: bytes, frame: bytes) -> Piece:
    """Make the piece for a base."""
    return Piece(
        RecordKind.BASE, base_meta(number, content), frame, number, pages=0, dependent_bytes={}
    )


def block_piece(base: int, pages: Sequence[About], frames: Sequence[bytes]) -> Piece:
    """Make the piece for a block of pages that use a base; 0 for none.

    All of them are pages, or all are companions.
    """
    known = [replace(page, frame=len(frame)) for page, frame in zip(pages, frames, strict=True)]
    columns = pack(known)
    meta = _BLOCK.pack(base, len(columns)) + PLAIN_ZSTD.encode(columns, COLUMNS_LEVEL)
    payload = b"".join(frames)
    dependent_bytes = Counter({base: len(payload)}) if base else Counter()
    for page in known:
        if page.codec in {Codec.DENSE, Codec.ZSTD_BASE} and page.same_as:
            dependent_bytes[base + page.same_as] += page.frame
    kind = RecordKind.COMPANION_BLOCK if known[0].is_companion else RecordKind.BLOCK
    return Piece(kind, meta, payload, base, len(known), dependent_bytes)


class SegmentWriter:
    """Writes a segment under a temporary name and renames it when it is complete.

    Args:
        path: Path of the segment.
        disk: The disk the segment is on.
        replaces: Names of the files that the segment replaces.
    """

    def __init__(self, path: Path, disk: Disk, replaces: Sequence[str]) -> None:
        self.path = path
        part = path.with_name(path.name + ".part")
        self._replaces = list(replaces)
        self._tag = new_tag()
        self._bases: dict[int, tuple[bytes, int, int]] = {}
        self._dependent_bytes: Counter[int] = Counter()
        self.pages: int = 0
        self.companions: int = 0
        with failing(part):
            disk.remove(part)
        self._writer = Writer(disk, part)
        try:
            self._writer.append(self._about(is_complete=False))
        except BaseException:
            self.discard()
            raise

    def _about(self, *, is_complete: bool) -> bytes:
        counts = (self.pages, self.companions) if is_complete else (None, None)
        about = {"replaces": self._replaces, "pages": counts[0], "companions": counts[1]}
        return file_record("segment", self._tag, **about)

    def _record(self, kind: RecordKind, meta: bytes, payload_bytes: int) -> bytes:
        return record(kind, meta, payload_bytes, self._tag)

    def add_base(self, content: bytes, frame: bytes) -> int:
        """Write a base and return its number."""
        number = max(self._bases, default=0) + 1
        self.append(base_piece(number, content, frame))
        return number

    def add_block(self, base: int, pages: Sequence[About], frames: Sequence[bytes]) -> None:
        """Write pages of a cluster that use a base; 0 for none."""
        self.append(block_piece(base, pages, frames))

    def append(self, piece: Piece) -> None:
        """Write a piece made elsewhere; a base has a number and may come after its blocks."""
        length = len(piece.payload)
        self._writer.append(self._record(piece.kind, piece.meta, length), piece.payload)
        if piece.kind == RecordKind.BASE:
            self._bases[piece.base] = (piece.meta, self._writer.end - length, length)
        else:
            if piece.kind == RecordKind.COMPANION_BLOCK:
                self.companions += piece.pages
            else:
                self.pages += piece.pages
            self._dependent_bytes.update(piece.dependent_bytes)

    def finish(self) -> None:
        """Make the segment part of the archive, safe against a power cut."""
        source = Source(self._writer.path)
        try:
            for number, (meta, place, length) in self._bases.items():
                frame = source.at(place, length)
                guard, stripe = guard_of(meta, place, frame)
                self._writer.append(self._record(RecordKind.GUARD, guard, len(stripe)), stripe)
                if TWICE_SHARE * length <= self._dependent_bytes[number]:
                    self._writer.append(self._record(RecordKind.BASE, meta, length), frame)
        finally:
            source.close()
        self._writer.append(self._about(is_complete=True))
        self._writer.finish(self.path)

    def discard(self) -> None:
        """Remove the unfinished segment."""
        self._writer.discard()


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a segment, without the bodies of its pages.

    Attributes:
        head: Head of its record.
        base: Number of the base that its pages use; 0 for none.
        pages: Metadata of the pages.
        offsets: Offsets of their frames in the file.
        starts: Where the bodies of pages that share a frame begin in it; 0 for others.
        shared_bytes: Bytes of all bodies in a shared frame, by the slot of its first page.
        columns_bytes: Approximate memory of the metadata.
    """

    head: Head
    base: int
    pages: list[About]
    offsets: list[int]
    starts: list[int]
    shared_bytes: Mapping[int, int]
    columns_bytes: int


def read_block(source: Source, offset: int) -> Block:
    """Read a block.

    Raises:
        DamagedRecord: The block is damaged.
    """
    head = read_head(source.at(offset, HEAD_BYTES), offset)
    if head is None or head.kind not in BLOCK_KINDS:
        raise source.damaged(offset, "is not a block")
    meta = source.meta(head)
    try:
        base, length = _BLOCK.unpack_from(meta)
        are_companions = head.kind == RecordKind.COMPANION_BLOCK
        pages = unpack_frame(meta[_BLOCK.size :], length, are_companions=are_companions)
    except (ArchiveError, struct.error) as error:
        raise source.damaged(offset, f"has damaged columns: {error}") from None
    offsets = []
    at = head.payload_offset
    for page in pages:
        offsets.append(at)
        at += page.frame
    if at != head.end:
        raise source.damaged(offset, "does not have the length of its pages")
    # Found for all pages at once: a forged block may have thousands that claim the same frame.
    shared_bytes: Counter[int] = Counter()
    starts = []
    for page in pages:
        is_shared = page.codec == Codec.TOGETHER
        starts.append(shared_bytes[page.same_as] if is_shared else 0)
        shared_bytes[page.same_as] += page.length if is_shared else 0
    return Block(head, base, pages, offsets, starts, shared_bytes, length)


def read_body(
    source: Source, block: Block, slot: int, bases: Bases, deepest: int = MOST_DEPTH
) -> bytes:
    """Read the body of a page without checking it.

    Raises:
        DamagedRecord: The page depends on a later one, or on too many others.
    """
    page = block.pages[slot]
    if page.codec == Codec.TOGETHER:
        return _read_together(source, block, slot, bases)
    frame = source.at(block.offsets[slot], page.frame)
    if page.codec == Codec.RAW:
        return frame
    if page.codec == Codec.ZSTD:
        return PLAIN_ZSTD.decode(frame, page.length)
    if page.codec in {Codec.DUPLICATE, Codec.ZSTD_PAGE}:
        if page.same_as >= slot or deepest == 0:
            raise source.damaged(
                block.head.offset, f"has page {slot} depend on a page that it cannot use"
            )
        other = read_body(source, block, page.same_as, bases, deepest - 1)
        if page.codec == Codec.DUPLICATE:
            return other
        return _core.Base(other).decode(frame, page.length)
    return _read_from_base(page, frame, bases.get(block.base + page.same_as))


def _read_together(source: Source, block: Block, slot: int, bases: Bases) -> bytes:
    """Read a page that shares a frame with others: the frame has their bodies in a row."""
    page = block.pages[slot]
    first, length = page.same_as, block.shared_bytes[page.same_as]
    is_first = first <= slot and block.pages[first].same_as == first
    has_frame = is_first and block.pages[first].codec == Codec.TOGETHER
    if not has_frame or length > MOST_TOGETHER_BYTES:
        raise source.damaged(
            block.head.offset, f"has page {slot} share a frame that it cannot have"
        )
    bodies = bases.shared_frame(block.offsets[first], block.pages[first].frame, length, block.base)
    return bodies[block.starts[slot] :][: page.length]


def _read_from_base(page: About, frame: bytes, base: OpenBase) -> bytes:
    if page.codec == Codec.DENSE:
        return base.dense.decode(frame, page.length)
    if page.codec == Codec.TBC:
        return _core.tbc_apply(base.content, unpack_delta(frame, page.length), page.length)
    return base.zstd.decode(frame, page.length)


def segment_records(source: Source) -> Iterator[tuple[RecordKind, int, int] | Gap]:
    """Find the records of a segment: kind and offset, and the number of a base or of all pages.

    A guard is reported as the base it guards, a block of companions as a block. The last record
    gives the number of pages and companions; if it is missing, the last item is an empty gap.
    """
    is_finished = False
    for found in heads(source):
        if isinstance(found, Gap):
            yield found
            continue
        try:
            if found.kind in BLOCK_KINDS:
                yield RecordKind.BLOCK, found.offset, 0
            elif found.kind in {RecordKind.BASE, RecordKind.GUARD}:
                yield RecordKind.BASE, found.offset, base_number(source, found)
            elif found.kind == RecordKind.FILE:
                about = read_file_record(source, found)
                pages, companions = about.get("pages"), about.get("companions", 0)
                is_finished = isinstance(pages, int)
                if isinstance(pages, int):
                    more = companions if isinstance(companions, int) else 0
                    yield RecordKind.FILE, found.offset, pages + more
        except ArchiveError:
            yield Gap(found.offset, found.end)
    if not is_finished:
        length = source.length()
        yield Gap(length, length)
