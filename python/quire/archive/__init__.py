"""The archive: many pages kept small, any one back byte for byte, nothing lost that was acknowledged.

``Archive`` is a folder of journals and segments (``docs/format.md``). ``ingest`` fills one with crawls, ``export`` writes
one as WARC.

Above: ``sentinels``, ``cli``. Below: ``sdiff``, ``similarity``, ``digest``, ``sources``, ``engines``, ``_core``.
"""

from __future__ import annotations

from quire.archive.archive import Archive, StoredPage, Version
from quire.archive.compaction import Compacted
from quire.archive.export import Exported, export
from quire.archive.ingest import Ingested, ingest
from quire.archive.statistics import Statistics

__all__ = [
    "Archive",
    "Compacted",
    "Exported",
    "Ingested",
    "Statistics",
    "StoredPage",
    "Version",
    "export",
    "ingest",
]
