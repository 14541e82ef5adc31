"""A handle on one node of a page, for interactive use.

A node is a page and a number; every property is read from the columns of the page on demand. To
walk a whole page, use the columns: they are much faster.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:  # a page makes nodes, a node holds a page
    from quire.digest.page import Digest


@dataclass(frozen=True, slots=True, repr=False)
class Node:
    """One node of a page.

    >>> import quire
    >>> page = quire.encode(b"<ul id=menu><li class='first big'>Fish<li>Chips</ul>")
    >>> menu = page.node(4)
    >>> menu
    <Node 4 ul#menu>
    >>> [child.text for child in menu]
    ['Fish', 'Chips']
    >>> menu.children[0].attributes, menu.children[0].next_sibling
    ({'class': 'first big'}, <Node 7 li>)

    Attributes:
        page: the page.
        number: the number of the node in document order; 0 is the document.
    """

    page: Digest
    number: int

    @property
    def tag(self) -> str:
        """The name without a namespace: ``div``, ``#text``."""
        return self.page.tag_names[int(self.page.tag[self.number])]

    @property
    def namespace(self) -> str:
        """The namespace: ``html``, ``svg``, ``math``, ``xml``, ``json`` or ``tree``.

        Empty for ``#text`` and other names that start with ``#``.
        """
        return self.page.tag_namespaces[int(self.page.tag[self.number])]

    @property
    def attributes(self) -> dict[str, str]:
        """The attributes, as a browser reads them."""
        return self.page.attributes(self.number)

    @property
    def text(self) -> str:
        """The text of the subtree in reading order."""
        return self.page.text(self.number)

    @property
    def source(self) -> bytes:
        """The bytes of the source it was written with, from start tag to end tag: see ``Digest.span``.

        Decodes the page each time. For many nodes, decode the page once and cut it by ``Digest.span``.

        >>> import quire
        >>> quire.encode(b"<ul><li>Fish &amp; <b>chips</b><li>Peas</ul>").node(5).source
        b'<li>Fish &amp; <b>chips</b>'
        """
        start, end = self.page.span(self.number)
        return self.page.decode()[start:end]

    @property
    def parent(self) -> Node | None:
        """The parent node; None for the document."""
        parent = int(self.page.parent[self.number])
        return None if parent < 0 else Node(self.page, parent)

    @property
    def children(self) -> tuple[Node, ...]:
        """The child nodes; iterate over the node itself to get them one at a time."""
        return tuple(self)

    @property
    def next_sibling(self) -> Node | None:
        """The node after this one in the same parent."""
        parent, size = self.page.parent, self.page.size
        after = self.number + int(size[self.number])
        if after == self.page.n or parent[after] != parent[self.number]:
            return None
        return Node(self.page, after)

    @property
    def previous_sibling(self) -> Node | None:
        """The node before this one in the same parent. Takes one step per preceding sibling."""
        before = None
        for sibling in self.parent or ():
            if sibling.number == self.number:
                break
            before = sibling
        return before

    def select(self, selector: str) -> list[Node]:
        """Find the elements below this node that match a CSS selector."""
        found = self.page.select(selector, within=self.number)
        return [Node(self.page, number) for number in found.tolist()]

    def select_one(self, selector: str) -> Node | None:
        """Find the first element below this node that matches a CSS selector."""
        found = self.page.select_one(selector, within=self.number)
        return None if found is None else Node(self.page, found)

    def path(self, style: Literal["css", "xpath"] = "css") -> str:
        """Return a selector that finds this node and no other; see ``Digest.path``."""
        return self.page.path(self.number, style)

    def __iter__(self) -> Iterator[Node]:
        size = self.page.size
        child, end = self.number + 1, self.number + int(size[self.number])
        while child < end:
            yield Node(self.page, child)
            child += int(size[child])

    def __repr__(self) -> str:
        attributes = self.attributes
        name = self.tag
        if attributes.get("id"):
            name += f"#{attributes['id']}"
        for word in attributes.get("class", "").split():
            name += f".{word}"
        return f"<Node {self.number} {name}>"
