"""Segments: many pages kept small, any of them back by one read.

A segment is written once and never changed. Pages that are alike are a *cluster*: a **base** (some of its pages in a row,
compressed as one) and **blocks** of up to 128 pages, each page a frame of its own that leans on the base and on nothing
else. So one page is one read, once its base is at hand.

Pages lean on a base, so it is guarded: a *guard* at the end of the file has all that the base's own record says of it, and
the exclusive or of sixteen equal stripes of it, with which any one stripe can be made anew. A base on which many pages
lean, so that a copy costs little, is there a second time altogether.

Records: ``base`` (meta: number, length and XXH3 of the content, as 32, 32 and 64 bits; payload: a zstd frame), ``guard``
(meta: the same, then place and length of the frame, 64 bits each; payload: the stripe), ``block``
(meta: number of the base, 0 for none, and length of the columns, 32 bits each, then the columns as a zstd frame; payload:
the frames of its pages in a row).

Above: ``compaction``, ``archive``. Below: ``layout``, ``pages``, ``storage``, ``_core``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from quire import _core
from quire.archive.layout import (
    HEAD_BYTES,
    Gap,
    Head,
    Kind,
    Source,
    file_record,
    heads,
    read_head,
    record,
)
from quire.archive.pages import About, Codec, pack, unpack
from quire.archive.storage import Disk
from quire.errors import ArchiveError, DamagedRecord

#: Pages of a block, at most: what a reader of one has to know of the others.
BLOCK_PAGES = 128
#: A base is kept twice where it is at most this part of what leans on it.
TWICE_SHARE = 16
COLUMNS_LEVEL = 12
#: Pages that a page leans on, one on the other, at most; a duplicate may add one.
MOST_DEPTH = 10
#: Stripes of a base; its guard is as long as one.
STRIPES = 16

_BASE = struct.Struct("<IIQ")
_GUARD = struct.Struct("<IIQQQ")
_BLOCK = struct.Struct("<II")
_ALONE = _core.Base(b"")


class SegmentWriter:
    """Writes a segment under another name, and gives it its name when it is whole.

    Args:
        path: the segment.
        disk: where it is.
        replaces: names of the files whose pages it takes over.
    """

    def __init__(self, path: Path, disk: Disk, replaces: Sequence[str]) -> None:
        self.path = path
        self._part = path.with_name(path.name + ".part")
        self._disk = disk
        self._replaces = list(replaces)
        disk.remove(self._part)
        self._file: int | None = disk.create(self._part)
        self._end = disk.append(self._file, [self._about(pages=None)])
        self._bases: list[tuple[bytes, int, int]] = []
        self._leaning: list[int] = []
        self.pages: int = 0

    def _about(self, pages: int | None) -> bytes:
        return file_record("segment", replaces=self._replaces, pages=pages)

    def add_base(self, content: bytes, level: int) -> int:
        """Write a base at a level of zstd, and give its number."""
        number = len(self._bases) + 1
        frame = _ALONE.encode(content, level)
        meta = _BASE.pack(number, len(content), _core.hash64(content))
        self._append([record(Kind.BASE, meta, len(frame)), frame])
        self._bases.append((meta, self._end - len(frame), len(frame)))
        self._leaning.append(0)
        return number

    def add_block(self, base: int, pages: Sequence[About], frames: Sequence[bytes]) -> None:
        """Write pages of a cluster that lean on a base; 0 for none."""
        known = [replace(page, frame=len(frame)) for page, frame in zip(pages, frames, strict=True)]
        columns = pack(known)
        meta = _BLOCK.pack(base, len(columns)) + _ALONE.encode(columns, COLUMNS_LEVEL)
        length = sum(map(len, frames))
        self._append([record(Kind.BLOCK, meta, length), *frames])
        self.pages += len(pages)
        if base:
            self._leaning[base - 1] += length

    def finish(self) -> None:
        """Make the segment part of the archive, safe against a power cut."""
        assert self._file is not None  # noqa: S101 - not finished twice
        source = Source(self._part)
        try:
            for (meta, place, length), leaning in zip(self._bases, self._leaning, strict=True):
                frame = source.at(place, length)
                guard = meta + struct.pack("<QQ", place, length)
                stripe = xor_of(stripes(frame))
                self._append([record(Kind.GUARD, guard, len(stripe)), stripe])
                if TWICE_SHARE * length <= leaning:
                    self._append([record(Kind.BASE, meta, length), frame])
        finally:
            source.close()
        self._append([self._about(self.pages)])
        self._disk.sync(self._file)
        self.close()
        self._disk.rename(self._part, self.path)

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._disk.close(self._file)
            self._file = None

    def discard(self) -> None:
        """Leave nothing behind."""
        self.close()
        self._disk.remove(self._part)

    def _append(self, parts: Sequence[bytes]) -> None:
        assert self._file is not None  # noqa: S101 - not used when closed
        self._end += self._disk.append(self._file, parts)


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a segment, without its frames.

    Attributes:
        head: where it is.
        base: the base its pages lean on; 0 for none.
        pages: what is known of them.
        offsets: where their frames begin in the file.
    """

    head: Head
    base: int
    pages: list[About]
    offsets: list[int]


