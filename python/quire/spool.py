"""Spool: page bytes in one temporary file, so that memory holds one page at a time.

Equal pages are stored once, recognised by their SHA-256. The file has no name and disappears with
the process.
"""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
from typing import TYPE_CHECKING, BinaryIO, Self

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class _Temporary(io.FileIO):
    """A file whose errors name the folder for temporary files: it has no name of its own."""

    def write(self, data: ReadableBuffer) -> int:
        try:
            return super().write(data)
        except OSError as error:
            raise OSError(error.errno, error.strerror, tempfile.gettempdir()) from None


def temporary_file() -> BinaryIO:
    """Open an unnamed temporary file for writing and reading; a full disk names its folder."""
    with tempfile.TemporaryFile(buffering=0) as opened:
        return io.BufferedRandom(_Temporary(os.dup(opened.fileno()), "r+"))


class Closes:
    """Something that holds a file. Close it, or use it in a ``with`` statement."""

    __slots__ = ()

    def close(self) -> None:
        """Release the file."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Spool(Closes):
    """Byte strings by number; equal ones are stored once.

    >>> with Spool() as spool:
    ...     spool.add(b"<p>Fish"), spool.add(b"<p>Peas"), spool.add(b"<p>Fish")
    ...     spool.get(1), len(spool)
    (0, 1, 0)
    (b'<p>Peas', 2)
    """

    def __init__(self) -> None:
        self._file = temporary_file()
        self._places: list[tuple[int, int]] = []
        self._numbers: dict[bytes, int] = {}
        self._keys: list[bytes] = []
        self._end = 0

    def add(self, data: bytes) -> int:
        """Store bytes and return their number."""
        key = hashlib.sha256(data).digest()
        number = self._numbers.setdefault(key, len(self._places))
        if number == len(self._places):
            try:
                self._file.seek(self._end)
                self._file.write(data)
            except OSError as error:  # a write error names no file, and the file has no name
                raise OSError(error.errno, error.strerror, tempfile.gettempdir()) from None
            self._places.append((self._end, len(data)))
            self._keys.append(key)
            self._end += len(data)
        return number

    def get(self, number: int) -> bytes:
        """Read bytes again."""
        start, length = self._places[number]
        self._file.seek(start)
        return self._file.read(length)

    def sha256(self, number: int) -> str:
        """Return their SHA-256 in hexadecimal digits."""
        return self._keys[number].hex()

    def size(self, number: int) -> int:
        """Return how long they are."""
        return self._places[number][1]

    def __len__(self) -> int:
        return len(self._places)

    def close(self) -> None:
        """Release the file."""
        self._file.close()
