"""The method of paper 003, for comparison: one page is the base, the others are token deltas."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from quire import _core
from quire.archive.compact.choose_base import BASE_BYTES, Member
from quire.archive.compact.clusters import in_order
from quire.archive.compact.tiers.tier import Base
from quire.archive.compact.tiers.zstd import SLOW_LEVEL
from quire.archive.format.page_meta import Codec, pack_delta
from quire.archive.format.record import PLAIN_ZSTD
from quire.digest import Digest, encode
from quire.errors import QuireError
from quire.similar.sampling import random_sampling, token_sketches

#: Window of the paper, in tokens.
TBC_WINDOW = 7


class TbcBase:
    """The reference page of a cluster; the other pages are deltas against it."""

    def __init__(self, content: bytes) -> None:
        self.content: bytes = content
        self.frame: bytes = PLAIN_ZSTD.encode(content, SLOW_LEVEL)
        self._reference = _core.TbcReference(content, TBC_WINDOW)

    def write(self, body: bytes) -> tuple[bytes, Codec]:
        """Encode a page as a delta, compressed with zstd."""
        delta, _, _ = self._reference.delta(body)
        return pack_delta(delta, SLOW_LEVEL), Codec.TBC


class TbcTier:
    """The method of paper 003."""

    base_bytes: int = BASE_BYTES
    level: int = SLOW_LEVEL
    neighbour_level: int = SLOW_LEVEL
    together_bytes: int = 0

    def __init__(self) -> None:
        self._references: set[int] = set()

    def clusters(self, members: Sequence[Member]) -> list[NDArray[np.int64]]:
        """Group pages by templates that are drawn at random."""
        matrix = token_sketches(_digest(member.read()[1]) for member in members)
        found = random_sampling(matrix)
        template_of = found.template_of
        self._references = {id(members[i]) for i in np.unique(template_of[template_of >= 0])}
        # A page without a template is a cluster of its own.
        label = np.where(template_of >= 0, template_of, -1 - np.arange(len(template_of)))
        return in_order(label, [(member.url, member.time) for member in members])

    def base(self, members: Sequence[Member]) -> Base | None:
        """Use the template as the base."""
        if len(members) < 2:  # noqa: PLR2004 - nothing to share
            return None
        reference = next((one for one in members if id(one) in self._references), None)
        return None if reference is None else TbcBase(reference.read()[1])

    def part(self, below: Base, number: int, run: Sequence[Member]) -> Base | None:
        """Return None: the paper uses one reference."""
        del below, number, run
        return None


def _digest(body: bytes) -> Digest:
    """Encode a page; one that cannot be encoded is treated as empty, like no other page."""
    try:
        return encode(body)
    except QuireError:
        return encode(b"")
