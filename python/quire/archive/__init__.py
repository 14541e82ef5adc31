"""The archive: stores many pages in little space and gives each back byte for byte.

No acknowledged page is ever lost. ``Archive`` is a folder of journals and segments
(``docs/format.md``), and ``is_archive`` recognises one. ``ingest`` adds crawls to one, ``export`` writes one as WARC, and
``quire.archive.repair`` copies everything readable from a damaged archive to a new one.
``tbc_encode`` is the compression method of paper 003, kept for comparison.
"""

from __future__ import annotations

from quire.archive.archive import Archive
from quire.archive.compact.compaction import Compacted
from quire.archive.damage import Finding
from quire.archive.format.marker import is_archive
from quire.archive.results import Companion, StoredPage, Version
from quire.archive.statistics import Statistics
from quire.archive.tbc import Packing, TbcArchive, TbcSizes, TbcSteps, TbcTimes, tbc_encode
from quire.archive.warc.export import Exported, export
from quire.archive.warc.ingest import Ingested, ingest

__all__ = [
    "Archive",
    "Compacted",
    "Companion",
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
