"""Clusters: which pages of an archive are stored together.

Pages that share much lean on one base. Pages of one host share most, so a host is a cluster; a large one is cut by its
templates, found by sketches alone with the hubs of ``quire.similarity``. Pages of small hosts go with pages of other
small hosts that look alike. Nothing is compared exactly: what a page costs against a base is decided by encoding it.

Above: ``compaction``. Below: ``similarity``, ``_core``.
"""

from __future__ import annotations

from collections import Counter
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
#: Hosts of fewer pages are small.
FEW_PAGES = 8
#: Hosts of more pages are cut by their templates, those that have so many pages.
MANY_PAGES = 2048
TEMPLATE_PAGES = 256
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
    """Put pages into clusters, by their hosts and their sketches: rows of a matrix."""
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
    at_host = Counter(hosts)
    of_template = Counter(zip(hosts, label.tolist(), strict=True))
    of_all = Counter(label.tolist())
    found: dict[object, list[int]] = {}
    for i, group in enumerate(label.tolist()):
        name = hosts[i]
        key: object = ("host", name)
        if at_host[name] < FEW_PAGES:
            key = ("alike", group if of_all[group] >= FEW_PAGES else -1)
        elif at_host[name] > MANY_PAGES and of_template[name, group] >= TEMPLATE_PAGES:
            key = ("template", name, group)
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
