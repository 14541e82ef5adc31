"""Part names: what people call a part of a page, by its heading, id, role or class."""

from __future__ import annotations

import re

import numpy as np

from quire.digest.page import Digest

_MOST_LETTERS = 60
_TITLES = frozenset(
    {"h1", "h2", "h3", "h4", "h5", "h6", "caption", "figcaption", "legend", "summary", "title"}
)
# Ids and classes that are made for each page or each build tell people nothing.
_PLAIN = re.compile(r"[A-Za-z][A-Za-z_-]{1,30}[0-9]{0,2}")


def part_name(page: Digest, node: int) -> str:
    """Name an element of a page for people; empty for the document.

    >>> import quire
    >>> page = quire.encode(b"<nav id=menu class=wide><h2>Fish  market</h2></nav><p class=note>")
    >>> [part_name(page, page.select_one(tag)) for tag in ("nav", "p", "h2")]
    ['nav#menu “Fish market”', 'p.note', 'h2 “Fish market”']

    Args:
        page: the page.
        node: the element, or something in one.
    """
    while node > 0 and page.tags[page.tag[node]].startswith("#"):
        node = int(page.parent[node])
    if node <= 0:
        return ""
    attributes = page.attributes(node)
    classes = [one for one in attributes.get("class", "").split() if _PLAIN.fullmatch(one)]
    name = str(page.tags[page.tag[node]])
    if _PLAIN.fullmatch(attributes.get("id", "")):
        name += f"#{attributes['id']}"
    elif _PLAIN.fullmatch(attributes.get("role", "")):
        name += f"[role={attributes['role']}]"
    elif classes:
        name += f".{classes[0]}"
    title = " ".join((attributes.get("aria-label") or _title(page, node)).split())
    if not title:
        return name
    cut = title if len(title) <= _MOST_LETTERS else f"{title[: _MOST_LETTERS - 1].rstrip()}…"
    return f"{name} “{cut}”"


def _title(page: Digest, node: int) -> str:
    """The text of the first heading in an element."""
    is_title = np.array([name in _TITLES for name in page.tags], np.bool_)
    inside = page.tag[node : node + int(page.size[node])]
    for place in np.flatnonzero(is_title[inside])[:3].tolist():
        text = page.text(node + place)
        if text.strip():
            return text[: 4 * _MOST_LETTERS]
    return ""
