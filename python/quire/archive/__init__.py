"""The archive: many pages kept small, any one back byte for byte, nothing lost that was acknowledged.

``Archive`` is a folder of journals and segments (``docs/format.md``); ``is_archive`` recognises one. ``ingest`` fills one with crawls, ``export`` writes
one as WARC; ``quire.archive.repair`` makes a new one of what can be read of a damaged one. ``tbc_encode`` is paper 003's
compression, kept for comparison.
"""

from __future__ import annotations

from quire.archive.archive import Archive
from quire.archive.compact.compaction import Compacted
from quire.archive.damage import Finding
from quire.archive.format.marker import is_archive
from quire.archive.results import StoredPage, Version
from quire.archive.statistics import Statistics
from quire.archive.tbc import Packing, TbcArchive, TbcSizes, TbcSteps, TbcTimes, tbc_encode
from quire.archive.warc.export import Exported, export
from quire.archive.warc.ingest import Ingested, ingest

__all__ = [
    "Archive",
    "Compacted",
    "Exported",
    "Finding",
    "Ingested",
    "Packing",
    "Statistics",
    "StoredPage",
    "TbcArchive",
    "TbcSizes",
    "TbcSteps",
    "TbcTimes",
    "Version",
    "export",
    "ingest",
    "is_archive",
    "tbc_encode",
]
