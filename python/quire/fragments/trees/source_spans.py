"""Source spans: which bytes of the source each node of a page has.

From a node's start tag to its end tag, with all in between. Spans nest as nodes do; bytes between them, and so any way to
cut a page at its nodes, come together to the exact source again.
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
        start: first byte of each node.
        end: after its last byte.
        hash: 64 bits for the bytes; equal bytes have equal hashes on every page. It has no key, so whoever
            composes pages compares the bytes too.
    """

    start: NDArray[np.uint32]
    end: NDArray[np.uint32]
    hash: NDArray[np.uint64]


def source_spans(page: Digest) -> SourceSpans | None:
    """Find the bytes of every node, or nothing on pages whose tree does not tell.

    Those are the pages with the flags ``verbatim`` and ``transcoded``.

    >>> import quire
    >>> source = b"<ul><li>Fish<li>Chips</ul>"
    >>> page = quire.encode(source)
    >>> spans = source_spans(page)
    >>> [source[spans.start[node] : spans.end[node]] for node in page.select("li")]
    [b'<li>Fish', b'<li>Chips']
    """
    found = _core.source_spans(page._native)
    if found is None:
        return None
    start, end, hashes = found
    return SourceSpans(
        np.frombuffer(start, "<u4"), np.frombuffer(end, "<u4"), np.frombuffer(hashes, "<u8")
    )
