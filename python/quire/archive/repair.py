"""Repair: makes a new archive with every readable page and companion of a damaged one.

The damaged archive is only read. The new archive is written beside it under a temporary name,
read back, and renamed at the end. If repair is killed, it leaves only a hidden folder that the next
repair with the same target removes.

Files without damage are copied as they are. From the other files, every readable page that no
undamaged file has goes into a journal with the same number. Files that a segment replaced but a
crash left behind contribute the pages that cannot be read anywhere else.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from quire import _core
from quire.archive.archive import Archive
from quire.archive.damage import Finding, findings, mark_findings
from quire.archive.disk.storage import DISK, Disk, Writer, failing
from quire.archive.format.journal import JournalWriter, packed
from quire.archive.format.marker import is_archive
from quire.archive.format.page_meta import HASH_BYTES, About
from quire.archive.format.stored_file import StoredFile, data_files, file_number
from quire.archive.staging import discard, new_part
from quire.errors import ArchiveError
from quire.progress import Progress, no_progress

_CHUNK_BYTES = 1 << 22
#: Number of the journal for pages from replaced files, so that it sorts before all others.
_FIRST = 0

_Identity = tuple[str, int, bytes, int, int, bool]


@dataclass(frozen=True, slots=True)
class Repaired:
    """The result of a repair, or of a dry run.

    Attributes:
        pages: Number of readable pages, all of them in the new archive.
        findings: Everything that could not be read, with file and offset.
        target: The new archive; None for a dry run.
        companions: Number of readable WARC records without a page, also in the new archive.
    """

    pages: int
    findings: tuple[Finding, ...]
    target: Path | None
    companions: int = 0

    @property
    def lost(self) -> tuple[Finding, ...]:
        """The findings about acknowledged data that cannot be read."""
        return tuple(finding for finding in self.findings if finding.kind == "lost")


def repair(
    path: str | os.PathLike[str],
    target: str | os.PathLike[str] | None = None,
    *,
    disk: Disk = DISK,
    progress: Progress = no_progress,
) -> Repaired:
    """Copy everything readable from an archive into a new one.

    >>> import tempfile
    >>> from datetime import datetime, UTC
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Archive.create(f"{folder}/a.quire") as archive:
    ...         archive.add("https://a.example/", datetime(2026, 5, 1, tzinfo=UTC), b"<p>Closed")
    ...     repair(f"{folder}/a.quire")
    ...     repair(f"{folder}/a.quire", f"{folder}/b.quire").pages
    Repaired(pages=1, findings=(), target=None, companions=0)
    1

    Args:
        path: Folder of the archive. It is only read.
        target: Folder to create; None to report only and write nothing.
        disk: The disk for the new archive.
        progress: called with the step, the work done and the total.

    Raises:
        ArchiveError: The path is not an archive, or a later version wrote it.
        FileExistsError: The target already exists.
        StorageFailed: The disk could not store the new archive.
    """
    folder = Path(path)
    if not is_archive(folder):
        raise ArchiveError(f"{folder}: no archive here")
    goal = None if target is None else Path(target)
    if goal is not None and (goal.exists() or goal.is_symlink()):
        raise FileExistsError(f"{goal}: already exists; repair needs the name of a new folder")
    if goal is not None and folder.resolve() in goal.resolve().parents:
        raise ArchiveError(f"{goal}: is inside the damaged archive, which is only read")
    salvage = _Salvage(folder, progress)
    if goal is None:
        return salvage.done(None)
    part = new_part(goal, disk)
    try:
        Archive.create(part, disk=disk).close()
        for file in salvage.files:
            if salvage.is_whole(file):
                _copy(file, part / file.path.name, disk)
            else:
                _rewrite(salvage.pages(file), part, file_number(file.path), disk)
        _rewrite(salvage.otherwise_lost(), part, _FIRST, disk)
        with failing(goal, is_final=True):
            disk.sync_folder(part)
        _read_back(part, salvage.pages_count, salvage.companions_count)
        with failing(goal, is_final=True):
            disk.rename(part, goal)
            disk.sync_folder(goal.absolute().parent)
    finally:
        discard(part, disk)
    return salvage.done(goal)


class _Salvage:
    """The readable pages of an archive."""

    def __init__(self, folder: Path, progress: Progress) -> None:
        self._findings: dict[Path, list[Finding]] = {folder: list(mark_findings(folder))}
        self._readable: dict[Path, list[tuple[int, int]]] = {}
        self._seen: set[_Identity] = set()
        self.pages_count = self.companions_count = 0
        opened = list(self._opened(folder))
        old = {name for file in opened for name in file.replaces()}
        self.files = [file for file in opened if file.path.name not in old]
        self._old = [file for file in opened if file.path.name in old]
        for i, file in enumerate(self.files):
            progress("read", i, len(opened))
            self._findings[file.path] = list(findings(file, every_byte=True))
        # Undamaged files first. If no record of replaced files can be read, a page may be in two
        # files; it is kept once.
        for file in sorted([*self.files, *self._old], key=self._worth):
            is_whole = file in self.files and self.is_whole(file)
            self._readable[file.path] = [
                place
                for place, about, body in self._try_all(file)
                if self._is_counted(about, body, is_whole=is_whole)
            ]

    def _opened(self, folder: Path) -> Iterator[StoredFile]:
        for path in data_files(folder):
            try:
                file = StoredFile(path)
            except (ArchiveError, OSError) as error:
                what = str(error).removeprefix(f"{path}: ")
                self._findings[path] = [Finding(path, 0, f"cannot be opened: {what}")]
                continue
            found = file.scan()
            # The index may know pages that a scan no longer finds after damage.
            places = {*file.index.places(), *found.places()}
            for number, at in file.index.bases.items():
                known = found.bases.setdefault(number, [])
                known += [place for place in at if place not in known]
            file.index = found
            self._readable[path] = sorted(places)
            yield file

    def _try_all(self, file: StoredFile) -> Iterator[tuple[tuple[int, int], About, bytes]]:
        for offset, slot in self._readable[file.path]:
            try:
                about, body = file.page(offset, slot)
            except ArchiveError:
                continue
            yield (offset, slot), about, body

    def _worth(self, file: StoredFile) -> int:
        if file in self._old:
            return 2
        return 0 if self.is_whole(file) else 1

    def _is_counted(self, about: About, body: bytes, *, is_whole: bool) -> bool:
        """Count a page or companion, unless another file has it and this one is damaged."""
        identity = _identity(about, body)
        is_kept = is_whole or identity not in self._seen
        self._seen.add(identity)
        if is_kept:
            self.companions_count += about.is_companion
            self.pages_count += not about.is_companion
        return is_kept

    def is_whole(self, file: StoredFile) -> bool:
        """Tell whether a file has no damage and can be copied as it is."""
        return not self._findings[file.path]

    def pages(self, file: StoredFile) -> Iterator[tuple[About, bytes]]:
        """Yield the readable pages and companions of a file."""
        for offset, slot in self._readable[file.path]:
            yield file.page(offset, slot)

    def otherwise_lost(self) -> Iterator[tuple[About, bytes]]:
        """Yield the pages of replaced files that no other file has."""
        for file in self._old:
            yield from self.pages(file)

    def done(self, target: Path | None) -> Repaired:
        found = [finding for of_file in self._findings.values() for finding in of_file]
        return Repaired(self.pages_count, tuple(found), target, self.companions_count)


def _identity(about: About, body: bytes) -> _Identity:
    digest, length = about.digest, about.length
    if about.is_companion:  # where the parts of its block are differs from file to file
        block = about.head + body
        digest, length = hashlib.sha256(block).digest()[:HASH_BYTES], len(block)
    extra = _core.hash64(about.extra)
    return about.url, about.time, digest, length, extra, about.is_companion


def _rewrite(pages: Iterator[tuple[About, bytes]], folder: Path, number: int, disk: Disk) -> None:
    journal: JournalWriter | None = None
    for about, body in pages:
        if journal is None:
            journal = JournalWriter(folder / f"{number:06}.journal", disk)
        journal.add(packed(about, body))
    if journal is not None:
        journal.finish()


def _copy(file: StoredFile, path: Path, disk: Disk) -> None:
    writer = Writer(disk, path)
    length = file.index.length
    while writer.end < length:
        part = file.source.at(writer.end, min(_CHUNK_BYTES, length - writer.end))
        if not part:
            raise ArchiveError(f"{file.path}: became shorter while it was copied")
        writer.append(part)
    writer.sync()
    writer.close()


def _read_back(folder: Path, pages: int, companions: int) -> None:
    with Archive.open(folder) as archive:
        wrong = archive.verify()
        if wrong or (len(archive), archive.companion_count()) != (pages, companions):
            raise ArchiveError(
                f"{folder}: has {len(archive):,} of {pages:,} pages after it was written; "
                f"{wrong[:1]}"
            )
