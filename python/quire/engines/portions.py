"""Portions: splits a list of paths into tasks.

A page is small and takes a millisecond to read, so a task gets many pages; a WARC file holds
thousands, so it is a task of its own. Only sizes of local files are looked up: asking a remote
store for a million sizes takes longer than a bad guess costs.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence

#: Maximum paths in a portion.
MAX_PATHS = 64
#: Bytes that fill a portion: about a second of work. A larger file gets its own portion.
FULL_BYTES = 32 << 20
#: Portions for each thread or core, if there are enough paths: so progress moves, and the last
#: portion is not waited for long.
PER_SLOT = 8
# Suffixes of files that hold many pages, for paths of unknown size.
_MANY_PAGES = (".parquet", ".tar", ".wacz", ".warc", ".warc.gz", ".warc.zst", ".zip")
_PAGE_BYTES = 1 << 16


def portions(paths: Sequence[str], slots: int) -> Iterator[list[str]]:
    """Split paths into portions, keeping their order.

    >>> pages = [f"s3://crawl/{i}.html" for i in range(200)]
    >>> [len(portion) for portion in portions(pages, slots=1)]
    [25, 25, 25, 25, 25, 25, 25, 25]
    >>> list(portions(["s3://crawl/1.warc.gz", "s3://crawl/2.warc.gz"], slots=1))
    [['s3://crawl/1.warc.gz'], ['s3://crawl/2.warc.gz']]

    Args:
        paths: Local files or addresses.
        slots: Number of portions that run at once.
    """
    most = min(MAX_PATHS, math.ceil(len(paths) / (slots * PER_SLOT)))
    portion: list[str] = []
    filled = 0
    for path in paths:
        size = _size_bytes(path)
        if portion and (len(portion) == most or filled + size > FULL_BYTES):
            yield portion
            portion, filled = [], 0
        portion.append(path)
        filled += size
    if portion:
        yield portion


def _size_bytes(path: str) -> int:
    if "://" not in path:
        try:
            return os.stat(path).st_size  # noqa: PTH116 - a million Path objects cost more
        except (OSError, ValueError):
            pass  # reading it reports the error; or only the machines of the cluster can see it
    return FULL_BYTES if path.lower().endswith(_MANY_PAGES) else _PAGE_BYTES
