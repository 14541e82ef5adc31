"""Compaction: turns journals into one segment in which similar pages share bases.

Every page is read, checked and put into a cluster. ``write_cluster`` writes each cluster, and
``tiers`` holds the codecs for its pages. Companions follow the pages.

Cost: each page is read and decompressed two to four times: to check and sketch it, as part of the
sample for the base, to try a codec, and to write it. Memory: addresses and sketches of all pages,
and the data of one cluster.

Nothing is changed in place. The new segment is written under a temporary name, synced and
renamed, and it lists the files it replaces.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from quire import _core
from quire.archive.compact.companions import CompanionSlot, write_companions
from quire.archive.compact.tiers import TierName, tier_of
from quire.archive.compact.write_cluster import write_cluster
from quire.archive.disk.storage import Disk
from quire.archive.format.page_meta import About
from quire.archive.format.segment import SegmentWriter
from quire.archive.format.stored_file import StoredFile
from quire.errors import ArchiveError
from quire.progress import Progress, no_progress


@dataclass(frozen=True, slots=True)
class PageSlot:
    """Position of a page, and the values it is sorted by."""

    file: StoredFile
    offset: int
    slot: int
    url: str
    time: int
    length: int
    digest: bytes
    sketch: bytes = b""

    def read(self) -> tuple[About, bytes]:
        """Read and check the page."""
        return self.file.page(self.offset, self.slot)


@dataclass(frozen=True, slots=True)
class Compacted:
    """The result of a compaction.

    Attributes:
        pages: Number of pages in the new segment.
        companions: Number of WARC records without a page in it.
        damaged: Descriptions of damaged files and unreadable pages; their files are kept.
    """

    pages: int
    damaged: tuple[str, ...]
    companions: int = 0


def compact(
    files: Sequence[StoredFile],
    target: Path,
    disk: Disk,
    progress: Progress = no_progress,
    codec: TierName = "zstd",
) -> Compacted:
    """Write the pages of the given files into one segment.

    Args:
        files: Journals and segments.
        target: Path of the new segment.
        disk: The disk the segment is on.
        progress: called with the step, the work done and the total.
        codec: Tier that encodes the pages.
    """
    tier = tier_of(codec)
    damaged: list[str] = []
    whole = []
    for file in files:
        if file.scan().is_damaged:
            damaged.append(f"{file.path}: is damaged and was left as it is; repair it first")
        else:
            whole.append(file)
    places = [place for file in whole for place in _places(file)]
    places.sort(key=lambda place: (place.url, place.time))
    companions = [(file, one) for file in whole for one in _companions(file)]
    total = len(places) + len(companions)
    broken: set[str] = set()
    for i, place in enumerate(places):
        progress("read", i, total)
        with _noted(place.file, damaged, broken):
            places[i] = replace(place, sketch=_core.page_sketch(place.read()[1]))
    for i, (file, companion) in enumerate(companions, len(places)):
        progress("read", i, total)
        with _noted(file, damaged, broken):
            companion.read()
    # A damaged file keeps all its pages: it may still be repaired, and no page is in two files.
    taken = [file.path.name for file in whole if file.path.name not in broken]
    if not taken:
        return Compacted(0, tuple(damaged))
    kept = [place for place in places if place.file.path.name not in broken]
    groups = tier.clusters(kept)
    beside = [one for file, one in companions if file.path.name not in broken]
    writer = SegmentWriter(target, disk, taken)
    done = 0
    try:
        for group in groups:
            members = [kept[i] for i in group.tolist()]
            for _ in write_cluster(writer, members, tier):
                done += 1
                progress("encode", done, len(kept))
        for _ in write_companions(writer, beside, tier):
            pass
        writer.finish()
    except BaseException:
        writer.discard()
        raise
    return Compacted(len(kept), tuple(damaged), len(beside))


@contextmanager
def _noted(file: StoredFile, damaged: list[str], broken: set[str]) -> Iterator[None]:
    """Note an error of reading, and the name of its file."""
    try:
        yield
    except ArchiveError as error:
        damaged.append(str(error))
        broken.add(file.path.name)


def _companions(file: StoredFile) -> Iterator[CompanionSlot]:
    for row in file.index.companions.array():
        offset, slot = int(row["offset"]), int(row["slot"])
        load = partial(file.page, offset, slot)
        try:
            yield CompanionSlot.of(file.about(offset, slot), load)
        except ArchiveError:
            yield CompanionSlot("", "", int(row["time"]), 0, b"", load)


def _places(file: StoredFile) -> Iterator[PageSlot]:
    for row in file.index.pages.array():
        offset, slot = int(row["offset"]), int(row["slot"])
        try:
            about = file.about(offset, slot)
        except ArchiveError:
            yield PageSlot(file, offset, slot, "", int(row["time"]), 0, b"")
            continue
        yield PageSlot(file, offset, slot, about.url, about.time, about.length, about.digest)
