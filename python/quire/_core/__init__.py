"""The one door between Python and the kernels.

Everything compiled is imported from here and from nowhere else; it is typed in
``_native.pyi``. Kernels raise the classes of ``quire.errors``; a panic in one arrives
as ``InternalError``.

Above: ``digest``. Below: ``errors``, which the kernels import when they raise.
"""

from __future__ import annotations

from typing import cast

from quire._core._native import (
    Digest,
    Navigation,
    compress,
    encode,
    from_bytes,
    from_columns,
    load,
    peek,
)

__all__ = [
    "Digest",
    "Navigation",
    "compress",
    "encode",
    "from_bytes",
    "from_columns",
    "load",
    "peek",
    "view",
]


def view(lender: Digest | Navigation) -> memoryview:
    """Look at the memory of a digest or of a derived column; it stays while it is looked at.

    >>> view(encode(b"<p>", "html", None, None, True, None, False)).readonly
    True
    """
    # A type checker can see that an object is a buffer from Python 3.12 on.
    return memoryview(cast("bytes", lender))
