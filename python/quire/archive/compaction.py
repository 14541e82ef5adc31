"""Compaction: journals become a segment in which alike pages lean on common bases.

1. Every page is read and checked, and put into a cluster: by its host, and where that does not decide by a sketch.
2. For each cluster a base is chosen: up to 64 of its pages that between them hold what the others repeat, half of the
   cluster at most, and no more bytes than are read in a millisecond.
3. Every page is encoded against the base and alone, and the smaller one is stored. Pages of one cluster are stored
   together, by url and time, so that versions of a page are neighbours. Of those every 64th leans on the base, every
   16th on the 16th before, every 4th on the 4th before, and the others on the one before, where that is smaller. So a
   version leans on a near one, and on nine others at most.

Memory: sketches of all pages, the sample of one cluster, one block. Nothing is changed in place: the new segment is
written under another name, synchronised and renamed, and names the files it takes over.

Above: ``archive``, ``build_steps``. Below: ``clusters``, ``files``, ``segment``, ``pages``, ``digest``, ``similarity``, ``_core``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from quire import _core
from quire.archive.clusters import clusters, host
from quire.archive.files import StoredFile
from quire.archive.pages import About, Codec
from quire.archive.segment import BLOCK_PAGES, SegmentWriter
from quire.archive.storage import Disk
from quire.digest import encode
from quire.errors import ArchiveError, QuireError
from quire.similarity.sketches import EMPTY, Sketch

#: Base pages of a cluster, and bytes of them, at most: they are decoded when the first page of the cluster is read.
BASE_PAGES = 64
BASE_BYTES = 5 << 18
#: Pages of a cluster that the base is chosen from.
SAMPLE_PAGES = 256
SAMPLE_BYTES = 64 << 20
LEVEL = 12
#: A base is written slowly where it is less than this part of its cluster.
BASE_SHARE = 8
SLOW_LEVEL = 19
#: Frames of a block, at most: what is lost with it.
BLOCK_BYTES = 4 << 20
#: What is sketched of a page: its beginning tells its template.
SKETCHED_BYTES = 1 << 20
#: Enough to tell templates of one site apart, and few enough for a hundred thousand pages.
SKETCH_VALUES = 32

#: A page this many times smaller leans so well that nothing else need be tried.
LEANS_WELL = 20
#: How far back a version leans, at most: as far as its number among the versions can be divided by.
NEIGHBOURS = (16, 4, 1)
#: A version is digested for a few others only, so it is done quickly.
NEIGHBOUR_LEVEL = 7
#: So often a version leans on none.
RUN = 64

_ALONE = _core.Base(b"")

Tell = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page is, and what it is ordered by."""

    file: StoredFile
    offset: int
    slot: int
    url: str
    time: int
    length: int

    def read(self) -> tuple[About, bytes]:
        """Read it, checked."""
        return self.file.page(self.offset, self.slot)


class Member(Protocol):
    """A page of a cluster, wherever it is; it may be read twice."""

    @property
    def length(self) -> int:
        """Bytes of its body."""
        ...

    def read(self) -> tuple[About, bytes]:
        """Read it, checked."""
        ...


class ClusterWriter(Protocol):
    """Takes a cluster: a segment, or whoever brings it there."""

    def add_base(self, content: bytes, level: int) -> int:
        """Take a base, to be encoded at a level of zstd, and give its number."""
        ...

    def add_block(self, base: int, pages: Sequence[About], frames: Sequence[bytes]) -> None:
        """Take pages that lean on a base; 0 for none."""
        ...


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
    tell: Tell = lambda _step, _done, _of: None,
) -> Compacted:
    """Write the pages of some files into one segment.

    Args:
        files: journals and segments.
        target: the new segment.
        disk: where it is.
        tell: is told of progress: the step, what is done, of how much.
    """
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
    found = clusters(
        [host(place.url) for place in kept], lambda i: sketch_values(kept[i].read()[1])
    )
    groups = in_order(found, [(place.url, place.time) for place in kept])
    writer = SegmentWriter(target, disk, taken)
    done = 0
    try:
        for group in groups:
            members = [kept[i] for i in group.tolist()]
            for _ in write_cluster(writer, members):
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


def _places(file: StoredFile) -> Iterator[Place]:
    for row in file.index.rows:
        offset, slot = int(row["offset"]), int(row["slot"])
        try:
            about = file.about(offset, slot)
        except ArchiveError:
            yield Place(file, offset, slot, "", int(row["time"]), 0)
            continue
        yield Place(file, offset, slot, about.url, about.time, about.length)


