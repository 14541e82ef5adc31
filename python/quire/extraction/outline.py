"""The outline of a page: the numbers about its nodes that every search for records starts from.

A digest in, arrays with one entry per node out. A subtree is a slice of a column, so a sum over a
subtree is one subtraction of prefix sums. Nothing recurses, and every step is linear in the nodes.

Only what a reader sees counts: elements and texts outside scripts, styles and templates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from quire.digest.page import Digest

Ints: TypeAlias = NDArray[np.int64]
Truths: TypeAlias = NDArray[np.bool_]

_BLANK = (b"&nbsp;", b"&#160;", b"\xc2\xa0", b"&zwnj;", b"\xe2\x80\x8b")


@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """What a search for records needs to know about every node of a page.

    Attributes:
        page: the page.
        elements: whether a node is a visible element.
        parent: the parent of each node; -1 for node 0.
        end: the first node after each subtree.
        text_bytes: bytes of text in each subtree, as written, without white space around texts.
        text_before: bytes of text in front of each node; one entry more than nodes.
        tag_count: visible elements in each subtree, without its root.
        fan_out: visible elements among the children of each node.
        leaves: whether a node shows something itself: a text that is not blank, or an image.
        leaves_before: leaves in front of each node; one entry more than nodes.
    """

    page: Digest
    elements: Truths
    parent: Ints
    end: Ints
    text_bytes: Ints
    text_before: Ints
    tag_count: Ints
    fan_out: Ints
    leaves: Truths
    leaves_before: Ints

    def leaf_count(self, nodes: Ints) -> Ints:
        """The number of leaves in some subtrees."""
        return self.leaves_before[self.end[nodes]] - self.leaves_before[nodes]

    def count(self, *names: str) -> Ints:
        """How many visible elements with one of the names are in front of each node, and in all."""
        wanted = np.array([name in names for name in self.page.tag_names], bool)
        return prefix_sums((wanted[self.page.tag] & self.elements).astype(np.int64))

    def children(self, node: int) -> Ints:
        """The visible elements among the children of a node, in order."""
        low, high = node + 1, int(self.end[node])
        found = np.flatnonzero((self.parent[low:high] == node) & self.elements[low:high])
        return found.astype(np.int64) + low


def outline(page: Digest) -> Outline:
    """Measure every node of a page.

    >>> import quire
    >>> page = quire.encode(b"<ul><li>Cod<li>Chips</ul><script>x</script>")
    >>> view = outline(page)
    >>> ul = page.select_one("ul")
    >>> int(view.fan_out[ul]), int(view.text_bytes[ul]), view.children(ul).tolist()
    (2, 8, [5, 7])
    """
    names = page.tag_names
    is_element = np.array([not name.startswith("#") for name in names], bool)
    tag = np.asarray(page.tag, np.int64)
    elements = is_element[tag] & page.visible
    parent = np.asarray(page.parent, np.int64)
    nodes = np.arange(page.n, dtype=np.int64)
    end = nodes + page.size
    own = _own_text_bytes(page)
    before = prefix_sums(own)
    counted = prefix_sums(elements.astype(np.int64))
    image = np.array([name == "img" for name in names], bool)
    leaves = (own > 0) | (image[tag] & elements)
    shown = parent[elements & (parent >= 0)]
    return Outline(
        page=page,
        elements=elements,
        parent=parent,
        end=end,
        text_bytes=before[end] - before[nodes],
        text_before=before,
        tag_count=counted[end] - counted[np.minimum(nodes + 1, page.n)],
        fan_out=np.bincount(shown, minlength=page.n).astype(np.int64),
        leaves=leaves,
        leaves_before=prefix_sums(leaves.astype(np.int64)),
    )


def _own_text_bytes(page: Digest) -> Ints:
    """Bytes of the text of each node itself; 0 for all but visible texts that are not blank."""
    text = page.tag_id("#text")
    own = np.zeros(page.n, np.int64)
    if text < 0:
        return own
    texts = np.flatnonzero((page.tag == text) & page.visible & (page.content >= 0))
    lengths = np.array([_shown_bytes(raw) for raw in page.contents], np.int64)
    if len(texts):
        own[texts] = lengths[page.content[texts]]
    return own


def _shown_bytes(raw: bytes) -> int:
    kept = raw.strip()
    if len(kept) <= 64:  # noqa: PLR2004 - long texts are not only blanks in practice
        for blank in _BLANK:
            kept = kept.replace(blank, b"")
        kept = kept.strip()
    return len(kept)


def prefix_sums(own: Ints) -> Ints:
    """The sums of all entries in front of each, and of all of them."""
    sums = np.zeros(len(own) + 1, np.int64)
    np.cumsum(own, out=sums[1:])
    return sums
