"""Clusters: decides which pages of an archive are stored together.

The kernel finds them from sketches of the pages (``codec::clusters``), so that pages with common
content share a base whatever their addresses say. Addresses are only a hint: they give the order
of the pages, and a place to pages that resemble no other. Compaction and build both call
``clusters``, so they group the same pages in the same way.

Memory: 256 bytes for the sketch of each page, and about 2 KB more while clusters are found.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from quire import _core

#: Page bytes and pages of a cluster above which it is split: a task of a build holds a cluster, and
#: has numbers for a thousand bases.
CUT_BYTES = 128 << 20
CUT_PAGES = 8192
#: Minimum size counted for a page: its metadata counts too.
LEAST_BYTES = 4 << 10


def host(url: str) -> str:
    """Return the host of an address; for a file, its top folder.

    >>> host("https://a.example/b"), host("site/b/c.html")
    ('a.example', 'site')
    """
    try:
        found = urlsplit(url)
    except ValueError:
        return ""
    return found.netloc or found.path.lstrip("/").partition("/")[0]


def clusters(
    keys: Sequence[tuple[str, int]],
    lengths: Sequence[int],
    sketches: Sequence[bytes],
    *,
    base_bytes: int,
) -> list[NDArray[np.int64]]:
    """Group pages into clusters, each in the order of the pages.

    Args:
        keys: Address and time of every page, in ascending order.
        lengths: Length of every page in bytes.
        sketches: Sketch of every page, by ``page_sketch`` of the kernels.
        base_bytes: Maximum length of a base.
    """
    number: dict[str, int] = {}
    hosts = [number.setdefault(host(url), len(number)) for url, _ in keys]
    found = _core.page_clusters(
        b"".join(sketches), np.array(lengths, np.uint64), np.array(hosts, np.uint32), base_bytes
    )
    return split(in_order(np.frombuffer(found, "<u4").astype(np.int64), keys), keys, lengths)


def in_order(
    group_of: NDArray[np.int64], keys: Sequence[tuple[str, int]]
) -> list[NDArray[np.int64]]:
    """List the pages of each group, those with equal address and time in one: the last one counts.

    Args:
        group_of: Group of every page.
        keys: Address and time of every page, in ascending order.
    """
    group_of = group_of.copy()
    for i in range(len(keys) - 2, -1, -1):
        if keys[i] == keys[i + 1]:
            group_of[i] = group_of[i + 1]
    order = np.argsort(group_of, kind="stable")
    ends = np.flatnonzero(np.diff(group_of[order])) + 1
    return list(np.split(order, ends)) if len(keys) else []


def split(
    groups: list[NDArray[np.int64]], keys: Sequence[tuple[str, int]], lengths: Sequence[int]
) -> list[NDArray[np.int64]]:
    """Split long groups into parts of nearly equal length, if possible between two addresses."""
    counted = np.maximum(np.array(lengths, np.int64), LEAST_BYTES)
    found = []
    for group in groups:
        ends = np.cumsum(counted[group])
        total = int(ends[-1])
        parts = max(-(-total // CUT_BYTES), -(-len(group) // CUT_PAGES))
        part = (ends - counted[group]) * parts // total
        starts = (np.flatnonzero(np.diff(part)) + 1).tolist()
        cuts = [_cut(group, ends, keys, start) for start in starts]
        found += [one for one in np.split(group, cuts) if len(one)]
    return found


def _cut(
    group: NDArray[np.int64], ends: NDArray[np.int64], keys: Sequence[tuple[str, int]], start: int
) -> int:
    """Return where to cut, from a place on: at the next address, unless that is far away."""
    before = keys[group[start - 1]]
    at = start
    while at < len(group) and keys[group[at]][0] == before[0]:
        is_far = ends[at] - ends[start - 1] > CUT_BYTES or at - start > CUT_PAGES // 2
        # For one address and time the last page counts, so these must stay in order.
        if is_far and keys[group[at]] != keys[group[at - 1]]:
            break
        at += 1
    return at
