"""Bases: what many pages lean on, and how one is had back when part of it is lost.

A *guard* at the end of the file has all that the base's own record says of it, and the exclusive or of equal stripes of
it: sixteen, or fewer where those would be shorter than a sector. With that a damaged stretch that is shorter than a
stripe can be made anew, wherever it is: the exclusive or of all stripes and of the guard is zero but in the columns of the
stretch, and for each stripe it is tried whether the stretch begins there.

Records: ``base`` (meta: number, length and XXH3 of the content, as 32, 32 and 64 bits; payload: a zstd frame), ``guard``
(meta: the same, then place and length of the frame, 64 bits each; payload: the stripe).

Above: ``segment``, ``files``. Below: ``layout``, ``_core``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quire import _core
from quire.archive.layout import HEAD_BYTES, Head, Kind, Source, read_head
from quire.errors import ArchiveError, DamagedRecord

#: Stripes of a base, at most; its guard is as long as one.
STRIPES = 16
#: A stripe is no shorter: disks lose sectors, not bytes, and a bit more shows where the sector begins.
STRIPE_BYTES = 512 + 64
#: A base, and its frame. Writers stop at a few megabytes; a few bytes of zstd can claim thousands of them.
MOST_BASE_BYTES = 1 << 26

_BASE = struct.Struct("<IIQ")
_GUARD = struct.Struct("<IIQQQ")
_ALONE = _core.Base(b"")


def base_meta(number: int, content: bytes) -> bytes:
    """Give the meta of the record of a base."""
    return _BASE.pack(number, len(content), _core.hash64(content))


def base_number(source: Source, head: Head) -> int:
    """Read the number of a base from its record, or from that of its guard.

    Raises:
        DamagedRecord: it is not what was written.
    """
    meta = source.meta(head)
    if len(meta) != (_BASE if head.kind == Kind.BASE else _GUARD).size:
        raise DamagedRecord(
            f"{source.name}: the record at {head.offset} is of no base",
            file=source.name,
            offset=head.offset,
        )
    number: int = _BASE.unpack_from(meta)[0]
    return number


def guard_of(meta: bytes, place: int, frame: bytes) -> tuple[bytes, bytes]:
    """Give meta and payload of the guard of a base, whose frame is at a place of the file."""
    width = min(len(frame), max(STRIPE_BYTES, -(-len(frame) // STRIPES)))
    return meta + struct.pack("<QQ", place, len(frame)), _xor(_stripes(frame, width)).tobytes()


@dataclass(frozen=True, slots=True)
class _Guard:
    length: int
    check: int
    place: int
    frame: int
    stripe: bytes


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
                frame = _payload(source, head)
                content = _decoded(frame, length, check) if found == number else None
                if content is not None:
                    return content
            elif head is not None and head.kind == Kind.GUARD:
                found, length, check, place, frame_bytes = _GUARD.unpack(source.meta(head))
                stripe = _payload(source, head)
                if found == number:
                    guards.append(_Guard(length, check, place, frame_bytes, stripe))
        except (DamagedRecord, struct.error):
            continue
    for guard in guards:
        content = _mended(source, guard)
        if content is not None:
            return content
    offset = places[0] if places else 0
    raise DamagedRecord(
        f"{source.name}: the record at {offset} should be base {number}, and no copy of it is whole",
        file=source.name,
        offset=offset,
    )


def base_is_whole(source: Source, offset: int) -> bool:
    """Tell whether the record of a base or of a guard is whole, with its payload."""
    head = read_head(source.at(offset, HEAD_BYTES), offset)
    try:
        if head is None:
            return False
        meta = source.meta(head)
        payload = _payload(source, head)
        if head.kind == Kind.BASE:
            _, length, check = _BASE.unpack(meta)
            return _decoded(payload, length, check) is not None
        _, length, check, place, frame_bytes = _GUARD.unpack(meta)
        frame = source.at(place, min(frame_bytes, MOST_BASE_BYTES))
        # Where the base itself is damaged nobody can say; that is found at the base.
        if _decoded(frame, length, check) is None:
            return True
        return bool(payload) and _xor(_stripes(frame, len(payload))).tobytes() == payload
    except (DamagedRecord, struct.error):
        return False


def _payload(source: Source, head: Head) -> bytes:
    """Read a frame or a stripe; one that is too long is cut off, and does not decode."""
    return source.at(head.payload_offset, min(head.payload_bytes, MOST_BASE_BYTES))


def _decoded(frame: bytes, length: int, check: int) -> bytes | None:
    if length > MOST_BASE_BYTES:
        return None
    try:
        content = _ALONE.decode(frame, length)
    except ArchiveError:
        return None
    return content if _core.hash64(content) == check else None


def _mended(source: Source, guard: _Guard) -> bytes | None:
    """Make a base anew of which a stretch is damaged."""
    most = min(MOST_BASE_BYTES, len(guard.stripe) * STRIPES)
    if not 0 < guard.frame <= most:  # says more than a guard can know
        return None
    frame = source.at(guard.place, guard.frame).ljust(guard.frame, b"\0")
    content = _decoded(frame, guard.length, guard.check)
    if content is not None:  # only its record was damaged
        return content
    rows = _stripes(frame, len(guard.stripe))
    for tried in _tries(rows, _xor(rows) ^ np.frombuffer(guard.stripe, np.uint8)):
        content = _decoded(tried.tobytes()[: guard.frame], guard.length, guard.check)
        if content is not None:
            return content
    return None


def _tries(rows: NDArray[np.uint8], wrong: NDArray[np.uint8]) -> Iterator[NDArray[np.uint8]]:
    """Put right, in one stripe after the other, the columns that are wrong; a stretch may run on into the next stripe."""
    first = _stretch(wrong)
    for at in range(len(rows)):
        tried = rows.copy()
        tried[at, first:] ^= wrong[first:]
        if at + 1 < len(rows):
            tried[at + 1, :first] ^= wrong[:first]
        yield tried


def _stretch(wrong: NDArray[np.uint8]) -> int:
    """Where a stretch begins that may go round the end: behind the longest run of columns that are right."""
    bad = np.flatnonzero(wrong)
    if not len(bad):
        return 0
    before = np.diff(bad, prepend=bad[-1] - len(wrong))
    return int(bad[np.argmax(before)])


def _stripes(frame: bytes, width: int) -> NDArray[np.uint8]:
    """Cut a frame into equal stripes, the last filled up with zeros."""
    n = -(-len(frame) // width)
    return np.frombuffer(frame.ljust(n * width, b"\0"), np.uint8).reshape(n, width)


def _xor(rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
    total: NDArray[np.uint8] = np.bitwise_xor.reduce(rows, axis=0)
    return total
