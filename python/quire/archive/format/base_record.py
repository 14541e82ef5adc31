"""Bases: what many pages lean on.

Records: ``base`` (meta: number, length and XXH3 of the content, as 32, 32 and 64 bits; payload: its frame) and, at the end
of the file, ``guard`` (meta: the same, then place and length of the frame, 64 bits each; payload: the stripe of ``guards``).

A frame is of zstd, or dense: then ``qdns`` stands before it, and the number of the base that it was written on top
of (32 bits; 0 for none). What such a base says of its content is of its own part; pages lean on both.

Opening a dense base teaches a model, tens of milliseconds for what a base of zstd takes one. So bases stay open, the
last ones asked for, as long as they fit.
"""

from __future__ import annotations

import struct
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock

from quire import _core
from quire.archive.format.parity import STRIPES, is_stripe_of, mended, stripe_of
from quire.archive.format.record import HEAD_BYTES, PLAIN_ZSTD, Head, RecordKind, Source, read_head
from quire.errors import ArchiveError, CodecError, DamagedRecord

#: Bytes that open bases take, at most.
OPEN_BYTES = 256 << 20
#: What a model of the dense codec takes besides its base.
MODEL_BYTES = 8 << 20
#: A base, and its frame. Writers stop at a few megabytes; a few bytes of zstd can claim thousands of them.
MOST_BASE_BYTES = 1 << 26

_BASE = struct.Struct("<IIQ")
_GUARD = struct.Struct("<IIQQQ")
_DENSE = struct.Struct("<4sI")
_DENSE_MARK = b"qdns"


def base_meta(number: int, content: bytes) -> bytes:
    """Give the meta of the record of a base."""
    return _BASE.pack(number, len(content), _core.hash64(content))


def dense_frame(frame: bytes, below: int) -> bytes:
    """Give the frame of a dense base as it is stored; ``below`` is the base it was written on top of."""
    return _DENSE.pack(_DENSE_MARK, below) + frame


def base_number(source: Source, head: Head) -> int:
    """Read the number of a base from its record, or from that of its guard.

    Raises:
        DamagedRecord: it is not what was written.
    """
    meta = source.meta(head)
    if len(meta) != (_BASE if head.kind == RecordKind.BASE else _GUARD).size:
        raise source.damaged(head.offset, "is of no base")
    number: int = _BASE.unpack_from(meta)[0]
    return number


def guard_of(meta: bytes, place: int, frame: bytes) -> tuple[bytes, bytes]:
    """Give meta and payload of the guard of a base, whose frame is at a place of the file."""
    return meta + struct.pack("<QQ", place, len(frame)), stripe_of(frame)


class OpenBase:
    """A base that pages can be read against. Threads may share it."""

    def __init__(
        self, content: bytes, dense: _core.DenseBase | None = None, *, is_on_top: bool = False
    ) -> None:
        self.content: bytes = content
        self._dense = dense
        #: Whether it was written on top of another; no third may be on top of it.
        self.is_on_top: bool = is_on_top

    @cached_property
    def zstd(self) -> _core.Base:
        """Ready for pages that zstd wrote."""
        return _core.Base(self.content)

    @property
    def dense(self) -> _core.DenseBase:
        """Ready for dense pages.

        Raises:
            CodecError: it is not a dense one.
        """
        if self._dense is None:
            raise CodecError("a dense page leans on a base that is not dense")
        return self._dense

    @property
    def held(self) -> int:
        """Bytes that it takes in memory, about."""
        return len(self.content) + (0 if self._dense is None else len(self.content) + MODEL_BYTES)


NO_BASE = OpenBase(b"")


