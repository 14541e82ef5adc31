"""Outlines: the outermost elements in some bytes of a page, side by side.

The part in the place of a cut may differ between versions. Its outline tells whether it is still
the same part or something came in beside it: the names of its outermost elements in order. The
content of those elements does not matter.

Cost: one parse.
"""

from __future__ import annotations

import hashlib
import re

import numpy as np

from quire.digest import encode
from quire.digest.source_spans import source_spans
from quire.errors import QuireError

_FIRST_TAG = re.compile(rb"\s*<([A-Za-z]+)")
# Browsers drop these outside a table.
_OF_TABLES = frozenset(
    {b"caption", b"col", b"colgroup", b"tbody", b"td", b"tfoot", b"th", b"thead", b"tr"}
)
_TABLE = b"<table>"


def outline(data: bytes) -> tuple[str, ...]:
    """Name the outermost elements; anything else beside them, such as text, is ``#other``.

    >>> outline(b"<p>It is <b>nine</b></p>"), outline(b"<p>It is ten</p><div>Storm!</div>")
    (('p',), ('p', 'div'))
    >>> outline(b"<td>1<td>2"), outline(b"<p>Fish</p> and more")
    (('td', 'td'), ('p', '#other'))

    Args:
        data: bytes of a page.
    """
    first = _FIRST_TAG.match(data)
    before = _TABLE if first and first[1].lower() in _OF_TABLES else b""
    source = before + data
    try:
        page = encode(source, kind="html")
    except QuireError:
        page = None
    spans = source_spans(page) if page is not None else None
    if page is None or spans is None:  # bytes without an outline equal only themselves
        return ("#unknown", hashlib.sha256(data).hexdigest())
    found: list[str] = []
    at = len(before)
    names = page.tags
    # Outer before inner if both begin in one place.
    order = np.lexsort((-spans.end.astype(np.int64), spans.start))
    for node in order.tolist():
        start, name = int(spans.start[node]), str(names[page.tag[node]])
        if start < at or name.startswith("#") or not _opens(source, start, name):
            continue
        if source[at:start].strip():
            found.append("#other")
        found.append(name)
        at = int(spans.end[node])
    if source[at:].strip():
        found.append("#other")
    return tuple(found)


def _opens(source: bytes, start: int, name: str) -> bool:
    """Whether the source has a tag of this name here, rather than an element that browsers add."""
    return source[start : start + len(name) + 1].lower() == b"<" + name.encode()
