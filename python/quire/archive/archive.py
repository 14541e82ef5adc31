"""The archive: a folder that holds many pages small and gives any one back.

New pages go into a journal; ``commit`` is the acknowledgement, after which a page survives a power cut. ``compact`` makes
one segment of the journals, in which alike pages lean on common bases. No file is ever changed: the newest
files count, and a segment says which files it took over.

One writer at a time holds the lock, which the system lets go of when the writer dies. Any number of readers see what was
there when they opened, or last said ``refresh``.

Above: ``ingest``, ``export``, ``cli``. Below: ``compaction``, ``files``, ``journal``, ``index``, ``storage``, ``sdiff``.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from quire.archive import index as indexes
from quire.archive.compaction import Compacted, Tell, compact
from quire.archive.files import StoredFile, data_files, file_number, live_files
from quire.archive.findings import findings
from quire.archive.journal import JournalWriter
from quire.archive.layout import FORMAT, VERSION
from quire.archive.locking import WriterLock
from quire.archive.pages import About, about, to_microseconds, to_time
from quire.archive.segment import Piece, SegmentWriter
from quire.archive.statistics import Statistics, statistics
from quire.archive.storage import DISK, Disk, Writer, failing
from quire.archive.warc_heads import unfold
from quire.digest import Digest, encode
from quire.errors import ArchiveError, PageNotFound, SourceUnreadable, StorageFailed
from quire.sdiff import Annotation, Rules, annotate
from quire.sdiff.rules import EVERYTHING
from quire.sources.capture import MOST_BYTES, header_values, status
from quire.sources.codings import CannotDecode, undo

_MARK = "archive.json"


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page out of an archive.

    Attributes:
        url: its address.
        time: when it was fetched, UTC.
        head: HTTP status line and headers as they came, or nothing.
        body: its exact bytes: of a page out of a WARC file with all its codings.
        sha256_start: the first 16 bytes of the SHA-256 of the body.
        extra: what else was stored with it.
    """

    url: str
    time: datetime
    head: bytes
    body: bytes
    sha256_start: bytes
    extra: bytes = b""

    @property
    def content_type(self) -> str | None:
        """The content type as its head declares it."""
        return _content_type(self.head)

    @property
    def status(self) -> int | None:
        """The HTTP status, where there is one."""
        return status(self.head)

    def content(self, *, most_bytes: int = MOST_BYTES) -> bytes:
        """Give the page as its reader would get it: transfer and content codings undone.

        Raises:
            SourceUnreadable: they cannot be undone, or give more than ``most_bytes``.
        """
        try:
            return undo(self.head, self.body, most_bytes)
        except CannotDecode as error:
            raise SourceUnreadable(f"{self.url}: {error}", name=self.url) from None

    def digest(self) -> Digest:
        """Encode the page.

        Raises:
            SourceUnreadable: its codings cannot be undone.
        """
        return encode(self.content(), content_type=self.content_type)

    def warc_head(self) -> bytes | None:
        """Give the head of the WARC record it came in, as it was; None where it came in none."""
        return unfold(self.extra, self.url, self.time, self.head, self.body)


@dataclass(frozen=True, slots=True)
class Version:
    """A page that an archive has, without its bytes.

    Attributes:
        url: its address.
        time: when it was fetched, UTC.
        length: bytes of the body.
        stored: bytes it takes in the archive, without what it shares with others.
        head: HTTP status line and headers as they came, or nothing.
    """

    url: str
    time: datetime
    length: int
    stored: int
    head: bytes = field(default=b"", repr=False)

    @property
    def content_type(self) -> str | None:
        """The content type as its head declares it."""
        return _content_type(self.head)

    @property
    def status(self) -> int | None:
        """The HTTP status, where there is one."""
        return status(self.head)


