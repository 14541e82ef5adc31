"""Guards: how the frame of a base is had back when part of it is lost.

A *guard* has the exclusive or of equal stripes of a frame: sixteen, or fewer where those would be shorter than a sector.
With that a damaged stretch that is shorter than a stripe can be made anew, wherever it is: the exclusive or of all stripes and
of the guard is zero but in the columns of the stretch, and for each stripe it is tried whether the stretch begins there.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

#: Stripes of a base, at most; its guard is as long as one.
STRIPES = 16
#: A stripe is no shorter: disks lose sectors, not bytes, and a bit more shows where the sector begins.
STRIPE_BYTES = 512 + 64


def stripe_of(frame: bytes) -> bytes:
    """Give what a guard keeps of a frame."""
    width = min(len(frame), max(STRIPE_BYTES, -(-len(frame) // STRIPES)))
    return _xor(_stripes(frame, width)).tobytes()


def is_stripe_of(stripe: bytes, frame: bytes) -> bool:
    """Tell whether a guard keeps what it should."""
    return bool(stripe) and _xor(_stripes(frame, len(stripe))).tobytes() == stripe


def mended(frame: bytes, stripe: bytes) -> Iterator[bytes]:
    """Give what a frame may have been before a stretch of it was damaged; whoever asks knows which is right."""
    rows = _stripes(frame, len(stripe))
    for tried in _tries(rows, _xor(rows) ^ np.frombuffer(stripe, np.uint8)):
        yield tried.tobytes()[: len(frame)]


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
