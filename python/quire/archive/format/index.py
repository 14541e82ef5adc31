"""Indexes: where each page of a file is.

For every page of a journal or segment a row: XXH3 of its url, its time, the place of its record, its slot there; sorted by
url and time. Everything in an index is in its file too: a missing, damaged or old one is made anew from the
data. It is written beside the file (``000007.segment.index``): a record whose meta says, as JSON, for how much of the
file it is good and where the bases are, and whose payload is the columns. It has the tag of its file.
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

#: Rows of an index: of a hundred million pages in one file. A longer one is not believed.
MOST_ROWS_BYTES = 1 << 32

ROW = np.dtype([("url", "<u8"), ("time", "<i8"), ("offset", "<u8"), ("slot", "<u4")])


@dataclass(slots=True)
class Index:
    """Where the pages of a file are.

    Attributes:
        rows: a row for each page, by url and time.
        length: bytes of the file that it is good for.
        bases: for every base the places where it is.
        gaps: stretches of the file that are no record, or a damaged one.
        torn: the same, but never acknowledged: a crash cut them off.
        missing: pages that the file should have, and that are in a gap or cut off.
    """

    rows: NDArray[Any]
    length: int
    bases: dict[int, list[int]] = field(default_factory=dict)
    gaps: list[Gap] = field(default_factory=list)
    torn: list[Gap] = field(default_factory=list)
    missing: int = 0

    @property
    def is_damaged(self) -> bool:
        """Whether something that was acknowledged cannot be read."""
        return bool(self.gaps or self.missing)

    def places(self) -> list[tuple[int, int]]:
        """Give offset and slot of all pages, in stored order."""
        rows = self.rows
        return sorted(zip(rows["offset"].tolist(), rows["slot"].tolist(), strict=True))

    def find(self, url: int) -> NDArray[Any]:
        """Give the rows of a url, by its hash."""
        keys = self.rows["url"]
        key = np.uint64(url)
        start, end = np.searchsorted(keys, key, "left"), np.searchsorted(keys, key, "right")
        return self.rows[int(start) : int(end)]


def url_hash(url: str) -> int:
    """Give the number that a url is found by."""
    return _core.hash64(url.encode("utf-8", "surrogatepass"))


def rows_of(entries: list[tuple[int, int, int, int]]) -> NDArray[Any]:
    """Sort rows by url and time."""
    rows = np.array(entries, ROW)
    return rows[np.lexsort((rows["slot"], rows["offset"], rows["time"], rows["url"]))]


def with_more(rows: NDArray[Any], entries: list[tuple[int, int, int, int]]) -> NDArray[Any]:
    """Add rows, sorted in."""
    both = np.concatenate([rows, np.array(entries, ROW)])
    return both[np.lexsort((both["slot"], both["offset"], both["time"], both["url"]))]


def journal_index(source: Source) -> Index:
    """Go through a journal. Pages that no commit follows are there where they are whole."""
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
    """Go through a segment; reads no frames."""
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
    """Write an index; it may be lost, so nobody waits for the disk, and a full one is no error."""
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
    """Give the tag of a file; None where its first record is damaged."""
    head = read_head(source.at(0, HEAD_BYTES), 0)
    return head.tag if head is not None else None


def load(path: Path, file: Source) -> Index | None:
    """Read the index of a file; None where there is none that is good for it as it is now."""
    index = known(path, file)
    is_good = index is not None and index.length == file.length() and tag_of(file) is not None
    return index if is_good else None


def known(path: Path, file: Source) -> Index | None:
    """Read the index of a file, which may have been longer, shorter or whole when it was written."""
    try:
        source = Source(path)
    except OSError:
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
