"""The digest of one page: its text, its links, selectors, and saving it.

The columns themselves are in ``columns``; ``Digest`` inherits from it. Every loop over nodes runs
in a Rust kernel; this module only names the kernels and wraps their results.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Self, SupportsIndex, TypeVar, final

from quire import _core
from quire.atomic import write_atomic
from quire.digest.arguments import check_path
from quire.digest.columns import Columns, nodes
from quire.digest.lxml_tree import to_lxml
from quire.digest.node import Node
from quire.digest.references import Image, Link, base_of, resolve
from quire.digest.trees import columns_of, counts_of

if TYPE_CHECKING:
    from lxml import etree

    from quire.digest.columns import Counts, Nodes

_T = TypeVar("_T")

# A page is compressed once and loaded often. Level 6 takes 1.1 ms per page, level 3 only 0.4 ms,
# but level 6 gives 6 % fewer bytes, and they decompress 5 % faster.
_LEVEL = 6


@final
class Digest(Columns):
    """A page as columns that decode to its exact bytes.

    Create one with ``quire.encode``, ``quire.load``, ``quire.from_bytes`` or ``Digest.from_tree``.
    Digests are immutable and can be pickled. Two digests are equal if their kind and all their
    signatures are equal.

    >>> import quire
    >>> page = quire.encode(b"<p>Fish &amp; <b>chips</b>")
    >>> page
    <Digest html, 8 nodes, 26 bytes>
    >>> page.children.tolist()
    [1, 2, 0, 1, 2, 0, 1, 0]
    >>> [page.tags[tag] for tag in page.tag]
    ['#document', 'html', 'head', 'body', 'p', '#text', 'b', '#text']
    >>> page.decode()
    b'<p>Fish &amp; <b>chips</b>'
    """

    __slots__ = ()

    # ------------------------------------------------------------ making

    @classmethod
    def from_tree(
        cls,
        root: _T,
        *,
        children: Callable[[_T], Iterable[_T]],
        tag: Callable[[_T], str],
        attributes: Callable[[_T], Mapping[str, str] | None] | None = None,
        content: Callable[[_T], bytes | str | None] | None = None,
    ) -> Self:
        """Make the digest of any ordered tree, read through the four functions you pass.

        The content of a node becomes a ``#text`` node in front of its children. Only nodes with the
        tag ``#text`` or ``#comment`` keep their own content; they must be leaves. Decoding gives
        the serialisation of the paper's Algorithm 2, escaped as in XML. Trees may have any depth:
        nothing recurses.

        >>> recipe = ("cake", [("flour", []), ("eggs", [])])
        >>> page = Digest.from_tree(
        ...     recipe, children=lambda node: node[1], tag=lambda node: node[0]
        ... )
        >>> page.children.tolist(), page.decode()
        ([1, 2, 0, 0], b'<cake><flour></flour><eggs></eggs></cake>')

        Raises:
            TreeError: a name is not a valid tag, or a node is its own descendant.
        """
        columns = columns_of(root, children, tag, attributes, content)
        return cls(_core.from_columns(*columns))

    @classmethod
    def from_columns(
        cls,
        children: Sequence[int] | Counts,
        tags: Sequence[str],
        *,
        attributes: Sequence[Mapping[str, str] | None] | None = None,
        contents: Sequence[bytes | str | None] | None = None,
    ) -> Self:
        """Make the digest of a tree given as columns, with one entry per node.

        Works like ``from_tree``: ``#document`` is added in front, and content goes into leaves. If
        the columns come from a digest, leave out its node 0.

        >>> Digest.from_columns([1, 0], ["a", "b"], contents=[None, "x < y"]).decode()
        b'<a><b>x &lt; y</b></a>'

        Args:
            children: child counts in pre-order (the paper's ST).
            tags: tag names.
            attributes: attribute names and values; None for a node without attributes.
            contents: contents; None for a node without content.

        Raises:
            TreeError: the counts do not describe exactly one tree, or a name is not a valid tag.
        """
        return cls(
            _core.from_columns(
                counts_of(children),
                list(tags),
                [list((entry or {}).items()) for entry in attributes or ()],
                [entry.encode() if isinstance(entry, str) else entry for entry in contents or ()],
            )
        )

    # ------------------------------------------------------------ reading

    def decode(self) -> bytes:
        """Return the exact bytes of the page.

        Raises:
            DigestFormatError: the digest is forged or damaged.
        """
        return self._native.decode()

    def text(
        self, node: SupportsIndex = 0, *, without: Iterable[SupportsIndex] | None = None
    ) -> str:
        r"""Return the text of a subtree in reading order.

        Block elements and ``br`` start new lines, tabs separate the cells of a row, and white space
        collapses except in ``pre`` and similar elements. Scripts, styles and templates are left
        out. If ``node`` is itself a text, comment or other leaf, you get its decoded content
        unchanged.

        >>> import quire
        >>> quire.encode(b"<p>Fish &amp;\n chips<p>9.50<script>x</script>").text()
        'Fish & chips\n9.50'

        Args:
            node: the node to read.
            without: nodes to leave out, with everything in them, as if they were not there.

        Raises:
            NodeNotFound: the page has no node with one of these numbers.
        """
        if without is None:
            return self._native.text(node)
        return self._native.text_without(node, list(without))

    def markdown(
        self, node: SupportsIndex = 0, *, without: Iterable[SupportsIndex] | None = None
    ) -> str:
        r"""Return a subtree as Markdown (CommonMark, with the tables of GitHub).

        The words are those of ``text``, in the same order. Headings, paragraphs, lists, quotes, code,
        data tables, links, images with an ``alt``, and emphasis keep their meaning; everything else
        is text. Characters that would mean markup are escaped, so the text of a page cannot add
        structure. Only links to ``http``, ``https``, ``mailto``, ``tel`` and ``ftp`` and relative ones
        keep their addresses. Pages other than HTML and XHTML become one block of code.

        >>> import quire
        >>> page = quire.encode(b"<h1>Menu</h1><ul><li>Fish &amp; <b>chips</b><li>1 * 2 = 2</ul>")
        >>> print(page.markdown())
        # Menu
        <BLANKLINE>
        - Fish & **chips**
        - 1 \* 2 = 2

        Args:
            node: the node to read.
            without: nodes to leave out, with everything in them, as if they were not there.

        Raises:
            NodeNotFound: the page has no node with one of these numbers.
        """
        from quire.digest.markdown import writer  # noqa: PLC0415 - needs numpy

        return writer.markdown(self, node, without)

    def span(self, node: SupportsIndex) -> tuple[int, int]:
        """Return the start and end of a node in the source bytes.

        From its start tag to its end tag, with everything in between. If both tags are implied, as
        those of ``html``, ``head``, ``body`` and ``tbody`` often are, the span is that of its content;
        without content it is empty, at the place where the node would be. So spans nest
        as nodes do, and that of node 0 is the whole source. Bytes that stand for no node, such as a stray
        end tag, are in the span of the node they are in or come after. The first call finds the
        spans of all nodes.

        On a page that is flagged ``reordered`` a browser moved some nodes, such as a text between
        the cells of a table. A moved node has an empty span, and its bytes are in the span of the element
        it was written in. An element that a browser closes and opens again (``b`` in
        ``<p><b>x</p>y``) has its start tag in the span of the first one only.

        >>> import quire
        >>> source = b"<ul><li>Fish<li>Chips</ul>"
        >>> page = quire.encode(source)
        >>> start, end = page.span(7)
        >>> source[start:end]
        b'<li>Chips'

        Raises:
            NodeNotFound: the page has no node of that number.
            ValueError: the page is flagged ``verbatim``: its tree does not tell where nodes are.
        """
        found = self._native.span(node)
        if found is None:
            raise ValueError("the page is flagged verbatim: the places of its nodes are not known")
        return found

    def attributes(self, node: SupportsIndex) -> dict[str, str]:
        """Return the attributes of a node as a browser reads them.

        Values are decoded, names are in lower case, and of duplicate names the first one counts.

        >>> import quire
        >>> quire.encode(b"<p ID=a title='x &lt; y' id=b>").attributes(4)
        {'id': 'a', 'title': 'x < y'}
        """
        return self._native.attributes(node)

    def attribute_lines(
        self, nodes: Sequence[SupportsIndex], names: Sequence[str] = ()
    ) -> list[str]:
        """Return the attributes of nodes as lines ``tag name=value``, sorted for each node.

        >>> import quire
        >>> quire.encode(b"<p title=t id=a><img id=b>").attribute_lines([4, 5], ["id"])
        ['p id=a', 'img id=b']

        Args:
            nodes: numbers of nodes.
            names: names of attributes; empty for all.

        Raises:
            NodeNotFound: the page has no node with one of the numbers.
        """
        return self._native.attribute_lines(nodes, names)

    def node(self, number: SupportsIndex) -> Node:
        """Return a handle on a node.

        >>> import quire
        >>> quire.encode(b"<p class=note>").node(4)
        <Node 4 p.note>

        Raises:
            NodeNotFound: the page has no node with that number.
        """
        self._native.attributes(number)  # raises NodeNotFound
        return Node(self, number.__index__())

    @property
    def root(self) -> Node:
        """A handle on the document, node 0."""
        return Node(self, 0)

    def links(self, base: str | None = None) -> list[Link]:
        """List the links of the page in document order, with resolved addresses.

        These are the links that the ``links`` facet compares: ``href`` of ``a``, ``area`` and
        ``link``; ``action`` of ``form``; ``src`` of ``iframe``, ``frame``, ``embed``, ``script``.

        >>> import quire
        >>> page = quire.encode(b"<base href=/shop/><a href=fish>Fish</a>")
        >>> page.links("https://example.org/")[0].url
        'https://example.org/shop/fish'

        Args:
            base: the address of the page. If the page has a ``base`` element, that element is
                resolved against this address first.
        """
        base = self._base(base)
        found = []
        for node, raw, text in self._native.links():
            tag = self._name(node)
            seen = self.attributes(node).get("alt", "") if tag == "area" else text
            found.append(Link(node, tag, resolve(base, raw), raw, seen))
        return found

    def images(self, base: str | None = None) -> list[Image]:
        """List the images of the page in document order, with resolved addresses.

        Each candidate of a ``srcset`` is listed as one image.

        >>> import quire
        >>> page = quire.encode(b"<img src=a.png alt=Fish srcset='b.png 2x'>")
        >>> [(image.url, image.alt) for image in page.images("https://example.org/x")]
        [('https://example.org/a.png', 'Fish'), ('https://example.org/b.png', 'Fish')]

        Args:
            base: the address of the page. If the page has a ``base`` element, that element is
                resolved against this address first.
        """
        base = self._base(base)
        return [
            Image(
                node,
                self._name(node),
                resolve(base, raw),
                raw,
                self.attributes(node).get("alt", ""),
            )
            for node, raw in self._native.images()
        ]

    def addresses(self, of: Literal["links", "images"]) -> list[tuple[int, str]]:
        """List the addresses of links or images as written, each with its node.

        Faster than ``links`` and ``images``, which resolve addresses and read texts.

        >>> import quire
        >>> quire.encode(b"<a href=fish>Fish</a><img src=a.png>").addresses("links")
        [(4, 'fish')]
        """
        if of == "links":
            return self._native.link_addresses()
        return self._native.images()

    # ------------------------------------------------------------ finding

    def select(self, selector: str, within: SupportsIndex = 0) -> Nodes:
        """Find elements by CSS selector, in document order.

        Works like ``querySelectorAll``: it searches the elements below ``within``, and ``:scope``
        means ``within``.

        >>> import quire
        >>> quire.encode(b"<ul><li>a<li class=x>b</ul>").select("li.x").tolist()
        [7]

        Raises:
            SelectorError: the selector is not valid.
            SelectorBudgetExceeded: the selector took too many steps on this page.
            NodeNotFound: the page has no node ``within``.
        """
        return nodes(self._native.select(selector, within))

    def select_one(self, selector: str, within: SupportsIndex = 0) -> int | None:
        """Find the first element that matches a CSS selector, as ``querySelector`` does.

        >>> import quire
        >>> page = quire.encode(b"<ul><li>a<li class=x>b</ul>")
        >>> page.select_one("li"), page.select_one("table")
        (5, None)

        Raises:
            SelectorError: the selector cannot be read.
            SelectorBudgetExceeded: it took too many steps on this page.
            NodeNotFound: the page has no node ``within``.
        """
        found = self.select(selector, within)
        return int(found[0]) if len(found) else None

    def xpath(
        self, expression: str, node: SupportsIndex = 0
    ) -> Nodes | list[str] | float | str | bool:
        """Evaluate an XPath expression at a node.

        Nodes are returned as an array, attributes as a list of their values, other results as they
        are. If nothing matches, the result is an empty array. ``docs/concepts/digest.md`` describes
        the supported subset of XPath.

        >>> import quire
        >>> page = quire.encode(b"<a href=x>1</a><a href=y>2</a>")
        >>> page.xpath("//a[2]/@href"), page.xpath("count(//a)")
        (['y'], 2.0)

        Raises:
            SelectorError: the expression is not valid, or uses an unsupported part of XPath.
            SelectorBudgetExceeded: the expression took too many steps on this page.
            NodeNotFound: the page has no such node.
        """
        found = self._native.xpath(expression, node)
        return nodes(found) if isinstance(found, bytes) else found

    def path(self, node: SupportsIndex, style: Literal["css", "xpath"] = "css") -> str:
        """Return a selector that finds this node and no other.

        Some nodes cannot be selected; they get the path of the nearest ancestor that can. CSS
        selects elements outside of templates; if no ancestor is one, the path is ``:root``. XPath
        selects everything except doctypes, the content node of a template, objects and arrays of
        JSON, paragraphs of plain text, and bytes.

        A path is never longer than a selector may be (64 KiB). If the usual one would be, CSS
        starts at an element whose name is unique, and XPath counts nodes in document order. CSS
        cannot select elements below some ten thousand levels, which only XML and JSON have.

        The first call for a page reads the whole page. Later calls take as long as the path.

        >>> import quire
        >>> page = quire.encode(b"<p>a<p>b")
        >>> page.path(6), page.path(7, "xpath")
        ('html > body > p:nth-of-type(2)', '/html/body/p[2]/text()')
        >>> page.path(7)  # a text, which CSS cannot select
        'html > body > p:nth-of-type(2)'
        """
        if style == "css":
            return self._native.css_path(node)
        if style == "xpath":
            return self._native.xpath_path(node)
        raise ValueError(f"unknown style {style!r}; expected css or xpath")

    def tag_id(self, name: str, namespace: str | None = None) -> int:
        """Return the index of a name in ``tags`` or ``tag_names``, or -1 if no node has it.

        A plain name that is in several namespaces gives the first of them.

        >>> import quire
        >>> page = quire.encode(b"<ul><li>a<li>b</ul>")
        >>> (page.tag == page.tag_id("li")).nonzero()[0].tolist()
        [5, 7]
        """
        if namespace is None and name in self.tags:
            return self.tags.index(name)
        for index, (found, space) in enumerate(
            zip(self.tag_names, self.tag_namespaces, strict=True)
        ):
            if found == name and namespace in {None, space}:
                return index
        return -1

    def count(self, name: str) -> int:
        """Count the nodes with a name, in any namespace; ``svg:title`` counts those of SVG only.

        >>> import quire
        >>> quire.encode(b"<ul><li>a<li>b</ul>").count("li")
        2
        """
        counts = zip(self.tag_names, self.tag_counts().items(), strict=True)
        return sum(count for found, (label, count) in counts if name in {found, label})

    def tag_counts(self) -> dict[str, int]:
        """Count the nodes by name, as in ``tags``.

        >>> import quire
        >>> quire.encode(b"<ul><li>a<li>b</ul>").tag_counts()
        {'#document': 1, 'html': 1, 'head': 1, 'body': 1, 'ul': 1, 'li': 2, '#text': 2}
        """
        return self._native.tag_counts(self.tags)

    # ------------------------------------------------------------ leaving

    def to_lxml(self) -> etree._Element:
        """Build an lxml tree of an HTML page, an XML page or a tree, and return its root element.

        >>> import quire
        >>> quire.encode(b"<p>Fish").to_lxml().findtext("body/p")
        'Fish'

        Raises:
            MissingExtra: lxml is not installed.
            TypeError: pages of this kind have no elements.
        """
        return to_lxml(self)

    def to_bytes(self, *, compress: bool = False) -> bytes:
        """Return the digest as the bytes that ``save`` would write.

        >>> import quire
        >>> page = quire.encode(b"<p>Fish")
        >>> quire.from_bytes(page.to_bytes(compress=True)) == page
        True

        Args:
            compress: compress with zstd; the header stays readable without decompressing.
        """
        return _core.compress(self._native, _LEVEL) if compress else self._native.to_bytes()

    def save(self, path: str | os.PathLike[str], *, compress: bool = False) -> None:
        """Write the digest to a file; the usual extension is ``.qd``.

        The file is written atomically (see ``quire.atomic``). Readers see either the old digest or
        the new one, and digests loaded from the old file stay intact.

        >>> import quire, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     quire.encode(b"<p>Fish").save(f"{folder}/a.qd")
        ...     quire.load(f"{folder}/a.qd").decode()
        b'<p>Fish'

        Args:
            path: the file to write.
            compress: compress with zstd; the file is a few times smaller, and is decompressed into
                memory when loaded.

        Raises:
            OSError: the file cannot be written; the error names ``path``.
        """
        check_path("path", path)
        write_atomic(path, self.to_bytes(compress=compress))

    def __reduce__(self) -> tuple[Callable[[bytes], Digest], tuple[bytes]]:
        return _restore, (self.to_bytes(),)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Digest):
            return NotImplemented
        return self.kind == other.kind and self.signatures == other.signatures

    def __hash__(self) -> int:
        return hash((self.kind, self.signatures))

    def __repr__(self) -> str:
        flags = "".join(f", {flag}" for flag in sorted(self.flags - {"scripting", "quirks"}))
        return f"<Digest {self.kind}, {self.n} nodes, {self.source_bytes} bytes{flags}>"

    # ------------------------------------------------------------ inside

    def _base(self, base: str | None) -> str | None:
        return base_of(base, self._native.base())

    def _name(self, node: int) -> str:
        return self.tag_names[int(self.tag[node])]


def _restore(data: bytes) -> Digest:
    """Unpickle a digest."""
    return Digest(_core.from_bytes(data, "all"))
