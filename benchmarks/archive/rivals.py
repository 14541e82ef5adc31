"""What anybody would use instead: every page by itself, pages with a dictionary, or all pages as one stream.

A method takes pages and gives what it stored and how a page is read from it; ``measured`` times both and compares every
page. A solid stream has no pages: reading one is reading all, and that is what its time is.
"""

import lzma
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import zstandard

from benchmarks.measure import percentile
from quire.archive import tbc_encode

Item = TypeVar("Item")

#: zstd's own default, and what ``.warc.zst`` has.
DICTIONARY_BYTES = 112_640
#: Pages that a dictionary is trained on, and bytes of them, at most.
_TRAINED_PAGES, _TRAINED_BYTES = 1_000, 64 << 20
#: Pages whose reading is timed, evenly spaced, and how often each.
TIMED_PAGES, TURNS = 500, 3
#: The dictionary of ``xz -9``: what it can look back.
XZ_BYTES = 64 << 20


@dataclass(slots=True)
class Measured:
    """One way of storing a collection; ``size`` and ``pages`` are what it was measured on."""

    size: int
    pages: int
    stored: int
    seconds: float
    reads: list[float]
    right: int
    cold: list[float] = field(default_factory=list)
    folder: int | None = None
    parts: dict[str, int] = field(default_factory=dict)
    steps: dict[str, float] = field(default_factory=dict)

    def read(self, percent: float = 50, *, cold: bool = False) -> float:
        """Microseconds to read a page."""
        return percentile(self.cold if cold else self.reads, percent) * 1e6

    def rate(self) -> float:
        """Megabytes a second."""
        return self.size / 1e6 / self.seconds


@dataclass(frozen=True, slots=True)
class Stored:
    """Pages that a method stored: bytes of all, how one is read, and bytes that there are once however many pages."""

    size: int
    read: Callable[[int], bytes]
    shared: int = 0


def spread(items: Sequence[Item], most: int) -> list[Item]:
    """So many of some items, evenly spaced."""
    count = min(most, len(items))
    return [items[i * len(items) // count] for i in range(count)]


def least(
    read: Callable[[Item], object], item: Item, turns: int = TURNS, other: Item | None = None
) -> float:
    """The least time that reading took: what else the machine does only adds.

    Another item, if there is one, is read before each turn.
    """
    spent = []
    for _ in range(turns):
        if other is not None:
            read(other)
        start = time.thread_time()
        made = read(item)
        spent.append(time.thread_time() - start)
        del made
    return min(spent)


def measured(
    method: Callable[[Sequence[bytes]], Stored],
    bodies: Sequence[bytes],
    most_bytes: int | None = None,
) -> Measured:
    """Store pages, read every one of them, and compare.

    ``most_bytes`` is for methods that look at each page by itself: so many bytes of pages stand for all.
    """
    whole = sum(map(len, bodies))
    if most_bytes is not None:
        step = max(1, -(-whole // most_bytes))
        bodies = bodies[step // 2 :: step]
    size = sum(map(len, bodies))
    start = time.process_time()
    stored = method(bodies)
    seconds = time.process_time() - start
    right = sum(stored.read(i) == body for i, body in enumerate(bodies))
    reads = [least(stored.read, i) for i in spread(range(len(bodies)), TIMED_PAGES)]
    full = stored.shared + round((stored.size - stored.shared) * whole / size)
    return Measured(size, len(bodies), full, seconds, reads, right)


def measured_solid(
    pack: Callable[[bytes], bytes], unpack: Callable[[bytes], bytes], bodies: Sequence[bytes]
) -> Measured:
    """Store pages as one stream, in their order; all of it is read for any page."""
    joined = b"".join(bodies)
    start = time.process_time()
    frame = pack(joined)
    packed = time.process_time()
    made = unpack(frame)
    seconds = time.process_time() - packed
    right = len(bodies) if made == joined else 0
    return Measured(len(joined), len(bodies), len(frame), packed - start, [seconds], right)


def gzip_pages(bodies: Sequence[bytes]) -> Stored:
    """``gzip -9``, as in ``.warc.gz``."""
    frames = []
    for body in bodies:
        engine = zlib.compressobj(9, zlib.DEFLATED, 31)
        frames.append(engine.compress(body) + engine.flush())
    return Stored(sum(map(len, frames)), lambda i: zlib.decompress(frames[i], 31))


def zstd_pages(bodies: Sequence[bytes]) -> Stored:
    """``zstd -19``."""
    engine, reader = zstandard.ZstdCompressor(level=19), zstandard.ZstdDecompressor()
    frames = [engine.compress(body) for body in bodies]
    return Stored(sum(map(len, frames)), lambda i: reader.decompress(frames[i]))


def zstd_dictionary(bodies: Sequence[bytes]) -> Stored:
    """``zstd -19`` with one dictionary, trained on pages that it then compresses; stored once, compressed."""
    trained = zstandard.train_dictionary(DICTIONARY_BYTES, _trained_on(bodies))
    plain = zstandard.ZstdCompressor(level=19).compress(trained.as_bytes())
    trained.precompute_compress(level=19)
    engine = zstandard.ZstdCompressor(level=19, dict_data=trained)
    reader = zstandard.ZstdDecompressor(dict_data=trained)
    frames = [engine.compress(body) for body in bodies]
    size = len(plain) + sum(map(len, frames))
    return Stored(size, lambda i: reader.decompress(frames[i]), len(plain))


def _trained_on(bodies: Sequence[bytes]) -> list[bytes]:
    step = max(1, len(bodies) // _TRAINED_PAGES)
    chosen, held = [], 0
    for body in bodies[::step]:
        held += len(body)
        if held > _TRAINED_BYTES:
            break
        chosen.append(body)
    return chosen


def tbc_gzip(bodies: Sequence[bytes]) -> Stored:
    """Paper 003's method, with gzip over it."""
    stored = tbc_encode(bodies)
    return Stored(stored.sizes.stored, stored.decode)


def xz(dictionary_bytes: int) -> Callable[[bytes], bytes]:
    """``xz -9``, with a dictionary of so many bytes."""
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9, "dict_size": dictionary_bytes}]
    return lambda joined: lzma.compress(joined, lzma.FORMAT_XZ, filters=filters)


def unxz(frame: bytes) -> bytes:
    """``xz -d``."""
    return lzma.decompress(frame)


def zstd_long(joined: bytes) -> bytes:
    """``zstd --long=31 -19``."""
    parameters = zstandard.ZstdCompressionParameters.from_level(19, window_log=31, enable_ldm=True)
    return zstandard.ZstdCompressor(compression_params=parameters).compress(joined)


def unzstd_long(frame: bytes) -> bytes:
    """``zstd -d --long=31``."""
    return zstandard.ZstdDecompressor(max_window_size=1 << 31).decompress(frame)
