"""A library: one or several archives that are browsed as one.

A single address is found with the indexes of the archives. Searches, statistics and CDX queries need
all addresses: they are read once into a catalogue, sorted by their normal form, when the first such
question comes. The catalogue takes some 400 bytes for each capture. When a writer has added pages,
archive and catalogue are read again.
"""

from __future__ import annotations

import heapq
import re
from bisect import bisect_left
from calendar import monthrange
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from time import monotonic

from quire.archive.addresses import key, with_scheme
from quire.archive.archive import Archive
from quire.archive.format.page_meta import About, to_time
from quire.archive.results import StoredPage
from quire.errors import ArchiveError, PageNotFound
from quire.sources.capture import header_values, status

#: How often a library looks whether an archive has changed, in seconds.
FRESH_S = 5.0

MONTHS = 12
_DIGITS = re.compile(r"\d{1,14}", re.ASCII)
_LOWEST = "00010101000000"
_HIGHEST = "99991231235959"


def timestamp(time: datetime) -> str:
    """Write a time as Wayback addresses do.

    >>> timestamp(datetime(2026, 5, 17, 11, 2, 33, tzinfo=UTC))
    '20260517110233'
    """
    return f"{time.year:04}" + time.strftime("%m%d%H%M%S")


def parse_timestamp(text: str, *, is_end: bool = False) -> datetime | None:
    """Read a time of a Wayback address; digits that are missing count from the beginning.

    >>> parse_timestamp("2026").isoformat(), parse_timestamp("202602", is_end=True).isoformat()
    ('2026-01-01T00:00:00+00:00', '2026-02-28T23:59:59+00:00')

    Args:
        text: 1 to 14 digits.
        is_end: missing digits count from the end.

    Returns:
        The time; None if the text is not one.
    """
    if not _DIGITS.fullmatch(text):
        return None
    whole = text + (_HIGHEST if is_end else _LOWEST)[len(text) :]
    year, month, day, hour, minute, second = (int(whole[a:b]) for a, b in _PARTS)
    if is_end and 1 <= month <= MONTHS and year:
        day = min(day, monthrange(year, month)[1])
    try:
        return datetime(year, month, day, hour, minute, min(second, 59), tzinfo=UTC)
    except ValueError:
        return None


_PARTS = ((0, 4), (4, 6), (6, 8), (8, 10), (10, 12), (12, 14))


@dataclass(frozen=True, slots=True)
class Capture:
    """One capture of an address, without its bytes.

    Attributes:
        key: the normal form of the address.
        url: the address.
        time: when it was fetched, UTC.
        status: the HTTP status, or None.
        type: the media type without parameters, or empty.
        length: bytes of the body.
        hash: the first bytes of the SHA-256 of the body; equal bodies have equal hashes.
        archive: the number of the archive that has it.
    """

    key: str
    url: str
    time: datetime
    status: int | None
    type: str
    length: int
    hash: bytes
    archive: int = 0

    @property
    def timestamp(self) -> str:
        """The time as in Wayback addresses."""
        return timestamp(self.time)


@dataclass(frozen=True, slots=True)
class Summary:
    """A library in figures."""

    captures: int
    addresses: int
    hosts: int
    body_bytes: int
    stored_bytes: int
    first: datetime | None
    last: datetime | None


class _Catalogue:
    """All captures, sorted by the normal form of their address and by time."""

    def __init__(self, captures: list[Capture], stored_bytes: int) -> None:
        self.captures = sorted(captures, key=lambda each: (each.key, each.time))
        self.keys = [each.key for each in self.captures]
        self.known = frozenset(self.keys)
        self.urls = sorted({each.url for each in captures})
        self.counts = Counter(each.url for each in captures)
        self.hosts = Counter(
            ".".join(reversed(each.key.partition(")")[0].split(",")))
            for each in captures
            if ")" in each.key
        )
        times = [each.time for each in captures]
        self.summary = Summary(
            captures=len(captures),
            addresses=len(self.urls),
            hosts=len(self.hosts),
            body_bytes=sum(each.length for each in captures),
            stored_bytes=stored_bytes,
            first=min(times, default=None),
            last=max(times, default=None),
        )


