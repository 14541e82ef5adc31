"""Strays: texts that a page shows elsewhere than where they are in its source.

Browsers move what may not stand in a table to before it, so that in the source a paragraph may lie within the tags of a table without being
a part of it. Whoever cuts the table out by its bytes would lose the paragraph.

Found by what is left: text nodes, comments and the like have their bytes, elements have tags, and what is neither was moved. A stray comment, or
a tag with a ``>`` in quotes, is taken for a text: then something stays that could go.

Cost: linear in the source, for pages whose tree is not in the order of the source; nothing for all others.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from quire.digest.page import Digest
from quire.fragments.trees.source_spans import source_spans

# No text matches: after < and a letter, browsers read a tag too, up to the first > or a later one.
_TAG = re.compile(rb"</?[A-Za-z][^>]*+>")
_BLANK = b" \t\r\n\f"


def stray_texts(page: Digest, source: bytes) -> NDArray[np.int64]:
    """List a place in each text of the source that is not where the page has it, ascending.

    >>> import quire
    >>> source = b"<table><tr><td>Cod</td></tr><p>Fresh today</p><tr><td>Hake</td></tr></table>"
    >>> [source[place:][:5] for place in stray_texts(quire.encode(source), source)]
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
        closed = max(
            start, source.rfind(b">", start, end) + 1
        )  # behind it every < would be tried in vain
        for tag in [*_TAG.finditer(source, start, closed), None]:
            text = source[at : tag.start() if tag else end]
            if text.strip(_BLANK):
                found.append(at + len(text) - len(text.lstrip(_BLANK)))
            at = tag.end() if tag else end
    return np.array(found, np.int64)
