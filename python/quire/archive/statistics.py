"""Statistics: the contents of an archive, and how many bytes each part takes.

Every byte of the folder belongs to one part, so the parts add up to the size on disk. The bodies
of pages are not read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from quire.archive.compact.clusters import host
from quire.archive.format.journal import PAGE_KINDS
from quire.archive.format.page_meta import About, Codec
from quire.archive.format.record import Gap, Head, RecordKind, heads
from quire.archive.format.segment import read_block
from quire.archive.format.stored_file import StoredFile
from quire.errors import ArchiveError

#: Names of codecs in the report; a codec not listed here is called by its own name.
_FRAMES = {
    Codec.RAW: "pages as they are",
    Codec.ZSTD: "pages alone",
    Codec.ZSTD_BASE: "pages on a base",
    Codec.ZSTD_PAGE: "pages on a page",
    Codec.DENSE: "dense pages",
    Codec.TBC: "deltas of TBC",
    Codec.TOGETHER: "small pages together",
}


@dataclass(frozen=True, slots=True)
class Statistics:
    """The contents of an archive in figures.

    Attributes:
        pages: Number of page versions.
        urls: Number of addresses.
        hosts: Number of hosts; file names have none.
        duplicates: Number of pages stored as a pointer to the same bytes.
        companions: Number of WARC records without a page of their own.
        body_bytes: Bytes of all bodies before compression.
        head_bytes: Bytes of all HTTP headers and other metadata before compression.
        parts: Bytes of the folder by part.
    """

    pages: int
    urls: int
    hosts: int
    duplicates: int
    body_bytes: int
    head_bytes: int
    parts: Mapping[str, int]
    companions: int = 0

    @property
    def stored_bytes(self) -> int:
        """Size of the folder in bytes."""
        return sum(self.parts.values())


def statistics(folder: Path, files: Sequence[StoredFile]) -> Statistics:
    """Compute the statistics of an archive from its files."""
    parts: Counter[str] = Counter()
    hosts: set[str] = set()
    urls: set[int] = set()
    pages = duplicates = body_bytes = head_bytes = companions = 0
    names = set()
    for file in files:
        names.add(file.path.name)
        companions += len(file.index.companions)
        urls.update(file.index.pages.array()["url"].tolist())
        left = file.source.length()
        seen_bases: set[int] = set()
        for head in heads(file.source):
            if isinstance(head, Gap):
                continue
            for part, length in _parts(file, head, seen_bases):
                parts[part] += length
                left -= length
        parts["damaged"] += left
        for page in _pages(file):
            pages += 1
            duplicates += page.codec == Codec.DUPLICATE
            body_bytes += page.length
            head_bytes += len(page.head) + len(page.extra)
            if "://" in page.url:
                hosts.add(host(page.url))
    for path in folder.iterdir():
        if path.name not in names and path.is_file():
            parts["indexes" if path.suffix == ".index" else "other files"] += path.stat().st_size
    found = {part: length for part, length in parts.most_common() if length}
    return Statistics(
        pages=pages,
        urls=len(urls),
        hosts=len(hosts),
        duplicates=duplicates,
        body_bytes=body_bytes,
        head_bytes=head_bytes,
        parts=found,
        companions=companions,
    )


def _pages(file: StoredFile) -> Iterator[About]:
    rows = file.index.pages.array()
    for offset, slot in sorted(zip(rows["offset"].tolist(), rows["slot"].tolist(), strict=True)):
        try:
            yield file.about(offset, slot)
        except ArchiveError:
            continue


def _parts(file: StoredFile, head: Head, seen_bases: set[int]) -> Iterator[tuple[str, int]]:
    """Yield the parts a record consists of, with their bytes."""
    frame_of_record = head.payload_offset - head.offset
    if head.kind in PAGE_KINDS:
        yield "journals", head.end - head.offset
    elif head.kind == RecordKind.COMPANION_BLOCK:
        yield "companions", head.end - head.offset
    elif head.kind == RecordKind.BASE:
        # A second record with the same meta is the copy.
        yield ("guards" if head.meta_hash in seen_bases else "bases"), head.end - head.offset
        seen_bases.add(head.meta_hash)
    elif head.kind == RecordKind.GUARD:
        yield "guards", head.end - head.offset
    elif head.kind == RecordKind.BLOCK:
        yield "addresses and heads", frame_of_record
        try:
            block = read_block(file.source, head.offset)
        except ArchiveError:
            return  # counted as damaged
        for page in block.pages:
            yield _FRAMES.get(page.codec, page.codec.name.lower()), page.frame
    else:
        yield "other records", head.end - head.offset
