"""Portions: how a list of paths is cut into tasks.

A page is small and reading it takes a millisecond, so a task takes many; a WARC file holds thousands, so it is a
task of its own. Sizes are asked of this machine's files only: asking a store for a million sizes takes longer than a
bad guess costs.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence

#: Most paths of a portion.
MAX_PATHS = 64
#: Bytes that fill a portion: a second or so of work. A larger file is alone.
FULL_BYTES = 32 << 20
#: Portions for each thread or core, where there are paths enough: progress moves, and the last one is not waited for long.
PER_SLOT = 8
# What holds many pages, by its name, where the size is not known.
_MANY_PAGES = (".parquet", ".tar", ".wacz", ".warc", ".warc.gz", ".warc.zst", ".zip")
_PAGE_BYTES = 1 << 16


def portions(paths: Sequence[str], slots: int) -> Iterator[list[str]]:
    """Cut paths into portions, in their order.

    >>> [len(portion) for portion in portions([f"s3://crawl/{i}.html" for i in range(200)], slots=1)]
    [25, 25, 25, 25, 25, 25, 25, 25]
    >>> list(portions(["s3://crawl/1.warc.gz", "s3://crawl/2.warc.gz"], slots=1))
    [['s3://crawl/1.warc.gz'], ['s3://crawl/2.warc.gz']]

    Args:
        paths: files of this machine, or addresses.
        slots: how many portions run at once.
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
            return os.stat(path).st_size  # noqa: PTH116 - a Path for each of a million costs more than the call
        except (OSError, ValueError):
            pass  # whoever reads it says what is wrong with it; or it is on the machines of the cluster only
    return FULL_BYTES if path.lower().endswith(_MANY_PAGES) else _PAGE_BYTES
