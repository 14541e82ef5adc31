"""The archive: many pages kept small, any one back byte for byte, nothing lost that was acknowledged.

``Archive`` is a folder of journals and segments (``docs/format.md``).

Above: ``sentinels``, ``cli``. Below: ``similarity``, ``digest``, ``sources``, ``engines``, ``_core``.
"""

from __future__ import annotations

from quire.archive.archive import Archive, StoredPage, Version
from quire.archive.compaction import Compacted

__all__ = ["Archive", "Compacted", "StoredPage", "Version"]
