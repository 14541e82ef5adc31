"""Parity: restores the frame of a base when part of it is damaged.

A *guard* stores the exclusive or of equal stripes of a frame: sixteen stripes, or fewer if they
would be shorter than a sector. With it, one damaged stretch shorter than a stripe can be restored
wherever it is. The exclusive or of all stripes and the guard is zero except in the columns of the
stretch; so for each stripe, we try whether the stretch begins there.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

#: Maximum number of stripes of a base; its guard is as long as one stripe.
STRIPES = 16
#: Minimum length of a stripe: disks lose whole sectors, and a few more bytes show where one begins.
STRIPE_BYTES = 512 + 64


def stripe_of(frame: bytes) -> bytes:
    """Return the bytes that a guard stores for a frame."""
    width = min(len(frame), max(STRIPE_BYTES, -(-len(frame) // STRIPES)))
    return _xor(_stripes(frame, width)).tobytes()


def is_stripe_of(stripe: bytes, frame: bytes) -> bool:
    """Tell whether a guard matches a frame."""
    return bool(stripe) and _xor(_stripes(frame, len(stripe))).tobytes() == stripe


def restored(frame: bytes, stripe: bytes) -> Iterator[bytes]:
    """Yield the candidates for an undamaged frame; the caller checks which one is right."""
    rows = _stripes(frame, len(stripe))
    for tried in _tries(rows, _xor(rows) ^ np.frombuffer(stripe, np.uint8)):
        yield tried.tobytes()[: len(frame)]


def _tries(rows: NDArray[np.uint8], wrong: NDArray[np.uint8]) -> Iterator[NDArray[np.uint8]]:
    """Correct the wrong columns in each stripe in turn; a stretch may run into the next stripe."""
    first = _stretch(wrong)
    for at in range(len(rows)):
        tried = rows.copy()
        tried[at, first:] ^= wrong[first:]
        if at + 1 < len(rows):
            tried[at + 1, :first] ^= wrong[:first]
        yield tried


def _stretch(wrong: NDArray[np.uint8]) -> int:
    """Find where the stretch begins, possibly wrapping: after the longest run of good columns."""
    bad = np.flatnonzero(wrong)
    if not len(bad):
        return 0
    before = np.diff(bad, prepend=bad[-1] - len(wrong))
    return int(bad[np.argmax(before)])


def _stripes(frame: bytes, width: int) -> NDArray[np.uint8]:
    """Split a frame into equal stripes, the last one padded with zeros."""
    n = -(-len(frame) // width)
    return np.frombuffer(frame.ljust(n * width, b"\0"), np.uint8).reshape(n, width)


def _xor(rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
    total: NDArray[np.uint8] = np.bitwise_xor.reduce(rows, axis=0)
    return total
