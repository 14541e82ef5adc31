"""The archive: a folder that holds many pages small and gives any one back.

New pages go into a journal; ``commit`` is the acknowledgement, after which a page survives a power cut. ``compact`` makes
one segment of the journals, in which alike pages lean on common bases. No file is ever changed: the newest
files count, and a segment says which files it took over.

One writer at a time holds the lock, which the system lets go of when the writer dies. Any number of readers see what was
there when they opened, or last said ``refresh``.

How pages are found is in ``reading``; here is what writes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from quire.archive.compact.compaction import Compacted, Tell, compact
from quire.archive.compact.tiers import TierName
from quire.archive.disk.lock import WriterLock
from quire.archive.disk.storage import DISK, Disk, failing
from quire.archive.format import index as indexes
from quire.archive.format.journal import JournalWriter, Packed, packed
from quire.archive.format.marker import MARK, PART, is_archive, other_version, write_mark
from quire.archive.format.page_meta import about
from quire.archive.format.record import VERSION
from quire.archive.format.segment import Piece, SegmentWriter
from quire.archive.format.stored_file import StoredFile, data_files, file_number
from quire.archive.reader import Reader
from quire.errors import ArchiveError, StorageFailed


class Archive(Reader):
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
        super().__init__(folder)
        self._disk = disk
        self._journal: JournalWriter | None = None
        self._pending: list[tuple[int, int, int, int]] = []
        self._committed: list[tuple[int, int, int, int]] = []
        self._has_failed = False
        self._lock = WriterLock(folder) if write else None
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
        with failing(folder):
            disk.make_folder(folder)
            disk.remove(folder / PART)  # of an attempt that was cut off
            if any(folder.iterdir()):
                raise FileExistsError(
                    f"{folder}: holds something already; an archive is a new folder"
                )
            disk.sync_folder(folder.absolute().parent)
        write_mark(folder, disk)
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
            what = "a file, and an archive is a folder" if folder.exists() else "no archive here"
            raise ArchiveError(f"{folder}: {what}; `Archive.create` makes one")
        if not is_archive(folder):
            raise ArchiveError(
                f"{folder}: a folder, but not an archive: {MARK} is missing or damaged"
            )
        other = other_version(folder) if write else None
        if other is not None:
            raise ArchiveError(
                f"{folder / MARK}: archive format {other!r}, but this version writes {VERSION}"
            )
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
            SourceTooLarge: it is longer than what readers are ready for: 256 MiB, address and headers 1 MiB.
        """
        self._check_writing()
        page = about(url, time, bytes(body), _head(headers), extra)
        self.add_packed(packed(page, bytes(body)))

    def add_packed(self, page: Packed) -> None:
        """Take in a page that is compressed already, which any thread can do. It is safe after ``commit``.

        Raises:
            ArchiveError: the archive was not opened for writing, or writing failed before.
        """
        offset = self._writer().add(page)
        self._pending.append((indexes.url_hash(page.about.url), page.about.time, offset, 0))

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

    def compact(
        self, tell: Tell = lambda _step, _done, _of: None, *, codec: TierName = "zstd"
    ) -> Compacted:
        """Make one segment of all files, in which alike pages lean on common bases.

        The old files are removed when the new one is safe. Pages that cannot be read keep theirs.

        Args:
            tell: is told of progress: the step, what is done, of how much.
            codec: ``zstd`` is read in microseconds; ``dense`` is up to a third smaller, is written ten times as slowly and read
                in milliseconds; ``tbc`` is the method of paper 003, for comparison.

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
            done = compact(files, target, self._disk, tell, codec)
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
        files = super()._open_files()
        if self._committed and self._journal is not None:
            path = self._journal.path
            file = next((file for file in files if file.path == path), None)
            if file is None:
                files.append(StoredFile(path))
            else:
                rows = indexes.with_more(file.index.rows, self._committed)
                file.index = indexes.Index(rows, self._journal.end)
        self._committed = []
        return files

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
