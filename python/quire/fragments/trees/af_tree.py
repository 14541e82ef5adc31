"""AF trees: a page reduced to the parts that hold text (paper 004, section 3.2).

AF stands for *augmented fragment*. The tree is stored as columns in pre-order, like a digest: a
subtree is the slice ``i : i + size[i]``, and node 0 is the document.

* Formatting tags are removed as if they had never been written. Nodes without text are dropped. An
  element with a single child is merged with it, and the outer element is kept.
* The *value* of a leaf is its visible text in UTF-8, with each run of white space replaced by one
  space and a line feed added at the end. The value of any other node is the values of its leaves
  in order (SubtreeValue), so every value is a slice of ``text``.
* Every node records which nodes of the page it covers, and its bytes in the source.

Cost: linear in the size of the page. Shingles are computed on demand by the paper's HiSh method,
which hashes every window of a page once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from quire import _core
from quire.digest.page import Digest
from quire.fragments.trees.shingles import Shingles, Shingling

#: Tags that only format text. The paper names three of them: big, bold, i.
FORMATTING: frozenset[str] = frozenset(
    "b big em font i s small strike strong sub sup tt u".split()  # noqa: SIM905 - read at a glance
)
#: All tags that occur within a line of text, including links and spans.
INLINE: frozenset[str] = FORMATTING | frozenset(
    "a abbr acronym bdi bdo cite code del dfn ins kbd label mark nobr q samp span time var".split()  # noqa: SIM905 - same
)


@dataclass(frozen=True, slots=True)
class Pruned:
    """How many nodes of a page were left out of its AF tree, by reason.

    These counts and the nodes of the AF tree add up to the nodes of the page.

    Attributes:
        formatting: formatting tags.
        blank: nodes without text: white space, comments, empty elements.
        joined: texts that were joined with the text before them.
        chained: only children, merged with their parents.
    """

    formatting: int
    blank: int
    joined: int
    chained: int


class AfTree:
    r"""The augmented fragment tree of a page.

    >>> import quire
    >>> menu = b"<ul><li>Fish <b>and</b> chips<li><a href=/>Peas</a></ul>"
    >>> page = quire.encode(b"<h1>Menu</h1>" + menu)
    >>> tree = AfTree.of(page)
    >>> for node in range(tree.n):
    ...     print(tree.value(node))
    b'Menu\nFish and chips\nPeas\n'
    b'Menu\n'
    b'Fish and chips\nPeas\n'
    b'Fish and chips\n'
    b'Peas\n'
    >>> tree.node_id(3), [page.tags[page.tag[node]] for node in tree.node]
    ((1, 0), ['#document', 'h1', 'ul', 'li', 'li'])
    """

    def __init__(self, native: _core.AfTree) -> None:
        self._native = native
        self._shingles: dict[Shingling, Shingles] = {}

    @classmethod
    def of(
        cls, page: Digest, *, formatting: Iterable[str] = FORMATTING, chains: bool = False
    ) -> Self:
        """Build the AF tree of a page.

        Args:
            page: the page.
            formatting: names of the HTML tags to remove.
            chains: keep only children as separate nodes, as the paper does.

        Raises:
            DigestFormatError: the stored digest is damaged.
            SourceTooLarge: the page has more than 4 GiB of text.
        """
        return cls(_core.AfTree(page._native, sorted(formatting), chains))

    # ------------------------------------------------------------ columns

    @property
    def n(self) -> int:
        """Number of nodes; at least 1."""
        return len(self._native)

    @cached_property
    def text(self) -> bytes:
        """The value of node 0: all text of the page, one leaf per line."""
        return self._native.text()

    @cached_property
    def node(self) -> NDArray[np.uint32]:
        """First node of the page that each node covers."""
        return self._column("node")

    @cached_property
    def node_end(self) -> NDArray[np.uint32]:
        """One past the last node of the page that each node covers.

        A leaf may cover several texts with formatting tags between them.
        """
        return self._column("node_end")

    @cached_property
    def parent(self) -> NDArray[np.int32]:
        """Parent of each node; -1 for node 0."""
        return self._column("parent").view(np.int32)

    @cached_property
    def depth(self) -> NDArray[np.uint32]:
        """Depth of each node; 0 for node 0."""
        return self._column("depth")

    @cached_property
    def index(self) -> NDArray[np.uint32]:
        """Position of each node among its siblings, from 0."""
        return self._column("index")

    @cached_property
    def size(self) -> NDArray[np.uint32]:
        """Number of nodes in each subtree, including its root."""
        return self._column("size")

    @cached_property
    def value_start(self) -> NDArray[np.uint32]:
        """Offset in ``text`` at which the value of each node begins."""
        return self._column("value_start")

    @cached_property
    def value_end(self) -> NDArray[np.uint32]:
        """Offset in ``text`` at which the value of each node ends."""
        return self._column("value_end")

    @cached_property
    def value_bytes(self) -> NDArray[np.uint32]:
        """Length of each value in bytes (the paper's SubtreeSize)."""
        return self.value_end - self.value_start

    @cached_property
    def value_hash(self) -> NDArray[np.uint64]:
        """64-bit hash of each value; equal values have equal hashes on every page."""
        return np.frombuffer(self._native.column("value_hash"), "<u8")

    @property
    def has_bytes(self) -> bool:
        """Whether source positions are known; not for ``verbatim`` and ``transcoded`` pages."""
        return len(self._native.column("byte_start")) > 0

    @cached_property
    def byte_start(self) -> NDArray[np.int64]:
        """Offset of the first byte of each node in the source, or -1."""
        return self._place("byte_start")

    @cached_property
    def byte_end(self) -> NDArray[np.int64]:
        """Offset after the last byte of each node in the source, or -1."""
        return self._place("byte_end")

    @cached_property
    def span(self) -> NDArray[np.int64]:
        """``byte_start`` and ``byte_end`` of each node, as two columns."""
        return np.stack([self.byte_start, self.byte_end], axis=1)

    @cached_property
    def source_hash(self) -> NDArray[np.uint64]:
        """64-bit hash of the source bytes of each node; 0 if unknown. See ``SourceSpans.hash``."""
        found: NDArray[np.uint64] = np.frombuffer(self._native.column("source_hash"), "<u8")
        return found if len(found) else np.zeros(self.n, np.uint64)

    @cached_property
    def pruned(self) -> Pruned:
        """How many nodes of the page were left out, by reason."""
        return Pruned(*self._native.pruned)

    # ------------------------------------------------------------ questions

    def value(self, node: int) -> bytes:
        """Return the text of a node (the paper's SubtreeValue)."""
        return self.text[self.value_start[node] : self.value_end[node]]

    def node_id(self, node: int) -> tuple[int, ...]:
        """Return the path from node 0 to a node, as child positions (the paper's NodeID)."""
        steps = []
        while node > 0:
            steps.append(int(self.index[node]))
            node = int(self.parent[node])
        return tuple(reversed(steps))

    def children(self, node: int) -> Iterator[int]:
        """Iterate over the children of a node."""
        child, end = node + 1, node + int(self.size[node])
        while child < end:
            yield child
            child += int(self.size[child])

    def shingles(self, shingling: Shingling | None = None) -> Shingles:
        """Return the shingles of all nodes (the paper's SubtreeShingles).

        Uses the paper's HiSh method: the shingles of a parent are combined from its children.

        Raises:
            ValueError: a setting is out of range.
        """
        how = shingling or Shingling()
        if how not in self._shingles:
            self._shingles[how] = self._shingled(how, direct=False)
        return self._shingles[how]

    def direct_shingles(self, shingling: Shingling | None = None) -> Shingles:
        """Return the same shingles, computed for each node separately.

        This is the baseline for measuring HiSh. It takes quadratic time on deep pages.

        Raises:
            ValueError: a setting is out of range.
        """
        return self._shingled(shingling or Shingling(), direct=True)

    def __repr__(self) -> str:
        return f"<AfTree, {self.n:,} nodes, {len(self.text):,} bytes of text>"

    def _shingled(self, how: Shingling, *, direct: bool) -> Shingles:
        starts, ends, values, hashes, nanoseconds = self._native.shingles(
            how.window, how.sample, how.bits, direct
        )
        return Shingles(
            np.frombuffer(starts, "<i8"),
            np.frombuffer(ends, "<i8"),
            np.frombuffer(values, "<u4"),
            hashes,
            nanoseconds / 1e9,
        )

    def _column(self, name: str) -> NDArray[Any]:
        return np.frombuffer(self._native.column(name), "<u4")

    def _place(self, name: str) -> NDArray[np.int64]:
        found = self._column(name)
        return found.astype(np.int64) if len(found) else np.full(self.n, -1, np.int64)
