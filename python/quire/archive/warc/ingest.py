"""Ingest: adds whole crawls to an archive, so that an export has the same records again.

From WARC and ARC files come the bytes that servers sent: the HTTP head, and the payload with all
encodings left on. ``StoredPage.content`` undoes the encodings for reading. The head of the WARC
record is stored too, to the byte. Pages from folders and Parquet files have no head.

``response`` and ``resource`` records become pages. A ``revisit`` says that a page had not changed:
it becomes a page with the bytes of the earlier one (``revisits``). Every other record becomes a
*companion*: requests, metadata, warcinfo, conversions, continuations, unknown types,
revisits without their page, and the first part of a page that is split into several records.

A companion has the same metadata as a page: address and time of the record (an empty address if it
names none), its head as ``extra``, its block as the body. It goes the same way as a page: into the
journal, acknowledged by the same commit, rewritten by compaction, checked by ``verify``, saved by
``repair``. Only its kind of record differs, and its rows in the index, so nothing that looks for
pages meets it. ``Archive.companions`` lists them. ``WARC-Record-ID``, ``WARC-Concurrent-To`` and
``WARC-Refers-To`` link the records as before, because every head is kept as it came.

A record whose digest is wrong is kept as it is, and reported as a warning. A record that cannot be
read becomes a ``Trouble``, and reading continues. Pages are committed regularly: after a crash the
last few are missing, and ``skip_known`` continues from there.

Threads hash and compress the pages (``pipeline``). Pages are stored in the order of their sources,
whatever the number of threads.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime

from quire.archive.archive import Archive
from quire.archive.format.page_meta import check_lengths, to_microseconds
from quire.archive.format.warc_head import MOST_ADDED_BYTES
from quire.archive.known import Known, identity
from quire.archive.warc.pipeline import Arrived, Pipeline, usual_threads
from quire.archive.warc.revisits import (
    REVISIT,
    Revisits,
    named_page,
    stated_digest,
    states_digest,
)
from quire.errors import SourceTooLarge
from quire.progress import Progress, no_progress
from quire.sources import MOST_BYTES, Capture, Trouble, read
from quire.sources.places import is_archive
from quire.sources.reading import reason, split_name
from quire.sources.warc import PAGES, Record, read_records

#: Commit after this many pages or bytes: the most that a crash can cost.
COMMIT_PAGES = 2_000
COMMIT_BYTES = 128 << 20
#: Maximum number of troubles and warnings kept; all are counted and passed to the callbacks.
MOST_TROUBLES = 1_000
#: A longer HTTP head is stored as part of the body. Servers and browsers stop at a fraction of it.
MOST_HTTP_HEAD_BYTES = 256 << 10


@dataclass(frozen=True, slots=True)
class Ingested:
    """The result of an ingest.

    Attributes:
        pages: Number of pages added.
        body_bytes: Bytes of their bodies.
        known: Number of pages not added because the archive already has them.
        companions: Number of WARC records added that have no page of their own, by type.
        known_companions: Number of such records that the archive already has.
        trouble_count: Number of items that could not be read, and so were not added.
        troubles: The first of them.
        warning_count: Number of records that were added although something is wrong with them: a
            digest that does not match, or a revisit without its page.
        warnings: The first of them.
    """

    pages: int
    body_bytes: int
    known: int
    companions: Mapping[str, int]
    known_companions: int
    trouble_count: int
    troubles: tuple[Trouble, ...]
    warning_count: int
    warnings: tuple[Trouble, ...]

    @property
    def is_empty(self) -> bool:
        """Whether nothing was added and nothing was known."""
        return not (self.pages or self.known or self.companions or self.known_companions)


def ingest(
    archive: Archive,
    paths: Sequence[str],
    *,
    time: datetime | None = None,
    rename: Callable[[Capture], Capture] = lambda page: page,
    skip_known: bool = False,
    most_bytes: int = MOST_BYTES,
    commit_pages: int = COMMIT_PAGES,
    commit_bytes: int = COMMIT_BYTES,
    threads: int | None = None,
    progress: Progress = no_progress,
    on_trouble: Callable[[Trouble], None] = lambda _trouble: None,
    on_warning: Callable[[Trouble], None] = lambda _trouble: None,
) -> Ingested:
    """Add all pages and other records of the given files, and commit them.

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
        rename: Called with each page that is not in a WARC file; may change its address and time.
        skip_known: Skip pages and records that the archive has, equal in everything.
        most_bytes: Maximum page size in bytes; a longer page is a ``Trouble``.
        commit_pages: Commit after this many pages.
        commit_bytes: Commit after this many bytes.
        threads: Number of threads that hash and compress, besides the caller's, which reads and
            writes (default: the number of processors, at most four).
        progress: callback; the step ``read`` counts bytes of the sources.
        on_trouble: Called with each trouble.
        on_warning: Called with each warning.

    Raises:
        ArchiveError: The archive is not open for writing, or a write failed.
        OSError: The disk is full or failed. Everything committed before is safe.
        MissingExtra: A path needs a library that is not installed.
    """
    sizes = [_size(path) for path in paths]
    before, of = 0, sum(sizes)
    report = Report(on_trouble, on_warning)
    with (
        Pipeline(archive, usual_threads() if threads is None else threads) as pipeline,
        closing(Revisits()) as revisits,
    ):
        known = archive.known() if skip_known else None
        work = _Work(archive, pipeline, revisits, time=time, report=report, known=known)
        work.rename = rename
        work.commit_pages, work.commit_bytes = commit_pages, commit_bytes
        for path, size in zip(paths, sizes, strict=True):
            progress("read", before, of)
            for place in work.read(path, most_bytes):
                progress("read", before + min(place, size), of)
            before += size
        work.look_up_revisits()
        work.commit()
    progress("read", of, of)
    return work.result()


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)  # noqa: PTH202 - any argument
    except (OSError, ValueError):  # an address, a file in a WACZ
        return 0


class Report:
    """Troubles and warnings: all are counted and passed on, the first ones are kept."""

    def __init__(
        self,
        on_trouble: Callable[[Trouble], None] = lambda _trouble: None,
        on_warning: Callable[[Trouble], None] = lambda _warning: None,
    ) -> None:
        self._on_trouble, self._on_warning = on_trouble, on_warning
        self.troubles: list[Trouble] = []
        self.warnings: list[Trouble] = []
        self.trouble_count: int = 0
        self.warning_count: int = 0

    def trouble(self, trouble: Trouble) -> None:
        """Report something that could not be added."""
        self.trouble_count += 1
        if len(self.troubles) < MOST_TROUBLES:
            self.troubles.append(trouble)
        self._on_trouble(trouble)

    def warn(self, warning: Trouble) -> None:
        """Report something that was added although something is wrong with it."""
        self.warning_count += 1
        if len(self.warnings) < MOST_TROUBLES:
            self.warnings.append(warning)
        self._on_warning(warning)


class _Work:
    """An ingest in progress."""

    def __init__(
        self,
        archive: Archive,
        pipeline: Pipeline,
        revisits: Revisits,
        *,
        time: datetime | None,
        report: Report,
        known: Known | None,
    ) -> None:
        self._archive, self._pipeline, self._revisits = archive, pipeline, revisits
        self._time, self._report, self._stored = time, report, known
        self.commit_pages, self.commit_bytes = COMMIT_PAGES, COMMIT_BYTES
        self.rename: Callable[[Capture], Capture] = lambda page: page
        self.pages = self._bytes = self._known = self._known_companions = 0
        self._unsafe = self._unsafe_bytes = 0
        self._companions: Counter[str] = Counter()

    def result(self) -> Ingested:
        return Ingested(
            pages=self.pages,
            body_bytes=self._bytes,
            known=self._known,
            companions=dict(sorted(self._companions.items())),
            known_companions=self._known_companions,
            trouble_count=self._report.trouble_count,
            troubles=tuple(self._report.troubles),
            warning_count=self._report.warning_count,
            warnings=tuple(self._report.warnings),
        )

    def read(self, path: str, most_bytes: int) -> Iterator[int]:
        """Add the pages of a file, yielding the position in the file after each."""
        if not is_archive(path):
            for found in read(path, most_bytes=most_bytes):
                if isinstance(found, Trouble):
                    self._report.trouble(found)
                else:
                    self._add_capture(self.rename(found), path)
                yield 0
            return
        for record in records(path, most_bytes):
            if isinstance(record, Trouble):
                self._report.trouble(record)
            else:
                self._add_record(record)
            yield _offset(record.name)

    def _add_capture(self, page: Capture, path: str) -> None:
        time = page.time or self._time or last_change(path) or datetime.now(UTC)
        self._add(Arrived(page.url, time, page.head, page.body, b""))

    def _add_record(self, record: Record) -> None:
        if is_page(record):
            self._add(page_in(record, self._time_of(record)))
        elif is_revisit(record):
            self._revisits.wait(record)
        else:
            self._add_companion(record)
        if record.fault:
            self._report.warn(Trouble(record.name, record.fault))

    def _add_companion(self, record: Record) -> None:
        if self._add(companion_in(record, self._time_of(record))):
            self._companions[record.kind] += 1

    def _time_of(self, record: Record) -> datetime:
        return time_of(record, self._time) or datetime.now(UTC)

    def _add(self, page: Arrived) -> bool:
        """Add a page or companion, unless it is too long or known; tell whether it was added."""
        try:
            about_bytes = len(page.head) + len(page.warc_head) + MOST_ADDED_BYTES
            check_lengths(page.url, about_bytes, len(page.body))
        except SourceTooLarge as error:
            self._report.trouble(Trouble(page.url, str(error).removeprefix(f"{page.url}: ")))
            return False
        if self._is_known(page):
            self._known_companions += page.is_companion
            self._known += not page.is_companion
            return False
        self._pipeline.add(page)
        if not page.is_companion:
            self.pages += 1
            self._bytes += len(page.body)
        self._unsafe += 1
        self._unsafe_bytes += len(page.body)
        if self._unsafe >= self.commit_pages or self._unsafe_bytes >= self.commit_bytes:
            self.commit()
        return True

    def _is_known(self, page: Arrived) -> bool:
        if self._stored is None:
            return False
        is_companion = page.is_companion
        place = page.url, to_microseconds(page.time)
        if not self._stored.is_at(*place, is_companion=is_companion):
            return False
        found = identity(page.head, page.body, page.warc_head)
        return self._stored.leave_out(*place, found, is_companion=is_companion)

    def commit(self) -> None:
        self._pipeline.finish()
        self._archive.commit()
        self._unsafe = self._unsafe_bytes = 0

    def look_up_revisits(self) -> None:
        """Add the waiting revisits, committing first so that their pages can be read."""
        if not len(self._revisits):
            return
        self.commit()
        for record, body in self._revisits.found(self._archive):
            if body is None:
                self._report.warn(Trouble(record.name, no_page(record)))
                self._add_companion(record)
            else:
                self._add(revisit_in(record, self._time_of(record), body))


def records(path: str, most_bytes: int) -> Iterator[Record | Trouble]:
    """Read all records of a WARC or ARC file; if it cannot be opened, yield a ``Trouble``."""
    try:
        yield from read_records(path, kinds=None, most_bytes=most_bytes, faulty=True)
    except OSError as error:  # from the source: errors of the archive do not come through here
        yield Trouble(path, reason(path, error))


def is_page(record: Record) -> bool:
    """Tell whether a record holds a whole page."""
    return record.kind in PAGES and not record.is_segment


def is_revisit(record: Record) -> bool:
    """Tell whether a record stands for a page whose bytes are elsewhere."""
    is_head = len(record.block) <= MOST_HTTP_HEAD_BYTES
    return record.kind == REVISIT and states_digest(record) and is_head


def page_in(record: Record, time: datetime) -> Arrived:
    """Return the page in a record."""
    head, body = record.head, record.payload
    if len(head) > MOST_HTTP_HEAD_BYTES:  # a response without an empty line: all of it is its head
        head, body = b"", record.block
    return Arrived(record.url, time, head, body, record.warc_head)


def revisit_in(record: Record, time: datetime, body: bytes) -> Arrived:
    """Return the page of a revisit, given its bytes; its own block is only a head."""
    return Arrived(record.url, time, record.block, body, record.warc_head)


def companion_in(record: Record, time: datetime) -> Arrived:
    """Return the companion in a record."""
    return Arrived(record.target, time, b"", record.block, record.warc_head, is_companion=True)


def time_of(record: Record, time: datetime | None) -> datetime | None:
    """Return the time of a record: its own, the given one, or that of its file; None if unknown."""
    return record.time or time or last_change(split_name(record.name)[0])


def no_page(record: Record) -> str:
    """Describe a revisit whose page is missing."""
    url, _ = named_page(record)
    return f"unresolved revisit: no page with the digest {stated_digest(record)[:80]!r} ({url})"


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
