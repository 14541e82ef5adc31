"""Compaction: journals become a segment in which alike pages lean on common bases.

1. Every page is read once and sketched (400 bytes of it are kept), and put into a cluster.
2. For each cluster a base is chosen: up to 32 of its pages that between them hold what the others repeat, a third of the
   cluster at most.
3. Every page is encoded against the base and alone, and the smaller one is stored. Pages of one cluster are stored
   together, by url and time, so that versions of a page are neighbours.

Memory: sketches of all pages, the sample of one cluster, one block. Nothing is changed in place: the new segment is
written under another name, synchronised and renamed, and names the files it takes over.

Above: ``archive``. Below: ``clusters``, ``files``, ``segment``, ``pages``, ``digest``, ``similarity``, ``_core``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from quire import _core
from quire.archive.clusters import clusters, host
from quire.archive.files import StoredFile
from quire.archive.pages import About, Codec
from quire.archive.segment import BLOCK_PAGES, SegmentWriter
from quire.archive.storage import Disk
from quire.digest import encode
from quire.errors import ArchiveError, QuireError
from quire.similarity.sketches import EMPTY, VALUES, Sketch

#: Base pages of a cluster, and bytes of them, at most.
BASE_PAGES = 32
BASE_BYTES = 4 << 20
#: Pages of a cluster that the base is chosen from.
SAMPLE_PAGES = 256
SAMPLE_BYTES = 64 << 20
LEVEL = 9
#: Frames of a block, at most: what is lost with it.
BLOCK_BYTES = 4 << 20
#: What is sketched of a page: its beginning tells its template.
SKETCHED_BYTES = 1 << 20

#: A page this many times smaller leans so well on its base that alone it need not be tried.
LEANS_WELL = 8

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
    matrix = np.full((len(places), VALUES), EMPTY, np.uint32)
    broken_files: set[str] = set()
    for i, place in enumerate(places):
        tell("sketch", i, len(places))
        try:
            _, body = place.read()
        except ArchiveError as error:
            damaged.append(str(error))
            broken_files.add(place.file.path.name)
            continue
        matrix[i] = _sketch(body)
    # What has damage stays as it is, with all its pages: someone may still repair it, and no page is in two files.
    taken = [file.path.name for file in whole if file.path.name not in broken_files]
    if not taken:
        return Compacted(0, tuple(damaged))
    is_fine = [place.file.path.name not in broken_files for place in places]
    kept = np.flatnonzero(np.array(is_fine, bool))
    groups = clusters(matrix[kept], [host(places[i].url) for i in kept])
    writer = SegmentWriter(target, disk, taken)
    done = 0
    try:
        for group in groups:
            members = [places[i] for i in kept[group]]
            for _ in _cluster(writer, members):
                done += 1
                tell("encode", done, len(kept))
        writer.finish()
    except BaseException:
        writer.discard()
        raise
    return Compacted(len(kept), tuple(damaged))


def _places(file: StoredFile) -> Iterator[Place]:
    for row in file.index.rows:
        offset, slot = int(row["offset"]), int(row["slot"])
        try:
            about = file.about(offset, slot)
        except ArchiveError:
            yield Place(file, offset, slot, "", int(row["time"]))
            continue
        yield Place(file, offset, slot, about.url, about.time)


def _sketch(body: bytes) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    try:
        return Sketch.of(encode(body[:SKETCHED_BYTES]), "structure", m=VALUES).values
    except QuireError:
        return np.full(VALUES, EMPTY, np.uint32)


def _cluster(writer: SegmentWriter, members: Sequence[Place]) -> Iterator[None]:
    """Write a cluster; a step for each page."""
    content = _base(members)
    base = _core.Base(content)
    number = writer.add_base(content, len(members)) if content else 0
    pages: list[About] = []
    frames: list[bytes] = []
    seen: dict[bytes, int] = {}
    for place in members:
        about, body = place.read()
        twin = seen.get(about.digest)
        if twin is not None and (pages[twin].length, pages[twin].check) == (len(body), about.check):
            frame, about = b"", replace(about, codec=Codec.DUPLICATE, same_as=twin)
        else:
            frame, about = _smallest(about, body, base if number else None)
            seen.setdefault(about.digest, len(pages))
        pages.append(about)
        frames.append(frame)
        if len(pages) == BLOCK_PAGES or sum(map(len, frames)) >= BLOCK_BYTES:
            writer.add_block(number, pages, frames)
            pages, frames, seen = [], [], {}
        yield
    if pages:
        writer.add_block(number, pages, frames)


def _smallest(about: About, body: bytes, base: _core.Base | None) -> tuple[bytes, About]:
    """Give the smallest frame of a page."""
    choices = []
    if base is not None:
        leaning = base.encode(body, LEVEL)
        choices.append((leaning, Codec.ZSTD_BASE))
        if len(leaning) < len(body) // LEANS_WELL:
            return leaning, replace(about, codec=Codec.ZSTD_BASE, same_as=0)
    choices += [(_ALONE.encode(body, LEVEL), Codec.ZSTD), (body, Codec.RAW)]
    frame, codec = min(choices, key=lambda choice: len(choice[0]))
    return frame, replace(about, codec=codec, same_as=0)


def _base(members: Sequence[Place]) -> bytes:
    """Choose the base of a cluster: its pages in a row, the most useful last, where matches are nearest."""
    if len(members) < 2:  # noqa: PLR2004 - nothing to share
        return b""
    step = max(1, len(members) // SAMPLE_PAGES)
    bodies: list[bytes] = []
    held = 0
    for place in members[::step][:SAMPLE_PAGES]:
        _, body = place.read()
        held += len(body)
        if held > SAMPLE_BYTES:
            break
        bodies.append(body)
    most = min(BASE_PAGES, max(1, len(members) // 3))
    chosen = _core.choose_base(bodies, most, BASE_BYTES)
    return b"".join(bodies[at] for at in reversed(chosen))