class Archive:
    """A folder of pages.

    >>> import tempfile
    >>> from datetime import datetime, UTC
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Archive.create(f"{folder}/site.quire") as archive:
    ...         archive.add("https://a.example/", datetime(2026, 5, 1, tzinfo=UTC), b"<p>Closed")
    ...         archive.add("https://a.example/", datetime(2026, 5, 2, tzinfo=UTC), b"<p>Open")
    ...     with Archive.open(f"{folder}/site.quire") as archive:
    ...         archive.get("https://a.example/").body, len(archive)
    (b'<p>Open', 2)
    """

    def __init__(self, folder: Path, *, write: bool, disk: Disk = DISK) -> None:
        self.folder = folder
        self._disk = disk
        self._journal: JournalWriter | None = None
        self._pending: list[tuple[int, int, int, int]] = []
        self._committed: list[tuple[int, int, int, int]] = []
        self._has_failed = False
        self._lock = WriterLock(folder) if write else None
        self._files: list[StoredFile] | None = []
        self._taken_over: list[Path] = []
        try:
            self.refresh()
            if write:
                self._clean()
        except BaseException:
            self._release()
            raise

    @classmethod
    def create(cls, path: str | os.PathLike[str], *, disk: Disk = DISK) -> Self:
        """Make an archive, and open it for writing.

        Raises:
            FileExistsError: there is something of that name that is not an empty folder.
            StorageFailed: the disk did not take it.
        """
        folder = Path(path)
        mark = folder / _MARK
        part = mark.with_name(_MARK + ".part")
        with failing(folder, is_final=True):
            disk.make_folder(folder)
            disk.remove(part)  # of an attempt that was cut off
            if any(folder.iterdir()):
                raise FileExistsError(
                    f"{folder}: holds something already; an archive is a new folder"
                )
            disk.sync_folder(folder.absolute().parent)
        about = {"format": FORMAT, "version": VERSION, "id": uuid.uuid4().hex}
        writer = Writer(disk, part)
        try:
            writer.append(json.dumps(about).encode() + b"\n")
            writer.finish(mark)
        except BaseException:
            writer.discard()
            raise
        return cls(folder, write=True, disk=disk)

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, write: bool = False, disk: Disk = DISK) -> Self:
        """Open an archive.

        Args:
            path: its folder.
            write: also add pages; one writer at a time.
            disk: where it is.

        Raises:
            ArchiveError: it is none, or of a later version.
            ArchiveLocked: another writer holds it.
        """
        folder = Path(path)
        if not folder.is_dir():
            raise ArchiveError(f"{folder}: no archive here; `Archive.create` makes one")
        mark = folder / _MARK
        if (
            not mark.exists()
            and not any(folder.glob("*.journal"))
            and not any(folder.glob("*.segment"))
        ):
            raise ArchiveError(f"{folder}: a folder, but no archive: {_MARK} is missing")
        return cls(folder, write=write, disk=disk)

    def add(
        self,
        url: str,
        time: datetime,
        body: bytes,
        headers: bytes | Mapping[str, str] | None = None,
        *,
        extra: bytes = b"",
    ) -> None:
        r"""Take in a page. It is safe after ``commit``.

        Args:
            url: its address.
            time: when it was fetched; without a zone it is UTC.
            body: its bytes.
            headers: HTTP status line and header block as they came, or names and values.
            extra: what else is to be kept with it.

        Raises:
            ArchiveError: the archive was not opened for writing, or writing failed before.
        """
        head = _head(headers)
        page = about(url, time, bytes(body), head, extra)
        offset, _ = self._writer().add(page, bytes(body))
        self._pending.append((indexes.url_hash(url), page.time, offset, 0))

    def commit(self) -> None:
        """Acknowledge: every page added so far survives a power cut from here on.

        Raises:
            StorageFailed: the disk did not take them. They may be lost; open the archive again to go on.
        """
        self._check_disk()
        if self._journal is not None:
            self._journal.sync()
            self._committed += self._pending
            self._pending = []

    def get(self, url: str, time: datetime | None = None) -> StoredPage:
        """Give a page back, byte for byte.

        Args:
            url: its address.
            time: the newest version of that time or before; None for the newest of all.

        Raises:
            PageNotFound: there is none.
            DamagedRecord: its bytes are no longer what was stored.
        """
        for file, offset, slot in self._find(url, time):
            found, body = file.page(offset, slot)
            if found.url == url:
                return _page(found, body)
        raise self._not_found(url, time)

    def versions(self, url: str) -> list[Version]:
        """List the versions of a page, oldest first."""
        return [_version(known) for known in self.abouts(url)][::-1]

    def abouts(self, url: str, time: datetime | None = None) -> Iterator[About]:
        """Give what is stored of the versions of a page beside their bytes, newest first.

        Args:
            url: its address.
            time: versions of that time or before; None for all.
        """
        for file, offset, slot in self._find(url, time):
            known = file.about(offset, slot)
            if known.url == url:
                yield known

    def has(self, url: str, time: datetime, head: bytes, body: bytes) -> bool:
        """Tell whether a page is there already: the same address, time, head and bytes. Reads no bodies."""
        asked = about(url, time, body, head)
        for known in self.abouts(url, time):
            if known.time != asked.time:
                return False
            same = (known.head, known.length, known.check, known.digest)
            if same == (head, asked.length, asked.check, asked.digest):
                return True
        return False

    def diff(
        self,
        url: str,
        old: datetime | None = None,
        new: datetime | None = None,
        *,
        rules: Rules = EVERYTHING,
    ) -> Annotation:
        """Compare two versions of a page.

        Args:
            url: its address.
            old: the newest of that time or before; None for the version before the new one.
            new: the newest of that time or before; None for the newest of all.
            rules: what is not a difference.

        Raises:
            PageNotFound: there is no such version.
        """
        before, after = self.pair(url, old, new)
        return annotate(before.digest(), after.digest(), rules)

    def pair(
        self, url: str, old: datetime | None = None, new: datetime | None = None
    ) -> tuple[StoredPage, StoredPage]:
        """Give two versions of a page, as ``diff`` chooses them.

        Raises:
            PageNotFound: there is no such version.
        """
        if old is not None:
            return self.get(url, old), self.get(url, new)
        found = []
        for file, offset, slot in self._find(url, new):
            if file.about(offset, slot).url == url:
                found.append(_page(*file.page(offset, slot)))
            if len(found) == 2:  # noqa: PLR2004 - a pair
                return found[1], found[0]
        if found:
            raise PageNotFound(
                f"{url}: {self.folder} has no version before that of {found[0].time}", url=url
            )
        raise self._not_found(url, new)

    def pages(
        self,
        prefix: str = "",
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        order: Literal["stored", "url"] = "stored",
    ) -> Iterator[Version]:
        """Go through pages without their bytes.

        Args:
            prefix: what their address begins with.
            since: of that time or later.
            until: of that time or before.
            order: as they are stored, which is quickest, or by address and time, for which all are held in memory.
        """
        places = self._places(prefix, since, until)
        if order == "url":
            places = iter(sorted(places, key=lambda place: (place[0].url, place[0].time)))
        for known, _, _, _ in places:
            yield _version(known)

    def read(
        self,
        prefix: str = "",
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        on_damage: Callable[[ArchiveError], None] | None = None,
    ) -> Iterator[StoredPage]:
        """Go through pages with their bytes, in stored order.

        Args:
            prefix: what their address begins with.
            since: of that time or later.
            until: of that time or before.
            on_damage: is told of pages that cannot be read, and the next is given.

        Raises:
            DamagedRecord: a page cannot be read, and nobody asked to be told.
        """
        for _, file, offset, slot in self._places(prefix, since, until, on_damage):
            try:
                page = _page(*file.page(offset, slot))
            except ArchiveError as error:
                if on_damage is None:
                    raise
                on_damage(error)
                continue
            yield page

    def __iter__(self) -> Iterator[StoredPage]:
        """Go through all pages with their bytes, in stored order."""
        return self.read()

    def stats(self) -> Statistics:
        """Count pages, addresses and hosts, and say where the bytes went."""
        return statistics(self.folder, self._open_files())

    def __len__(self) -> int:
        return sum(len(file.index.rows) for file in self._open_files())

    def refresh(self) -> None:
        """See what others have added since. Threads that still read go on with what they have."""
        self._open_files()
        self._files, self._taken_over = live_files(self.folder)

    def compact(self, tell: Tell = lambda _step, _done, _of: None) -> Compacted:
        """Make one segment of all files, in which alike pages lean on common bases.

        The old files are removed when the new one is safe. Pages that cannot be read keep theirs.

        Raises:
            ArchiveError: the archive was not opened for writing.
            StorageFailed: the disk did not take the segment; all is as it was.
        """
        self._check_writing()
        self.commit()
        self._close_journal()
        self.refresh()
        files = self._open_files()
        if not files:
            return Compacted(0, ())
        target = self.folder / f"{self._next_number():06}.segment"
        try:
            done = compact(files, target, self._disk, tell)
        except StorageFailed as error:
            self._has_failed |= error.is_final
            raise
        self.refresh()
        self._clean()
        self._save_indexes()
        return done

    def add_pieces(self, pieces: Iterable[Piece]) -> int:
        """Take in pages that were encoded elsewhere as one new segment, and say how many; all of them or none.

        When it comes back they survive a power cut.

        Raises:
            ArchiveError: the archive was not opened for writing.
            StorageFailed: the disk did not take the segment; all is as it was.
        """
        self._check_writing()
        self.commit()
        self._close_journal()
        writer = None
        try:
            for piece in pieces:
                if writer is None:
                    target = self.folder / f"{self._next_number():06}.segment"
                    writer = SegmentWriter(target, self._disk, [])
                writer.append(piece)
            if writer is not None:
                writer.finish()
        except BaseException as error:
            if writer is not None:
                writer.discard()
            self._has_failed |= isinstance(error, StorageFailed) and error.is_final
            raise
        self.refresh()
        self._save_indexes()
        return 0 if writer is None else writer.pages

    def verify(self, *, every_byte: bool = True) -> list[str]:
        """Look for damage and list it, in words; nothing is changed.

        Args:
            every_byte: also read every page. Else only what leads to them: records, addresses, lengths.
        """
        return [
            str(finding)
            for file in self._open_files()
            for finding in findings(file, every_byte=every_byte)
            if finding.kind != "torn"
        ]

    def close(self) -> None:
        """Commit, and let go of the archive.

        Raises:
            StorageFailed: the disk did not take the last pages.
        """
        try:
            if self._journal is not None:
                self.commit()
                self._close_journal()
                self.refresh()
                self._save_indexes()
        finally:
            self._release()

    def _release(self) -> None:
        self._files = None
        try:
            if self._journal is not None:
                self._journal.close()
                self._journal = None
        finally:
            if self._lock is not None:
                self._lock.release()
                self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # After an error nothing more is promised: what was committed is safe, the rest is let go.
        if kind is None:
            self.close()
        else:
            self._release()

    def __repr__(self) -> str:
        if self._files is None:
            return f"<Archive {self.folder}: closed>"
        return f"<Archive {self.folder}: {len(self):,} pages in {len(self._files)} files>"

    def _check_writing(self) -> None:
        if self._lock is None:
            raise ArchiveError(
                f"{self.folder}: opened for reading; Archive.open(path, write=True) writes"
            )
        self._check_disk()

    def _check_disk(self) -> None:
        if self._has_failed:
            raise ArchiveError(
                f"{self.folder}: the disk failed before, and what it says now cannot be relied on; "
                "open the archive again to go on"
            )

    def _writer(self) -> JournalWriter:
        self._check_writing()
        if self._journal is None:
            path = self.folder / f"{self._next_number():06}.journal"
            try:
                self._journal = JournalWriter(path, self._disk)
            except StorageFailed as error:
                self._has_failed |= error.is_final
                raise
        return self._journal

    def _next_number(self) -> int:
        names = [path for path in self.folder.iterdir() if path.suffix in {".journal", ".segment"}]
        return max((file_number(path) for path in names), default=0) + 1

    def _open_files(self) -> list[StoredFile]:
        """Give the files, with all that this writer has committed."""
        if self._files is None:
            raise ArchiveError(f"{self.folder}: this archive is closed; open it again")
        if self._committed and self._journal is not None:
            path = self._journal.path
            file = next((file for file in self._files if file.path == path), None)
            if file is None:
                self._files.append(StoredFile(path))
            else:
                rows = indexes.with_more(file.index.rows, self._committed)
                file.index = indexes.Index(rows, self._journal.end)
        self._committed = []
        return self._files

    def _close_journal(self) -> None:
        if self._journal is not None:
            self._journal.finish()
            self._journal = None

    def _save_indexes(self) -> None:
        for file in self._open_files():
            if indexes.load(file.index_path, file.source) is None:
                indexes.save(file.index, file.index_path, file.source, self._disk)

    def _clean(self) -> None:
        """Remove files that others took over, and what a crash left half-done."""
        left = [*self._taken_over, *self.folder.glob("*.part")]
        kept = {path.name for path in data_files(self.folder) if path not in left}
        left += [path for path in self.folder.glob("*.index") if path.stem not in kept]
        if not left:
            return
        with failing(self.folder, is_final=True):
            # Who took over may have died before its name was safe.
            self._disk.sync_folder(self.folder)
            for path in left:
                self._disk.remove(path)
            self._disk.sync_folder(self.folder)

    def _not_found(self, url: str, time: datetime | None) -> PageNotFound:
        when = f" of {time} or before" if time is not None else ""
        return PageNotFound(f"{url}: {self.folder} has no page of this address{when}", url=url)

    def _places(
        self,
        prefix: str,
        since: datetime | None,
        until: datetime | None,
        on_damage: Callable[[ArchiveError], None] | None = None,
    ) -> Iterator[tuple[About, StoredFile, int, int]]:
        """What is known of pages, and where they are, in stored order."""
        for file in self._open_files():
            for offset, slot in _stored_order(file, since, until):
                try:
                    known = file.about(offset, slot)
                except ArchiveError as error:
                    if on_damage is None:
                        raise
                    on_damage(error)
                    continue
                if known.url.startswith(prefix):
                    yield known, file, offset, slot

    def _find(self, url: str, time: datetime | None) -> Iterator[tuple[StoredFile, int, int]]:
        """Where versions of a page are, newest first; of one time the one stored last is first."""
        key = indexes.url_hash(url)
        latest = None if time is None else to_microseconds(time)
        files = self._open_files()
        found = []
        for number, file in enumerate(files):
            for row in file.index.find(key):
                when = int(row["time"])
                if latest is None or when <= latest:
                    found.append((when, number, int(row["offset"]), int(row["slot"])))
        for _, number, offset, slot in sorted(found, reverse=True):
            yield files[number], offset, slot


