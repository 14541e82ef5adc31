"""A cluster is written: its base, and its pages in blocks.

Pages of one cluster are stored together, by url and time, so that versions of a page are neighbours. Every page is
encoded against the base and alone, and the smaller one is stored. Of versions every 64th leans on the base, every 16th
on the 16th before, every 4th on the 4th before, and the others on the one before, where that is smaller. So a
version leans on a near one, and on nine others at most. Pages with the same bytes are stored once in a block, and
addresses that have such pages stand side by side.

Memory: the sample of the cluster, one block.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from quire import _core
from quire.archive.compact.choose_base import Member
from quire.archive.compact.tiers import RUN_PAGES, Base, Tier
from quire.archive.format.page_meta import About, Codec
from quire.archive.format.record import PLAIN_ZSTD
from quire.archive.format.segment import BLOCK_PAGES

#: Frames of a block, at most: what is lost with it.
BLOCK_BYTES = 4 << 20
#: A page that is so many times smaller on its base would hardly be smaller alone.
LEANS = 5
#: How far back a version leans, at most: as far as its number among the versions can be divided by.
NEIGHBOURS = (16, 4, 1)
#: So often a version leans on none.
RUN = 64


class ClusterWriter(Protocol):
    """Takes a cluster: a segment, or whoever brings it there."""

    def add_base(self, content: bytes, frame: bytes) -> int:
        """Take a base, and give its number: those of a cluster follow each other."""
        ...

    def add_block(self, base: int, pages: Sequence[About], frames: Sequence[bytes]) -> None:
        """Take pages that lean on a base, or on those after it; 0 for none."""
        ...


def write_cluster(writer: ClusterWriter, members: Sequence[Member], tier: Tier) -> Iterator[None]:
    """Write a cluster; a step for each page."""
    members = twins_together(members)
    base = tier.base(members)
    number = writer.add_base(base.content, base.frame) if base is not None else 0
    block = _Block(tier)
    for run in _runs(members):
        leaning, after = base, 0
        part = tier.part(base, number, run) if base is not None else None
        if part is not None:
            leaning, after = part, writer.add_base(part.content, part.frame) - number
        for member in run:
            block.add(*member.read(), leaning, after)
            if block.is_full:
                writer.add_block(number, block.pages, block.frames)
                block = _Block(tier)
            yield
    if block.pages:
        writer.add_block(number, block.pages, block.frames)


def twins_together(members: Sequence[Member]) -> list[Member]:
    """Put addresses side by side that have a page of the same bytes; else the order stays."""
    first: dict[bytes, str] = {}
    for member in members:
        first.setdefault(member.digest, member.url)
    leader: dict[str, str] = {}
    for member in members:
        leader[member.url] = min(leader.get(member.url, member.url), first[member.digest])
    return sorted(members, key=lambda member: leader[member.url])


def _runs(members: list[Member]) -> Iterator[list[Member]]:
    """Cut a cluster into runs of nearly the same number of pages."""
    count = max(1, round(len(members) / RUN_PAGES))
    for i in range(count):
        yield members[i * len(members) // count : (i + 1) * len(members) // count]


class _Block:
    """A block while it is filled."""

    def __init__(self, tier: Tier) -> None:
        self._tier = tier
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

    def add(self, about: About, body: bytes, base: Base | None, after: int) -> None:
        """Store a page as small as it gets; its base is so many after that of the block."""
        slot = len(self.pages)
        if about.url != self._url:
            self._url, self._versions, self._leaned_on = about.url, 0, {}
        twin = self._seen.setdefault(about.digest, slot)
        same = self.pages[twin] if twin < slot else about
        if twin < slot and (same.length, same.check) == (about.length, about.check):
            frame, about = b"", replace(about, codec=Codec.DUPLICATE, same_as=twin)
        else:
            frame, codec, same_as = self._smallest(body, base, after)
            about = replace(about, codec=codec, same_as=same_as)
            for back in NEIGHBOURS:
                if self._versions % back == 0:
                    self._leaned_on[back] = (slot, body)
            self._versions += 1
        self.pages.append(about)
        self.frames.append(frame)
        self._held += len(frame)

    def _smallest(self, body: bytes, base: Base | None, after: int) -> tuple[bytes, Codec, int]:
        choices: list[tuple[bytes, Codec, int]] = []
        if self._versions % RUN:
            back = next(back for back in NEIGHBOURS if self._versions % back == 0)
            slot, version = self._leaned_on[back]
            frame = _core.Base(version).encode(body, self._tier.neighbour_level)
            choices.append((frame, Codec.ZSTD_PAGE, slot))
        if base is not None:
            choices.append((*base.write(body), after))
        if not any(LEANS * len(frame) < len(body) for frame, _, _ in choices):
            choices.append((PLAIN_ZSTD.encode(body, self._tier.level), Codec.ZSTD, 0))
        return min([*choices, (body, Codec.RAW, 0)], key=lambda choice: len(choice[0]))
