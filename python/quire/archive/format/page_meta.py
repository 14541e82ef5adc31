"""The metadata of a page: everything an archive knows about it besides its bytes.

A block stores the metadata of up to 128 pages as columns, compressed together, because neighbours
have nearly the same addresses and headers. A journal stores the same for one page at a time.

Columns, each for all pages in a row: time (microseconds since 1970, 64 bits), length of the body,
length of its frame, codec and duplicate (32 bits each), XXH3 of the body (64 bits), the first 16
bytes of its SHA-256, lengths of url, head and extra (32 bits each), and then the urls, heads and
extras themselves.

Every length here comes from a file that may have been made to exhaust memory: a few bytes of zstd
can claim gigabytes. So anything longer than a writer produces is refused before memory is
allocated.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from itertools import accumulate

from quire import _core
from quire.archive.format.record import PLAIN_ZSTD
from quire.errors import ArchiveError, CodecError, SourceTooLarge

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
HASH_BYTES = 16
#: Maximum length of a body. Ingest reads up to 50 MB of a page by default; longer is a film.
MOST_BODY_BYTES = 1 << 28
#: Maximum length of a frame: zstd adds less than one percent to data it cannot compress.
MOST_FRAME_BYTES = MOST_BODY_BYTES + (MOST_BODY_BYTES >> 7)
#: Maximum length of address, head and extra together. Servers and browsers stop at a tenth of it.
MOST_ABOUT_BYTES = 1 << 20
#: Maximum length of the columns of a block: twice what 128 pages can have.
MOST_COLUMNS_BYTES = 1 << 28
#: Maximum pages of a block. Writers stop at 128, but a few bytes could claim millions of pages.
MOST_PAGES = 1 << 16


class Codec(IntEnum):
    """How the body of a page is stored."""

    RAW = 0
    ZSTD = 1
    ZSTD_BASE = 2
    DUPLICATE = 3
    ZSTD_PAGE = 4
    DENSE = 5
    TBC = 6
    #: One frame for several small pages in a row; the first of them has it.
    TOGETHER = 7


@dataclass(frozen=True, slots=True)
class About:
    """The metadata of a stored page.

    Attributes:
        url: Address of the page.
        time: Fetch time in microseconds since 1970, UTC.
        head: HTTP status line and headers as received, or empty.
        extra: Anything else stored with the page, such as the head of its WARC record.
        length: Length of the body.
        frame: Length of the body as stored.
        codec: How the body is stored.
        same_as: Slot of the earlier page in the block that this one duplicates or depends on; for
            a page stored together with others, slot of the first of them, which has the frame of
            all; for a page that uses a base, its base's distance from the base of the block.
        check: XXH3 of the body.
        digest: First 16 bytes of the SHA-256 of the body.
        is_companion: Whether this is a WARC record without a page of its own, such as a request.
            Its block is ``head`` and body together.
    """

    url: str
    time: int
    head: bytes
    extra: bytes
    length: int
    frame: int
    codec: Codec
    same_as: int
    check: int
    digest: bytes
    is_companion: bool = False

    def is_of(self, body: bytes) -> bool:
        """Tell whether these bytes are the body of the page."""
        return len(body) == self.length and _core.hash64(body) == self.check


def about(
    url: str,
    time: datetime,
    body: bytes,
    head: bytes = b"",
    extra: bytes = b"",
    *,
    digest: bytes | None = None,
    is_companion: bool = False,
) -> About:
    """Make the metadata of a page or companion that is not stored yet.

    A caller that knows the first 16 bytes of the body's SHA-256 passes them as ``digest``.

    Raises:
        SourceTooLarge: The page is longer than readers accept.
        ArchiveError: In UTC, the time is before year 1 or after year 9999.
    """
    check_lengths(url, len(head) + len(extra), len(body))
    return About(
        url=url,
        time=to_microseconds(time),
        head=head,
        extra=extra,
        length=len(body),
        frame=0,
        codec=Codec.RAW,
        same_as=0,
        check=_core.hash64(body),
        digest=digest or hashlib.sha256(body).digest()[:HASH_BYTES],
        is_companion=is_companion,
    )


def check_lengths(url: str, about_bytes: int, body_bytes: int) -> None:
    """Check that a page is not longer than readers accept.

    Args:
        url: Address of the page.
        about_bytes: Length of head and extra.
        body_bytes: Length of the body.

    Raises:
        SourceTooLarge: The page is too long.
    """
    about_bytes += len(url.encode("utf-8", "surrogatepass"))
    for what, found, most in (
        ("its body", body_bytes, MOST_BODY_BYTES),
        ("its address and headers", about_bytes, MOST_ABOUT_BYTES),
    ):
        if found > most:
            raise SourceTooLarge(
                f"{url}: {what}: {found:,} bytes; an archive stores at most {most:,}",
                found_bytes=found,
                max_bytes=most,
            )


def to_microseconds(time: datetime) -> int:
    """Convert a time to its stored form; a time without a zone is taken as UTC.

    Raises:
        ArchiveError: In UTC, the time is before year 1 or after year 9999.
    """
    found = _since_1970(time)
    if not _FIRST <= found <= _LAST:
        raise ArchiveError(
            f"the time {time.isoformat()} is outside the years 1 to 9999 in UTC; "
            "an archive cannot store it"
        )
    return found


def not_before(time: datetime) -> int:
    """Return the earliest stored time that a search from this time on finds.

    A file may hold times outside the calendar. They are shown as its first and last moment, and
    found by these.
    """
    found = _since_1970(time)
    return found if found > _FIRST else -(1 << 63)


def not_after(time: datetime) -> int:
    """Return the latest stored time that a search up to this time finds, as ``not_before``."""
    found = _since_1970(time)
    return found if found < _LAST else (1 << 63) - 1


def to_time(microseconds: int) -> datetime:
    """Convert a stored time to a datetime; outside the calendar, its first or last moment.

    >>> to_time(0).isoformat(), to_time(1 << 62).isoformat()
    ('1970-01-01T00:00:00+00:00', '9999-12-31T23:59:59.999999+00:00')
    """
    return _EPOCH + timedelta(microseconds=min(max(microseconds, _FIRST), _LAST))


def _since_1970(time: datetime) -> int:
    if time.tzinfo is None:
        time = time.replace(tzinfo=UTC)
    return (time - _EPOCH) // timedelta(microseconds=1)


_FIRST = _since_1970(datetime.min.replace(tzinfo=UTC))
_LAST = _since_1970(datetime.max.replace(tzinfo=UTC))


_COUNT = struct.Struct("<I")


def pack(pages: Sequence[About]) -> bytes:
    """Serialize the metadata of some pages as columns."""
    urls = [page.url.encode("utf-8", "surrogatepass") for page in pages]
    heads = [page.head for page in pages]
    extras = [page.extra for page in pages]
    numbers: list[tuple[str, Sequence[int]]] = [
        ("q", [page.time for page in pages]),
        ("I", [page.length for page in pages]),
        ("I", [page.frame for page in pages]),
        ("I", [page.codec for page in pages]),
        ("I", [page.same_as for page in pages]),
        ("Q", [page.check for page in pages]),
    ]
    lengths = [("I", [len(text) for text in texts]) for texts in (urls, heads, extras)]
    return b"".join(
        [
            _COUNT.pack(len(pages)),
            *(_column(*column) for column in numbers),
            *(page.digest for page in pages),
            *(_column(*column) for column in lengths),
            *urls,
            *heads,
            *extras,
        ]
    )


def _column(kind: str, values: Sequence[int]) -> bytes:
    return struct.pack(f"<{len(values)}{kind}", *values)


def unpack_frame(frame: bytes, length: int, *, are_companions: bool = False) -> list[About]:
    """Read the metadata of some pages from a frame that should decode to ``length`` bytes.

    Raises:
        CodecError: The columns are damaged, or longer than a writer produces.
    """
    if length > MOST_COLUMNS_BYTES:
        raise CodecError(f"columns of {length:,} bytes; at most {MOST_COLUMNS_BYTES:,} are read")
    return unpack(PLAIN_ZSTD.decode(frame, length), are_companions=are_companions)


def unpack(data: bytes, *, are_companions: bool = False) -> list[About]:
    """Read the metadata of some pages, or of some companions.

    Raises:
        CodecError: The columns are damaged, or longer than a writer produces.
    """
    if len(data) >= _ONE.size and data.startswith(_COUNT_OF_ONE):
        return [_unpack_one(data, is_companion=are_companions)]
    reader = _ColumnReader(data)
    n = _COUNT.unpack(reader.take(_COUNT.size))[0]
    if n > MOST_PAGES:
        raise CodecError(f"{n:,} pages in one block; at most {MOST_PAGES:,} are read")
    times = reader.numbers("q", n)
    length, frame, codec, same_as = (reader.numbers("I", n) for _ in range(4))
    check = reader.numbers("Q", n)
    digests = reader.take(HASH_BYTES * n)
    lengths = [reader.numbers("I", n) for _ in range(3)]
    urls, heads, extras = (reader.texts(sizes) for sizes in lengths)
    if not reader.is_done or any(number not in _CODECS for number in codec):
        raise CodecError("the columns of a block are damaged")
    if max(length, default=0) > MOST_BODY_BYTES or max(frame, default=0) > MOST_FRAME_BYTES:
        raise CodecError(
            f"a page of {max(length):,} bytes, {max(frame):,} as stored; "
            f"at most {MOST_BODY_BYTES:,} are read"
        )
    try:
        addresses = [url.decode("utf-8", "surrogatepass") for url in urls]
    except UnicodeDecodeError as error:
        raise CodecError(f"an address is not UTF-8: {error}") from None
    return [
        About(
            url=addresses[i],
            time=times[i],
            head=heads[i],
            extra=extras[i],
            length=length[i],
            frame=frame[i],
            codec=_CODECS[codec[i]],
            same_as=same_as[i],
            check=check[i],
            digest=digests[HASH_BYTES * i : HASH_BYTES * (i + 1)],
            is_companion=are_companions,
        )
        for i in range(n)
    ]


def _unpack_one(data: bytes, *, is_companion: bool) -> About:
    """Do the same for a single page, as in a journal, where it is most of the work."""
    _, time, length, frame, codec, same_as, check, digest, *sizes = _ONE.unpack_from(data)
    url, head, extra = sizes
    ends = list(accumulate([_ONE.size, url, head, extra]))
    if ends[-1] != len(data) or codec not in _CODECS:
        raise CodecError("the columns of a block are damaged")
    if length > MOST_BODY_BYTES or frame > MOST_FRAME_BYTES:
        raise CodecError(
            f"a page of {length:,} bytes, {frame:,} as stored; at most {MOST_BODY_BYTES:,} are read"
        )
    try:
        address = data[ends[0] : ends[1]].decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise CodecError(f"an address is not UTF-8: {error}") from None
    return About(
        url=address,
        time=time,
        head=data[ends[1] : ends[2]],
        extra=data[ends[2] : ends[3]],
        length=length,
        frame=frame,
        codec=_CODECS[codec],
        same_as=same_as,
        check=check,
        digest=digest,
        is_companion=is_companion,
    )


_CODECS = {int(codec): codec for codec in Codec}
#: All numbers of a single page; the urls, heads and extras follow.
_ONE = struct.Struct(f"<IqIIIIQ{HASH_BYTES}sIII")
_COUNT_OF_ONE = (1).to_bytes(4, "little")

#: Maximum length of a delta as a multiple of its page: each token may need a number of its own.
_MOST_DELTA = 16


def pack_delta(delta: bytes, level: int) -> bytes:
    """Return the frame of a page that is stored as a delta of paper 003."""
    return _COUNT.pack(len(delta)) + PLAIN_ZSTD.encode(delta, level)


def unpack_delta(frame: bytes, length: int) -> bytes:
    """Read the delta of a page with ``length`` bytes.

    Raises:
        CodecError: The delta is damaged.
    """
    reader = _ColumnReader(frame)
    plain = _COUNT.unpack(reader.take(_COUNT.size))[0]
    if plain > min(_MOST_DELTA * (length + _MOST_DELTA), MOST_COLUMNS_BYTES):
        raise CodecError(f"the delta of a page of {length:,} bytes has {plain:,}")
    return PLAIN_ZSTD.decode(frame[_COUNT.size :], plain)


class _ColumnReader:
    """Takes bytes from the front, but no more than there are."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, length: int) -> bytes:
        end = self._at + length
        if end > len(self._data):
            raise CodecError("the columns of a block are cut short")
        part = self._data[self._at : end]
        self._at = end
        return part

    def texts(self, sizes: Sequence[int]) -> list[bytes]:
        whole = self.take(sum(sizes))
        ends = accumulate(sizes)
        return [whole[end - size : end] for size, end in zip(sizes, ends, strict=True)]

    def numbers(self, kind: str, n: int) -> tuple[int, ...]:
        # Usually for a single page, for which this is faster than an array.
        row = f"<{n}{kind}"
        return struct.unpack(row, self.take(struct.calcsize(row)))

    @property
    def is_done(self) -> bool:
        return self._at == len(self._data)
