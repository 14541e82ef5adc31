"""The archive: a folder that stores many pages in little space and gives each back.

New pages are appended to a journal. ``commit`` acknowledges them: from then on they survive a
power cut. ``compact`` turns the journals into one segment, in which similar pages are stored as
differences from shared bases. No file is ever changed. The newest files count, and a segment
lists the files it replaces.

One writer at a time holds the lock; the operating system releases it when the writer dies. Any
number of readers see the archive as it was when they opened it or last called ``refresh``.

This module writes. ``reader`` has the methods that find and read pages.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from quire.archive.compact.compaction import Compacted, compact
from quire.archive.compact.tiers import TierName
from quire.archive.disk.lock import WriterLock
from quire.archive.disk.storage import DISK, Disk, failing
from quire.archive.format import index as indexes
from quire.archive.format.journal import JournalWriter, Packed, packed
from quire.archive.format.marker import MARK, PART, is_archive, other_version, write_mark
from quire.archive.format.page_meta import about
from quire.archive.format.record import VERSION
from quire.archive.format.rows import Row
from quire.archive.format.segment import Piece, SegmentWriter
from quire.archive.format.stored_file import (
    StoredFile,
    data_files,
    is_part,
    is_stored,
    new_path,
)
from quire.archive.reader import Reader
from quire.errors import ArchiveError, StorageFailed
from quire.progress import Progress, no_progress


class Archive(Reader):
    """A folder of pages that can be read and written.

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
        # Rows of pages and of companions.
        self._pending: tuple[list[Row], list[Row]] = ([], [])
        self._committed: tuple[list[Row], list[Row]] = ([], [])
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
        """Create an archive and open it for writing.

        Raises:
            FileExistsError: The path exists and is not an empty folder.
            StorageFailed: The disk could not store the new archive.
        """
        folder = Path(path)
        with failing(folder):
            disk.make_folder(folder)
            disk.remove(folder / PART)  # left by an interrupted attempt
            if any(folder.iterdir()):
                raise FileExistsError(
                    f"{folder}: not empty; a new archive needs a new or empty folder"
                )
            disk.sync_folder(folder.absolute().parent)
        write_mark(folder, disk)
        return cls(folder, write=True, disk=disk)

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, write: bool = False, disk: Disk = DISK) -> Self:
        """Open an archive.

        Args:
            path: Folder of the archive.
            write: Also open it for writing; only one writer at a time.
            disk: The disk the archive is on.

        Raises:
            ArchiveError: The path is not an archive, or a later version wrote it.
            ArchiveLocked: Another writer has it open.
        """
        folder = Path(path)
        if not folder.is_dir():
            what = "is a file; an archive is a folder" if folder.exists() else "no archive here"
            raise ArchiveError(f"{folder}: {what}; create one with `Archive.create`")
        if not is_archive(folder):
            raise ArchiveError(
                f"{folder}: a folder, but not an archive: {MARK} is missing or damaged"
            )
        other = other_version(folder) if write else None
        if other is not None:
            raise ArchiveError(
                f"{folder / MARK}: archive format {other!r}, "
                f"but this version writes up to {VERSION}"
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
        r"""Add a page. It is safe after ``commit``.

        Args:
            url: Address of the page.
            time: Fetch time; taken as UTC if it has no time zone.
            body: Bytes of the page.
            headers: HTTP status line and headers as received, or a mapping of names to values.
            extra: Anything else to store with the page.

        Raises:
            ArchiveError: The archive is not open for writing, an earlier write failed, or the time
                is before year 1 or after year 9999 in UTC.
            SourceTooLarge: The page exceeds what readers accept: 256 MiB for the body, 1 MiB for
                address and headers.
        """
        self._check_writing()
        page = about(url, time, bytes(body), _head(headers), extra)
        self.add_packed(packed(page, bytes(body)))

    def add_packed(self, page: Packed) -> None:
        """Add a page or companion that is already compressed, which any thread can do.

        It is safe after ``commit``.

        Raises:
            ArchiveError: The archive is not open for writing, or an earlier write failed.
        """
        offset = self._writer().add(page)
        row = (indexes.url_hash(page.about.url), page.about.time, offset, 0)
        self._pending[page.about.is_companion].append(row)

    def commit(self) -> None:
        """Acknowledge all pages added so far: from now on they survive a power cut.

        Raises:
            StorageFailed: The disk did not confirm the pages. They may be lost; open the archive
                again to continue.
        """
        self._check_disk()
        if self._journal is not None:
            self._journal.sync()
            for done, new in zip(self._committed, self._pending, strict=True):
                done.extend(new)
            self._pending = ([], [])

    def compact(self, progress: Progress = no_progress, *, codec: TierName = "zstd") -> Compacted:
        """Rewrite all files as one segment in which similar pages share bases.

        The old files are removed once the new one is safely on disk. Files with pages that
        cannot be read are kept.

        Args:
            progress: called with the step, the work done and the total.
            codec: ``zstd`` reads a page in microseconds. ``dense`` is up to a third smaller, but
                writes ten times as slowly and reads a page in milliseconds. ``tbc`` is the
                method of paper 003, for comparison.

        Raises:
            ArchiveError: The archive is not open for writing.
            StorageFailed: The disk could not store the segment; the archive is unchanged.
        """
        self._check_writing()
        self.commit()
        self._close_journal()
        self.refresh()
        files = self._open_files()
        if not files:
            return Compacted(0, ())
        target = new_path(self.folder, "segment")
        try:
            done = compact(files, target, self._disk, progress, codec)
        except StorageFailed as error:
            self._has_failed |= error.is_final
            raise
        self.refresh()
        self._clean()
        self._save_indexes()
        return done

    def add_pieces(self, pieces: Iterable[Piece]) -> int:
        """Add pages and companions that were encoded elsewhere, all or none, as one new segment.

        When this returns, the pages survive a power cut.

        Returns:
            The number of pages added.

        Raises:
            ArchiveError: The archive is not open for writing.
            StorageFailed: The disk could not store the segment; the archive is unchanged.
        """
        self._check_writing()
        self.commit()
        self._close_journal()
        writer = None
        try:
            for piece in pieces:
                if writer is None:
                    target = new_path(self.folder, "segment")
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
        """Commit all pages and close the archive.

        Raises:
            StorageFailed: The disk did not confirm the last pages.
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
        # After an error, committed pages are safe; pages that were not committed are dropped.
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
                f"{self.folder}: open for reading only; use Archive.open(path, write=True)"
            )
        self._check_disk()

    def _check_disk(self) -> None:
        if self._has_failed:
            raise ArchiveError(
                f"{self.folder}: the disk failed earlier, so its confirmations cannot be trusted; "
                "open the archive again to continue"
            )

    def _writer(self) -> JournalWriter:
        self._check_writing()
        if self._journal is None:
            path = new_path(self.folder, "journal")
            try:
                self._journal = JournalWriter(path, self._disk)
            except StorageFailed as error:
                self._has_failed |= error.is_final
                raise
        return self._journal

    def _open_files(self) -> list[StoredFile]:
        """Return the files, including everything this writer has committed."""
        files = super()._open_files()
        if any(self._committed) and self._journal is not None:
            path = self._journal.path
            file = next((file for file in files if file.path == path), None)
            if file is None:
                files.append(StoredFile(path))
            else:
                pages, companions = self._committed
                file.index.extend(pages, companions, self._journal.end)
        self._committed = ([], [])
        return files

    def _close_journal(self) -> None:
        if self._journal is not None:
            self._journal.finish()
            self._journal = None

    def _save_indexes(self) -> None:
        for file in self._open_files():
            stored = indexes.load(file.index_path, file.source, file.scan)
            if stored is None or file.index.is_rescued:
                indexes.save(file.index, file.index_path, file.source, self._disk)

    def _clean(self) -> None:
        """Remove replaced files and anything a crash left half-written."""
        names = [path for path in self.folder.iterdir() if path.is_symlink() or not path.is_dir()]
        left = [*self._replaced, *(path for path in names if is_part(path.name))]
        kept = {path.name for path in data_files(self.folder) if path not in left}
        indexes_left = (path for path in names if path.suffix == ".index" and is_stored(path.name))
        left += [path for path in indexes_left if path.stem not in kept]
        if not left:
            return
        with failing(self.folder, is_final=True):
            # The writer of the new file may have died before its name was on disk.
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
            raise ValueError(f"header {name!r}: contains a line end, which would split it in two")
        lines.append(line.encode("latin-1", "replace"))
    return b"\r\n".join([*lines, b"", b""])
