"""Writes a cluster: its base, then its pages in blocks.

The pages of a cluster are stored together, sorted by url and time, so that versions of a page are
neighbours. Every page is encoded against the base and on its own, and the smallest result is
stored. A page whose sketch has more in common with an earlier page of the block than with the base
is also encoded against that page. Such pages depend on at most nine others. Pages with equal bytes
are stored once per block, and addresses that share such pages are placed side by side.

Small pages share a frame with the next ones: a frame has tables of its own, and these take more
bytes than the news in a small page. Such pages are not tried in other ways.

Memory: the sample of the cluster and one block.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from quire import _core
from quire.archive.compact.choose_base import Member
from quire.archive.compact.tiers.tier import RUN_PAGES, Base, Tier
from quire.archive.format.page_meta import About, Codec
from quire.archive.format.record import PLAIN_ZSTD
from quire.archive.format.segment import BLOCK_PAGES

#: Maximum bytes of frames in a block. Damage to a block can cost all of them.
BLOCK_BYTES = 4 << 20
#: A page that shrinks by this factor against its base is not tried on its own.
MUCH_SMALLER = 5
#: Maximum bytes of pages in a block: they are held, because later ones may depend on them.
HELD_BYTES = 64 << 20
#: No page depends on one that itself depends on so many others in a row.
DEEPEST = 8


#: For small pages without a base.
NO_CONTENT = _core.Base(b"")
#: A page is small if this many of its length fit into a shared frame.
SMALL_SHARE = 4


class ClusterWriter(Protocol):
    """Receives a cluster: a segment, or an object that passes it on."""

    def add_base(self, content: bytes, frame: bytes) -> int:
        """Store a base and return its number; the bases of a cluster are numbered in a row."""
        ...

    def add_block(self, base: int, pages: Sequence[About], frames: Sequence[bytes]) -> None:
        """Store pages that depend on a base, or on those numbered after it; 0 for no base."""
        ...


def write_cluster(writer: ClusterWriter, members: Sequence[Member], tier: Tier) -> Iterator[None]:
    """Write a cluster, yielding after each page."""
    members = duplicates_together(members)
    base = tier.base(members)
    number = writer.add_base(base.content, base.frame) if base is not None else 0
    known = base.content if base is not None else b""
    neighbours = _core.Neighbours(known)
    block = _Block(tier, neighbours)
    for run in _runs(members):
        part_base, after = base, 0
        part = tier.part(base, number, run) if base is not None else None
        if part is not None:
            part_base, after = part, writer.add_base(part.content, part.frame) - number
            neighbours.set_base(known + part.content)
        for member in run:
            block.add(member, part_base, after)
            if block.is_full:
                block.finish()
                writer.add_block(number, block.pages, block.frames)
                block = _Block(tier, neighbours)
            yield
    block.finish()
    if block.pages:
        writer.add_block(number, block.pages, block.frames)


def duplicates_together(members: Sequence[Member]) -> list[Member]:
    """Place addresses with equal pages side by side; otherwise keep the order."""
    first: dict[bytes, str] = {}
    for member in members:
        first.setdefault(member.digest, member.url)
    leader: dict[str, str] = {}
    for member in members:
        leader[member.url] = min(leader.get(member.url, member.url), first[member.digest])
    return sorted(members, key=lambda member: leader[member.url])


def _runs(members: list[Member]) -> Iterator[list[Member]]:
    """Split a cluster into runs of nearly equal numbers of pages."""
    count = max(1, round(len(members) / RUN_PAGES))
    for i in range(count):
        yield members[i * len(members) // count : (i + 1) * len(members) // count]


@dataclass(slots=True)
class _Neighbour:
    """A page of the block that others may depend on."""

    slot: int
    body: bytes
    #: How many pages it depends on itself.
    depth: int


@dataclass(frozen=True, slots=True)
class _Small:
    """A small page that waits for others to share a frame with."""

    slot: int
    body: bytes
    base: Base | None
    near: _Neighbour | None


class _Block:
    """A block that is being filled."""

    def __init__(self, tier: Tier, known: _core.Neighbours) -> None:
        self._tier = tier
        self.pages: list[About] = []
        self.frames: list[bytes] = []
        self._seen: dict[bytes, int] = {}
        self._frame_bytes = 0
        self._body_bytes = 0
        self._known = known
        self._known.clear()
        self._neighbours: list[_Neighbour] = []
        self._together: list[_Small] = []
        self._together_bytes = 0

    @property
    def is_full(self) -> bool:
        return (
            len(self.pages) == BLOCK_PAGES
            or self._frame_bytes >= BLOCK_BYTES
            or self._body_bytes >= HELD_BYTES
        )

    def add(self, member: Member, base: Base | None, after: int) -> None:
        """Store a page as small as possible; ``after`` is its base's distance from the block's."""
        about, body = member.read()
        slot = len(self.pages)
        twin = self._seen.setdefault(about.digest, slot)
        same = self.pages[twin] if twin < slot else about
        if twin < slot and (same.length, same.check) == (about.length, about.check):
            frame, about = b"", replace(about, codec=Codec.DUPLICATE, same_as=twin)
        else:
            sketch = member.sketch
            nearest = self._known.nearest(sketch)
            near = None if nearest is None else self._neighbours[nearest]
            if SMALL_SHARE * len(body) <= self._tier.together_bytes:
                self._put_together(_Small(slot, body, base, near))
                frame, codec, same_as = b"", Codec.TOGETHER, self._together[0].slot
            else:
                frame, codec, same_as = self._smallest(body, base, after, near)
            about = replace(about, codec=codec, same_as=same_as)
            depth = near.depth + 1 if near is not None and codec == Codec.ZSTD_PAGE else 0
            if depth < DEEPEST:
                self._known.add(sketch)
                self._neighbours.append(_Neighbour(slot, body, depth))
                self._body_bytes += len(body)
        self.pages.append(about)
        self.frames.append(frame)
        self._frame_bytes += len(frame)

    def _put_together(self, small: _Small) -> None:
        if self._together_bytes + len(small.body) > self._tier.together_bytes:
            self.finish()
        self._together.append(small)
        self._together_bytes += len(small.body)

    def finish(self) -> None:
        """Encode the small pages that wait for others to share a frame with."""
        together, self._together, self._together_bytes = self._together, [], 0
        if not together:
            return
        first = together[0]
        if len(together) == 1:
            frame, codec, same_as = self._smallest(first.body, first.base, 0, first.near)
            self.pages[first.slot] = replace(self.pages[first.slot], codec=codec, same_as=same_as)
        else:
            bodies = b"".join(small.body for small in together)
            if first.base is None:
                frame = NO_CONTENT.encode(bodies, self._tier.level)
            else:
                frame, _ = first.base.write(bodies)
        self.frames[first.slot] = frame
        self._frame_bytes += len(frame)

    def _smallest(
        self, body: bytes, base: Base | None, after: int, near: _Neighbour | None
    ) -> tuple[bytes, Codec, int]:
        choices: list[tuple[bytes, Codec, int]] = []
        if near is not None:
            frame = _core.Base(near.body).encode(body, self._tier.neighbour_level)
            choices.append((frame, Codec.ZSTD_PAGE, near.slot))
        if base is not None:
            choices.append((*base.write(body), after))
        if not any(MUCH_SMALLER * len(frame) < len(body) for frame, _, _ in choices):
            choices.append((PLAIN_ZSTD.encode(body, self._tier.level), Codec.ZSTD, 0))
        return min([*choices, (body, Codec.RAW, 0)], key=lambda choice: len(choice[0]))
