"""Indexes: where each page of a file is.

For every page of a journal or segment a row: XXH3 of its url, its time, the place of its record, its slot there; sorted by
url and time. Everything in an index is in its file too: a missing, damaged or old one is made anew from the
data. It is written beside the file (``000007.segment.index``): a record whose meta says, as JSON, for how much of the
file it is good and where the bases are, and whose payload is the columns.

Above: ``files``. Below: ``layout``, ``journal``, ``segment``, ``_core``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quire import _core
from quire.archive.journal import journal_pages
from quire.archive.layout import HEAD_BYTES, Gap, Kind, Source, read_head, record
from quire.archive.segment import read_block, segment_records
from quire.archive.storage import Disk
from quire.errors import ArchiveError

ROW = np.dtype([("url", "<u8"), ("time", "<i8"), ("offset", "<u8"), ("slot", "<u4")])
_KIND = 5


@dataclass(slots=True)
class Index:
    """Where the pages of a file are.

    Attributes:
        rows: a row for each page, by url and time.
        length: bytes of the file that it is good for.
        bases: for every base the places where it is.
        gaps: stretches of the file that are no record, or a damaged one.
    """

    rows: NDArray[Any]
    length: int
    bases: dict[int, list[int]] = field(default_factory=dict)
    gaps: list[Gap] = field(default_factory=list)

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
    """Go through a journal."""
    length = source.length()
    entries: list[tuple[int, int, int, int]] = []
    gaps = []
    for found in journal_pages(source):
        if isinstance(found, Gap):
            gaps.append(found)
        else:
            offset, page = found
            entries.append((url_hash(page.url), page.time, offset, 0))
    return Index(rows_of(entries), length, gaps=gaps)


def segment_index(source: Source) -> Index:
    """Go through a segment; reads no frames."""
    index = Index(rows_of([]), source.length())
    entries: list[tuple[int, int, int, int]] = []
    for found in segment_records(source):
        if isinstance(found, Gap):
            index.gaps.append(found)
            continue
        kind, offset, number = found
        if kind == Kind.BASE:
            index.bases.setdefault(number, []).append(offset)
            continue
        try:
            block = read_block(source, offset)
        except ArchiveError:
            head = read_head(source.at(offset, HEAD_BYTES), offset)
            index.gaps.append(Gap(offset, head.end if head else offset))
            continue
        entries += [
            (url_hash(page.url), page.time, offset, slot) for slot, page in enumerate(block.pages)
        ]
    index.rows = rows_of(entries)
    return index


def save(index: Index, path: Path, disk: Disk) -> None:
    """Write an index; it may be lost, so nobody waits for the disk."""
    columns = index.rows.tobytes()
    about = {
        "length": index.length,
        "rows": len(index.rows),
        "check": _core.hash64(columns),
        "bases": [[number, places] for number, places in index.bases.items()],
    }
    meta = json.dumps(about).encode()
    part = path.with_name(path.name + ".part")
    disk.remove(part)
    file = disk.create(part)
    try:
        head = bytearray(record(Kind.FILE, meta, len(columns)))
        disk.append(file, [bytes(head), columns])
    finally:
        disk.close(file)
    part.replace(path)


def load(path: Path, length: int) -> Index | None:
    """Read an index that is good for a file of this length; None where there is none."""
    try:
        source = Source(path)
    except OSError:
        return None
    try:
        head = read_head(source.at(0, HEAD_BYTES), 0)
        if head is None or head.kind != Kind.FILE:
            return None
        about = json.loads(source.meta(head))
        columns = source.at(head.payload_offset, head.payload_bytes)
        is_good = about["length"] == length and about["check"] == _core.hash64(columns)
        if not is_good or len(columns) != about["rows"] * ROW.itemsize:
            return None
        bases = {int(number): [int(place) for place in places] for number, places in about["bases"]}
        return Index(np.frombuffer(columns, ROW), length, bases)
    except (ArchiveError, KeyError, TypeError, ValueError):
        return None
    finally:
        source.close()
