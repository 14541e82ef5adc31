"""Reads the sources of a build, with the same result on every machine and every time.

The rules are those of ``ingest``: responses with their encodings, WARC heads, revisits, companions.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from quire.archive.warc.ingest import (
    companion_in,
    is_page,
    is_revisit,
    last_change,
    page_in,
    records,
    revisit_in,
    time_of,
)
from quire.archive.warc.pipeline import Arrived
from quire.sources import Capture, Trouble, read
from quire.sources.places import is_address, is_archive
from quire.sources.warc import Record


def as_it_is(page: Capture) -> Capture:
    """Return a page under the name that it has."""
    return page


@dataclass(frozen=True, slots=True)
class Reading:
    """How to read sources; the same for every step, so that all steps find the same.

    Attributes:
        time: Fetch time for pages that do not record one (default: file modification time).
        now: Fetch time if nothing else is known.
        most_bytes: Maximum page size in bytes; a longer page is a trouble.
        folder: Folder that paths are relative to, as other machines work in other folders.
        rename: Called with each page that is not in a WARC file; may change its address and time.
    """

    time: datetime | None
    now: datetime
    most_bytes: int
    folder: str
    rename: Callable[[Capture], Capture] = as_it_is


@dataclass(frozen=True, slots=True)
class Found:
    """A page, a revisit or a companion in a source.

    Attributes:
        name: The file and the place in it.
        page: What to store; the body of a revisit is elsewhere, and empty here.
        kind: Type of the record of a companion; empty for a page or revisit.
        revisit: The record of a revisit.
        fault: Description of a fault of the record, or empty.
    """

    name: str
    page: Arrived
    kind: str = ""
    revisit: Record | None = None
    fault: str = ""


def found_in(path: str, reading: Reading) -> Iterator[Found | Trouble]:
    """Yield everything in a file: pages, revisits, companions and troubles."""
    is_remote = is_address(path)
    real = path if is_remote else os.path.join(reading.folder, path)  # noqa: PTH118 - keeps `./`
    if not is_archive(path):
        yield from _pages_in(path, real, reading)
        return
    for found in _records_in(real, reading):
        yield found if real == path else _renamed(found, real, path)


def _renamed(found: Found | Trouble, real: str, path: str) -> Found | Trouble:
    """Name a finding by the path that the caller used."""
    name = path + found.name.removeprefix(real)
    if isinstance(found, Found) and found.page.url == found.name:
        return replace(found, name=name, page=replace(found.page, url=name))
    return replace(found, name=name)


def _pages_in(path: str, real: str, reading: Reading) -> Iterator[Found | Trouble]:
    for found in read(real, most_bytes=reading.most_bytes):
        name = path + found.name.removeprefix(real)
        if isinstance(found, Trouble):
            yield replace(found, name=name)
            continue
        url = name if found.url == found.name else found.url
        page = reading.rename(replace(found, name=name, url=url))
        time = page.time or reading.time or last_change(real) or reading.now
        yield Found(page.name, Arrived(page.url, time, page.head, page.body, b""))


def _records_in(path: str, reading: Reading) -> Iterator[Found | Trouble]:
    for record in records(path, reading.most_bytes):
        yield record if isinstance(record, Trouble) else of_record(record, reading)


def of_record(record: Record, reading: Reading) -> Found:
    """Return the page, revisit or companion in a record."""
    time = time_of(record, reading.time) or reading.now
    name, fault = record.name, record.fault
    if is_page(record):
        return Found(name, page_in(record, time), fault=fault)
    if is_revisit(record):
        return Found(name, revisit_in(record, time, b""), revisit=record, fault=fault)
    return Found(name, companion_in(record, time), record.kind, fault=fault)


def now() -> datetime:
    """Return the current time, as the fetch time if nothing else is known; called once."""
    return datetime.now(UTC).replace(microsecond=0)


def as_bytes(url: str) -> bytes:
    """Encode an address as bytes: it may hold lone surrogates, which Arrow text cannot."""
    return url.encode("utf-8", "surrogatepass")


def as_url(data: bytes) -> str:
    """Decode an address from bytes."""
    return bytes(data).decode("utf-8", "surrogatepass")
