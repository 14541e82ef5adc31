"""Moved text: text that a page shows in a different place than its source has it.

Browsers move content that is not allowed inside a table to the front of the table. So in the source
a paragraph may lie between the tags of a table without belonging to it. Cutting out the bytes of
the table would lose the paragraph.

Moved text is found by elimination: text nodes and comments have their bytes, elements have their
tags, and all other bytes were moved. A moved comment, or a tag with a ``>`` in quotes, is mistaken
for text; then ``strip`` keeps something that it could remove.

Cost: linear in the source for pages whose tree is not in source order; none for all others.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from quire.digest.page import Digest
from quire.digest.source_spans import source_spans

# Never matches text: after < and a letter, browsers also read a tag, up to this > or a later one.
_TAG = re.compile(rb"</?[A-Za-z][^>]*+>")
_BLANK = b" \t\r\n\f"


def moved_texts(page: Digest, source: bytes) -> NDArray[np.int64]:
    """Return an offset in each moved text of the source, in ascending order.

    >>> import quire
    >>> source = b"<table><tr><td>Cod</td></tr><p>Fresh today</p><tr><td>Hake</td></tr></table>"
    >>> [source[place:][:5] for place in moved_texts(quire.encode(source), source)]
    [b'Fresh']

    Args:
        page: the page.
        source: its bytes.
    """
    spans = source_spans(page) if "reordered" in page.flags else None
    if spans is None:
        return np.empty(0, np.int64)
    no_element = np.array([name.startswith("#") for name in page.tags], np.bool_)[page.tag]
    no_element[0] = False  # the document
    depth = np.zeros(len(source) + 1, np.int64)
    np.add.at(depth, spans.start[no_element], 1)
    np.add.at(depth, spans.end[no_element], -1)
    is_tag = np.cumsum(depth[:-1]) == 0
    edges = np.flatnonzero(np.diff(is_tag, prepend=False, append=False)).tolist()
    found: list[int] = []
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        at = start
        # No tag ends after the last >, so stop there.
        closed = max(start, source.rfind(b">", start, end) + 1)
        for tag in [*_TAG.finditer(source, start, closed), None]:
            text = source[at : tag.start() if tag else end]
            if text.strip(_BLANK):
                found.append(at + len(text) - len(text.lstrip(_BLANK)))
            at = tag.end() if tag else end
    return np.array(found, np.int64)
