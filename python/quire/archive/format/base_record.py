"""Bases: the shared content that many pages are encoded against.

Records: ``base`` (meta: number, length and XXH3 of the content, as 32, 32 and 64 bits; payload:
its frame) and, at the end of the file, ``guard`` (meta: the same, then offset, length and XXH3 of
the frame, 64 bits each; payload: the stripe of ``parity``).

A frame is either zstd or dense. A dense frame starts with ``qdns`` and the number of the base
below it (32 bits; 0 for none). Its meta describes only its own content; pages use both.

Opening a dense base teaches a model, which takes tens of milliseconds; opening a zstd base takes
one. So the most recently used bases stay open, as many as fit. The checksum of the frame shows
without opening it whether a copy is intact, and which of the candidates of a guard is right; a base
that cannot be read is remembered, so that damage is found out once and not for every page.
"""

from __future__ import annotations

import struct
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from threading import Lock

from quire import _core
from quire.archive.format.parity import STRIPES, is_stripe_of, restored, stripe_of
from quire.archive.format.record import HEAD_BYTES, PLAIN_ZSTD, Head, RecordKind, Source, read_head
from quire.errors import ArchiveError, CodecError, DamagedRecord

#: Maximum memory for open bases.
OPEN_BYTES = 256 << 20
#: Memory of a dense model besides its base.
MODEL_BYTES = 8 << 20
#: Maximum length of a base and of its frame. Writers stop at a few megabytes, but a few bytes of
#: zstd can claim thousands of megabytes.
MOST_BASE_BYTES = 1 << 26

_BASE = struct.Struct("<IIQ")
_GUARD = struct.Struct("<IIQQQQ")
#: A guard without the checksum of the frame, as written before.
_OLD_GUARD = struct.Struct("<IIQQQ")
_DENSE = struct.Struct("<4sI")
_DENSE_MARK = b"qdns"


def base_meta(number: int, content: bytes) -> bytes:
    """Return the meta of a base record."""
    return _BASE.pack(number, len(content), _core.hash64(content))


def dense_frame(frame: bytes, below: int) -> bytes:
    """Return the stored frame of a dense base; ``below`` is the number of the base below it."""
    return _DENSE.pack(_DENSE_MARK, below) + frame


def base_number(source: Source, head: Head) -> int:
    """Read the number of a base from its record, or from the record of its guard.

    Raises:
        DamagedRecord: The record is damaged.
    """
    meta = source.meta(head)
    guards = {_GUARD.size, _OLD_GUARD.size}
    if len(meta) not in ({_BASE.size} if head.kind == RecordKind.BASE else guards):
        raise source.damaged(head.offset, "is not a base")
    number: int = _BASE.unpack_from(meta)[0]
    return number


def guard_of(meta: bytes, place: int, frame: bytes) -> tuple[bytes, bytes]:
    """Return meta and payload of the guard for a base whose frame is at the given offset."""
    more = struct.pack("<QQQ", place, len(frame), _core.hash64(frame))
    return meta + more, stripe_of(frame)


class OpenBase:
    """A base that is ready for reading pages. Threads may share it."""

    def __init__(
        self, content: bytes, dense: _core.DenseBase | None = None, *, is_on_top: bool = False
    ) -> None:
        self.content: bytes = content
        self._dense = dense
        #: Whether this base is on top of another; a third cannot be on top of it.
        self.is_on_top: bool = is_on_top

    @cached_property
    def zstd(self) -> _core.Base:
        """The base prepared for zstd pages."""
        return _core.Base(self.content)

    @property
    def dense(self) -> _core.DenseBase:
        """The base prepared for dense pages.

        Raises:
            CodecError: The base is not dense.
        """
        if self._dense is None:
            raise CodecError("a dense page refers to a base that is not dense")
        return self._dense

    @property
    def held(self) -> int:
        """Approximate bytes in memory."""
        return len(self.content) + (0 if self._dense is None else len(self.content) + MODEL_BYTES)


NO_BASE = OpenBase(b"")


