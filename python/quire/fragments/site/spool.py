"""Pages put by: their bytes in one nameless file on disk, so that a crawl is looked at twice and memory holds one page.

Equal pages are kept once, told by their SHA-256. The file has no name and goes with the process.
"""

from __future__ import annotations

import hashlib
import tempfile
from types import TracebackType
from typing import Self


class Spool:
    """Byte strings, each kept once, by number.

    >>> with Spool() as spool:
    ...     spool.add(b"<p>Fish"), spool.add(b"<p>Peas"), spool.add(b"<p>Fish")
    ...     spool.get(1), len(spool)
    (0, 1, 0)
    (b'<p>Peas', 2)
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
        self._places: list[tuple[int, int]] = []
        self._numbers: dict[bytes, int] = {}
        self._end = 0

    def add(self, data: bytes) -> int:
        """Keep bytes, and give their number."""
        key = hashlib.sha256(data).digest()
        number = self._numbers.setdefault(key, len(self._places))
        if number == len(self._places):
            self._file.seek(self._end)
            self._file.write(data)
            self._places.append((self._end, len(data)))
            self._end += len(data)
        return number

    def get(self, number: int) -> bytes:
        """Give bytes back."""
        start, length = self._places[number]
        self._file.seek(start)
        return self._file.read(length)

    def size(self, number: int) -> int:
        """How long they are."""
        return self._places[number][1]

    def __len__(self) -> int:
        return len(self._places)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