class Library:
    """Archives that are browsed as one. Any number of threads may ask.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Archive.create(f"{folder}/a.quire") as archive:
    ...         archive.add("https://a.example/", datetime(2026, 5, 1, tzinfo=UTC), b"<p>Hi")
    ...     library = Library([Archive.open(f"{folder}/a.quire")])
    ...     library.nearest("http://www.a.example", None).body, library.summary().captures
    (b'<p>Hi', 1)

    Args:
        archives: archives that are open for reading.
    """

    def __init__(self, archives: Sequence[Archive]) -> None:
        self._archives = tuple(archives)
        self._lock = Lock()
        self._catalogue: _Catalogue | None = None
        self._looked = 0.0
        self._marks = self._folder_marks()

    @property
    def names(self) -> list[str]:
        """The names of the archives' folders."""
        return [archive.folder.name or str(archive.folder) for archive in self._archives]

    @property
    def folders(self) -> list[Path]:
        """The archives' folders."""
        return [archive.folder for archive in self._archives]

    def captures(self, url: str) -> list[Capture]:
        """List the captures of an address in any spelling, oldest first."""
        wanted = key(with_scheme(url)) if url not in self._read().counts else key(url)
        return sorted(self.by_key(wanted, f"{wanted}\0"), key=lambda each: each.time)

    def nearest(self, url: str, time: datetime | None) -> StoredPage:
        """Get the capture of an address that was fetched nearest to a time.

        Args:
            url: the address; if it has no captures, other spellings of it count.
            time: the time (default: the newest capture).

        Raises:
            PageNotFound: no archive has this address.
            ArchiveError: the capture is damaged.
        """
        self._refresh()
        found = list(self._versions(url, time))
        if not found:
            others = dict.fromkeys(each.url for each in self.captures(url))
            found = [page for each in others for page in self._versions(each, time)]
        if not found:
            raise PageNotFound(f"{url}: no such page in this archive", url=url)
        if time is None:
            return max(found, key=lambda page: page.time)
        return min(found, key=lambda page: abs(page.time - time))

    def has(self, url: str) -> bool:
        """Tell whether an address has captures, in any spelling."""
        catalogue = self._read()
        return url in catalogue.counts or key(url) in catalogue.known

    def search(self, part: str, *, skip: int = 0, most: int = 50) -> list[tuple[str, int]]:
        """List addresses that contain a text, sorted, with their number of captures."""
        catalogue = self._read()
        wanted = part.strip().lower()
        found = (url for url in catalogue.urls if wanted in url.lower())
        some = [url for at, url in zip(range(skip + most), found, strict=False) if at >= skip]
        return [(url, catalogue.counts[url]) for url in some]

    def hosts(self, most: int) -> list[tuple[str, int]]:
        """List the hosts with the most captures, without ``www.``, with their number."""
        counts = self._read().hosts.items()
        return heapq.nsmallest(most, counts, key=lambda each: (-each[1], each[0]))

    def summary(self) -> Summary:
        """Count captures, addresses and hosts."""
        return self._read().summary

    def by_key(self, start: str, end: str) -> Iterator[Capture]:
        """Yield the captures whose normal forms are between two texts, sorted."""
        catalogue = self._read()
        at = bisect_left(catalogue.keys, start)
        while at < len(catalogue.keys) and catalogue.keys[at] < end:
            yield catalogue.captures[at]
            at += 1

    def _versions(self, url: str, time: datetime | None) -> Iterator[StoredPage]:
        """Yield the nearest capture of each archive."""
        for archive in self._archives:
            try:
                yield archive.get(url, time, nearest=time is not None)
            except PageNotFound:
                continue

    def _read(self) -> _Catalogue:
        self._refresh()
        with self._lock:
            if self._catalogue is None:
                captures = [
                    _capture(known, number)
                    for number, archive in enumerate(self._archives)
                    for known in _abouts(archive)
                ]
                stored = sum(_folder_bytes(archive.folder) for archive in self._archives)
                self._catalogue = _Catalogue(captures, stored)
            return self._catalogue

    def _refresh(self) -> None:
        """Read archives again that a writer has changed."""
        now = monotonic()
        with self._lock:
            if now - self._looked < FRESH_S:
                return
            self._looked = now
            marks = self._folder_marks()
            if marks == self._marks:
                return
            self._marks = marks
            self._catalogue = None
            for archive in self._archives:
                archive.refresh()

    def _folder_marks(self) -> list[tuple[tuple[str, int], ...]]:
        return [_mark(archive.folder) for archive in self._archives]


def _abouts(archive: Archive) -> Iterator[About]:
    """Yield the metadata of all pages that can be read."""
    for file in archive.files():
        rows = file.index.pages.array()
        for offset, slot in zip(rows["offset"].tolist(), rows["slot"].tolist(), strict=True):
            try:
                yield file.about(offset, slot)
            except ArchiveError:
                continue  # `quire archive verify` reports it


def _capture(known: About, archive: int) -> Capture:
    types = header_values(known.head, b"content-type")
    return Capture(
        key=key(known.url),
        url=known.url,
        time=to_time(known.time),
        status=status(known.head),
        type=types[-1].partition(";")[0].strip().lower()[:100] if types else "",
        length=known.length,
        hash=known.digest,
        archive=archive,
    )


def _mark(folder: Path) -> tuple[tuple[str, int], ...]:
    try:
        return tuple(
            sorted((path.name, path.stat().st_size) for path in folder.iterdir() if path.is_file())
        )
    except OSError:
        return ()


def _folder_bytes(folder: Path) -> int:
    return sum(size for _, size in _mark(folder))