def read_block(source: Source, offset: int) -> Block:
    """Read a block.

    Raises:
        DamagedRecord: it is not what was written.
    """
    head = read_head(source.at(offset, HEAD_BYTES), offset)
    if head is None or head.kind != Kind.BLOCK:
        raise _damaged(source, offset, "is no block")
    meta = source.meta(head)
    try:
        base, length = _BLOCK.unpack_from(meta)
        pages = unpack(_ALONE.decode(meta[_BLOCK.size :], length))
    except (ArchiveError, struct.error) as error:
        raise _damaged(source, offset, f"has damaged columns: {error}") from None
    offsets = []
    at = head.payload_offset
    for page in pages:
        offsets.append(at)
        at += page.frame
    if at != head.end:
        raise _damaged(source, offset, "is not as long as its pages")
    return Block(head, base, pages, offsets)


def read_body(
    source: Source, block: Block, slot: int, base: _core.Base, deepest: int = MOST_DEPTH
) -> bytes:
    """Read the body of a page, unchecked.

    Raises:
        DamagedRecord: the pages it leans on are later ones, or too many.
    """
    page = block.pages[slot]
    frame = source.at(block.offsets[slot], page.frame)
    if page.codec == Codec.RAW:
        return frame
    if page.codec in {Codec.DUPLICATE, Codec.ZSTD_PAGE}:
        if page.same_as >= slot or deepest == 0:
            raise _damaged(source, block.head.offset, f"has page {slot} lean on one that cannot be")
        other = read_body(source, block, page.same_as, base, deepest - 1)
        if page.codec == Codec.DUPLICATE:
            return other
        return _core.Base(other).decode(frame, page.length)
    return (base if page.codec == Codec.ZSTD_BASE else _ALONE).decode(frame, page.length)


@dataclass(frozen=True, slots=True)
class Guard:
    """What a guard says of a base.

    Attributes:
        length: of the content.
        check: XXH3 of the content.
        place: of the frame in the file.
        frame: length of the frame.
        stripe: the exclusive or of its stripes.
    """

    length: int
    check: int
    place: int
    frame: int
    stripe: bytes


def stripes(frame: bytes) -> list[bytes]:
    """Cut a frame into equal stripes, the last filled up with zeros."""
    width = max(1, -(-len(frame) // STRIPES))
    return [frame[at : at + width].ljust(width, b"\0") for at in range(0, len(frame) or 1, width)]


def xor_of(parts: Sequence[bytes]) -> bytes:
    """Give the exclusive or of stripes.

    >>> xor_of([b"ab", b"ab", b"xy"])
    b'xy'
    """
    total = np.zeros(len(parts[0]), np.uint8)
    for part in parts:
        total ^= np.frombuffer(part, np.uint8)
    return total.tobytes()


def read_base(source: Source, places: Sequence[int], number: int) -> bytes:
    """Read a base from the first place where it is whole; else make it anew with its guard.

    Raises:
        DamagedRecord: it is nowhere, and has more damage than its guard can mend.
    """
    guards = []
    for offset in places:
        head = read_head(source.at(offset, HEAD_BYTES), offset)
        try:
            if head is not None and head.kind == Kind.BASE:
                found, length, check = _BASE.unpack(source.meta(head))
                frame = source.at(head.payload_offset, head.payload_bytes)
                content = _decoded(frame, length, check) if found == number else None
                if content is not None:
                    return content
            elif head is not None and head.kind == Kind.GUARD:
                found, length, check, place, frame_bytes = _GUARD.unpack(source.meta(head))
                stripe = source.at(head.payload_offset, head.payload_bytes)
                if found == number:
                    guards.append(Guard(length, check, place, frame_bytes, stripe))
        except (DamagedRecord, struct.error):
            continue
    for guard in guards:
        content = _mended(source, guard)
        if content is not None:
            return content
    raise _damaged(
        source, places[0] if places else 0, f"should be base {number}, and no copy of it is whole"
    )


def _decoded(frame: bytes, length: int, check: int) -> bytes | None:
    try:
        content = _ALONE.decode(frame, length)
    except ArchiveError:
        return None
    return content if _core.hash64(content) == check else None


def _mended(source: Source, guard: Guard) -> bytes | None:
    """Make a base with one damaged stripe whole again: each stripe in turn is taken for the damaged one."""
    frame = source.at(guard.place, guard.frame).ljust(guard.frame, b"\0")
    content = _decoded(frame, guard.length, guard.check)
    if content is not None:  # only its record was damaged
        return content
    parts = stripes(frame)
    if len(parts[0]) != len(guard.stripe):
        return None
    all_of_it = xor_of([*parts, guard.stripe])
    for at, part in enumerate(parts):
        tried = [*parts[:at], xor_of([part, all_of_it]), *parts[at + 1 :]]
        content = _decoded(b"".join(tried)[: guard.frame], guard.length, guard.check)
        if content is not None:
            return content
    return None


def segment_records(source: Source) -> Iterator[tuple[Kind, int, int] | Gap]:
    """Find blocks, and bases with their guards: their kind, their place, and the number of a base."""
    for found in heads(source):
        if isinstance(found, Gap):
            yield found
        elif found.kind == Kind.BLOCK:
            yield Kind.BLOCK, found.offset, 0
        elif found.kind in {Kind.BASE, Kind.GUARD}:
            try:
                yield Kind.BASE, found.offset, _BASE.unpack_from(source.meta(found))[0]
            except (ArchiveError, struct.error):
                yield Gap(found.offset, found.end)


def _damaged(source: Source, offset: int, finding: str) -> DamagedRecord:
    return DamagedRecord(
        f"{source.name}: the record at {offset} {finding}", file=source.name, offset=offset
    )
