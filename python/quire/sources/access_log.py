r"""Access logs: how often the pages of a site were requested, from a server's log.

Common and combined log format, plain or gzip::

    192.0.2.7 - mary [17/May/2026:11:02:33 +0200] "GET /fish?day=1 HTTP/1.1" 200 5120 "…" "…"

Only deliveries count (``GET`` with 200, 206 or 304), and only of the addresses asked for, so memory
grows with the pages and not with the log. Strangers wrote everything in a log: a line that is not
an entry, or is longer than ``MOST_LINE_BYTES``, is skipped and counted. Each line is scanned once,
from the left; nothing after the status is read.
"""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast
from urllib.parse import urlsplit

from quire.errors import SourceUnreadable

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

#: Longer lines are skipped. Servers accept addresses of 8 kB, and a referrer of the same length.
MOST_LINE_BYTES = 64 * 1024
#: How gzip begins: its mark, and deflate, the only method.
_GZIP = b"\x1f\x8b\x08"
_MONTHS = {
    name: number
    for number, name in enumerate(
        b"Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), start=1
    )
}
_TIME = re.compile(
    rb"(\d\d)/([A-Z][a-z]{2})/(\d{4}):(\d\d):(\d\d):(\d\d) ([+-])(\d\d)(\d\d)", re.ASCII
)
# Quotes inside are escaped by a backslash; each byte is looked at once.
_REQUEST = re.compile(rb'((?:[^"\\]|\\.)*)" (\d{3})(?= |$)', re.ASCII)
_DELIVERED = frozenset((200, 206, 304))
_GET_WORDS = (2, 3)  # "GET /" is HTTP 0.9


@dataclass(frozen=True, slots=True)
class AccessLog:
    """How often a log has some pages.

    Attributes:
        requests: how often each address was delivered; addresses that never were are left out.
        lines: lines of the log.
        skipped: lines that are not entries, or too long.
        others: entries for other addresses, other methods, or without success.
        seconds: between the first and the last entry; 0 if there are fewer than two times.
        damaged: whether the file ended early (gzip).
    """

    requests: Mapping[str, int]
    lines: int
    skipped: int
    others: int
    seconds: float
    damaged: bool = False

    @property
    def per_day(self) -> float | None:
        """Requests per day for each request in the log; None if the log covers no time."""
        return 86_400 / self.seconds if self.seconds else None


def read_access_log(path: str | Path, wanted: Collection[str]) -> AccessLog:
    r"""Count the requests for some addresses.

    >>> import tempfile
    >>> entry = '192.0.2.7 - - [17/May/2026:11:02:33 +0200] "GET {} HTTP/1.1" 200 5120'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "access.log")
    ...     _ = path.write_text("\n".join([entry.format("/fish"), entry.format("/x"), "?"]))
    ...     log = read_access_log(path, {"/fish", "/chips"})
    >>> log.requests, log.lines, log.skipped, log.others
    ({'/fish': 1}, 3, 1, 1)

    Args:
        path: the log, plain or gzip.
        wanted: paths with their queries, as ``log_address`` returns them.

    Raises:
        OSError: it cannot be opened or read.
        SourceUnreadable: it is not empty, and not one line is an entry.
    """
    known = frozenset(wanted)
    found: Counter[str] = Counter()
    lines = skipped = 0
    times: tuple[datetime, datetime] | None = None
    damaged = False
    with Path(path).open("rb", buffering=0) as raw, io.BufferedReader(_Stream(raw)) as file:
        packed = file.peek(len(_GZIP)).startswith(_GZIP)
        with gzip.open(file) if packed else file as opened:
            try:
                for line in _lines(cast("BinaryIO", opened)):
                    lines += 1
                    entry = None if line is None else _entry(line)
                    if entry is None:
                        skipped += 1
                        continue
                    time, address = entry
                    first, last = times or (time, time)
                    times = min(first, time), max(last, time)
                    if address in known:
                        found[address] += 1
            except (EOFError, gzip.BadGzipFile, zlib.error):
                damaged = True
    if lines == skipped and (lines or damaged):
        what = "damaged gzip" if damaged else f"{lines:,} of {lines:,} lines are not entries"
        raise SourceUnreadable(
            f"{path}: {what}; expected an access log in common or combined log format",
            name=str(path),
        )
    seconds = (times[1] - times[0]).total_seconds() if times else 0.0
    others = lines - skipped - found.total()
    return AccessLog(dict(sorted(found.items())), lines, skipped, others, seconds, damaged)


def log_address(url: str) -> str:
    """Return an address as logs have it: path and query; empty if it cannot be read.

    >>> log_address("https://a.example/fish?day=1#top"), log_address("https://a.example")
    ('/fish?day=1', '/')
    >>> log_address("site/a.html")
    '/site/a.html'
    >>> log_address("//wp-login.php")
    '//wp-login.php'
    """
    if url.startswith("/"):  # a path, also with two slashes: there is no host
        return url.partition("#")[0].removesuffix("?")
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    path = parts.path if parts.path.startswith("/") else f"/{parts.path}"
    return f"{path}?{parts.query}" if parts.query else path


class _Stream(io.RawIOBase):
    """A log that may be a pipe: the first read returns enough bytes to recognise gzip."""

    def __init__(self, raw: io.FileIO) -> None:
        super().__init__()
        self._raw, self._begun = raw, False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int | None:
        count = self._raw.readinto(buffer)
        with memoryview(buffer) as view:
            # A pipe may return a single byte.
            while not self._begun and count and count < min(len(_GZIP), len(view)):
                more = self._raw.readinto(view[count:])
                if not more:
                    break
                count += more
        self._begun = True
        return count


def _lines(file: BinaryIO) -> Iterator[bytes | None]:
    """Yield the lines with their ends; None for one that is too long."""
    while line := file.readline(MOST_LINE_BYTES + 1):
        if len(line) <= MOST_LINE_BYTES:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(MOST_LINE_BYTES)
        yield None


def _entry(line: bytes) -> tuple[datetime, str] | None:
    """Return the time and the address delivered (empty for other entries); None if not an entry."""
    opening = line.find(b" [")
    closing = line.find(b'] "', opening + 2) if opening > 0 else -1
    if closing < 0:
        return None
    time = _time(line[opening + 2 : closing])
    request = _REQUEST.match(line.rstrip(b"\r\n"), closing + 3)
    if time is None or request is None:
        return None
    words = request[1].split(b" ")
    if len(words) not in _GET_WORDS or words[0] != b"GET" or int(request[2]) not in _DELIVERED:
        return time, ""
    return time, log_address(words[1].decode("utf-8", "replace"))


def _time(text: bytes) -> datetime | None:
    found = _TIME.fullmatch(text)
    if found is None or found[2] not in _MONTHS:
        return None
    day, year, hour, minute, second = (int(found[n]) for n in (1, 3, 4, 5, 6))
    away = timedelta(hours=int(found[8]), minutes=int(found[9]))
    try:
        zone = timezone(-away if found[7] == b"-" else away)
        return datetime(
            year, _MONTHS[found[2]], day, hour, minute, min(second, 59), tzinfo=zone
        ).astimezone(UTC)
    except (OverflowError, ValueError):  # the 31st of February, a zone of 99 hours
        return None