class Bases:
    """The bases of a file. Threads may share them.

    Args:
        source: the file.
        places: tells where a base, its copies and its guards are.
    """

    def __init__(self, source: Source, places: Callable[[int], Sequence[int]]) -> None:
        self._source = source
        self._places = places
        self._lock = Lock()
        self._open: OrderedDict[int, OpenBase] = OrderedDict()

    def get(self, number: int) -> OpenBase:
        """Open a base, or give it as it is open.

        Raises:
            DamagedRecord: it is nowhere, and has more damage than its guard can mend.
        """
        if not number:
            return NO_BASE
        with self._lock:
            known = self._open.get(number)
            if known is not None:
                self._open.move_to_end(number)
                return known
        base = self.read(number)
        with self._lock:
            self._open[number] = base
            held = sum(base.held for base in self._open.values())
            while len(self._open) > 1 and held > OPEN_BYTES:
                held -= self._open.popitem(last=False)[1].held
        return base

    def read(self, number: int) -> OpenBase:
        """Read a base from the first place where it is whole; else make it anew with its guard.

        Raises:
            DamagedRecord: it is nowhere, and has more damage than its guard can mend.
        """
        places = self._places(number)
        guards = []
        for offset in places:
            stored = self._stored(offset)
            if stored is None or stored.number != number:
                continue
            if stored.stripe is not None:
                guards.append(stored)
                continue
            base = self._opened(stored, stored.frame)
            if base is not None:
                return base
        for guard in guards:
            for frame in _mended(guard):
                base = self._opened(guard, frame)
                if base is not None:
                    return base
        offset = places[0] if places else 0
        raise self._source.damaged(offset, f"should be base {number}, and no copy of it is whole")

    def is_whole(self, offset: int) -> bool:
        """Tell whether the record of a base or of a guard is whole, with its payload."""
        stored = self._stored(offset)
        if stored is None:
            return False
        is_frame_whole = self._opened(stored, stored.frame) is not None
        if stored.stripe is None:
            return is_frame_whole
        # Where the base itself is damaged nobody can say; that is found at the base.
        return not is_frame_whole or is_stripe_of(stored.stripe, stored.frame)

    def _stored(self, offset: int) -> _Stored | None:
        """What a record says of a base; None where it cannot be read."""
        head = read_head(self._source.at(offset, HEAD_BYTES), offset)
        if head is None:
            return None
        try:
            meta = self._source.meta(head)
            # One that is too long is cut off, and does not decode.
            length = min(head.payload_bytes, MOST_BASE_BYTES)
            payload = self._source.at(head.payload_offset, length)
            if head.kind == RecordKind.BASE:
                number, length, check = _BASE.unpack(meta)
                return _Stored(number, length, check, payload, None)
            number, length, check, place, frame_bytes = _GUARD.unpack(meta)
        except (DamagedRecord, struct.error):
            return None
        if not 0 < frame_bytes <= len(payload) * STRIPES:  # says more than a guard can know
            return None
        if frame_bytes > MOST_BASE_BYTES:
            return None
        frame = self._source.at(place, frame_bytes).ljust(frame_bytes, b"\0")
        return _Stored(number, length, check, frame, payload)

    def _opened(self, stored: _Stored, frame: bytes) -> OpenBase | None:
        """Open a base; None where the frame is not what was written."""
        if stored.length > MOST_BASE_BYTES:
            return None
        try:
            if frame[:4] == _DENSE_MARK:
                base = self._opened_dense(stored, frame)
            else:
                base = OpenBase(PLAIN_ZSTD.decode(frame, stored.length))
        except (ArchiveError, struct.error):
            return None
        own = base.content[len(base.content) - stored.length :]
        return base if _core.hash64(own) == stored.check else None

    def _opened_dense(self, stored: _Stored, frame: bytes) -> OpenBase:
        _, below = _DENSE.unpack_from(frame)
        learned = frame[_DENSE.size :]
        if below >= stored.number:
            raise CodecError(f"base {stored.number} is on top of base {below}, which is no older")
        if below:
            under = self.get(below)
            if under.is_on_top:
                raise CodecError(f"base {stored.number} is on top of {below}, and that of another")
            dense = under.dense.open_more(learned, stored.length)
        else:
            dense = _core.DenseBase.open(learned, stored.length)
        return OpenBase(dense.content(), dense, is_on_top=bool(below))


@dataclass(frozen=True, slots=True)
class _Stored:
    """What a record says of a base: of its own, or as its guard (then with the stripe)."""

    number: int
    length: int
    check: int
    frame: bytes
    stripe: bytes | None


def _mended(guard: _Stored) -> Iterator[bytes]:
    """Frames that a base may have had; the first is as it is now, when only its record was damaged."""
    yield guard.frame
    if guard.stripe is not None:
        yield from mended(guard.frame, guard.stripe)
