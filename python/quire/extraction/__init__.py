"""Extraction: the repeated data of a page, as a table.

A digest goes in, regions of records come out. ``outline`` measures the nodes of a page, ``finding``
finds its lists, ``table`` reads them. ``omini`` is the published method, for one list.
"""

from __future__ import annotations

from quire.extraction.detail_pages import details
from quire.extraction.extractor.extractor import Applied, Extractor
from quire.extraction.find_records import records
from quire.extraction.region import Records, Region, RegionSource
from quire.extraction.table.table import Column
from quire.extraction.table.values import ValueType

__all__ = [
    "Applied",
    "Column",
    "Extractor",
    "Records",
    "Region",
    "RegionSource",
    "ValueType",
    "details",
    "records",
]
