"""Views of memory as numpy arrays, without copying.

A separate module from ``columns``, because importing numpy takes as long as importing everything
else, and the command line can print its help without it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Parsing a type name takes numpy longer than making the view.
_TYPES = {name: np.dtype(name) for name in ("u1", "<u2", "<u4", "i1", "<i2", "<i4")}


def column(memory: memoryview, dtype: str, count: int, offset: int) -> NDArray[Any]:
    """View a stored column.

    >>> column(memoryview(bytes([1, 0, 2, 0])), "<u2", 2, 0).tolist()
    [1, 2]
    """
    return np.frombuffer(memory, _TYPES[dtype], count, offset)


def nodes(memory: bytes | memoryview) -> NDArray[np.int32]:
    """View memory as a column of node numbers.

    >>> nodes(bytes(4)).tolist()
    [0]
    """
    return np.frombuffer(memory, np.int32)


def truths(memory: bytes) -> NDArray[np.bool_]:
    """View a column of truth values, one byte each.

    >>> truths(bytes([1, 0])).tolist()
    [True, False]
    """
    return np.frombuffer(memory, np.bool_)
