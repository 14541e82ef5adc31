"""The exact tier: parts with the same bytes on several pages, also where they are inside of parts that are only alike.

``shared_fragments`` takes a part that lies inside the same larger part everywhere for a piece of that. Where the larger one is merely alike,
nothing could be cut out then. So parts are grouped here by their bytes alone: a menu that marks the current section is one fragment for
each section. A group whose members all lie right inside members of one other group is a piece of that, and no fragment of its own.

Cost: linear in the parts, and a sort of those that have enough text.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quire.digest.page import Digest
from quire.fragments.shared.find import Members, SharedFragments
from quire.fragments.shared.rules import MIN_BYTES, MIN_PAGES, SharingRules
from quire.fragments.trees.af_tree import AfTree

_NAMES = Members.__slots__
_DTYPES = [np.uint64 if name.endswith("hash") else np.int64 for name in _NAMES]


def exact_fragments(
    pages: Iterable[Digest], *, min_bytes: int = MIN_BYTES, min_pages: int = MIN_PAGES
) -> SharedFragments:
    """Find the parts that pages share byte for byte.

    >>> import quire
    >>> menu = "<nav class={}>" + "".join(f"<a href=/{n}>Entry number {n}</a>" for n in range(30)) + "</nav>"
    >>> pages = [quire.encode(f"{menu.format(day % 2)}<h1>Day {day}</h1>".encode()) for day in range(5)]
    >>> list(quire.shared_fragments(pages))
    [<SharedFragment 0: 476 bytes of text on 5 pages, approximate>]
    >>> list(exact_fragments(pages))
    [<SharedFragment 0: 470 bytes of text on 3 pages, exact>, <SharedFragment 1: 470 bytes of text on 2 pages, exact>]

    Args:
        pages: the pages; each may go when the next one comes.
        min_bytes: bytes of text that a fragment has at least.
        min_pages: pages that share a fragment, at least.

    Raises:
        ValueError: a rule is out of range.
    """
    rules = SharingRules.checked(
        min_bytes=min_bytes, min_pages=min_pages, min_match=1.0, size_ratio=None, estimate="paper"
    )
    count = 0
    found: list[list[NDArray[Any]]] = [[np.empty(0, kind) for kind in _DTYPES]]
    for page in pages:
        found.append(_columns(AfTree.of(page), count, min_bytes))
        count += 1
    members = Members(*(np.concatenate(column) for column in zip(*found, strict=True)))
    members, group = _shared(members, min_pages)
    members, group = _without(members, group, _pieces(members, group))
    # Longer texts come first, then what is met first.
    firsts = np.unique(group, return_index=True)[1]
    ranked = np.lexsort((firsts, -members.value_bytes[firsts]))
    rank = np.empty(len(ranked), np.int64)
    rank[ranked] = np.arange(len(ranked))
    order = np.argsort(rank[group], kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(rank[group], minlength=len(rank)))])
    return SharedFragments(rules, count, starts.astype(np.int64), _chosen(members, order))


def _columns(tree: AfTree, page: int, min_bytes: int) -> list[NDArray[Any]]:
    """The parts of a page that have enough text, and a place."""
    rows = np.flatnonzero((tree.value_bytes >= min_bytes) & (tree.byte_start >= 0))
    given = {"page": np.full(tree.n, page), "part": np.arange(tree.n)}
    return [
        (given[name] if name in given else getattr(tree, name))[rows].astype(kind)
        for name, kind in zip(_NAMES, _DTYPES, strict=True)
    ]


def _shared(members: Members, min_pages: int) -> tuple[Members, NDArray[np.int64]]:
    """Those whose bytes are on enough pages, and the group of each."""
    # The length beside the hash: two of one hash and different lengths are told apart for nothing.
    keys = np.stack(
        [members.source_hash, (members.byte_end - members.byte_start).astype(np.uint64)], axis=1
    )
    _, group = np.unique(keys, axis=0, return_inverse=True)
    group = group.reshape(-1).astype(np.int64)
    on_pages = np.unique(np.stack([group, members.page], axis=1), axis=0)[:, 0]
    few = np.bincount(on_pages, minlength=int(group.max(initial=-1)) + 1) < min_pages
    return _without(members, group, few)


def _pieces(members: Members, group: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which groups are only ever right inside one other group."""
    count = int(group.max(initial=-1)) + 1
    around = [-2] * count  # -2: not met yet; -1: different ones, or none
    opened: list[tuple[int, int, int]] = []
    columns = (members.page, members.byte_start, members.byte_end, group)
    for page, start, end, one in zip(*(column.tolist() for column in columns), strict=True):
        while opened and (opened[-1][0] != page or opened[-1][1] < end or opened[-1][1] <= start):
            opened.pop()
        holder = opened[-1][2] if opened else -1
        around[one] = holder if around[one] in {-2, holder} and holder != one else -1
        opened.append((page, end, one))
    return np.asarray(around, np.int64) >= 0


def _without(
    members: Members, group: NDArray[np.int64], dropped: NDArray[np.bool_]
) -> tuple[Members, NDArray[np.int64]]:
    kept = np.flatnonzero(~dropped[group])
    left = np.unique(group[kept], return_inverse=True)[1].reshape(-1).astype(np.int64)
    return _chosen(members, kept), left


def _chosen(members: Members, rows: NDArray[np.int64]) -> Members:
    return Members(*(getattr(members, name)[rows] for name in _NAMES))
