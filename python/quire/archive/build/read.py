"""Reads the sources of a build, with the same result on every machine and every time.

The rules are those of ``ingest``: responses with their encodings, WARC heads, revisits.
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
    """How to read sources; the same for every step, so that all steps find the same.

    Attributes:
        time: Fetch time for pages that do not record one (default: file modification time).
        now: Fetch time if nothing else is known.
        most_bytes: Maximum page size in bytes; a longer page is a trouble.
        folder: Folder that paths are relative to, as other machines work in other folders.
    """

    time: datetime | None
    now: datetime
    most_bytes: int
    folder: str


@dataclass(frozen=True, slots=True)
class Found:
    """A page in a source, or a revisit, whose bytes are elsewhere."""

    name: str
    url: str
    time: datetime
    head: bytes
    body: bytes
    warc_head: bytes
    revisit: Record | None = None


def found_in(path: str, reading: Reading) -> Iterator[Found | Trouble | str]:
    """Yield everything in a file: pages, revisits, troubles, and the kinds of other records."""
    is_remote = is_address(path)
    real = path if is_remote else os.path.join(reading.folder, path)  # noqa: PTH118 - keeps `./`
    for found in _pages_in(real, reading) if not is_archive(path) else _records_in(real, reading):
        yield found if real == path or isinstance(found, str) else _renamed(found, real, path)


def _renamed(found: Found | Trouble, real: str, path: str) -> Found | Trouble:
    """Name a finding by the path that the caller used."""
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
    """Return the page or revisit in a record."""
    time = record.time or reading.time or reading.now
    if record.kind in PAGES:
        return Found(record.name, record.url, time, record.head, record.payload, record.warc_head)
    # The block of a revisit is only a head.
    return Found(record.name, record.url, time, record.payload, b"", record.warc_head, record)


def now() -> datetime:
    """Return the current time, as the fetch time if nothing else is known; called once."""
    return datetime.now(UTC).replace(microsecond=0)


def as_bytes(url: str) -> bytes:
    """Encode an address as bytes: it may hold lone surrogates, which Arrow text cannot."""
    return url.encode("utf-8", "surrogatepass")


def as_url(data: bytes) -> str:
    """Decode an address from bytes."""
    return bytes(data).decode("utf-8", "surrogatepass")
