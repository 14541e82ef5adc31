"""Source spans: the bytes of the source that belong to each node of a page.

A span runs from the start tag of a node to its end tag, including everything in between. Spans nest
as nodes do. However a page is cut at its nodes, joining the pieces gives the exact source again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quire import _core
from quire.digest.page import Digest


@dataclass(frozen=True, slots=True, eq=False)
class SourceSpans:
    """The bytes of every node: ``source[start[i] : end[i]]``.

    Attributes:
        start: offset of the first byte of each node.
        end: offset after its last byte.
        hash: 64-bit hash of the bytes; equal bytes have equal hashes on every page. The hash has no
            secret key, so code that composes pages must compare the bytes too.
    """

    start: NDArray[np.uint32]
    end: NDArray[np.uint32]
    hash: NDArray[np.uint64]


def source_spans(page: Digest) -> SourceSpans | None:
    """Find the source bytes of every node.

    Returns None for pages with the flags ``verbatim`` and ``transcoded``, whose trees have no
    positions in the source.

    >>> import quire
    >>> source = b"<ul><li>Fish<li>Chips</ul>"
    >>> page = quire.encode(source)
    >>> spans = source_spans(page)
    >>> [source[spans.start[node] : spans.end[node]] for node in page.select("li")]
    [b'<li>Fish', b'<li>Chips']
    """
    found = _core.source_spans(page._native)  # noqa: SLF001 - its page, in the same room
    if found is None:
        return None
    start, end, hashes = found
    return SourceSpans(
        np.frombuffer(start, "<u4"), np.frombuffer(end, "<u4"), np.frombuffer(hashes, "<u8")
    )
