"""Compaction: turns journals into one segment in which similar pages share bases.

Every page is read, checked and put into a cluster. ``write_cluster`` writes each cluster, and
``tiers`` holds the codecs for its pages. Companions follow the pages.

Cost: each page is read and decompressed three to five times: to check it, to sketch it (if its
host does not decide the cluster), as part of the sample for the base, to try a codec, and to
write it. Memory: the sketches of all pages, if needed, and the data of one cluster.

Nothing is changed in place. The new segment is written under a temporary name, synced and
renamed, and it lists the files it replaces.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from quire.archive.compact.choose_base import Member
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
    of_file: list[tuple[StoredFile, Member]] = [(place.file, place) for place in places]
    of_file += companions
    broken: set[str] = set()
    for i, (file, member) in enumerate(of_file):
        progress("read", i, len(of_file))
        try:
            member.read()
        except ArchiveError as error:
            damaged.append(str(error))
            broken.add(file.path.name)
    # A damaged file keeps all its pages: it may still be repaired, and no page is in two files.
    taken = [file.path.name for file in whole if file.path.name not in broken]
    if not taken:
        return Compacted(0, tuple(damaged))
    kept = [place for place in places if place.file.path.name not in broken]
    groups = in_order(tier.clusters(kept), [(place.url, place.time) for place in kept])
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


def in_order(
    groups: list[NDArray[np.int64]], keys: Sequence[tuple[str, int]]
) -> list[NDArray[np.int64]]:
    """Move pages with equal address and time into one cluster, in order: the last one counts."""
    group_of = np.empty(len(keys), np.int64)
    for number, group in enumerate(groups):
        group_of[group] = number
    for i in range(len(keys) - 2, -1, -1):  # keys are sorted
        if keys[i] == keys[i + 1]:
            group_of[i] = group_of[i + 1]
    order = np.argsort(group_of, kind="stable")
    ends = np.flatnonzero(np.diff(group_of[order])) + 1
    return list(np.split(order, ends)) if len(keys) else []


def _companions(file: StoredFile) -> Iterator[CompanionSlot]:
    for row in file.index.companions:
        offset, slot = int(row["offset"]), int(row["slot"])
        load = partial(file.page, offset, slot)
        try:
            yield CompanionSlot.of(file.about(offset, slot), load)
        except ArchiveError:
            yield CompanionSlot("", "", int(row["time"]), 0, b"", load)


def _places(file: StoredFile) -> Iterator[PageSlot]:
    for row in file.index.rows:
        offset, slot = int(row["offset"]), int(row["slot"])
        try:
            about = file.about(offset, slot)
        except ArchiveError:
            yield PageSlot(file, offset, slot, "", int(row["time"]), 0, b"")
            continue
        yield PageSlot(file, offset, slot, about.url, about.time, about.length, about.digest)
