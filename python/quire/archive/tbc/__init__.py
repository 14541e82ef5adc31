"""TBC, template-based compression: the method of paper 003.

``pages`` stores pages in memory, with sizes and times for each step. ``crawl`` stores a whole crawl
on any engine; its work is in ``steps``, as functions of record batches.
"""

from __future__ import annotations

from quire.archive.tbc.pages import (
    DIRECTORY_BYTES,
    Packing,
    ReferenceChoice,
    TbcArchive,
    TbcSizes,
    TbcSteps,
    TbcTimes,
    tbc_encode,
)

__all__ = [
    "DIRECTORY_BYTES",
    "Packing",
    "ReferenceChoice",
    "TbcArchive",
    "TbcSizes",
    "TbcSteps",
    "TbcTimes",
    "tbc_encode",
]
