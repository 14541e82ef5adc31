"""The everyday tier: each page is one zstd frame against the base of its cluster.

The base is made of up to 256 pages that together contain what the others repeat: at most a quarter
of the cluster, and no more bytes than can be read in a millisecond.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from quire import _core
from quire.archive.compact.choose_base import BASE_BYTES, Member, joined, most_pages, sample
from quire.archive.compact.clusters import clusters
from quire.archive.compact.tiers.tier import Base
from quire.archive.format.page_meta import Codec
from quire.archive.format.record import PLAIN_ZSTD

LEVEL = 12
SLOW_LEVEL = 19
#: The smaller a base is compared with its cluster, the slower it may be compressed: pairs of a
#: size ratio (cluster to base) and the zstd level to use from that ratio on. Levels 19 and 16 for
#: all bases made archives 0.3 to 2 % smaller, and took half the time of compaction.
BASE_LEVELS = ((32, SLOW_LEVEL), (8, 15))
#: Pages that share little with their base take longest, and gain least from a thorough search: once
#: LITTLE_BYTES of pages became frames of more than a twelfth of them, the rest get a faster level.
#: On three collections of pages from many sites that is 0.3 to 0.4 % larger, with 10 to 20 % less
#: CPU time. Level 11 gives the same frames as 12, because the size of the tables is set.
FAST_LEVEL = 10
LITTLE_SHARE = 12
LITTLE_BYTES = 2 << 20
#: If pages repeat nearly all of a long base, a search for long matches only takes three quarters of
#: the time and gives smaller frames; otherwise the frames are 1 to 2 % larger. So the first
#: TRIAL_BYTES of pages are encoded both ways, if the cluster is TRIAL_SHARE times as long, and the
#: rest the better way.
TRIAL_BYTES = 1 << 20
TRIAL_SHARE = 16
#: A version is prepared as a base for only a few others, so a fast level is enough.
NEIGHBOUR_LEVEL = 7
#: Small pages share a frame up to this many bytes, which are decoded in 60 microseconds. On pages of
#: documentation 64 KB are 0.7 % larger and 256 KB 0.3 % smaller.
TOGETHER_BYTES = 128 << 10


class ZstdBase:
    """A base for zstd frames.

    Args:
        content: The base.
        base_level: zstd level for the base.
        level: zstd level for pages.
        length: Length of all pages of the cluster.
    """

    def __init__(self, content: bytes, base_level: int, level: int, length: int = 0) -> None:
        self.content: bytes = content
        self.frame: bytes = PLAIN_ZSTD.encode(content, base_level)
        self._level = level
        self._base = _core.Base(content)
        self._body_bytes = 0
        self._frame_bytes = 0
        self._has_trial = level == LEVEL and length >= TRIAL_SHARE * TRIAL_BYTES
        #: Bytes that the search for long matches saved in the trial.
        self._saved = 0

    def write(self, body: bytes) -> tuple[bytes, Codec]:
        """Encode a page."""
        frame = self._encode(body)
        self._body_bytes += len(body)
        self._frame_bytes += len(frame)
        return frame, Codec.ZSTD_BASE

    def _encode(self, body: bytes) -> bytes:
        if self._is_little_use:
            return self._base.encode(body, FAST_LEVEL)
        if not self._has_trial:
            return self._base.encode(body, self._level)
        if self._body_bytes >= TRIAL_BYTES:
            encode = self._base.encode_long if self._saved >= 0 else self._base.encode
            return encode(body, self._level)
        usual, long = (
            self._base.encode(body, self._level),
            self._base.encode_long(body, self._level),
        )
        self._saved += len(usual) - len(long)
        return min(usual, long, key=len)

    @property
    def _is_little_use(self) -> bool:
        has_little = LITTLE_SHARE * self._frame_bytes > self._body_bytes >= LITTLE_BYTES
        return self._level == LEVEL and has_little


class ZstdTier:
    """The everyday tier."""

    base_bytes: int = BASE_BYTES
    level: int = LEVEL
    neighbour_level: int = NEIGHBOUR_LEVEL
    together_bytes: int = TOGETHER_BYTES

    def clusters(self, members: Sequence[Member]) -> list[NDArray[np.int64]]:
        """Group pages by what they have in common."""
        return clusters(
            [(member.url, member.time) for member in members],
            [member.length for member in members],
            [member.sketch for member in members],
            base_bytes=self.base_bytes,
        )

    def base(self, members: Sequence[Member]) -> Base | None:
        """Concatenate the pages that contain what the others repeat."""
        content = joined(sample(members), most_pages(members), b"")
        if not content:
            return None
        length = sum(member.length for member in members)
        levels = (level for share, level in BASE_LEVELS if share * len(content) <= length)
        return ZstdBase(content, next(levels, LEVEL), self.level, length)

    def part(self, below: Base, number: int, run: Sequence[Member]) -> Base | None:
        """Return None: a single base is fast to read whatever its length."""
        del below, number, run
        return None
