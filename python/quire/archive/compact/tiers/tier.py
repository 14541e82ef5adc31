"""The protocol of a tier: groups pages into clusters, and makes the bases they are encoded against.

A cluster has one base for all its pages. A tier may add a second base, on top of the first, for
each run of neighbouring pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from quire.archive.compact.choose_base import Member
from quire.archive.format.page_meta import Codec

#: Number of pages in a run.
RUN_PAGES = 32


class Base(Protocol):
    """A base that pages are encoded against."""

    @property
    def content(self) -> bytes:
        """The decoded base, without the base below it."""
        ...

    @property
    def frame(self) -> bytes:
        """The base as it is stored."""
        ...

    def write(self, body: bytes) -> tuple[bytes, Codec]:
        """Encode a page."""
        ...


class Tier(Protocol):
    """A codec with its rules for clusters and bases."""

    @property
    def base_bytes(self) -> int:
        """About how many bytes of pages a base can have."""
        ...

    @property
    def level(self) -> int:
        """The zstd level for pages encoded on their own."""
        ...

    @property
    def neighbour_level(self) -> int:
        """The zstd level for pages that depend on other pages."""
        ...

    @property
    def together_bytes(self) -> int:
        """Up to how many bytes of small pages share a frame; 0 if every page has its own."""
        ...

    def clusters(self, members: Sequence[Member]) -> list[NDArray[np.int64]]:
        """Decide which pages, sorted by address and time, are stored together."""
        ...

    def base(self, members: Sequence[Member]) -> Base | None:
        """Make the base of a cluster, or None if it would not pay off."""
        ...

    def part(self, below: Base, number: int, run: Sequence[Member]) -> Base | None:
        """Make a base for a run on top of the cluster's base, or None if it would not pay off."""
        ...
