"""Ingest: whole crawls into an archive.

WARC and ARC files give what their servers sent: the HTTP head, and the payload with all its codings left on, so that an
export has the same bytes. ``StoredPage.content`` undoes the codings for whoever wants to read the page. The head of the WARC record
is kept too. Pages of folders and Parquet files have no head.

``response`` and ``resource`` records become pages. A ``revisit`` says that a page was found again as it was: it becomes a page
with the bytes of the one it refers to, which cost nothing a second time. All other records (requests, metadata, …) are
passed over and counted.

What cannot be read is a ``Trouble``, and the next record is read. Pages are committed every so often: after a crash
the last few are missing, and ``skip_known`` goes on from there.

Pages are hashed and compressed in threads beside the one that reads (``pipeline``); they are stored in the order of their
sources, with any number of threads the same.
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

#: Pages and bytes after which they are made safe: what a crash can cost, and what has to be read again.
COMMIT_PAGES = 2_000
COMMIT_BYTES = 128 << 20
#: Troubles that are kept; all are counted, and told to whoever listens.
MOST_TROUBLES = 1_000

#: Records that are looked at: those that hold pages, and those that are counted.
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
    """What came of an ingest.

    Attributes:
        pages: how many were added.
        body_bytes: bytes of their bodies.
        known: pages that were not added because the archive has them.
        passed_over: records that hold no page, by their kind.
        trouble_count: how many things could not be read.
        troubles: the first of them.
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
    tell: Progress = no_progress,
    on_trouble: Callable[[Trouble], None] = lambda _trouble: None,
) -> Ingested:
    """Add all pages in some files, and commit them.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(f"{folder}/a.html", "wb") as file:
    ...         _ = file.write(b"<p>Open")
    ...     with Archive.create(f"{folder}/site.quire") as archive:
    ...         done = ingest(archive, [f"{folder}/a.html"])
    ...         done.pages, len(archive)
    (1, 1)

    Args:
        archive: opened for writing.
        paths: what ``sources.find`` lists.
        time: of pages that do not say when they were fetched; for files it is when they were last changed, else now.
        skip_known: do not add a page again that the archive has with the same address, time and bytes.
        most_bytes: a longer page is a ``Trouble``.
        commit_pages: commit after so many pages.
        commit_bytes: commit after so many bytes.
        threads: how many hash and compress pages, beside the caller's, which reads and writes; 0 for none, and None for
            as many as there are processors, at most four.
        tell: called with progress: the step ``read``, bytes of the sources read, and their total.
        on_trouble: is told of each trouble.

    Raises:
        ArchiveError: the archive was not opened for writing, or writing failed.
        OSError: the disk took no more. What was committed before is safe.
        MissingExtra: a library is not installed that a path needs.
    """
    sizes = [_size(path) for path in paths]
    before, of = 0, sum(sizes)
    with Pipeline(archive, usual_threads() if threads is None else threads) as pipeline:
        work = _Work(archive, pipeline, time, on_trouble, skip_known=skip_known)
        work.commit_pages, work.commit_bytes = commit_pages, commit_bytes
        for path, size in zip(paths, sizes, strict=True):
            tell("read", before, of)
            for place in work.read(path, most_bytes):
                tell("read", before + min(place, size), of)
            work.look_up_revisits()
            before += size
        work.commit()
    tell("read", of, of)
    return work.result()


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)  # noqa: PTH202 - any argument
    except (OSError, ValueError):  # an address, a file in a WACZ
        return 0


class _Work:
    """An ingest under way."""

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
        """Add the pages of a file; gives how far in it they are."""
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
        """Add the revisits that wait; their pages have to be safe."""
        if not len(self._revisits):
            return
        self.commit()
        for found in self._revisits.found(self._archive):
            if isinstance(found, Trouble):
                self._trouble(found)
                continue
            record, body = found
            # Its block is a head and nothing else.
            self._add(record.url, self._time_of(record), record.payload, body, record.warc_head)

    def _trouble(self, trouble: Trouble) -> None:
        self._trouble_count += 1
        if len(self._troubles) < MOST_TROUBLES:
            self._troubles.append(trouble)
        self._on_trouble(trouble)


def records(path: str, most_bytes: int) -> Iterator[Record | Trouble]:
    """Read the records of a WARC or ARC file; one that cannot be opened is a ``Trouble`` too."""
    try:
        yield from read_records(path, kinds=KINDS, most_bytes=most_bytes)
    except OSError as error:  # of the source: what the archive raises does not pass here
        yield Trouble(path, reason(path, error))


def _offset(name: str) -> int:
    place = name.rpartition("#")[2].partition("+")[0]
    return int(place) if place.isdecimal() else 0


def last_change(path: str) -> datetime | None:
    """When a file was last changed; None where there is none to ask."""
    try:
        return datetime.fromtimestamp(int(os.path.getmtime(path)), UTC)  # noqa: PTH204 - any argument
    except (OSError, OverflowError, ValueError):
        return None
