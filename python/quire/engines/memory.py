"""Memory: gives free memory of this process back to the system.

Tasks of different steps need blocks of other sizes, and each thread has free blocks of its own. So
several times the memory in use can be held as free blocks.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache

import pyarrow as pa


def give_back() -> None:
    """Give back what pyarrow and the C library hold as free blocks, if they can."""
    pa.default_memory_pool().release_unused()
    _trim()(0)


@cache
def _trim() -> Callable[[int], object]:
    """Return ``malloc_trim`` of the GNU C library; elsewhere, a function that does nothing."""
    try:
        found: Callable[[int], object] = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):  # musl and macOS lack it, Windows refuses None
        return lambda _pad: None
    return found
