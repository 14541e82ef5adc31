"""Libraries of the extra ``archive``, imported when they are first needed."""

from __future__ import annotations

import functools
import warnings
from types import ModuleType

from quire.errors import MissingExtra

_EXTRA = "archive"


def stream_io() -> ModuleType:
    """Give fastwarc's decoders.

    Raises:
        MissingExtra: fastwarc is not installed.
    """
    try:
        return _stream_io()
    except ImportError:
        raise MissingExtra("fastwarc is not installed", extra=_EXTRA) from None


@functools.cache
def _stream_io() -> ModuleType:
    with warnings.catch_warnings():
        # It warns of itself while it is imported (1.1).
        warnings.simplefilter("ignore", DeprecationWarning)
        from fastwarc import stream_io as library  # noqa: PLC0415 - optional
    return library


def pyarrow_parquet() -> tuple[ModuleType, ModuleType]:
    """Give pyarrow and its reader of Parquet.

    Raises:
        MissingExtra: pyarrow is not installed.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 - optional, and slow to import
        from pyarrow import parquet  # noqa: PLC0415 - same
    except ImportError:
        raise MissingExtra("pyarrow is not installed", extra=_EXTRA) from None
    return pa, parquet
