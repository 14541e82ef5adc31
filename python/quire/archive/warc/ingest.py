"""Ingest: adds whole crawls to an archive.

From WARC and ARC files come the bytes that servers sent: the HTTP head, and the payload with all
encodings left on, so that an export has the same bytes. ``StoredPage.content`` undoes the
encodings for reading. The head of the WARC record is stored too. Pages from folders and Parquet
files have no head.

``response`` and ``resource`` records become pages. A ``revisit`` says that a page had not changed:
it becomes a page with the bytes of the earlier one, which are stored only once. All other records
(requests, metadata, …) are skipped and counted.

A record that cannot be read becomes a ``Trouble``, and reading continues. Pages are committed
regularly: after a crash the last few are missing, and ``skip_known`` continues from there.

Threads hash and compress the pages (``pipeline``). Pages are stored in the order of their sources,
whatever the number of threads.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from quire.archive.archive import Archive
from quire.archive.format.page_meta import check_lengths
from quire.archive.format.warc_head import MOST_ADDED_BYTES
from quire.archive.warc.pipeline import Arrived, Pipeline, usual_threads
from quire.archive.warc.revisits import REVISIT, Revisits
from quire.errors import SourceTooLarge
from quire.progress import Progress, no_progress
from quire.sources import MOST_BYTES, Capture, Trouble, read
from quire.sources.places import is_archive
from quire.sources.reading import reason
from quire.sources.warc import PAGES, Record, read_records

#: Commit after this many pages or bytes: the most that a crash can cost.
COMMIT_PAGES = 2_000
COMMIT_BYTES = 128 << 20
#: Maximum number of troubles kept; all are counted and passed to the callback.
MOST_TROUBLES = 1_000

#: Kinds of records to read: those with pages, and those that are only counted.
KINDS = frozenset(
    {
        *PAGES,
        REVISIT,
        "continuation",
        "conversion",
        "metadata",
        "request",
        "warcinfo",
    }
)


@dataclass(frozen=True, slots=True)
class Ingested:
    """The result of an ingest.

    Attributes:
        pages: Number of pages added.
        body_bytes: Bytes of their bodies.
        known: Number of pages not added because the archive already has them.
        passed_over: Number of skipped records that are not pages, by kind.
        trouble_count: Number of items that could not be read.
        troubles: The first of them.
    """

    pages: int
    body_bytes: int
    known: int
    passed_over: Mapping[str, int]
    trouble_count: int
    troubles: tuple[Trouble, ...]


def ingest(
    archive: Archive,
    paths: Sequence[str],
    *,
    time: datetime | None = None,
    skip_known: bool = False,
    most_bytes: int = MOST_BYTES,
    commit_pages: int = COMMIT_PAGES,
    commit_bytes: int = COMMIT_BYTES,
    threads: int | None = None,
    progress: Progress = no_progress,
    on_trouble: Callable[[Trouble], None] = lambda _trouble: None,
) -> Ingested:
    """Add all pages of the given files, and commit them.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(f"{folder}/a.html", "wb") as file:
    ...         _ = file.write(b"<p>Open")
    ...     with Archive.create(f"{folder}/site.quire") as archive:
    ...         done = ingest(archive, [f"{folder}/a.html"])
    ...         done.pages, len(archive)
    (1, 1)

    Args:
        archive: An archive open for writing.
        paths: Files as listed by ``sources.find``.
        time: Fetch time for pages that do not record one (default: file modification time, or now).
        skip_known: Skip pages that the archive has with the same address, time and bytes.
        most_bytes: Maximum page size in bytes; a longer page is a ``Trouble``.
        commit_pages: Commit after this many pages.
        commit_bytes: Commit after this many bytes.
        threads: Number of threads that hash and compress, besides the caller's, which reads and
            writes (default: the number of processors, at most four).
        progress: callback; the step ``read`` counts bytes of the sources.
        on_trouble: Called with each trouble.

    Raises:
        ArchiveError: The archive is not open for writing, or a write failed.
        OSError: The disk is full or failed. Everything committed before is safe.
        MissingExtra: A path needs a library that is not installed.
    """
    sizes = [_size(path) for path in paths]
    before, of = 0, sum(sizes)
    with Pipeline(archive, usual_threads() if threads is None else threads) as pipeline:
        work = _Work(archive, pipeline, time, on_trouble, skip_known=skip_known)
        work.commit_pages, work.commit_bytes = commit_pages, commit_bytes
        for path, size in zip(paths, sizes, strict=True):
            progress("read", before, of)
            for place in work.read(path, most_bytes):
                progress("read", before + min(place, size), of)
            work.look_up_revisits()
            before += size
        work.commit()
    progress("read", of, of)
    return work.result()


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)  # noqa: PTH202 - any argument
    except (OSError, ValueError):  # an address, a file in a WACZ
        return 0


class _Work:
    """An ingest in progress."""

    def __init__(
        self,
        archive: Archive,
        pipeline: Pipeline,
        time: datetime | None,
        on_trouble: Callable[[Trouble], None],
        *,
        skip_known: bool,
    ) -> None:
        self._archive, self._pipeline = archive, pipeline
        self._time, self._skip_known = time, skip_known
        self.commit_pages, self.commit_bytes = COMMIT_PAGES, COMMIT_BYTES
        self._on_trouble = on_trouble
        self.pages = self._bytes = self._known = self._trouble_count = 0
        self._safe_pages = self._safe_bytes = 0
        self._passed_over: Counter[str] = Counter()
        self._troubles: list[Trouble] = []
        self._revisits = Revisits()

    def result(self) -> Ingested:
        return Ingested(
            pages=self.pages,
            body_bytes=self._bytes,
            known=self._known,
            passed_over=dict(sorted(self._passed_over.items())),
            trouble_count=self._trouble_count,
            troubles=tuple(self._troubles),
        )

    def read(self, path: str, most_bytes: int) -> Iterator[int]:
        """Add the pages of a file, yielding the position in the file after each."""
        if not is_archive(path):
            for found in read(path, most_bytes=most_bytes):
                if isinstance(found, Trouble):
                    self._trouble(found)
                else:
                    self._add_capture(found, path)
                yield 0
            return
        for record in records(path, most_bytes):
            if isinstance(record, Trouble):
                self._trouble(record)
            else:
                self._add_record(record)
            yield _offset(record.name)

    def _add_capture(self, page: Capture, path: str) -> None:
        time = page.time or self._time or last_change(path) or datetime.now(UTC)
        self._add(page.url, time, page.head, page.body, b"")

    def _add_record(self, record: Record) -> None:
        if record.kind in PAGES:
            self._add(
                record.url, self._time_of(record), record.head, record.payload, record.warc_head
            )
        elif record.kind != REVISIT or not self._revisits.wait(record):
            self._passed_over[record.kind] += 1
        if self._revisits.is_full:
            self.look_up_revisits()

    def _time_of(self, record: Record) -> datetime:
        return record.time or self._time or datetime.now(UTC)

    def _add(self, url: str, time: datetime, head: bytes, body: bytes, warc_head: bytes) -> None:
        try:
            check_lengths(url, len(head) + len(warc_head) + MOST_ADDED_BYTES, len(body))
        except SourceTooLarge as error:
            self._trouble(Trouble(url, str(error).removeprefix(f"{url}: ")))
            return
        if self._skip_known and self._archive.has(url, time, head, body):
            self._known += 1
            return
        self._pipeline.add(Arrived(url, time, head, body, warc_head))
        self.pages += 1
        self._bytes += len(body)
        is_due = self.pages - self._safe_pages >= self.commit_pages
        if is_due or self._bytes - self._safe_bytes >= self.commit_bytes:
            self.commit()

    def commit(self) -> None:
        self._pipeline.finish()
        self._archive.commit()
        self._safe_pages, self._safe_bytes = self.pages, self._bytes

    def look_up_revisits(self) -> None:
        """Add the waiting revisits, committing first so that their pages are safe."""
        if not len(self._revisits):
            return
        self.commit()
        for found in self._revisits.found(self._archive):
            if isinstance(found, Trouble):
                self._trouble(found)
                continue
            record, body = found
            # The block of a revisit is only a head.
            self._add(record.url, self._time_of(record), record.payload, body, record.warc_head)

    def _trouble(self, trouble: Trouble) -> None:
        self._trouble_count += 1
        if len(self._troubles) < MOST_TROUBLES:
            self._troubles.append(trouble)
        self._on_trouble(trouble)


def records(path: str, most_bytes: int) -> Iterator[Record | Trouble]:
    """Read the records of a WARC or ARC file; if it cannot be opened, yield a ``Trouble``."""
    try:
        yield from read_records(path, kinds=KINDS, most_bytes=most_bytes)
    except OSError as error:  # from the source: errors of the archive do not come through here
        yield Trouble(path, reason(path, error))


def _offset(name: str) -> int:
    place = name.rpartition("#")[2].partition("+")[0]
    return int(place) if place.isdecimal() else 0


def last_change(path: str) -> datetime | None:
    """Return the modification time of a file, or None."""
    try:
        changed = os.path.getmtime(path)  # noqa: PTH204 - any argument
        return datetime.fromtimestamp(int(changed), UTC)
    except (OSError, OverflowError, ValueError):
        return None
