"""Element index: looks up elements of a page by their bytes, instead of searching for each.

Elements are found by the hash of their bytes (``SourceSpans.hash``), which is not keyed; so the bytes
are compared too.

Cost: a parse and a sort; then one step for each lookup.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from quire.digest.page import Digest
from quire.fragments.trees.source_spans import SourceSpans, source_spans


class ElementIndex:
    """The elements of a page, by their bytes."""

    def __init__(self, spans: SourceSpans, source: bytes) -> None:
        # Elements that browsers add have the same bytes as their content: one place counts once.
        order = np.lexsort((spans.start, spans.hash))
        hashes, starts = spans.hash[order], spans.start[order]
        is_new = np.ones(len(order), np.bool_)
        is_new[1:] = (hashes[1:] != hashes[:-1]) | (starts[1:] != starts[:-1])
        self._hash: NDArray[np.uint64] = hashes[is_new]
        self._first = order[is_new]
        self._spans, self._source = spans, source
        self._by_span = {
            span: int(value)
            for span, value in zip(
                zip(spans.start.tolist(), spans.end.tolist(), strict=True),
                spans.hash.tolist(),
                strict=True,
            )
        }

    @classmethod
    def of(cls, page: Digest, source: bytes) -> Self | None:
        """Index a page; None if its source places are not known."""
        spans = source_spans(page)
        return None if spans is None else cls(spans, source)

    def hash_at(self, start: int, end: int) -> int | None:
        """Return the hash of the element with exactly these bytes; None if there is none."""
        return self._by_span.get((start, end))

    def count(self, value: int, data: bytes) -> int:
        """Count the elements with this hash and these bytes.

        >>> import quire
        >>> source = b"<p>Fish</p><p>Chips</p><p>Fish</p>"
        >>> index = ElementIndex.of(quire.encode(source), source)
        >>> fish = index.hash_at(0, 11)
        >>> index.count(fish, b"<p>Fish</p>"), index.count(fish, b"<p>Peas</p>")
        (2, 0)
        """
        key = np.uint64(value)
        first = int(np.searchsorted(self._hash, key, "left"))
        last = int(np.searchsorted(self._hash, key, "right"))
        if first == last:
            return 0
        node = self._first[first]
        there = self._source[int(self._spans.start[node]) : int(self._spans.end[node])]
        return last - first if there == data else 0
