"""Compaction: journals become a segment in which alike pages lean on common bases.

Every page is read and checked, and put into a cluster; ``cluster_writing`` says how a cluster is written, ``tiers`` how its
pages are. Memory: sketches of all pages, where they are needed, and what a cluster needs to be written. Nothing is changed in
place: the new segment is written under another name, synchronised and renamed, and names the files it takes over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

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
    """Where a page is, and what it is ordered by."""

    file: StoredFile
    offset: int
    slot: int
    url: str
    time: int
    length: int
    digest: bytes

    def read(self) -> tuple[About, bytes]:
        """Read it, checked."""
        return self.file.page(self.offset, self.slot)


@dataclass(frozen=True, slots=True)
class Compacted:
    """What compaction did.

    Attributes:
        pages: how many are in the new segment.
        damaged: files with damage, and pages that could not be read, in words; their files stay as they are.
    """

    pages: int
    damaged: tuple[str, ...]


def compact(
    files: Sequence[StoredFile],
    target: Path,
    disk: Disk,
    tell: Progress = no_progress,
    codec: TierName = "zstd",
) -> Compacted:
    """Write the pages of some files into one segment.

    Args:
        files: journals and segments.
        target: the new segment.
        disk: where it is.
        tell: is told of progress: the step, what is done, of how much.
        codec: the tier that pages are written in.
    """
    tier = tier_of(codec)
    damaged: list[str] = []
    whole = []
    for file in files:
        if file.scan().is_damaged:
            damaged.append(f"{file.path}: has damage, and stays as it is; repair it first")
        else:
            whole.append(file)
    places = [place for file in whole for place in _places(file)]
    places.sort(key=lambda place: (place.url, place.time))
    broken: set[str] = set()
    for i, place in enumerate(places):
        tell("read", i, len(places))
        try:
            place.read()
        except ArchiveError as error:
            damaged.append(str(error))
            broken.add(place.file.path.name)
    # What has damage stays as it is, with all its pages: someone may still repair it, and no page is in two files.
    taken = [file.path.name for file in whole if file.path.name not in broken]
    if not taken:
        return Compacted(0, tuple(damaged))
    kept = [place for place in places if place.file.path.name not in broken]
    groups = in_order(tier.clusters(kept), [(place.url, place.time) for place in kept])
    writer = SegmentWriter(target, disk, taken)
    done = 0
    try:
        for group in groups:
            members = [kept[i] for i in group.tolist()]
            for _ in write_cluster(writer, members, tier):
                done += 1
                tell("encode", done, len(kept))
        writer.finish()
    except BaseException:
        writer.discard()
        raise
    return Compacted(len(kept), tuple(damaged))


def in_order(
    groups: list[NDArray[np.int64]], keys: Sequence[tuple[str, int]]
) -> list[NDArray[np.int64]]:
    """Put pages of one address and time into one cluster, where they keep their order: the last one counts."""
    group_of = np.empty(len(keys), np.int64)
    for number, group in enumerate(groups):
        group_of[group] = number
    for i in range(len(keys) - 2, -1, -1):  # keys are sorted
        if keys[i] == keys[i + 1]:
            group_of[i] = group_of[i + 1]
    order = np.argsort(group_of, kind="stable")
    ends = np.flatnonzero(np.diff(group_of[order])) + 1
    return list(np.split(order, ends)) if len(keys) else []


def _places(file: StoredFile) -> Iterator[PageSlot]:
    for row in file.index.rows:
        offset, slot = int(row["offset"]), int(row["slot"])
        try:
            about = file.about(offset, slot)
        except ArchiveError:
            yield PageSlot(file, offset, slot, "", int(row["time"]), 0, b"")
            continue
        yield PageSlot(file, offset, slot, about.url, about.time, about.length, about.digest)
