"""Indexes: where each page of a data file is.

An index has a row for every page of a journal or segment: XXH3 of its url, its time, the offset
of its record, and its slot in the record; sorted by url and time. Everything in an index can be
derived from its file, so a missing, damaged or outdated index is rebuilt.

It is written beside the file (``000007.segment.index``) as one record with the tag of the file.
The meta is JSON and says how much of the file the index covers and where the bases are; the
payload is the columns.
"""

from __future__ import annotations

import json
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
from quire.archive.format.segment import read_block, segment_records
from quire.errors import ArchiveError, DamagedRecord

#: Maximum bytes of rows: a hundred million pages in one file. A longer index is ignored.
MOST_ROWS_BYTES = 1 << 32

ROW = np.dtype([("url", "<u8"), ("time", "<i8"), ("offset", "<u8"), ("slot", "<u4")])


@dataclass(slots=True)
class Index:
    """The positions of the pages of a file.

    Attributes:
        rows: One row for each page, sorted by url and time.
        length: Bytes of the file that the index covers.
        bases: Offsets of every base and its copies, by number.
        gaps: Stretches of the file that are not a record, or a damaged one.
        torn: The same, but never acknowledged: a crash cut them off.
        missing: Number of pages the file should have that are in a gap or cut off.
    """

    rows: NDArray[Any]
    length: int
    bases: dict[int, list[int]] = field(default_factory=dict)
    gaps: list[Gap] = field(default_factory=list)
    torn: list[Gap] = field(default_factory=list)
    missing: int = 0

    @property
    def is_damaged(self) -> bool:
        """Whether acknowledged data cannot be read."""
        return bool(self.gaps or self.missing)

    def places(self) -> list[tuple[int, int]]:
        """Return offset and slot of all pages, in stored order."""
        rows = self.rows
        return sorted(zip(rows["offset"].tolist(), rows["slot"].tolist(), strict=True))

    def find(self, url: int) -> NDArray[Any]:
        """Return the rows of a url, given its hash."""
        keys = self.rows["url"]
        key = np.uint64(url)
        start, end = np.searchsorted(keys, key, "left"), np.searchsorted(keys, key, "right")
        return self.rows[int(start) : int(end)]


def url_hash(url: str) -> int:
    """Hash a url as the index does."""
    return _core.hash64(url.encode("utf-8", "surrogatepass"))


def rows_of(entries: list[tuple[int, int, int, int]]) -> NDArray[Any]:
    """Sort rows by url and time."""
    rows = np.array(entries, ROW)
    return rows[np.lexsort((rows["slot"], rows["offset"], rows["time"], rows["url"]))]


def with_more(rows: NDArray[Any], entries: list[tuple[int, int, int, int]]) -> NDArray[Any]:
    """Insert rows in sorted order."""
    both = np.concatenate([rows, np.array(entries, ROW)])
    return both[np.lexsort((both["slot"], both["offset"], both["time"], both["url"]))]


def journal_index(source: Source) -> Index:
    """Index a journal. Pages after the last commit are included if they are intact."""
    index = Index(rows_of([]), source.length())
    entries: list[tuple[int, int, int, int]] = []
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
        entries += [_row(*part) for part in recent if not isinstance(part, Gap)]
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
        entries.append(_row(*part))
    index.rows = rows_of(entries)
    return index


def _row(offset: int, page: About) -> tuple[int, int, int, int]:
    return url_hash(page.url), page.time, offset, 0


def segment_index(source: Source) -> Index:
    """Index a segment without reading the bodies of its pages."""
    index = Index(rows_of([]), source.length())
    entries: list[tuple[int, int, int, int]] = []
    for found in segment_records(source):
        if isinstance(found, Gap):
            index.gaps.append(found)
            continue
        kind, offset, number = found
        if kind == RecordKind.BASE:
            index.bases.setdefault(number, []).append(offset)
        elif kind == RecordKind.FILE:
            index.missing = max(0, number - len(entries))
        else:
            try:
                block = read_block(source, offset)
            except ArchiveError:
                head = read_head(source.at(offset, HEAD_BYTES), offset)
                index.gaps.append(Gap(offset, head.end if head else offset))
                continue
            entries += [
                (url_hash(page.url), page.time, offset, slot)
                for slot, page in enumerate(block.pages)
            ]
    index.rows = rows_of(entries)
    return index


def save(index: Index, path: Path, source: Source, disk: Disk) -> None:
    """Write an index without syncing it; a failed write is ignored, as the index can be rebuilt."""
    tag = tag_of(source)
    if index.is_damaged or tag is None:
        return
    columns = index.rows.tobytes()
    about = {
        "length": index.length,
        "check": _core.hash64(columns),
        "bases": [[number, places] for number, places in index.bases.items()],
        "torn": [[gap.offset, gap.end] for gap in index.torn],
    }
    part = path.with_name(path.name + ".part")
    try:
        disk.remove(part)
        writer = Writer(disk, part)
        try:
            meta = json.dumps(about).encode()
            writer.append(record(RecordKind.FILE, meta, len(columns), tag), columns)
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


def load(path: Path, file: Source) -> Index | None:
    """Read the index of a file; None unless it covers the file as it is now."""
    index = known(path, file)
    is_good = index is not None and index.length == file.length() and tag_of(file) is not None
    return index if is_good else None


def known(path: Path, file: Source) -> Index | None:
    """Read the index of a file, even if the file has changed since; None if it is unusable."""
    try:
        source = Source(path)
    except (OSError, ArchiveError):
        return None
    try:
        head = read_head(source.at(0, HEAD_BYTES), 0)
        if head is None or head.kind != RecordKind.FILE or tag_of(file) not in {None, head.tag}:
            return None
        if head.payload_bytes > MOST_ROWS_BYTES:
            return None
        about = json.loads(source.meta(head))
        columns = source.at(head.payload_offset, head.payload_bytes)
        if about["check"] != _core.hash64(columns) or len(columns) % ROW.itemsize:
            return None
        bases = {int(number): [int(place) for place in places] for number, places in about["bases"]}
        torn = [Gap(int(start), int(end)) for start, end in about["torn"]]
        return Index(np.frombuffer(columns, ROW), int(about["length"]), bases, torn=torn)
    except (ArchiveError, KeyError, TypeError, ValueError, RecursionError):
        return None
    finally:
        source.close()
