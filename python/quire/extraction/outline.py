"""The outline of a page: the numbers about its nodes that every search for records starts from.

A digest in, arrays with one entry per node out. A subtree is a slice of a column, so a sum over a
subtree is one subtraction of prefix sums. A kernel in Rust measures the nodes, finds the lists and
reads the cells; arrays are made when they are first asked for.

Only visible nodes count: elements and texts outside scripts, styles and templates.
"""

from __future__ import annotations

from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from quire import _core
from quire.digest.page import Digest

Ints: TypeAlias = NDArray[np.int64]
Truths: TypeAlias = NDArray[np.bool_]


class Outline:
    """The facts about every node of a page that a search for records needs.

    Attributes:
        page: the page.
        native: the outline as the kernels use it.
    """

    def __init__(self, page: Digest) -> None:
        self.page = page
        self.native: _core.Outline = _core.Outline(page._native)  # noqa: SLF001 - kernels work on the native page

    @cached_property
    def elements(self) -> Truths:
        """Whether a node is a visible element."""
        return np.frombuffer(self.native.column("elements"), np.bool_)

    @cached_property
    def parent(self) -> Ints:
        """The parent of each node; -1 for node 0."""
        return self.page.parent.astype(np.int64)

    @cached_property
    def end(self) -> Ints:
        """The first node after each subtree."""
        return self._column("end")

    @cached_property
    def own_text(self) -> Ints:
        """Bytes of each visible text, as written, without white space around it; else 0."""
        return self._column("own_text")

    @cached_property
    def text_before(self) -> Ints:
        """Bytes of text in front of each node; one entry more than nodes."""
        return self._column("text_before")

    @cached_property
    def text_bytes(self) -> Ints:
        """Bytes of text in each subtree."""
        return self.text_before[self.end] - self.text_before[:-1]

    @cached_property
    def leaves(self) -> Truths:
        """Whether a node shows something itself: a text that is not blank, or an image."""
        return np.frombuffer(self.native.column("leaves"), np.bool_)

    @cached_property
    def leaves_before(self) -> Ints:
        """Leaves in front of each node; one entry more than nodes."""
        return self._column("leaves_before")

    def children(self, node: int) -> Ints:
        """The visible elements among the children of a node, in order."""
        low, high = node + 1, int(self.end[node])
        found = np.flatnonzero((self.parent[low:high] == node) & self.elements[low:high])
        return found.astype(np.int64) + low

    def _column(self, name: str) -> Ints:
        return np.frombuffer(self.native.column(name), np.int64)


def outline(page: Digest) -> Outline:
    """Measure every node of a page.

    >>> import quire
    >>> page = quire.encode(b"<ul><li>Cod<li>Chips</ul><script>x</script>")
    >>> view = outline(page)
    >>> ul = page.select_one("ul")
    >>> int(view.text_bytes[ul]), view.children(ul).tolist()
    (8, [5, 7])
    """
    return Outline(page)
