"""Members: decodes the bytes of a WARC file and keeps track of where they come from.

A ``.warc.gz`` consists of many gzip members, one for each record; files of zstd and lz4 frames are
built the same way. Each member is independent, so reading can begin at any of them, and damage ends
with the member it is in. A ``Feed`` reads from member to member and always knows its place: the
offset of the member in the file, and the number of decoded bytes since its start. In a plain file
the place is an offset; in a file that is one long member, the member's offset is 0.

The place is exact because reads are exact: a reader asks for no byte beyond the current record, so
a new member shows up at the first byte of the next record. After damage, bytes are handed back and
read again; places are then counted from an earlier member, and lead to the same record.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Callable
from typing import BinaryIO, NamedTuple, Protocol

from quire.sources.libraries import stream_io

PIECE_BYTES = 1024 * 1024
_SCAN_BYTES = 1024 * 1024
# Enough of a member to see how a record begins: gzip returns partial data, the others whole blocks.
_TASTE_BYTES = {"gzip": 1024, "zstd": 256 * 1024, "lz4": 256 * 1024}
# An ARC record starts with a line, which can be long.
_TASTED_BYTES = 8 * 1024
# Maximum number of false starts before the search for a member is given up. In real files the magic
# bytes occur by chance once in 16 MB; a file made of them would cost hours.
_MOST_TASTES = 10_000
_MAGIC = {"gzip": b"\x1f\x8b\x08", "zstd": b"\x28\xb5\x2f\xfd", "lz4": b"\x04\x22\x4d\x18"}
_READERS = {"gzip": "GzipReader", "zstd": "ZstdReader", "lz4": "Lz4Reader"}
# A `.warc.zst` may start with the dictionary for its frames, in a frame that decoders skip.
_DICTIONARY_MAGIC = b"\x5d\x2a\x4d\x18"
_MOST_DICTIONARY_BYTES = 16 * 1024 * 1024


class RecordOffset(NamedTuple):
    """Where a record begins: the offset of a member, and the decoded bytes since its start."""

    member: int
    within: int

    def __str__(self) -> str:
        return f"{self.member}+{self.within}" if self.within else str(self.member)


class Damage(Exception):
    """A member that does not decode.

    Attributes:
        member: Offset of the member.
    """

    def __init__(self, message: str, *, member: int) -> None:
        self.member: int = member
        super().__init__(message)


class _Decoder(Protocol):
    def read(self, size: int, /) -> bytes: ...
    def frame_start_position(self) -> int | None: ...


class Feed:
    """Reads the decoded bytes of a file."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._tastes = 0
        #: Bytes decoded so far, those that were decoded again included.
        self.decoded: int = 0
        #: Offset of the member that the last byte came from; None before the first byte.
        self.frame: int | None = None
        start = file.read(4)
        self._dictionary = b""
        if start == _DICTIONARY_MAGIC:
            self._dictionary = _read_dictionary(file)
            start = _MAGIC["zstd"]
        #: Compression of the file: gzip, zstd or lz4; empty for a plain file.
        self.coding: str = next(
            (name for name, magic in _MAGIC.items() if start.startswith(magic)), ""
        )
        # Bytes that were handed back, the next ones last, each with how many of them are used up.
        self._left: list[tuple[bytes, int]] = []
        self.go_to(RecordOffset(0, 0))

    def go_to(self, place: RecordOffset) -> None:
        """Continue reading at another place.

        Raises:
            Damage: The bytes before that place do not decode.
        """
        self._left.clear()
        self.frame = None
        self._has_ended = False
        if not self.coding:
            self._file.seek(place.member + place.within)
            self._member, self._within = 0, place.member + place.within
            return
        self._file.seek(place.member)
        self._decoder = self._open(self._file)
        self._member, self._within = place.member, 0
        self.skip(place.within)

    def _open(self, file: BinaryIO) -> _Decoder:
        reader = getattr(stream_io(), _READERS[self.coding])
        more = {"dictionary": self._dictionary} if self._dictionary else {}
        opened: _Decoder = reader(file, **more)
        return opened

    @property
    def place(self) -> RecordOffset:
        """Where the next byte is."""
        return (
            RecordOffset(self._member, self._within)
            if self.coding
            else RecordOffset(self._within, 0)
        )

    @property
    def remaining(self) -> int | None:
        """Number of bytes up to the end of the file; None if it was not reached yet."""
        return sum(len(data) - at for data, at in self._left) if self._has_ended else None

    @property
    def is_without_members(self) -> bool:
        """Whether no member begins within the next bytes, as far as places tell."""
        return bool(self._left) or not self.coding

    def first(self) -> tuple[bytes, RecordOffset]:
        """Read one byte with its place; the first byte of a member is at its start."""
        place, handed_back, frame = self.place, bool(self._left), self.frame
        byte = self.take(1)
        if byte and not handed_back and self.frame != frame and self.frame is not None:
            self._member, self._within = self.frame, 1
            place = RecordOffset(self.frame, 0)
        return byte, place

    def take(self, size: int) -> bytes:
        """Read at most ``size`` bytes; returns none only at the end of the file.

        Raises:
            Damage: The bytes do not decode.
        """
        if self._left:
            data, at = self._left.pop()
            taken = data[at : at + size]
            if at + len(taken) < len(data):
                self._left.append((data, at + len(taken)))
        else:
            taken = self._decode(size) if self.coding else self._file.read(size)
            self.decoded += len(taken)
            self._has_ended = size > 0 and not taken
        self._within += len(taken)
        return taken

    def take_all(self, size: int) -> bytes:
        """Read ``size`` bytes; returns fewer only at the end of the file.

        Raises:
            Damage: The bytes do not decode.
        """
        pieces: list[bytes] = []
        while size and (piece := self.take(min(size, PIECE_BYTES))):
            pieces.append(piece)
            size -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def skip(self, size: int) -> int:
        """Skip at most ``size`` bytes and return how many were skipped.

        Raises:
            Damage: The bytes do not decode.
        """
        skipped = 0
        while skipped < size and (piece := self.take(min(size - skipped, PIECE_BYTES))):
            skipped += len(piece)
        return skipped

    def _decode(self, size: int) -> bytes:
        try:
            piece = self._decoder.read(size)
        except OSError as error:
            member = self._decoder.frame_start_position()
            raise Damage(str(error), member=self._member if member is None else member) from None
        frame = self._decoder.frame_start_position()
        if not piece and frame is not None and frame != self.frame and self._is_cut(frame):
            raise Damage("ends within its first bytes", member=frame)
        self.frame = frame
        return piece

    def _is_cut(self, frame: int) -> bool:
        # Whether the last member, which gave no bytes, is truncated. Some writers end a file with
        # an empty member, which is fine.
        if self.coding != "gzip":
            return self.coding == "lz4"
        self._file.seek(frame)
        engine = zlib.decompressobj(31)
        try:
            engine.decompress(self._file.read(_TASTE_BYTES["gzip"]), 1)
        except zlib.error:
            return True
        self._file.seek(0, io.SEEK_END)
        return not engine.eof

    def hand_back(self, data: bytes, place: RecordOffset) -> None:
        """Put back the bytes read last.

        Args:
            data: The bytes.
            place: Where they are.
        """
        # Not joined with what is left: that can be a block of 50 MB, and a head is handed back often.
        if data:
            self._left.append((data, 0))
        self._member, self._within = place if self.coding else (0, place.member)

    def ahead(self, place: RecordOffset, size: int) -> RecordOffset:
        """Return the place ``size`` bytes after another."""
        member, within = place
        return (
            RecordOffset(member, within + size) if self.coding else RecordOffset(member + size, 0)
        )

    def member_after(self, offset: int, is_start: Callable[[bytes], bool]) -> int | None:
        """Find the next member that decodes to the start of a record; None if there is none.

        Args:
            offset: Offset in the file to search from: one more than that of a damaged member.
            is_start: Tells whether decoded bytes begin like a record.
        """
        magic, most = re.compile(re.escape(_MAGIC[self.coding])), _TASTE_BYTES[self.coding]
        self._file.seek(offset)
        window = b""
        while piece := self._file.read(_SCAN_BYTES):
            window += piece
            last = len(window) - most if len(piece) == _SCAN_BYTES else len(window)
            for found in magic.finditer(window):
                if found.start() >= last or self._tastes == _MOST_TASTES:
                    break
                if is_start(self._taste(window[found.start() : found.start() + most])):
                    return offset + found.start()
                self._tastes += 1
            window, offset = window[last:], offset + last
        return None

    def _taste(self, data: bytes) -> bytes:
        try:
            if self.coding == "gzip":  # many times faster than a new reader
                return zlib.decompressobj(31).decompress(data, _TASTED_BYTES)
            return self._open(io.BytesIO(data)).read(_TASTED_BYTES)
        except (OSError, zlib.error):
            return b""


def _read_dictionary(file: BinaryIO) -> bytes:
    size = int.from_bytes(file.read(4), "little")
    if size > _MOST_DICTIONARY_BYTES:
        raise Damage(
            f"a dictionary of {size} bytes; expected at most {_MOST_DICTIONARY_BYTES}", member=0
        )
    data = file.read(size)
    if not data.startswith(_MAGIC["zstd"]):
        return data
    try:
        plain: bytes = stream_io().ZstdReader(io.BytesIO(data)).read(_MOST_DICTIONARY_BYTES)
    except OSError as error:
        raise Damage(f"its dictionary does not decode ({error})", member=0) from None
    return plain