def _stored_order(
    file: StoredFile, since: datetime | None = None, until: datetime | None = None
) -> list[tuple[int, int]]:
    rows = file.index.rows
    if since is not None:
        rows = rows[rows["time"] >= to_microseconds(since)]
    if until is not None:
        rows = rows[rows["time"] <= to_microseconds(until)]
    return sorted(zip(rows["offset"].tolist(), rows["slot"].tolist(), strict=True))


def _page(known: About, body: bytes) -> StoredPage:
    return StoredPage(
        url=known.url,
        time=to_time(known.time),
        head=known.head,
        body=body,
        sha256_start=known.digest,
        extra=known.extra,
    )


def _version(known: About) -> Version:
    return Version(
        url=known.url,
        time=to_time(known.time),
        length=known.length,
        stored=known.frame,
        head=known.head,
    )


def _content_type(head: bytes) -> str | None:
    values = header_values(head, b"content-type")
    return values[-1] if values else None


def _head(headers: bytes | Mapping[str, str] | None) -> bytes:
    if headers is None:
        return b""
    if isinstance(headers, bytes):
        return headers
    lines = [b"HTTP/1.1 200 OK"]
    for name, value in headers.items():
        line = f"{name}: {value}"
        if "\r" in line or "\n" in line:
            raise ValueError(f"header {name!r}: a line end within a header would make two of it")
        lines.append(line.encode("latin-1", "replace"))
    return b"\r\n".join([*lines, b"", b""])
