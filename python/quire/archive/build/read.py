"""What a build finds in its sources: the same whoever reads them, and each time.

The rules are those of ``ingest``: answers of servers with their codings, heads of WARC records, revisits.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from quire.archive.warc.ingest import last_change, records
from quire.archive.warc.revisits import REVISIT, names_page
from quire.sources import Trouble, read
from quire.sources.places import is_address, is_archive
from quire.sources.warc import PAGES, Record


@dataclass(frozen=True, slots=True)
class Reading:
    """How sources are read; the same for every step, so that all find the same.

    Attributes:
        time: of pages that do not say when they were fetched; None for when their file was last changed.
        now: of pages of which nobody knows it.
        most_bytes: a longer page is a trouble.
        folder: that paths are relative to, since another machine works in another one.
    """

    time: datetime | None
    now: datetime
    most_bytes: int
    folder: str


@dataclass(frozen=True, slots=True)
class Found:
    """A page in a source; or a revisit, whose bytes are elsewhere."""

    name: str
    url: str
    time: datetime
    head: bytes
    body: bytes
    warc_head: bytes
    revisit: Record | None = None


def found_in(path: str, reading: Reading) -> Iterator[Found | Trouble | str]:
    """Give all that is in a file: pages and revisits, what cannot be read, and the kinds of records that are no pages."""
    real = path if is_address(path) else os.path.join(reading.folder, path)  # noqa: PTH118 - keeps `./`
    for found in _pages_in(real, reading) if not is_archive(path) else _records_in(real, reading):
        yield found if real == path or isinstance(found, str) else _renamed(found, real, path)


def _renamed(found: Found | Trouble, real: str, path: str) -> Found | Trouble:
    """Call something as whoever asked for it called its file."""
    name = path + found.name.removeprefix(real)
    if isinstance(found, Found) and found.url == found.name:
        return replace(found, name=name, url=name)
    return replace(found, name=name)


def _pages_in(path: str, reading: Reading) -> Iterator[Found | Trouble]:
    for page in read(path, most_bytes=reading.most_bytes):
        if isinstance(page, Trouble):
            yield page
            continue
        time = page.time or reading.time or last_change(path) or reading.now
        yield Found(page.name, page.url, time, page.head, page.body, b"")


def _records_in(path: str, reading: Reading) -> Iterator[Found | Trouble | str]:
    for record in records(path, reading.most_bytes):
        if isinstance(record, Trouble):
            yield record
        elif record.kind in PAGES or (record.kind == REVISIT and names_page(record)):
            yield of_record(record, reading)
        else:
            yield record.kind


def of_record(record: Record, reading: Reading) -> Found:
    """Give the page or the revisit in a record."""
    time = record.time or reading.time or reading.now
    if record.kind in PAGES:
        return Found(record.name, record.url, time, record.head, record.payload, record.warc_head)
    # The block of a revisit is a head and nothing else.
    return Found(record.name, record.url, time, record.payload, b"", record.warc_head, record)


def now() -> datetime:
    """The time of pages of which nobody knows it: asked once, by whoever begins the work."""
    return datetime.now(UTC).replace(microsecond=0)


def as_bytes(url: str) -> bytes:
    """Give an address as bytes: it may hold half pairs, which Arrow does not take as text."""
    return url.encode("utf-8", "surrogatepass")


def as_url(data: bytes) -> str:
    """Give an address back."""
    return bytes(data).decode("utf-8", "surrogatepass")
