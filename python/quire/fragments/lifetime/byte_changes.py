"""Byte changes: the parts of a page whose source changed between two versions, visible or not.

L-P fragments are defined by their text, but a cache stores bytes: a new token in an attribute
changes a part although its text is the same. So changes of the source are recorded as well as
changes of the text. For each part, only its own source counts: its tags, the bytes between its
children, and which children it has. The changes of a region of a page are then the changes of the
parts in it.

Cost: visits only the parts whose bytes changed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from quire.fragments.lifetime.version_parts import Parts


def changed_source(old: Parts, new: Parts, place: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the nodes whose own source differs from the version before.

    Args:
        old: the version before.
        new: the new version.
        place: for each node of the new version, the node of the old one that it continues, or -1.
    """
    if not (old.tree.has_bytes and new.tree.has_bytes):
        return np.zeros(0 if old.source == new.source else 1, np.int64)
    continued = np.flatnonzero(place >= 0)
    before = place[continued]
    other = old.tree.source_hash[before] != new.tree.source_hash[continued]
    old_places, new_places = _places(old), _places(new)
    found = [
        node
        for node, was in zip(continued[other].tolist(), before[other].tolist(), strict=True)
        if place[new.children(node)].tolist() != old.children(was)
        or _own_source(new, new_places, node) != _own_source(old, old_places, was)
    ]
    return np.array(found, np.int64)


def _places(parts: Parts) -> tuple[list[int], list[int]]:
    return parts.tree.byte_start.tolist(), parts.tree.byte_end.tolist()


def _own_source(parts: Parts, places: tuple[list[int], list[int]], node: int) -> list[bytes]:
    """Return the bytes of a part that are not in its children."""
    start, end = places
    edges = [start[node]]
    for child in parts.children(node):
        edges += (start[child], end[child])
    edges.append(end[node])
    return [parts.source[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
