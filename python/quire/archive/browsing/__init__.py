"""Browsing archives: addresses, captures by time, and CDX queries, over one or several archives.

Archives go in; ``Library`` finds captures in them, and ``cdx`` answers the queries of Wayback
clients.
"""

from __future__ import annotations

from quire.archive.browsing.cdx import Query, answer
from quire.archive.browsing.library import Capture, Library, Summary, parse_timestamp, timestamp

__all__ = [
    "Capture",
    "Library",
    "Query",
    "Summary",
    "answer",
    "parse_timestamp",
    "timestamp",
]
