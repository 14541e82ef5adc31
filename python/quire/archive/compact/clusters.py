"""Clusters: decides which pages of an archive are stored together.

Similar pages share one base. Pages of the same host share most, so a host is a cluster. A large
host is split by its templates, which are found from sketches alone with the hubs of
``quire.similar``. Pages of small hosts are grouped with similar pages of other small hosts.
Nothing is compared exactly; encoding a page against its base shows its cost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from quire.digest import encode
from quire.errors import QuireError
from quire.similar.groups import (
    best_hubs,
    first_groups,
    hubs_of,
    meeting_rows,
)
from quire.similar.sketches import EMPTY, Sketch

#: Minimum share of equal sketch values for a page to join a hub.
LEAST_ALIKE = 0.2
#: Hosts with fewer pages count as small.
FEW_PAGES = 8
#: Hosts with more pages are split into templates of at least TEMPLATE_PAGES pages.
MANY_PAGES = 2048
TEMPLATE_PAGES = 256
#: Bytes of a page that are sketched: its beginning shows its template.
SKETCHED_BYTES = 1 << 20
#: Values of a sketch: enough to distinguish the templates of a site, few enough for a hundred
#: thousand pages.
SKETCH_VALUES = 32
_CHUNK = 1 << 16


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


def sketch_values(body: bytes) -> NDArray[np.uint32]:
    """Sketch a page for ``clusters``; bytes that are not a page get an empty sketch."""
    try:
        return Sketch.of(encode(body[:SKETCHED_BYTES]), "structure", m=SKETCH_VALUES).values
    except QuireError:
        return np.full(SKETCH_VALUES, EMPTY, np.uint32)


def clusters(
    hosts: Sequence[str], sketch: Callable[[int], NDArray[np.uint32]]
) -> list[NDArray[np.int64]]:
    """Group pages into clusters by host and sketch.

    Args:
        hosts: Host of every page.
        sketch: Returns the sketch of a page; called only if the host does not decide.
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
    """Group similar pages; all groups of fewer than ``least`` pages become one."""
    if not pages:
        return []
    label = _labels(np.stack([sketch(page) for page in pages])).tolist()
    counts = Counter(label)
    found: dict[int, list[int]] = {}
    for page, group in zip(pages, label, strict=True):
        found.setdefault(group if counts[group] >= least else -1, []).append(page)
    return list(found.values())


def _labels(matrix: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Assign every page to the hub with the most similar sketch."""
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
    """Estimate the similarity of pairs of rows."""
    found = np.empty(len(pages))
    for start in range(0, len(pages), _CHUNK):
        part = slice(start, start + _CHUNK)
        one, other = matrix[pages[part]], matrix[others[part]]
        used = (one != EMPTY) | (other != EMPTY)
        same = (one == other) & used
        found[part] = same.sum(axis=1) / np.maximum(used.sum(axis=1), 1)
    return found
