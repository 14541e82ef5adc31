"""What an archive knows of a page beside its bytes, and how that is stored.

A block holds what is known of up to 128 pages as columns, compressed together, since neighbours have nearly the same
addresses and headers. A journal has the same, a page at a time.

Columns, each for all pages in a row: time (microseconds since 1970, 64 bits), length of the body, length of its frame,
codec and duplicate (32 bits each), XXH3 of the body (64 bits), the first 16 bytes of its SHA-256, lengths of url, head and extra
(32 bits each), and then the urls, heads and extras themselves.

Every length here comes from a file that somebody may have made to cost memory. A few bytes of zstd can claim gigabytes,
so what is more than a writer ever writes is refused before anything is set aside for it.
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
from quire.errors import CodecError, SourceTooLarge

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
HASH_BYTES = 16
#: A body. Ingest reads 50 MB of a page unless it is told otherwise; what is longer than this is a film.
MOST_BODY_BYTES = 1 << 28
#: Its frame: zstd adds less than a hundredth to what it cannot make smaller.
MOST_FRAME_BYTES = MOST_BODY_BYTES + (MOST_BODY_BYTES >> 7)
#: Address, head and extra of a page together. Servers and browsers give up at a tenth of it.
MOST_ABOUT_BYTES = 1 << 20
#: Columns of a block: twice what 128 pages can have.
MOST_COLUMNS_BYTES = 1 << 28
#: Pages of a block. Writers stop at 128; but a count of millions in a few bytes must not become as many objects.
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


@dataclass(frozen=True, slots=True)
class About:
    """A stored page without its bytes.

    Attributes:
        url: its address.
        time: microseconds since 1970, UTC.
        head: HTTP status line and headers as they came, or nothing.
        extra: what else came with it, for whoever stored it: the head of a WARC record.
        length: of the body.
        frame: length of the body as it is stored.
        codec: how it is stored.
        same_as: the earlier page of the block that it is a duplicate of, or leans on; of a page that leans on a base, how
            many bases after that of the block.
        check: XXH3 of the body.
        digest: the first 16 bytes of the body's SHA-256.
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

    def is_of(self, body: bytes) -> bool:
        """Tell whether these are the bytes of the page."""
        return len(body) == self.length and _core.hash64(body) == self.check


def about(url: str, time: datetime, body: bytes, head: bytes = b"", extra: bytes = b"") -> About:
    """Say what there is to know of a page that is not yet stored.

    Raises:
        SourceTooLarge: nobody would read it again.
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
        digest=hashlib.sha256(body).digest()[:HASH_BYTES],
    )


def check_lengths(url: str, about_bytes: int, body_bytes: int) -> None:
    """Check that a page is no longer than what is read.

    Args:
        url: its address.
        about_bytes: length of head and extra.
        body_bytes: length of the body.

    Raises:
        SourceTooLarge: it is.
    """
    about_bytes += len(url.encode("utf-8", "surrogatepass"))
    for what, found, most in (
        ("its body", body_bytes, MOST_BODY_BYTES),
        ("its address and headers", about_bytes, MOST_ABOUT_BYTES),
    ):
        if found > most:
            raise SourceTooLarge(
                f"{url}: {what}: {found:,} bytes; an archive keeps at most {most:,}",
                found_bytes=found,
                max_bytes=most,
            )


def to_microseconds(time: datetime) -> int:
    """Give a time as it is stored; one without a zone is taken as UTC."""
    if time.tzinfo is None:
        time = time.replace(tzinfo=UTC)
    return (time - _EPOCH) // timedelta(microseconds=1)


def to_time(microseconds: int) -> datetime:
    """Give a stored time."""
    return _EPOCH + timedelta(microseconds=microseconds)


_COUNT = struct.Struct("<I")


def pack(pages: Sequence[About]) -> bytes:
    """Give the columns of some pages."""
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


def unpack_frame(frame: bytes, length: int) -> list[About]:
    """Read the columns of some pages out of a frame that should hold so many bytes.

    Raises:
        CodecError: they are not what ``pack`` writes, or more than anybody would.
    """
    if length > MOST_COLUMNS_BYTES:
        raise CodecError(f"columns of {length:,} bytes; at most {MOST_COLUMNS_BYTES:,} are read")
    return unpack(PLAIN_ZSTD.decode(frame, length))


def unpack(data: bytes) -> list[About]:
    """Read the columns of some pages.

    Raises:
        CodecError: they are not what ``pack`` writes, or more than anybody would.
    """
    reader = _ColumnReader(data)
    n = _COUNT.unpack(reader.take(_COUNT.size))[0]
    if n > MOST_PAGES:
        raise CodecError(f"{n:,} pages in a row; at most {MOST_PAGES:,} are read")
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
            f"a page of {max(length):,} bytes, {max(frame):,} as stored; at most {MOST_BODY_BYTES:,} are read"
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
        )
        for i in range(n)
    ]


_CODECS = {int(codec): codec for codec in Codec}

#: A delta is no longer than this many times its page: every token of it may have a number of its own.
_MOST_DELTA = 16


def pack_delta(delta: bytes, level: int) -> bytes:
    """Give the frame of a page that is stored as the delta of paper 003."""
    return _COUNT.pack(len(delta)) + PLAIN_ZSTD.encode(delta, level)


def unpack_delta(frame: bytes, length: int) -> bytes:
    """Read the delta of a page of so many bytes.

    Raises:
        CodecError: it is not what ``pack_delta`` writes.
    """
    reader = _ColumnReader(frame)
    plain = _COUNT.unpack(reader.take(_COUNT.size))[0]
    if plain > min(_MOST_DELTA * (length + _MOST_DELTA), MOST_COLUMNS_BYTES):
        raise CodecError(f"the delta of a page of {length:,} bytes has {plain:,}")
    return PLAIN_ZSTD.decode(frame[_COUNT.size :], plain)


class _ColumnReader:
    """Takes bytes off the front, and no more than there are."""

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
        # Most often one page is asked for, and this is quicker than an array.
        row = f"<{n}{kind}"
        return struct.unpack(row, self.take(struct.calcsize(row)))

    @property
    def is_done(self) -> bool:
        return self._at == len(self._data)
