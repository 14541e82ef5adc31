"""The outline of a page, from the columns of its digest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from quire.digest.page import Digest

Ints: TypeAlias = NDArray[np.int64]
Truths: TypeAlias = NDArray[np.bool_]

_BLANK_STARTS = (b"&", b"\xc2", b"\xe2")
_BLANK = (b"&nbsp;", b"&#160;", b"\xc2\xa0", b"&zwnj;", b"\xe2\x80\x8b")


@dataclass(frozen=True, eq=False)
class Outline:
    """The facts about every node of a page that a search for records needs.

    Attributes:
        page: the page.
        elements: whether a node is a visible element.
        parent: the parent of each node; -1 for node 0.
        end: the first node after each subtree.
        own_text: bytes of each visible text, as written, without white space around it; else 0.
    """

    page: Digest
    elements: Truths
    parent: Ints
    end: Ints
    own_text: Ints

    @cached_property
    def text_before(self) -> Ints:
        """Bytes of text in front of each node; one entry more than nodes."""
        return prefix_sums(self.own_text)

    @cached_property
    def text_bytes(self) -> Ints:
        """Bytes of text in each subtree."""
        return self.text_before[self.end] - self.text_before[:-1]

    @cached_property
    def tag_count(self) -> Ints:
        """Visible elements in each subtree, without its root."""
        counted = prefix_sums(self.elements)
        return counted[self.end] - counted[1:]

    @cached_property
    def fan_out(self) -> Ints:
        """Visible elements among the children of each node."""
        shown = self.parent[1:][self.elements[1:]]
        return np.bincount(shown, minlength=self.page.n)

    @cached_property
    def leaves(self) -> Truths:
        """Whether a node shows something itself: a text that is not blank, or an image."""
        image = np.array([name == "img" for name in self.page.tag_names], bool)
        return (self.own_text > 0) | (image[self.page.tag] & self.elements)

    @cached_property
    def leaves_before(self) -> Ints:
        """Leaves in front of each node; one entry more than nodes."""
        return prefix_sums(self.leaves)

    @cached_property
    def plain(self) -> PlainColumns:
        """The columns as lists, for loops over single nodes: these are slow over arrays."""
        return PlainColumns(
            tag=self.page.tag.tolist(),
            attr=self.page.attr.tolist(),
            parent=self.parent.tolist(),
            end=self.end.tolist(),
            leaves=self.leaves.tolist(),
            elements=self.elements.tolist(),
        )

    def leaf_count(self, nodes: Ints) -> Ints:
        """The number of leaves in some subtrees."""
        return self.leaves_before[self.end[nodes]] - self.leaves_before[nodes]

    def count(self, *names: str) -> Ints:
        """How many visible elements with one of the names are in front of each node, and in all."""
        wanted = np.array([name in names for name in self.page.tag_names], bool)
        return prefix_sums(wanted[self.page.tag] & self.elements)

    def children(self, node: int) -> Ints:
        """The visible elements among the children of a node, in order."""
        low, high = node + 1, int(self.end[node])
        found = np.flatnonzero((self.parent[low:high] == node) & self.elements[low:high])
        return found.astype(np.int64) + low


@dataclass(frozen=True, slots=True, eq=False)
class PlainColumns:
    """Columns of an outline as lists."""

    tag: list[int]
    attr: list[int]
    parent: list[int]
    end: list[int]
    leaves: list[bool]
    elements: list[bool]


def outline(page: Digest) -> Outline:
    """Measure every node of a page."""
    is_element = np.array([not name.startswith("#") for name in page.tag_names], bool)
    return Outline(
        page=page,
        elements=is_element[page.tag] & page.visible,
        parent=page.parent.astype(np.int64),
        end=np.arange(page.n, dtype=np.int64) + page.size,
        own_text=_own_text_bytes(page),
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
    # Only a text that starts with a blank character can be one of nothing else.
    if kept[:1] in _BLANK_STARTS:
        for blank in _BLANK:
            kept = kept.replace(blank, b"")
        kept = kept.strip()
    return len(kept)


def prefix_sums(own: Ints | Truths) -> Ints:
    """The sums of all entries in front of each, and of all of them."""
    sums = np.zeros(len(own) + 1, np.int64)
    np.cumsum(own, out=sums[1:])
    return sums
