"""The files of an archive, opened for reading: pages by their places.

A file is a journal or a segment. A segment names the files whose pages it took over; those no longer count, also where
nobody has removed them yet. So the folder alone says what the archive is, and one rename switches from old
files to a new one.

Above: ``archive``, ``compaction``. Below: ``index``, ``journal``, ``segment``, ``layout``, ``_core``.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from threading import Lock

from quire import _core
from quire.archive import index as indexes
from quire.archive.index import Index
from quire.archive.journal import page_at, read_frame
from quire.archive.layout import (
    HEAD_BYTES,
    Gap,
    Head,
    Kind,
    Source,
    heads,
    read_file_record,
    read_head,
)
from quire.archive.pages import About
from quire.archive.segment import Block, read_base, read_block, read_body
from quire.errors import ArchiveError, DamagedRecord

_NAME = re.compile(r"(\d{6,12})\.(journal|segment)")
#: Blocks that a file keeps at hand, and bytes of bases.
_BLOCKS = 256
_BASE_BYTES = 64 << 20


def data_files(folder: Path) -> list[Path]:
    """List journals and segments, oldest first."""
    return sorted(path for path in folder.iterdir() if _NAME.fullmatch(path.name))


def file_number(path: Path) -> int:
    """Give the number of a journal or segment."""
    found = _NAME.fullmatch(path.name)
    return int(found[1]) if found else 0


class StoredFile:
    """A journal or a segment. Threads may share it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.source: Source = Source(path)
        self.is_segment: bool = path.suffix == ".segment"
        self._lock = Lock()
        self._blocks: OrderedDict[int, Block] = OrderedDict()
        self._bases: OrderedDict[int, _core.Base] = OrderedDict()
        self.index: Index = self._indexed()

    def _indexed(self) -> Index:
        known = indexes.load(self.index_path, self.source.length())
        if known is not None:
            return known
        make = indexes.segment_index if self.is_segment else indexes.journal_index
        return make(self.source)

    @property
    def index_path(self) -> Path:
        """Where its index is kept."""
        return self.path.with_name(self.path.name + ".index")

    def replaces(self) -> list[str]:
        """Name the files it took over.

        Raises:
            ArchiveError: it is of a later version, or no part of an archive.
        """
        for found in self._file_records():
            try:
                about = read_file_record(self.source, found)
            except DamagedRecord:
                continue
            return [str(name) for name in about.get("replaces", [])]
        # Nobody can say. Pages of files that it took over and that are still there are read twice, and are the same.
        return []

    def _file_records(self) -> Iterator[Head]:
        """The records that say what the file is: the first, and in a segment the last."""
        first = next(heads(self.source), None)
        if isinstance(first, Head) and first.kind == Kind.FILE:
            yield first
        if self.is_segment:
            for found in heads(self.source):
                if isinstance(found, Head) and found.kind == Kind.FILE:
                    yield found

    def about(self, offset: int, slot: int) -> About:
        """Say what is known of a page.

        Raises:
            DamagedRecord: its record is not what was written.
        """
        if self.is_segment:
            return self._block(offset).pages[slot]
        return page_at(self.source, self._page_head(offset))

    def page(self, offset: int, slot: int) -> tuple[About, bytes]:
        """Read a page, checked.

        Raises:
            DamagedRecord: its bytes are not what was written.
        """
        try:
            if self.is_segment:
                block = self._block(offset)
                about = block.pages[slot]
                body = read_body(self.source, block, slot, self._base(block.base))
            else:
                head = self._page_head(offset)
                about = page_at(self.source, head)
                body = read_frame(self.source, head, about)
        except DamagedRecord:
            raise
        except ArchiveError as error:
            raise self._damaged(offset, slot, str(error)) from None
        if len(body) != about.length or _core.hash64(body) != about.check:
            raise self._damaged(offset, slot, "its bytes are not those that were stored")
        return about, body

    def _damaged(self, offset: int, slot: int, finding: str) -> DamagedRecord:
        where = (
            f"page {slot} of the record at {offset}" if self.is_segment else f"the page at {offset}"
        )
        return DamagedRecord(f"{self.path}: {where}: {finding}", file=str(self.path), offset=offset)

    def _page_head(self, offset: int) -> Head:
        head = read_head(self.source.at(offset, HEAD_BYTES), offset)
        if head is None or head.kind != Kind.PAGE:
            raise self._damaged(offset, 0, "no page begins here")
        return head

    def _block(self, offset: int) -> Block:
        with self._lock:
            known = self._blocks.get(offset)
            if known is not None:
                self._blocks.move_to_end(offset)
                return known
        block = read_block(self.source, offset)
        with self._lock:
            self._blocks[offset] = block
            if len(self._blocks) > _BLOCKS:
                self._blocks.popitem(last=False)
        return block

    def _base(self, number: int) -> _core.Base:
        with self._lock:
            known = self._bases.get(number)
            if known is not None:
                self._bases.move_to_end(number)
                return known
        content = (
            read_base(self.source, self.index.bases.get(number, []), number) if number else b""
        )
        base = _core.Base(content)
        with self._lock:
            self._bases[number] = base
            while len(self._bases) > 1 and sum(map(len, self._bases.values())) > _BASE_BYTES:
                self._bases.popitem(last=False)
        return base

    def gaps(self) -> list[Gap]:
        """Go through the whole file and list what is no record, or a damaged one."""
        make = indexes.segment_index if self.is_segment else indexes.journal_index
        return make(self.source).gaps

    def close(self) -> None:
        """Let go of the file."""
        self.source.close()


def live_files(folder: Path) -> tuple[list[StoredFile], list[Path]]:
    """Open the files that make up an archive; and list those that others took over.

    Raises:
        ArchiveError: a file is of a later version.
    """
    while True:
        before = data_files(folder)
        opened = _opened(before)
        if opened is not None and data_files(folder) == before:
            break
        # Files were taken over meanwhile: what is open may be neither the old nor the new ones.
        for file in opened or []:
            file.close()
    try:
        gone = {name for file in opened for name in file.replaces()}
    except BaseException:
        for file in opened:
            file.close()
        raise
    live = [file for file in opened if file.path.name not in gone]
    dead = [file for file in opened if file.path.name in gone]
    for file in dead:
        file.close()
    return live, [file.path for file in dead]


def _opened(paths: list[Path]) -> list[StoredFile] | None:
    opened: list[StoredFile] = []
    try:
        for path in paths:
            opened.append(StoredFile(path))  # noqa: PERF401 - so that all can be closed
    except FileNotFoundError:
        for file in opened:
            file.close()
        return None
    return opened