class Bases:
    """The bases of a file. Threads may share them.

    Args:
        source: The file.
        places: Returns the offsets of a base, its copies and its guards.
    """

    def __init__(self, source: Source, places: Callable[[int], Sequence[int]]) -> None:
        self._source = source
        self._places = places
        self._lock = Lock()
        self._open: OrderedDict[int, OpenBase] = OrderedDict()
        # What was found out about a base stays true: files do not change.
        self._lost: set[int] = set()
        self._frames: dict[int, int] = {}  # checksums of frames that were opened
        self._last_shared: tuple[int, bytes] = (-1, b"")  # offset and content of a shared frame

    def get(self, number: int) -> OpenBase:
        """Return a base, opening it if needed.

        Raises:
            DamagedRecord: No copy is intact, and the guard cannot restore it.
        """
        if not number:
            return NO_BASE
        with self._lock:
            known = self._open.get(number)
            if known is not None:
                self._open.move_to_end(number)
                return known
            if number in self._lost:
                raise self._lost_base(number)
        base = self._read(number)
        with self._lock:
            self._open[number] = base
            held = sum(base.held for base in self._open.values())
            while len(self._open) > 1 and held > OPEN_BYTES:
                held -= self._open.popitem(last=False)[1].held
        return base

    def shared_frame(self, offset: int, frame_bytes: int, length: int, number: int) -> bytes:
        """Return the bodies of pages that share a frame, in a row.

        The last one stays in memory: who reads all pages asks for its pages one after the other.

        Args:
            offset: Offset of the frame.
            frame_bytes: Length of the frame.
            length: Length of all bodies.
            number: Number of the base; 0 for none.

        Raises:
            ArchiveError: The frame or its base is damaged.
        """
        known, bodies = self._last_shared
        if known != offset or len(bodies) != length:
            bodies = self.get(number).zstd.decode(self._source.at(offset, frame_bytes), length)
            self._last_shared = (offset, bodies)
        return bodies

    def _read(self, number: int) -> OpenBase:
        """Read a base from its first intact copy, or restore it with its guard."""
        stored = [one for one in map(self._stored, self._places(number)) if one is not None]
        stored = [one for one in stored if one.number == number]
        guards = [one for one in stored if one.stripe is not None]
        checks = {one.frame_check for one in guards if one.frame_check is not None}
        copies = ((one, one.frame) for one in stored if one.stripe is None)
        candidates = ((guard, frame) for guard in guards for frame in _restored(guard))
        tried: set[int] = set()
        for one, frame in chain(copies, candidates):
            check = _core.hash64(frame)
            if check in tried or (checks and check not in checks):
                continue
            tried.add(check)
            base = self._opened(one, frame)
            if base is not None:
                with self._lock:
                    self._frames[number] = check
                return base
        with self._lock:
            self._lost.add(number)
        raise self._lost_base(number)

    def _lost_base(self, number: int) -> DamagedRecord:
        offset = next(iter(self._places(number)), 0)
        return self._source.damaged(offset, f"should be base {number}, but no copy of it is intact")

    def is_whole(self, number: int, offset: int) -> bool:
        """Tell whether a record of a base or its guard is intact, including its payload.

        Args:
            number: A base that ``get`` gives.
            offset: Offset of one of its records.
        """
        stored = self._stored(offset)
        if stored is None:
            return False
        is_frame_whole = _core.hash64(stored.frame) == self._frames.get(number)
        if stored.stripe is None:
            return is_frame_whole
        # If the base itself is damaged, the guard cannot be checked; the base is reported instead.
        return not is_frame_whole or is_stripe_of(stored.stripe, stored.frame)

    def _stored(self, offset: int) -> _Stored | None:
        """Read the record of a base or guard; None if that is not possible."""
        head = read_head(self._source.at(offset, HEAD_BYTES), offset)
        if head is None:
            return None
        try:
            meta = self._source.meta(head)
            # A frame that is too long is cut off, and then does not decode.
            length = min(head.payload_bytes, MOST_BASE_BYTES)
            payload = self._source.at(head.payload_offset, length)
            if head.kind == RecordKind.BASE:
                number, length, check = _BASE.unpack(meta)
                return _Stored(number, length, check, payload, None, None)
            number, length, check, place, frame_bytes = _OLD_GUARD.unpack_from(meta)
            is_old = len(meta) == _OLD_GUARD.size
            frame_check = None if is_old else _GUARD.unpack(meta)[-1]
        except (DamagedRecord, struct.error):
            return None
        if not 0 < frame_bytes <= len(payload) * STRIPES:  # more than a guard can cover
            return None
        if frame_bytes > MOST_BASE_BYTES:
            return None
        frame = self._source.at(place, frame_bytes).ljust(frame_bytes, b"\0")
        return _Stored(number, length, check, frame, payload, frame_check)

    def _opened(self, stored: _Stored, frame: bytes) -> OpenBase | None:
        """Open a base; None if the frame is damaged."""
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
            raise CodecError(f"base {stored.number} is on top of base {below}, which is not older")
        if below:
            under = self.get(below)
            if under.is_on_top:
                raise CodecError(
                    f"base {stored.number} is on top of base {below}, which is on top of another"
                )
            dense = under.dense.open_more(learned, stored.length)
        else:
            dense = _core.DenseBase.open(learned, stored.length)
        return OpenBase(dense.content(), dense, is_on_top=bool(below))


@dataclass(frozen=True, slots=True)
class _Stored:
    """A base as described by its own record, or by its guard (then with stripe and checksum)."""

    number: int
    length: int
    check: int
    frame: bytes
    stripe: bytes | None
    frame_check: int | None


def _restored(guard: _Stored) -> Iterator[bytes]:
    """Yield candidates for a frame, first as it is: only its record may be damaged."""
    yield guard.frame
    if guard.stripe is not None:
        yield from restored(guard.frame, guard.stripe)
