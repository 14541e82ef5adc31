"""Tiers: how the pages of a cluster are written, quickly or small.

``zstd``, the everyday one: the base is up to 64 pages of the cluster that between them hold what the others
repeat, half of the cluster at most, and no more bytes than are read in a millisecond. A page is one zstd frame against it.

``dense``, the cold one: copies from the base, and a model of many contexts for the rest, which has learned the base. What a
reader learns takes 2 to 3 ms for each KB of its frame, so bases are held to what is learned in a tenth of a
second: 32 KB for the cluster, and on top of that 16 KB for each run of 32 neighbours, which have more in common
with each other than with all. On five sites of documentation 40 KB in one base for all are 6.87 % of the pages,
in two steps (24 and 16) 6.35; reading a page takes half the time. Pages with much of their own would be slow to read, and
are left to zstd.

``tbc``, the method of paper 003 for comparison: the base is one page of the cluster, the others are token deltas.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quire import _core
from quire.archive.compact.choose_base import Member, joined, joined_within, most_pages, sample
from quire.archive.compact.clusters import clusters, host
from quire.archive.format.base_record import dense_frame
from quire.archive.format.page_meta import Codec, pack_delta
from quire.archive.format.record import PLAIN_ZSTD
from quire.digest import Digest, encode
from quire.errors import QuireError
from quire.similar.sampling import random_sampling, token_sketches
from quire.similar.sketches import EMPTY, Sketch

#: The tiers by name.
TierName: TypeAlias = Literal["zstd", "dense", "tbc"]

LEVEL = 12
SLOW_LEVEL = 19
#: The smaller a part of its cluster a base is, the slower it may be written: levels of zstd from such a part on.
BASE_LEVELS = ((8, SLOW_LEVEL), (3, 15))
#: A version is digested for a few others only, so it is done quickly.
NEIGHBOUR_LEVEL = 7

#: Bytes of the frame of a dense base for a whole cluster, and of one for a run on top of it.
DENSE_BASE_BYTES = 32 << 10
DENSE_PART_BYTES = 16 << 10
#: Fewer pages do not pay for what their readers have to learn.
DENSE_PAGES = 8
#: Versions of an address, on average, from which a cluster is a history; and pages that both ways are tried on there.
VERSIONS = 4
TRIED_PAGES = 8
#: Pages of a run.
RUN_PAGES = 32
#: A dense frame of more bytes takes too long to read, and a longer page too long to write.
DENSE_FRAME_BYTES = 32 << 10
DENSE_PAGE_BYTES = 16 << 20

#: What is sketched of a page: its beginning tells its template.
SKETCHED_BYTES = 1 << 20
#: Enough to tell templates of one site apart, and few enough for a hundred thousand pages.
SKETCH_VALUES = 32

#: The paper's window, in tokens.
TBC_WINDOW = 7

_Groups: TypeAlias = list[NDArray[np.int64]]


class Base(Protocol):
    """What pages are written against."""

    @property
    def content(self) -> bytes:
        """What a reader of the base gets, without that of a base below."""
        ...

    @property
    def frame(self) -> bytes:
        """The base as it is stored."""
        ...

    def write(self, body: bytes) -> tuple[bytes, Codec]:
        """Write a page."""
        ...


class Tier(Protocol):
    """A way to write pages."""

    @property
    def level(self) -> int:
        """Of zstd, for pages that stand alone."""
        ...

    @property
    def neighbour_level(self) -> int:
        """Of zstd, for versions that lean on others."""
        ...

    def clusters(self, members: Sequence[Member]) -> list[NDArray[np.int64]]:
        """Say which pages are stored together."""
        ...

    def base(self, members: Sequence[Member]) -> Base | None:
        """Make the base of a cluster, if it is worth one."""
        ...

    def part(self, below: Base, number: int, run: Sequence[Member]) -> Base | None:
        """Make a base for a run of neighbours on top of that of the cluster, if it is worth one."""
        ...


def tier_of(name: TierName) -> Tier:
    """Give a tier.

    Raises:
        ValueError: there is none of that name.
    """
    if name == "zstd":
        return ZstdTier()
    if name == "dense":
        return DenseTier()
    if name == "tbc":
        return TbcTier()
    raise ValueError(f"codec {name!r} is not known; known are zstd, dense and tbc")


class ZstdBase:
    """A base for zstd frames."""

    def __init__(self, content: bytes, base_level: int, level: int) -> None:
        self.content: bytes = content
        self.frame: bytes = PLAIN_ZSTD.encode(content, base_level)
        self._level = level
        self._base = _core.Base(content)

    def write(self, body: bytes) -> tuple[bytes, Codec]:
        """Write a page."""
        return self._base.encode(body, self._level), Codec.ZSTD_BASE


class ZstdTier:
    """The everyday tier."""

    level: int = LEVEL
    neighbour_level: int = NEIGHBOUR_LEVEL

    def clusters(self, members: Sequence[Member]) -> _Groups:
        """By their hosts, and where those do not decide by sketches."""
        hosts = [host(member.url) for member in members]
        return clusters(hosts, lambda i: sketch_values(members[i].read()[1]))

    def base(self, members: Sequence[Member]) -> Base | None:
        """Join those of its pages that hold what the others repeat."""
        content = joined(sample(members), most_pages(members), b"")
        if not content:
            return None
        length = sum(member.length for member in members)
        levels = (level for share, level in BASE_LEVELS if share * len(content) <= length)
        return ZstdBase(content, next(levels, LEVEL), self.level)

    def part(self, below: Base, number: int, run: Sequence[Member]) -> Base | None:
        """None: one base is read quickly, however long it is."""
        del below, number, run
        return None


class DenseBase:
    """A base that a model has learned."""

    def __init__(self, content: bytes, learned: _core.DenseBase, frame: bytes, below: int) -> None:
        self.content: bytes = content
        self.frame: bytes = dense_frame(frame, below)
        self.learned: _core.DenseBase = learned
        self._zstd: _core.Base | None = None

    def write(self, body: bytes) -> tuple[bytes, Codec]:
        """Write a page, densely unless that would be slow to read."""
        if len(body) <= DENSE_PAGE_BYTES:
            frame = self.learned.encode(body)
            if len(frame) <= DENSE_FRAME_BYTES:
                return frame, Codec.DENSE
        if self._zstd is None:
            self._zstd = _core.Base(self.learned.content())
        return self._zstd.encode(body, SLOW_LEVEL), Codec.ZSTD_BASE


class DenseTier(ZstdTier):
    """The cold tier."""

    level: int = SLOW_LEVEL
    neighbour_level: int = LEVEL

    def base(self, members: Sequence[Member]) -> Base | None:
        """Learn some of its pages, as much as is learned quickly."""
        if len(members) < DENSE_PAGES:
            return super().base(members)
        has_parts = len(members) >= 2 * RUN_PAGES
        budget = DENSE_BASE_BYTES if has_parts else DENSE_BASE_BYTES + DENSE_PART_BYTES
        content = joined_within(sample(members), most_pages(members), b"", budget)
        if not content:
            return None
        dense = DenseBase(content, *_core.DenseBase.create(content), 0)
        if len(members) < VERSIONS * len({member.url for member in members}):
            return dense
        # Long pages in many versions have more to lean on than is learned quickly.
        quick = super().base(members)
        if quick is None or _cost(dense, members) <= _cost(quick, members):
            return dense
        return quick

    def part(self, below: Base, number: int, run: Sequence[Member]) -> Base | None:
        """Learn what neighbours have in common besides."""
        if not isinstance(below, DenseBase) or len(run) < DENSE_PAGES:
            return None
        bodies = sample(run)
        content = joined_within(bodies, len(run) // 2, below.content, DENSE_PART_BYTES)
        if not content:
            return None
        return DenseBase(content, *below.learned.learn_more(content), number)


def _cost(base: Base, members: Sequence[Member]) -> int:
    """Bytes that a base and its pages would take, by a few of them."""
    some = members[:: max(1, len(members) // TRIED_PAGES)]
    tried = sum(len(base.write(member.read()[1])[0]) for member in some)
    return len(base.frame) + tried * len(members) // len(some)


class TbcBase:
    """The page of a cluster that others are deltas of."""

    def __init__(self, content: bytes) -> None:
        self.content: bytes = content
        self.frame: bytes = PLAIN_ZSTD.encode(content, SLOW_LEVEL)
        self._reference = _core.TbcReference(content, TBC_WINDOW)

    def write(self, body: bytes) -> tuple[bytes, Codec]:
        """Write a page as a delta, with zstd over it."""
        delta, _, _ = self._reference.delta(body)
        return pack_delta(delta, SLOW_LEVEL), Codec.TBC


class TbcTier:
    """Paper 003's way."""

    level: int = SLOW_LEVEL
    neighbour_level: int = SLOW_LEVEL

    def __init__(self) -> None:
        self._references: set[int] = set()

    def clusters(self, members: Sequence[Member]) -> _Groups:
        """By templates that chance draws."""
        matrix = token_sketches(_digest(member.read()[1]) for member in members)
        found = random_sampling(matrix)
        template_of = found.template_of
        self._references = {id(members[i]) for i in np.unique(template_of[template_of >= 0])}
        # A page without a template is a cluster of its own.
        label = np.where(template_of >= 0, template_of, -1 - np.arange(len(template_of)))
        order = np.argsort(label, kind="stable")
        ends = np.flatnonzero(np.diff(label[order])) + 1
        return list(np.split(order, ends)) if len(members) else []

    def base(self, members: Sequence[Member]) -> Base | None:
        """Take the template."""
        if len(members) < 2:  # noqa: PLR2004 - nothing to share
            return None
        reference = next((one for one in members if id(one) in self._references), None)
        return None if reference is None else TbcBase(reference.read()[1])

    def part(self, below: Base, number: int, run: Sequence[Member]) -> Base | None:
        """None: the paper has one reference."""
        del below, number, run
        return None


def sketch_values(body: bytes) -> NDArray[np.uint32]:
    """Sketch a page for ``clusters``; one that is no page has an empty sketch."""
    try:
        return Sketch.of(encode(body[:SKETCHED_BYTES]), "structure", m=SKETCH_VALUES).values
    except QuireError:
        return np.full(SKETCH_VALUES, EMPTY, np.uint32)


def _digest(body: bytes) -> Digest:
    """Cut a page into tokens; one that cannot be cut is like no other."""
    try:
        return encode(body)
    except QuireError:
        return encode(b"")
