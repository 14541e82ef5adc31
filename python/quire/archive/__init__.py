"""The archive: many pages kept small, any one back byte for byte, nothing lost that was acknowledged.

``Archive`` is a folder of journals and segments (``docs/format.md``); ``quire.archive.repair`` makes a new one of what
can be read of a damaged one.

Above: ``sentinels``, ``cli``. Below: ``similarity``, ``digest``, ``sources``, ``engines``, ``_core``.
"""

from __future__ import annotations

from quire.archive.archive import Archive, StoredPage, Version
from quire.archive.compaction import Compacted
from quire.archive.findings import Finding

__all__ = ["Archive", "Compacted", "Finding", "StoredPage", "Version"]
