"""Clusters: which pages of an archive are stored together.

Pages that share much lean on one base. Pages of one host share most, so a host is a cluster; a large one is cut by its
templates, found by sketches alone with the hubs of ``quire.similarity``. Pages of small hosts go with pages of other
small hosts that look alike. Nothing is compared exactly: what a page costs against a base is decided by encoding it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from quire.similar.groups import (
    best_hubs,
    first_groups,
    hubs_of,
    meeting_rows,
)
from quire.similar.sketches import EMPTY

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


def clusters(
    hosts: Sequence[str], sketch: Callable[[int], NDArray[np.uint32]]
) -> list[NDArray[np.int64]]:
    """Put pages into clusters, by their hosts and their sketches.

    Args:
        hosts: the host of every page.
        sketch: gives the sketch of a page; asked only where the host does not decide.
    """
    at_host: dict[str, list[int]] = {}
    for page, name in enumerate(hosts):
        at_host.setdefault(name, []).append(page)
    small = [page for pages in at_host.values() if len(pages) < FEW_PAGES for page in pages]
    found = [np.array(pages) for pages in _alike_pages(small, sketch, FEW_PAGES)]
    for pages in at_host.values():
        if len(pages) > MANY_PAGES:
            found += [np.array(part) for part in _alike_pages(pages, sketch, TEMPLATE_PAGES)]
        elif len(pages) >= FEW_PAGES:
            found.append(np.array(pages))
    return found


def _alike_pages(
    pages: list[int], sketch: Callable[[int], NDArray[np.uint32]], least: int
) -> list[list[int]]:
    """Put alike pages together; groups of fewer than ``least`` pages are one."""
    if not pages:
        return []
    label = _labels(np.stack([sketch(page) for page in pages])).tolist()
    counts = Counter(label)
    found: dict[int, list[int]] = {}
    for page, group in zip(pages, label, strict=True):
        found.setdefault(group if counts[group] >= least else -1, []).append(page)
    return list(found.values())


def _labels(matrix: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Let every page join the hub whose sketch is most alike."""
    n = len(matrix)
    sizes = (matrix != EMPTY).sum(axis=1).astype(np.uint32)
    keys, owners, owner_sizes = meeting_rows(matrix, np.arange(n, dtype=np.uint64), sizes)
    order = np.argsort(keys, kind="stable")
    met, hubs = hubs_of(keys[order], owners[order], owner_sizes[order])
    order = np.argsort(met, kind="stable")
    page, hub = best_hubs(met[order], hubs[order])
    pages, others = page.astype(np.uint32), hub.astype(np.uint32)
    alike = _alike(matrix, pages, others)
    near = alike >= LEAST_ALIKE
    return first_groups(n, (pages[near], others[near], alike[near], alike[near]))[0]


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
