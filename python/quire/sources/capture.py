"""Capture and Trouble: the two results of reading any source.

A ``Capture`` is a page with its address and the head it came with. A ``Trouble`` describes in one
line why something could not be read. Reading continues after a trouble: one damaged record is not a
reason to lose the rest of a crawl.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime

# Maximum page size, encoded or decoded. Crawlers cut pages at 1 to 10 MiB, so anything longer is a
# bomb or a film. Eight workers with one such page each still fit into small machines.
MOST_BYTES = 50 * 1024 * 1024

# 2026, 2026-05, 2026-05-17T11, 2026-05-17T11:02:33.123456789Z, 20260517110233: the forms that WARC,
# ARC and people use.
_TIME = re.compile(
    r"(\d{4})-?(\d\d)?-?(\d\d)?[T ]?(\d\d)?:?(\d\d)?:?(\d\d)?(?:\.(\d{1,9}))?\s*(?:Z|UTC|\+00:?00)?",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Capture:
    r"""A page read from a source.

    >>> page = Capture("a.warc#0", "https://a.example/", None, b"HTTP/1.1 200 OK\r\n\r\n", b"<p>")
    >>> page.status
    200

    Attributes:
        name: Unique in a collection; ``read_one`` finds the page again by it.
        url: Address of the page; for a plain file, its name.
        time: Fetch time (UTC), if known.
        head: HTTP status line and headers as stored, with the empty line, or ``b""``.
        body: The page, with transfer and content encodings undone.
        declared: Content type, if declared outside the head.
    """

    name: str
    url: str
    time: datetime | None
    head: bytes
    body: bytes
    declared: str | None = None

    @property
    def status(self) -> int | None:
        """The HTTP status, or None."""
        return status(self.head)

    @property
    def content_type(self) -> str | None:
        """The declared content type, including parameters."""
        values = header_values(self.head, b"content-type")
        return values[-1] if values else self.declared


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that could not be read.

    Attributes:
        name: The file and, if known, the place in it: ``crawl.warc.gz#8192``.
        reason: The reason, in one line for people.
    """

    name: str
    reason: str


def status(head: bytes) -> int | None:
    """Return the status code of an HTTP head, or None."""
    found = re.match(rb"HTTP/\S{1,8}[ \t]+(\d{3})(?!\d)", head)
    return int(found[1]) if found else None


def header_values(head: bytes, name: bytes) -> list[str]:
    r"""List the values of a header field in an HTTP head, in order.

    A line that begins with white space continues the line before.

    >>> header_values(b"HTTP/1.1 200 OK\r\nVary: a,\r\n b\r\nvary: c\r\n\r\n", b"Vary")
    ['a, b', 'c']
    """
    found: list[list[bytes]] = []
    mine = False
    for line in head.split(b"\n")[1:]:
        if mine and line[:1] in {b" ", b"\t"} and line.strip():
            found[-1].append(line.strip())
            continue
        field, _, value = line.partition(b":")
        mine = field.strip().lower() == name.lower()
        if mine:
            found.append([value.strip()])
    return [b" ".join(lines).decode("latin-1") for lines in found]


def parse_time(text: str) -> datetime | None:
    """Parse a time as archives write it, in UTC; None if it is not a time.

    >>> parse_time("20260517110233") == parse_time("2026-05-17T11:02:33Z")
    True
    >>> parse_time("2026-05")
    datetime.datetime(2026, 5, 1, 0, 0, tzinfo=datetime.timezone.utc)
    """
    found = _TIME.fullmatch(text.strip())
    if found is None:
        return None
    year, month, day, hour, minute, second, fraction = found.groups()
    try:
        return datetime(
            int(year),
            int(month or 1),
            int(day or 1),
            int(hour or 0),
            int(minute or 0),
            min(int(second or 0), 59),  # a leap second
            int((fraction or "0").ljust(6, "0")[:6]),
            UTC,
        )
    except ValueError:
        return None
