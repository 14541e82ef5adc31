"""Indexes: where each page of a data file is.

An index has a row for every page of a journal or segment: XXH3 of its url, its time, the offset
of its record, and its slot in the record; sorted by url and time. Companions have rows of their
own, so that a search for pages does not meet them. Everything in an index can be
derived from its file, so a missing, damaged or outdated index is rebuilt.

It is written beside the file (``000007.segment.index``) as one record with the tag of the file.
The meta is JSON and says how much of the file the index covers, where the bases are and how many
rows there are; the payload is the rows of pages, then those of companions (``rows``). Few rows are
packed; many are read chunk by chunk, so opening an archive does not take longer if it has more
pages.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quire import _core
from quire.archive.disk.storage import Disk, Writer
from quire.archive.format.journal import committed_pages, journal_pages, read_page
from quire.archive.format.page_meta import About
from quire.archive.format.record import HEAD_BYTES, Gap, Head, RecordKind, Source, read_head, record
from quire.archive.format.rows import (
    MOST_PACKED_ROWS,
    MOST_ROWS_BYTES,
    ROW,
    Row,
    Rows,
    chunk_table,
    pack,
    sorted_rows,
    stored_rows,
    table_bytes,
    unpack,
)
from quire.archive.format.segment import read_block, segment_records
from quire.errors import ArchiveError, DamagedRecord

#: Maximum bytes of packed rows: zstd adds less than one percent to data it cannot compress.
MOST_PACKED_BYTES = MOST_PACKED_ROWS * ROW.itemsize + (MOST_PACKED_ROWS * ROW.itemsize >> 6)


@dataclass(slots=True)
class Index:
    """The positions of the pages of a file.

    Attributes:
        pages: One row for each page, sorted by url and time.
        length: Bytes of the file that the index covers.
        bases: Offsets of every base and its copies, by number.
        gaps: Stretches of the file that are not a record, or a damaged one.
        torn: The same, but never acknowledged: a crash cut them off.
        missing: Number of pages and companions the file should have that are in a gap or cut off.
        companions: One row for each companion, sorted by url and time.
    """

    pages: Rows
    length: int
    bases: dict[int, list[int]] = field(default_factory=dict)
    gaps: list[Gap] = field(default_factory=list)
    torn: list[Gap] = field(default_factory=list)
    missing: int = 0
    companions: Rows = field(default_factory=lambda: rows_of([]))

    @property
    def is_rescued(self) -> bool:
        """Whether rows as stored were damaged, and were made anew from the file."""
        return self.pages.is_rescued or self.companions.is_rescued

    @property
    def is_damaged(self) -> bool:
        """Whether acknowledged data cannot be read."""
        return bool(self.gaps or self.missing)

    def places(self) -> list[tuple[int, int]]:
        """Return offset and slot of all pages and companions, in stored order."""
        return sorted(
            place
            for rows in (self.pages.array(), self.companions.array())
            for place in zip(rows["offset"].tolist(), rows["slot"].tolist(), strict=True)
        )

    def extend(self, pages: list[Row], companions: list[Row], length: int) -> None:
        """Insert rows; the index then covers ``length`` bytes of the file."""
        self.pages = self.pages.with_more(pages)
        self.companions = self.companions.with_more(companions)
        self.length = length


def url_hash(url: str) -> int:
    """Hash a url as the index does."""
    return _core.hash64(url.encode("utf-8", "surrogatepass"))


def rows_of(entries: list[Row]) -> Rows:
    """Sort rows by url and time."""
    return Rows(sorted_rows(entries))


def journal_index(source: Source) -> Index:
    """Index a journal. Pages after the last commit are included if they are intact."""
    index = Index(rows_of([]), source.length())
    entries: list[tuple[int, About]] = []
    recent: list[tuple[int, About] | Gap] = []  # since the last commit
    for found in journal_pages(source):
        if not isinstance(found, Head):
            recent.append(found)
            continue
        try:
            pages = committed_pages(source, found)
        except ArchiveError:
            recent.append(Gap(found.offset, found.end))
            continue
        index.gaps += [part for part in recent if isinstance(part, Gap)]
        entries += [part for part in recent if not isinstance(part, Gap)]
        recent = []
        index.missing = max(0, pages - len(entries))
    for part in recent:
        if isinstance(part, Gap):
            index.torn.append(part)
            continue
        try:
            read_page(source, part[0])
        except DamagedRecord:
            index.torn.append(Gap(part[0], part[0] + part[1].frame))
            continue
        entries.append(part)
    index.pages = rows_of([_row(*entry) for entry in entries if not entry[1].is_companion])
    index.companions = rows_of([_row(*entry) for entry in entries if entry[1].is_companion])
    return index


def _row(offset: int, page: About, slot: int = 0) -> Row:
    return url_hash(page.url), page.time, offset, slot


def segment_index(source: Source) -> Index:
    """Index a segment without reading the bodies of its pages."""
    index = Index(rows_of([]), source.length())
    pages: list[Row] = []
    companions: list[Row] = []
    for found in segment_records(source):
        if isinstance(found, Gap):
            index.gaps.append(found)
            continue
        kind, offset, number = found
        if kind == RecordKind.BASE:
            index.bases.setdefault(number, []).append(offset)
        elif kind == RecordKind.FILE:
            index.missing = max(0, number - len(pages) - len(companions))
        else:
            try:
                block = read_block(source, offset)
            except ArchiveError:
                head = read_head(source.at(offset, HEAD_BYTES), offset)
                index.gaps.append(Gap(offset, head.end if head else offset))
                continue
            rows = companions if block.head.kind == RecordKind.COMPANION_BLOCK else pages
            rows += [_row(offset, page, slot) for slot, page in enumerate(block.pages)]
    index.pages, index.companions = rows_of(pages), rows_of(companions)
    return index


def save(index: Index, path: Path, source: Source, disk: Disk) -> None:
    """Write an index without syncing it; a failed write is ignored, as the index can be rebuilt."""
    tag = tag_of(source)
    if index.is_damaged or tag is None:
        return
    pages, companions = index.pages.array(), index.companions.array()
    is_packed = len(pages) + len(companions) <= MOST_PACKED_ROWS
    tables = b"" if is_packed else chunk_table(pages) + chunk_table(companions)
    payload = (
        pack(np.concatenate([pages, companions]))
        if is_packed
        else pages.tobytes() + companions.tobytes() + tables
    )
    about = {
        "length": index.length,
        "check": _core.hash64(payload if is_packed else tables),
        "bases": [[number, places] for number, places in index.bases.items()],
        "torn": [[gap.offset, gap.end] for gap in index.torn],
        "pages": len(pages),
        "companions": len(companions),
        "packed": is_packed,
    }
    part = path.with_name(path.name + ".part")
    try:
        disk.remove(part)
        writer = Writer(disk, part)
        try:
            meta = json.dumps(about).encode()
            writer.append(record(RecordKind.FILE, meta, len(payload), tag), payload)
            writer.close()
            disk.rename(part, path)
        except BaseException:
            writer.discard()
            raise
    except OSError:
        return


def tag_of(source: Source) -> bytes | None:
    """Return the tag of a file; None if its first record is damaged."""
    head = read_head(source.at(0, HEAD_BYTES), 0)
    return head.tag if head is not None else None


def load(path: Path, file: Source, rescue: Callable[[], Index]) -> Index | None:
    """Read the index of a file; None unless it covers the file as it is now.

    Args:
        path: Path of the index.
        file: The journal or segment.
        rescue: Makes the index anew, if a part of it that is needed later is damaged.
    """
    index = known(path, file, rescue)
    is_good = index is not None and index.length == file.length() and tag_of(file) is not None
    return index if is_good else None


def known(path: Path, file: Source, rescue: Callable[[], Index]) -> Index | None:
    """Read the index of a file, even if the file has changed since; None if it is unusable."""
    try:
        source = Source(path)
    except (OSError, ArchiveError):
        return None
    head = read_head(source.at(0, HEAD_BYTES), 0)
    if head is None or head.kind != RecordKind.FILE or tag_of(file) not in {None, head.tag}:
        return None
    try:
        about = json.loads(source.meta(head))
        bases = {int(number): [int(place) for place in places] for number, places in about["bases"]}
        torn = [Gap(int(start), int(end)) for start, end in about["torn"]]
        read = _packed_rows if about["packed"] else _rows_in_chunks
        counts = int(about["pages"]), int(about["companions"])
        pages, companions = read(source, head, counts, int(about["check"]), rescue)
        return Index(pages, int(about["length"]), bases, torn=torn, companions=companions)
    except (ArchiveError, KeyError, TypeError, ValueError, OverflowError, RecursionError):
        return None


def _packed_rows(
    source: Source, head: Head, counts: tuple[int, int], check: int, _rescue: object
) -> tuple[Rows, Rows]:
    if min(counts) < 0 or head.payload_bytes > MOST_PACKED_BYTES:
        raise ValueError("false lengths")
    frame = source.at(head.payload_offset, head.payload_bytes)
    if check != _core.hash64(frame):
        raise ValueError("damaged rows")
    rows = unpack(frame, sum(counts))
    return Rows(rows[: counts[0]]), Rows(rows[counts[0] :])


def _rows_in_chunks(
    source: Source, head: Head, counts: tuple[int, int], check: int, rescue: Callable[[], Index]
) -> tuple[Rows, Rows]:
    tables = [table_bytes(count) for count in counts]
    rows_bytes = sum(counts) * ROW.itemsize
    if min(counts) < 0 or rows_bytes > MOST_ROWS_BYTES:
        raise ValueError("false lengths")
    if head.payload_bytes != rows_bytes + sum(tables) or head.end > source.length():
        raise ValueError("false lengths")
    table = source.at(head.payload_offset + rows_bytes, sum(tables))
    if check != _core.hash64(table):
        raise ValueError("a damaged table")
    offset = head.payload_offset
    pages = stored_rows(source, offset, table[: tables[0]], counts[0])
    offset += counts[0] * ROW.itemsize
    companions = stored_rows(source, offset, table[tables[0] :], counts[1])
    return Rows(None, pages, lambda: _pages(rescue)), Rows(
        None, companions, lambda: _beside(rescue)
    )


def _pages(rescue: Callable[[], Index]) -> NDArray[Any]:
    return rescue().pages.array()


def _beside(rescue: Callable[[], Index]) -> NDArray[Any]:
    return rescue().companions.array()
