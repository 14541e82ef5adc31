"""Clusters: which pages of an archive are stored together.

Pages that share much lean on one base. They are found by their sketches alone, with the hubs of ``quire.similarity``: a page
goes where the sketch of a hub is most alike. No exact comparison follows, since what a page costs against a base is decided
by encoding it.

Above: ``compaction``. Below: ``similarity``, ``_core``.
"""

from __future__ import annotations

from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from quire.similarity.groups import (
    best_hubs,
    first_groups,
    hubs_of,
    meeting_rows,
)
from quire.similarity.sketches import EMPTY

#: Hub and page are put together where their sketches agree in so much.
LEAST_ALIKE = 0.2
#: Clusters of fewer pages share one with others of their host.
FEW_PAGES = 4
_CHUNK = 1 << 16


def host(url: str) -> str:
    """Give the host of an address; a file's folder stands in for it.

    >>> host("https://a.example/b"), host("site/b/c.html")
    ('a.example', 'site')
    """
    try:
        found = urlsplit(url)
    except ValueError:
        return ""
    return found.netloc or found.path.lstrip("/").partition("/")[0]


def clusters(matrix: NDArray[np.uint32], hosts: list[str]) -> list[NDArray[np.int64]]:
    """Put pages into clusters, by their sketches: rows of a matrix. Pages of small clusters go with their host."""
    n = len(matrix)
    if n == 0:
        return []
    sizes = (matrix != EMPTY).sum(axis=1).astype(np.uint32)
    keys, owners, owner_sizes = meeting_rows(matrix, np.arange(n, dtype=np.uint64), sizes)
    order = np.argsort(keys, kind="stable")
    met, hubs = hubs_of(keys[order], owners[order], owner_sizes[order])
    order = np.argsort(met, kind="stable")
    page, hub = best_hubs(met[order], hubs[order])
    pages, others = page.astype(np.uint32), hub.astype(np.uint32)
    alike = _alike(matrix, pages, others)
    near = alike >= LEAST_ALIKE
    label, _ = first_groups(n, (pages[near], others[near], alike[near], alike[near]))
    counts = np.bincount(label, minlength=n)
    found: dict[object, list[int]] = {}
    for i, group in enumerate(label.tolist()):
        key = ("group", group) if counts[group] >= FEW_PAGES else ("host", hosts[i])
        found.setdefault(key, []).append(i)
    return [np.array(members, np.int64) for members in found.values()]


def _alike(
    matrix: NDArray[np.uint32], pages: NDArray[np.uint32], others: NDArray[np.uint32]
) -> NDArray[np.float64]:
    """Estimate how alike pairs of rows are."""
    found = np.empty(len(pages))
    for start in range(0, len(pages), _CHUNK):
        part = slice(start, start + _CHUNK)
        one, other = matrix[pages[part]], matrix[others[part]]
        used = (one != EMPTY) | (other != EMPTY)
        same = (one == other) & used
        found[part] = same.sum(axis=1) / np.maximum(used.sum(axis=1), 1)
    return found
