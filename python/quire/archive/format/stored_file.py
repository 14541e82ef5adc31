"""The data files of an archive, open for reading.

A data file is a journal or a segment. A segment lists the files it replaces; these no longer
count, even if they have not been removed yet. So the folder alone defines the archive, and one
rename switches from old files to a new one.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import Literal

from quire.archive.format import index as indexes
from quire.archive.format.base_record import Bases
from quire.archive.format.index import Index
from quire.archive.format.journal import PAGE_KINDS, page_at, read_page
from quire.archive.format.page_meta import About
from quire.archive.format.record import (
    HEAD_BYTES,
    Head,
    RecordKind,
    Source,
    heads,
    read_file_record,
    read_head,
)
from quire.archive.format.segment import Block, read_block, read_body
from quire.errors import ArchiveError, CodecError, DamagedRecord

_NAME = re.compile(r"([0-9]{6,12})\.(journal|segment)")
# An index, or a file that is being written.
_INDEX = re.compile(_NAME.pattern + r"\.index")
_PART = re.compile(rf"(?:{_NAME.pattern}(?:\.index)?|archive\.json)\.part")
#: Times that the files of an archive are listed again if they change meanwhile. Compaction replaces
#: them once.
_MOST_TRIES = 100
#: The highest number of a journal or segment. A name with more digits is not part of an archive.
MOST_NUMBER = 999_999_999_999
#: Maximum blocks a file keeps in memory, and maximum bytes of their columns.
_BLOCKS = 1024
_COLUMNS_BYTES = 64 << 20


def data_files(folder: Path) -> list[Path]:
    """List journals and segments, oldest first."""
    found = (path for path in folder.iterdir() if _NAME.fullmatch(path.name))
    return sorted(found, key=lambda path: (file_number(path), path.name))


def file_number(path: Path) -> int:
    """Return the number of a journal or segment."""
    found = _NAME.fullmatch(path.name)
    return int(found[1]) if found else 0


def is_stored(name: str) -> bool:
    """Tell whether a name is that of a journal, a segment or an index.

    >>> is_stored("000007.segment.index"), is_stored("letter.index")
    (True, False)
    """
    return (_NAME.fullmatch(name) or _INDEX.fullmatch(name)) is not None


def is_part(name: str) -> bool:
    """Tell whether a name is that of a file which a writer of archives has not completed.

    >>> is_part("000007.segment.part"), is_part("letter.part")
    (True, False)
    """
    return _PART.fullmatch(name) is not None


def new_path(folder: Path, kind: Literal["journal", "segment"]) -> Path:
    """Return the path of the next journal or segment: its number is above all others.

    Raises:
        ArchiveError: A file has the highest number that a name can have.
    """
    last = max(data_files(folder), key=file_number, default=None)
    number = 1 if last is None else file_number(last) + 1
    if last is not None and number > MOST_NUMBER:
        raise ArchiveError(
            f"{last}: has the highest number that a file can have, so this archive takes no more "
            "pages; write them as a crawl for a new one with `quire archive export`"
        )
    return folder / f"{number:06}.{kind}"


class StoredFile:
    """A journal or segment. Threads may share it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.source: Source = Source(path)
        self.is_segment: bool = path.suffix == ".segment"
        self._lock = Lock()
        self._blocks: OrderedDict[int, Block] = OrderedDict()
        self._columns_bytes = 0
        self.bases: Bases = Bases(self.source, lambda number: self.index.bases.get(number, []))
        self.index: Index = self._indexed()

    def _indexed(self) -> Index:
        return indexes.load(self.index_path, self.source, self.scan) or self.scan()

    def scan(self) -> Index:
        """Read and check the whole file except the bodies of its pages."""
        make = indexes.segment_index if self.is_segment else indexes.journal_index
        return make(self.source)

    @property
    def index_path(self) -> Path:
        """Path of the index file."""
        return self.path.with_name(self.path.name + ".index")

    def replaces(self) -> set[str]:
        """Return the names of the files this one replaces.

        Raises:
            ArchiveError: The file is not part of an archive, or a later version wrote it.
        """
        for found in self._file_records():
            try:
                names = read_file_record(self.source, found).get("replaces")
            except DamagedRecord:
                continue
            # Only older files count, so that two files cannot replace each other.
            known = [str(name) for name in names] if isinstance(names, list) else []
            return {name for name in known if file_number(Path(name)) < file_number(self.path)}
        # Unknown. If replaced files are still there, their pages are read twice, and are equal.
        return set()

    def _file_records(self) -> Iterator[Head]:
        """Yield the records that describe the file: the first, and in a segment the last."""
        first = next(heads(self.source), None)
        if isinstance(first, Head) and first.kind == RecordKind.FILE:
            yield first
        if self.is_segment:
            for found in heads(self.source):
                if isinstance(found, Head) and found.kind == RecordKind.FILE:
                    yield found

    def about(self, offset: int, slot: int) -> About:
        """Read the metadata of a page or companion.

        Raises:
            DamagedRecord: The record is damaged.
        """
        if self.is_segment:
            return self._slot(offset, slot)[1]
        head = read_head(self.source.at(offset, HEAD_BYTES), offset)
        if head is None or head.kind not in PAGE_KINDS:
            raise self._damaged(offset, slot, "not the start of a page")
        return page_at(self.source, head)

    def page(self, offset: int, slot: int) -> tuple[About, bytes]:
        """Read and check a page or companion.

        Raises:
            DamagedRecord: The bytes do not match the checksum.
        """
        if not self.is_segment:
            return read_page(self.source, offset)
        block, about = self._slot(offset, slot)
        try:
            body = read_body(self.source, block, slot, self.bases)
        except CodecError as error:
            raise self._damaged(offset, slot, str(error)) from None
        if not about.is_of(body):
            raise self._damaged(offset, slot, "the bytes do not match the checksum")
        return about, body

    def _damaged(self, offset: int, slot: int, finding: str) -> DamagedRecord:
        return DamagedRecord(
            f"{self.path}: page {slot} of the record at {offset}: {finding}",
            file=str(self.path),
            offset=offset,
        )

    def _slot(self, offset: int, slot: int) -> tuple[Block, About]:
        block = self._block(offset)
        if slot >= len(block.pages):
            raise self._damaged(offset, slot, "the record has no such page")
        return block, block.pages[slot]

    def _block(self, offset: int) -> Block:
        with self._lock:
            known = self._blocks.get(offset)
            if known is not None:
                self._blocks.move_to_end(offset)
                return known
        block = read_block(self.source, offset)
        with self._lock:
            if offset not in self._blocks:
                self._columns_bytes += block.columns_bytes
            self._blocks[offset] = block
            while len(self._blocks) > 1 and (
                len(self._blocks) > _BLOCKS or self._columns_bytes > _COLUMNS_BYTES
            ):
                self._columns_bytes -= self._blocks.popitem(last=False)[1].columns_bytes
        return block

    def close(self) -> None:
        """Close the file."""
        self.source.close()


