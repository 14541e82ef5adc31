"""Optional libraries of the extra ``archive``, imported when first needed."""

from __future__ import annotations

import functools
import warnings
from types import ModuleType

from quire.errors import MissingExtra

_EXTRA = "archive"


def stream_io() -> ModuleType:
    """Return the decoders of fastwarc.

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
        # fastwarc 1.1 raises deprecation warnings about itself on import.
        warnings.simplefilter("ignore", DeprecationWarning)
        from fastwarc import stream_io as library  # noqa: PLC0415 - optional
    return library


def pyarrow_parquet() -> tuple[ModuleType, ModuleType]:
    """Return pyarrow and its Parquet reader.

    Raises:
        MissingExtra: pyarrow is not installed.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 - optional, and slow to import
        from pyarrow import parquet  # noqa: PLC0415 - same
    except ImportError:
        raise MissingExtra("pyarrow is not installed", extra=_EXTRA) from None
    return pa, parquet
