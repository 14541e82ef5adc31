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
    old_spans, new_spans = _Spans(old), _Spans(new)
    found = []
    for node, was in zip(continued[other].tolist(), before[other].tolist(), strict=True):
        children, children_before = new.children(node), old.children(was)
        if place[children].tolist() != children_before or new_spans.own(
            node, children
        ) != old_spans.own(was, children_before):
            found.append(node)
    return np.array(found, np.int64)


class _Spans:
    """The source positions of the parts of a version."""

    def __init__(self, parts: Parts) -> None:
        self._source = parts.source
        self._start: list[int] = parts.tree.byte_start.tolist()
        self._end: list[int] = parts.tree.byte_end.tolist()

    def own(self, node: int, children: list[int]) -> list[bytes]:
        """Return the bytes of a part that are not in its children."""
        edges = [self._start[node]]
        for child in children:
            edges += (self._start[child], self._end[child])
        edges.append(self._end[node])
        return [self._source[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
