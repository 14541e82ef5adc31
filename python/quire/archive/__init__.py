"""The archive: many pages kept small, any one back byte for byte, nothing lost that was acknowledged.

``Archive`` is a folder of journals and segments (``docs/format.md``). ``tbc_encode`` is paper 003's compression, kept for
comparison.

Above: ``sentinels``, ``cli``. Below: ``similarity``, ``digest``, ``sources``, ``engines``, ``_core``.
"""

from __future__ import annotations

from quire.archive.archive import Archive, StoredPage, Version
from quire.archive.compaction import Compacted
from quire.archive.tbc import Packing, TbcArchive, TbcSizes, TbcSteps, TbcTimes, tbc_encode

__all__ = [
    "Archive",
    "Compacted",
    "Packing",
    "StoredPage",
    "TbcArchive",
    "TbcSizes",
    "TbcSteps",
    "TbcTimes",
    "Version",
    "tbc_encode",
]
