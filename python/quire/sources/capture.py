"""A page as it was found, and what could not be read.

Every source gives the same two things: a ``Capture``, which is a page with its address and the head it came with,
or a ``Trouble``, which says in one line what was found in a page's place. Reading goes on after a trouble: one
damaged record of a crawl is no reason to lose the rest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime

# The longest page that is read, coded or decoded. Crawlers cut pages at 1 to 10 MiB, so that what is longer is no
# page for a reader but a bomb or a film; and eight workers with one such page each still fit into small machines.
MOST_BYTES = 50 * 1024 * 1024

# 2026, 2026-05, 2026-05-17T11, 2026-05-17T11:02:33.123456789Z, 20260517110233: what WARC, ARC and people write.
_TIME = re.compile(
    r"(\d{4})-?(\d\d)?-?(\d\d)?[T ]?(\d\d)?:?(\d\d)?:?(\d\d)?(?:\.(\d{1,9}))?\s*(?:Z|UTC|\+00:?00)?",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Capture:
    r"""A page as it was found.

    >>> page = Capture("a.warc#0", "https://a.example/", None, b"HTTP/1.1 200 OK\r\n\r\n", b"<p>")
    >>> page.status
    200

    Attributes:
        name: unique in a collection, and enough to find the page again with ``read_one``.
        url: its address; for a plain file its name.
        time: when it was fetched (UTC), where that is known.
        head: HTTP status line and header block as stored, with the empty line; ``b""`` where there is none.
        body: the page, with transfer and content codings undone.
        declared: its content type, where something else than the head says it.
    """

    name: str
    url: str
    time: datetime | None
    head: bytes
    body: bytes
    declared: str | None = None

    @property
    def status(self) -> int | None:
        """The HTTP status, where there is one."""
        return status(self.head)

    @property
    def content_type(self) -> str | None:
        """The content type as it is declared, parameters included."""
        values = header_values(self.head, b"content-type")
        return values[-1] if values else self.declared


@dataclass(frozen=True, slots=True)
class Trouble:
    """What could not be read.

    Attributes:
        name: the file, and the place in it where that is known: ``crawl.warc.gz#8192``.
        reason: what was found, in one line for a person.
    """

    name: str
    reason: str


def status(head: bytes) -> int | None:
    """Give the status code of an HTTP head, or None."""
    found = re.match(rb"HTTP/\S{1,8}[ \t]+(\d{3})(?!\d)", head)
    return int(found[1]) if found else None


def header_values(head: bytes, name: bytes) -> list[str]:
    r"""List the values of a header field in an HTTP head, in their order.

    Lines that begin with white space go on with the one before.

    >>> header_values(b"HTTP/1.1 200 OK\r\nVary: a,\r\n b\r\nvary: c\r\n\r\n", b"Vary")
    ['a, b', 'c']
    """
    found: list[str] = []
    mine = False
    for line in head.split(b"\n")[1:]:
        if mine and line[:1] in {b" ", b"\t"} and line.strip():
            found[-1] += " " + line.strip().decode("latin-1")
            continue
        field, _, value = line.partition(b":")
        mine = field.strip().lower() == name.lower()
        if mine:
            found.append(value.strip().decode("latin-1"))
    return found


def parse_time(text: str) -> datetime | None:
    """Read a time as archives write it, in UTC; None where it is none.

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