def sketch_values(body: bytes) -> NDArray[np.uint32]:
    """Sketch a page for ``clusters``; one that is no page has an empty sketch."""
    try:
        return Sketch.of(encode(body[:SKETCHED_BYTES]), "structure", m=SKETCH_VALUES).values
    except QuireError:
        return np.full(SKETCH_VALUES, EMPTY, np.uint32)


def write_cluster(writer: ClusterWriter, members: Sequence[Member]) -> Iterator[None]:
    """Write a cluster, its pages by url and time; a step for each page."""
    content = _base(members)
    # A small part of the cluster may take its time.
    is_small = BASE_SHARE * len(content) <= sum(member.length for member in members)
    number = writer.add_base(content, SLOW_LEVEL if is_small else LEVEL) if content else 0
    block = _Block(_core.Base(content) if content else None)
    for member in members:
        block.add(*member.read())
        if block.is_full:
            writer.add_block(number, block.pages, block.frames)
            block = _Block(block.base)
        yield
    if block.pages:
        writer.add_block(number, block.pages, block.frames)


class _Block:
    """A block while it is filled."""

    def __init__(self, base: _core.Base | None) -> None:
        self.base = base
        self.pages: list[About] = []
        self.frames: list[bytes] = []
        self._seen: dict[bytes, int] = {}
        self._held = 0
        # Versions of one page: how many came, and the last of those that others lean on, by how far they lean.
        self._url: str | None = None
        self._versions = 0
        self._leaned_on: dict[int, tuple[int, bytes]] = {}

    @property
    def is_full(self) -> bool:
        return len(self.pages) == BLOCK_PAGES or self._held >= BLOCK_BYTES

    def add(self, about: About, body: bytes) -> None:
        """Store a page as small as it gets."""
        slot = len(self.pages)
        if about.url != self._url:
            self._url, self._versions, self._leaned_on = about.url, 0, {}
        twin = self._seen.setdefault(about.digest, slot)
        same = self.pages[twin] if twin < slot else about
        if twin < slot and (same.length, same.check) == (about.length, about.check):
            frame, about = b"", replace(about, codec=Codec.DUPLICATE, same_as=twin)
        else:
            frame, about = self._smallest(about, body)
            for back in NEIGHBOURS:
                if self._versions % back == 0:
                    self._leaned_on[back] = (slot, body)
            self._versions += 1
        self.pages.append(about)
        self.frames.append(frame)
        self._held += len(frame)

    def _smallest(self, about: About, body: bytes) -> tuple[bytes, About]:
        choices: list[tuple[bytes, Codec, int]] = []
        if self._versions % RUN:
            back = next(back for back in NEIGHBOURS if self._versions % back == 0)
            slot, version = self._leaned_on[back]
            frame = _core.Base(version).encode(body, NEIGHBOUR_LEVEL)
            choices.append((frame, Codec.ZSTD_PAGE, slot))
        if self.base is not None and not _is_small(choices, body):
            choices.append((self.base.encode(body, LEVEL), Codec.ZSTD_BASE, 0))
        if not _is_small(choices, body):
            choices += [(_ALONE.encode(body, LEVEL), Codec.ZSTD, 0), (body, Codec.RAW, 0)]
        frame, codec, same_as = min(choices, key=lambda choice: len(choice[0]))
        return frame, replace(about, codec=codec, same_as=same_as)


def _is_small(choices: list[tuple[bytes, Codec, int]], body: bytes) -> bool:
    return any(LEANS_WELL * len(frame) < len(body) for frame, _, _ in choices)


def _base(members: Sequence[Member]) -> bytes:
    """Choose the base of a cluster: its pages in a row, the most useful last, where matches are nearest."""
    if len(members) < 2:  # noqa: PLR2004 - nothing to share
        return b""
    step = max(1, len(members) // SAMPLE_PAGES)
    bodies: list[bytes] = []
    held = 0
    for member in members[::step][:SAMPLE_PAGES]:
        _, body = member.read()
        held += len(body)
        if held > SAMPLE_BYTES:
            break
        bodies.append(body)
    most = min(BASE_PAGES, max(1, len(members) // 2))
    chosen = _core.choose_base(bodies, most, BASE_BYTES)
    return b"".join(bodies[at] for at in reversed(chosen))
