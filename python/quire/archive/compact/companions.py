"""Writes companions into a segment: WARC records without a page, such as requests.

Most of them are short and nearly the same, so they are sorted by type, address and time, and a
short block goes into the columns, which are compressed together: the request of a page then takes
some forty bytes instead of several hundred. Longer blocks are encoded as pages are, one cluster
for each type.

Memory: one block of short companions, and what ``write_cluster`` holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from quire import _core
from quire.archive.compact.choose_base import Member
from quire.archive.compact.tiers.tier import Tier
from quire.archive.compact.write_cluster import ClusterWriter, write_cluster
from quire.archive.format.page_meta import About, Codec, about, to_time
from quire.archive.format.segment import BLOCK_PAGES
from quire.archive.format.warc_head import record_type

#: Blocks up to this length go into the columns.
SHORT_BYTES = 4 << 10
#: A block of short companions is full with this many bytes of columns: damage can cost all of it.
COLUMNS_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class CompanionSlot:
    """A companion to write, and the values it is sorted by.

    Attributes:
        kind: Type of the record.
        url: The address it names, or empty.
        time: Its time in microseconds since 1970, UTC.
        length: Length of its block.
        digest: First bytes of the SHA-256 of its body.
        load: Reads it.
    """

    kind: str
    url: str
    time: int
    length: int
    digest: bytes
    load: Callable[[], tuple[About, bytes]]

    @classmethod
    def of(cls, known: About, load: Callable[[], tuple[About, bytes]]) -> CompanionSlot:
        """Describe a companion from its metadata."""
        kind, length = record_type(known.extra), len(known.head) + known.length
        return cls(kind, known.url, known.time, length, known.digest, load)

    @property
    def sketch(self) -> bytes:
        """Sketch of the block."""
        return _core.page_sketch(self.read()[1])

    @property
    def key(self) -> tuple[str, bool, str, int]:
        """What companions are sorted by."""
        return self.kind, self.length > SHORT_BYTES, self.url, self.time

    def read(self) -> tuple[About, bytes]:
        """Read the companion, with all of its block as the body."""
        known, body = self.load()
        if not known.head:
            return known, body
        block = known.head + body
        time = to_time(known.time)
        return about(known.url, time, block, extra=known.extra, is_companion=True), block


def write_companions(
    writer: ClusterWriter, companions: Sequence[CompanionSlot], tier: Tier
) -> Iterator[None]:
    """Write companions, yielding after each."""
    in_order = sorted(companions, key=lambda one: one.key)
    for (_, is_long), group in groupby(in_order, key=lambda one: one.key[:2]):
        members: list[Member] = list(group)
        if is_long:
            yield from write_cluster(writer, members, tier)
        else:
            yield from _write_short(writer, members)


def _write_short(writer: ClusterWriter, members: Sequence[Member]) -> Iterator[None]:
    known: list[About] = []
    held = 0
    for member in members:
        found = _in_columns(*member.read())
        if known and (len(known) == BLOCK_PAGES or held >= COLUMNS_BYTES):
            writer.add_block(0, known, [b""] * len(known))
            known, held = [], 0
        known.append(found)
        held += len(found.head) + len(found.extra)
        yield
    if known:
        writer.add_block(0, known, [b""] * len(known))


_EMPTY = about("", to_time(0), b"")


def _in_columns(known: About, block: bytes) -> About:
    return replace(
        known,
        head=block,
        length=0,
        frame=0,
        codec=Codec.RAW,
        same_as=0,
        check=_EMPTY.check,
        digest=_EMPTY.digest,
    )
