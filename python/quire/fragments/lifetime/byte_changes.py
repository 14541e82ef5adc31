"""Rewriting: which parts of a page have other bytes than before, whether or not anybody sees it.

L-P fragments are told by their text. A cache keeps bytes: a token in an attribute makes a part another, though its text is the same. So
beside the changes of text those of the source are noted, for each part without the parts in it: its tags, what lies between its children, and which
children it has. What a region of a page changed is then what the parts in it did.

Cost: what has other bytes is visited, no more.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from quire.fragments.lifetime.version_parts import Parts


def rewritten(old: Parts, new: Parts, place: NDArray[np.int64]) -> NDArray[np.int64]:
    """List the nodes of a page whose own source is another than before.

    Args:
        old: the version before.
        new: the page.
        place: for every node of the page the node of the version before that it continues, or -1.
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
    """Where the parts of a version are in its source."""

    def __init__(self, parts: Parts) -> None:
        self._source = parts.source
        self._start: list[int] = parts.tree.byte_start.tolist()
        self._end: list[int] = parts.tree.byte_end.tolist()

    def own(self, node: int, children: list[int]) -> list[bytes]:
        """The bytes of a part around its children."""
        edges = [self._start[node]]
        for child in children:
            edges += (self._start[child], self._end[child])
        edges.append(self._end[node])
        return [self._source[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
