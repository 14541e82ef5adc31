"""CDXJ: the index beside a ``.warc.gz`` that replay tools use to find a record.

One line for each record, sorted: the address with its host reversed (``example,www)/path``, so
that a domain and its subdomains sort together), the time in fourteen digits, and a JSON object
with the position of the record.
"""

from __future__ import annotations

import heapq
import io
import json
from collections.abc import Iterator
from datetime import datetime
from typing import TextIO

from quire.archive.addresses import key
from quire.spool import temporary_file

#: Maximum lines in memory; more are sorted in parts on disk.
MOST_LINES = 200_000


def line(url: str, time: datetime, fields: dict[str, str]) -> str:
    """Return the line of a record."""
    values = json.dumps({"url": url, **fields})
    # strftime leaves out the zeros of a year before 1000.
    return f"{key(url)} {time.year:04}{time:%m%d%H%M%S} {values}\n".encode(
        "utf-8", "replace"
    ).decode()


class Lines:
    """Sorts any number of lines, on disk if necessary."""

    def __init__(self) -> None:
        self._held: list[str] = []
        self._parts: list[TextIO] = []

    def add(self, line: str) -> None:
        """Add a line."""
        self._held.append(line)
        if len(self._held) >= MOST_LINES:
            self._put_away()

    def _put_away(self) -> None:
        part = io.TextIOWrapper(temporary_file(), encoding="utf-8", newline="\n")
        self._parts.append(part)
        part.writelines(sorted(self._held))
        part.seek(0)
        self._held = []

    def sorted(self) -> Iterator[str]:
        """Yield all lines in order."""
        return heapq.merge(*self._parts, sorted(self._held))

    def close(self) -> None:
        """Drop the lines and their temporary files."""
        for part in self._parts:
            part.close()
        self._parts, self._held = [], []