def live_files(folder: Path) -> tuple[list[StoredFile], list[Path]]:
    """Open the files that make up an archive; also return the paths of replaced files.

    Raises:
        ArchiveError: A later version wrote one of the files, or one is not a plain file.
    """
    for _ in range(_MOST_TRIES):
        before = data_files(folder)
        opened = _opened(before)
        if opened is not None and data_files(folder) == before:
            break
        # Files were replaced meanwhile: the open ones may be neither the old nor the new set.
        for file in opened or []:
            file.close()
    else:
        raise ArchiveError(f"{folder}: its files keep changing, so they cannot be read together")
    try:
        gone = _replaced(opened)
    except BaseException:
        for file in opened:
            file.close()
        raise
    live = [file for file in opened if file.path.name not in gone]
    dead = [file for file in opened if file.path.name in gone]
    for file in dead:
        file.close()
    return live, [file.path for file in dead]


def _replaced(opened: list[StoredFile]) -> set[str]:
    """Name the files that another, undamaged file replaces."""
    names = {file.path.name for file in opened}
    gone: set[str] = set()
    for file in opened:
        old = file.replaces() & names
        # Replaced files exist only for a moment, or after a crash. If the new file is damaged,
        # they are still needed.
        if old and not file.scan().is_damaged:
            gone |= old
    return gone


def _opened(paths: list[Path]) -> list[StoredFile] | None:
    opened: list[StoredFile] = []
    try:
        for path in paths:
            opened.append(StoredFile(path))  # noqa: PERF401 - so that all can be closed
    except BaseException as error:
        for file in opened:
            file.close()
        if isinstance(error, FileNotFoundError):
            return None
        raise
    return opened
