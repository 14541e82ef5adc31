"""Element index: looks up elements of a page by their bytes, instead of searching for each.

Elements are found by the hash of their bytes (``SourceSpans.hash``), which is not keyed; so the
bytes are compared too.

Cost: a parse and one pass; then one step for each lookup.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Self

from quire.digest.page import Digest
from quire.digest.source_spans import SourceSpans, source_spans


class ElementIndex:
    """The elements of a page, by their bytes."""

    def __init__(self, spans: SourceSpans, source: bytes) -> None:
        self._source = source
        start, end, key = (column.tolist() for column in (spans.start, spans.end, spans.hash))
        self._by_span = dict(zip(zip(start, end, strict=True), key, strict=True))
        # Elements that browsers add have the same bytes as their content: one place counts once.
        self._places: defaultdict[int, dict[int, int]] = defaultdict(dict)
        for first, last, value in zip(start, end, key, strict=True):
            self._places[value][first] = last

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
        places = self._places.get(value, {})
        first = next(iter(places), -1)
        return len(places) if places and self._source[first : places[first]] == data else 0
