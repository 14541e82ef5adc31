"""The tier for pages that are rarely read: a context model that has learned the base.

A page is coded as copies from the base, and as predictions of the model for the rest. A reader
has to teach the model first, which takes 2 to 3 ms for each KB of a base's frame. So bases are
limited to a tenth of a second of learning: 32 KB for the cluster, and 16 KB more for each
run of 32 neighbouring pages, which have more in common with each other than with the rest.

Measured on five documentation sites: one base of 40 KB for all stores the pages in 6.87 % of
their size; two steps (24 and 16 KB) need 6.35 % and read a page in half the time. Pages with much
content of their own would be slow to read, and are left to zstd.
"""

from __future__ import annotations

from collections.abc import Sequence

from quire import _core
from quire.archive.compact.choose_base import Member, joined_within, most_pages, sample
from quire.archive.compact.tiers.tier import RUN_PAGES, Base
from quire.archive.compact.tiers.zstd import LEVEL, SLOW_LEVEL, ZstdTier
from quire.archive.format.base_record import dense_frame
from quire.archive.format.page_meta import Codec

#: Maximum frame bytes of the base of a cluster, and of a base for a run on top of it.
DENSE_BASE_BYTES = 32 << 10
DENSE_PART_BYTES = 16 << 10
#: Page bytes in such bases, about: pages are put together that fit into them.
DENSE_TEXT_BYTES = 640 << 10
#: Minimum pages for a dense base: fewer do not pay for what their readers have to learn.
DENSE_PAGES = 8
#: Average versions per address from which a cluster counts as a history. There both tiers are
#: tried on TRIED_PAGES pages.
VERSIONS = 4
TRIED_PAGES = 8
#: A longer dense frame takes too long to read, and a longer page too long to write.
DENSE_FRAME_BYTES = 32 << 10
DENSE_PAGE_BYTES = 16 << 20


class DenseBase:
    """A base that the model has learned."""

    def __init__(self, content: bytes, learned: _core.DenseBase, frame: bytes, below: int) -> None:
        self.content: bytes = content
        self.frame: bytes = dense_frame(frame, below)
        self.learned: _core.DenseBase = learned
        self._zstd: _core.Base | None = None

    def write(self, body: bytes) -> tuple[bytes, Codec]:
        """Encode a page with the model, or with zstd if it would be slow to read."""
        if len(body) <= DENSE_PAGE_BYTES:
            frame = self.learned.encode(body)
            if len(frame) <= DENSE_FRAME_BYTES:
                return frame, Codec.DENSE
        if self._zstd is None:
            self._zstd = _core.Base(self.learned.content())
        return self._zstd.encode(body, SLOW_LEVEL), Codec.ZSTD_BASE


class DenseTier(ZstdTier):
    """The tier for pages that are rarely read."""

    base_bytes: int = DENSE_TEXT_BYTES
    level: int = SLOW_LEVEL
    neighbour_level: int = LEVEL
    together_bytes: int = 0

    def base(self, members: Sequence[Member]) -> Base | None:
        """Learn as many pages as can be learned quickly."""
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
        # Long pages in many versions share more than can be learned quickly.
        quick = super().base(members)
        if quick is None or _cost(dense, members) <= _cost(quick, members):
            return dense
        return quick

    def part(self, below: Base, number: int, run: Sequence[Member]) -> Base | None:
        """Learn what else the pages of a run have in common."""
        if not isinstance(below, DenseBase) or len(run) < DENSE_PAGES:
            return None
        bodies = sample(run)
        content = joined_within(bodies, len(run) // 2, below.content, DENSE_PART_BYTES)
        if not content:
            return None
        return DenseBase(content, *below.learned.learn_more(content), number)


def _cost(base: Base, members: Sequence[Member]) -> int:
    """Estimate the bytes of a base and its pages from a few of the pages."""
    some = members[:: max(1, len(members) // TRIED_PAGES)]
    tried = sum(len(base.write(member.read()[1])[0]) for member in some)
    return len(base.frame) + tried * len(members) // len(some)
