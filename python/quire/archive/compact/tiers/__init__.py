"""Tiers: the codecs for the pages of a cluster, from fast to small.

| tier | for | a page is |
| --- | --- | --- |
| ``zstd`` | everyday use | one zstd frame against the base of its cluster |
| ``dense`` | pages that are rarely read | coded by a context model that has learned the base |
| ``tbc`` | comparison | a token delta against one page, the method of paper 003 |

Each tier is a file of its own, and ``tier`` has the protocol they share. To add one, write its
class, and name it in ``TierName`` and ``tier_of``.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from quire.archive.compact.tiers.dense import DenseTier
from quire.archive.compact.tiers.tbc import TbcTier
from quire.archive.compact.tiers.tier import Tier
from quire.archive.compact.tiers.zstd import ZstdTier

#: The tiers by name.
TierName: TypeAlias = Literal["zstd", "dense", "tbc"]


def tier_of(name: TierName) -> Tier:
    """Return a tier by name.

    Raises:
        ValueError: No tier has this name.
    """
    if name == "zstd":
        return ZstdTier()
    if name == "dense":
        return DenseTier()
    if name == "tbc":
        return TbcTier()
    raise ValueError(f"codec {name!r} is not known; expected zstd, dense or tbc")
