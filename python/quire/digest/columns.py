"""The columns of a page: read-only arrays over the digest's own memory, without copying.

Columns are in pre-order: a subtree is the slice ``i : i + size[i]``, and the next sibling is
``i + size[i]``. Node 0 is ``#document``.

A digest never changes, so derived columns are cached, and any number of threads may share a digest.
If two threads derive the same column at once, both get the same memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from quire import _core
from quire.digest.lists import ByteList
from quire.digest.signatures import Signatures

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Counts: TypeAlias = NDArray[np.unsignedinteger[Any]]
    Ids: TypeAlias = NDArray[np.signedinteger[Any]]
    Nodes: TypeAlias = NDArray[np.int32]

_T = TypeVar("_T")

#: HTML elements whose content is not part of the text of a page; ``noscript`` only on a page that
#: is flagged ``scripting``. ``Digest.visible`` applies them, and to SVG its ``script`` and ``style``.
HIDDEN_ELEMENTS: frozenset[str] = frozenset(_core.hidden_elements())


class Columns:
    """The data of a digest: facts about the page, columns and lists."""

    __slots__ = ("_kept", "_native")

    def __init__(self, native: _core.Digest) -> None:
        self._native = native
        self._kept: dict[str, Any] = {}

    # ------------------------------------------------------------ facts

    @property
    def n(self) -> int:
        """Number of nodes (the paper's N)."""
        return self._native.n

    @property
    def kind(self) -> str:
        """The parser that read the page: ``html``, ``xml``, ``json``, ``text`` or ``bytes``.

        ``tree`` if no parser did: the digest was made from a tree.
        """
        return self._native.kind

    @property
    def flags(self) -> frozenset[str]:
        """Notable properties of the whole page, such as ``quirks`` or ``verbatim``.

        ``docs/concepts/digest.md`` explains all flags.
        """
        return frozenset(self._native.flags)

    @property
    def encoding(self) -> str:
        """The character set, by its WHATWG label."""
        return self._native.encoding

    @property
    def encoding_reason(self) -> str:
        """How the character set was determined.

        One of ``bom``, ``transport``, ``meta``, ``late-meta``, ``xml-declaration``, ``utf8-valid``,
        ``default``, ``given``.
        """
        return self._native.encoding_reason

    @property
    def signatures(self) -> Signatures:
        """A 128-bit signature of the source and one of each facet.

        For a page just encoded, those of attributes, content, links and images are computed on
        first use. A stored digest has all of them.
        """
        return self._keep("signatures", lambda: Signatures.of(self._native.signatures))

    @property
    def source_bytes(self) -> int:
        """Length of the source in bytes."""
        return self._native.source_bytes

    @property
    def nbytes(self) -> int:
        """Size of the digest in memory and in an uncompressed file, without derived columns."""
        return self._native.nbytes

    # ------------------------------------------------------------ columns

    @property
    def children(self) -> Counts:
        """Number of children of each node (the paper's ST)."""
        return self._stored("children")

    @property
    def tag(self) -> Counts:
        """Index of each node's name in ``tags`` (the paper's TM)."""
        return self._stored("tag")

    @property
    def attr(self) -> Ids:
        """Index of each node's attribute run in ``attrs``, or -1 (the paper's AM)."""
        return self._stored("attr")

    @property
    def content(self) -> Ids:
        """Index of each node's content in ``contents``, or -1 (the paper's CM)."""
        return self._stored("content")

    @property
    def parent(self) -> Nodes:
        """Parent of each node; -1 for node 0."""
        return self._derived("parent", self._native.parent)

    @property
    def depth(self) -> Nodes:
        """Depth of each node; 0 for node 0."""
        return self._derived("depth", self._native.depth)

    @property
    def size(self) -> Nodes:
        """Number of nodes in each subtree; the subtree of node ``i`` is ``i : i + size[i]``."""
        return self._derived("size", self._native.size)

    @property
    def visible(self) -> NDArray[np.bool_]:
        """Whether a reader can see each node: whether ``text`` of the whole page reads it.

        Not visible are ``HIDDEN_ELEMENTS`` with everything in them, comments, doctypes and processing
        instructions. No style sheet is looked at. The ``title`` of a page is visible, as in ``text``.

        >>> import quire
        >>> page = quire.encode(b"<p>Fish<!-- cod --><script>x()</script>")
        >>> [page.tags[tag] for tag in page.tag[page.visible]]
        ['#document', 'html', 'head', 'body', 'p', '#text']
        """
        return self._keep("visible", lambda: _truths(self._native.visible()))

    # ------------------------------------------------------------ lists

    @property
    def tags(self) -> tuple[str, ...]:
        """The names on the page, all different (the paper's TL): ``div``, ``svg:clipPath``, ``#text``.

        Elements of SVG and MathML in an HTML page have ``svg:`` and ``math:`` in front, so that the two
        ``title`` of a page with a drawing are ``title`` and ``svg:title``. Names of XML are as written,
        with their prefix. Two rare names are marked to stay different: an HTML name that itself
        begins with ``svg:``, ``math:`` or ``html:`` gets ``html:`` in front, and a JSON key that begins
        with ``#`` has it twice. Selectors do not know these spellings; ``tag_names`` has the plain names.

        >>> import quire
        >>> quire.encode(b"<title>a</title><svg><title>b").tags[3:]
        ('title', '#text', 'body', 'svg:svg', 'svg:title')
        """
        return self._keep("tags", lambda: tuple(label for label, _, _ in self._native.tags()))

    @property
    def tag_names(self) -> tuple[str, ...]:
        """The name of each of ``tags`` without its namespace; ``title`` may be there twice."""
        return self._keep("names", lambda: tuple(name for _, name, _ in self._native.tags()))

    @property
    def tag_namespaces(self) -> tuple[str, ...]:
        """The namespace of each of ``tags``.

        One of ``html``, ``svg``, ``math``, ``xml``, ``json``, ``tree``; empty for names with ``#``.
        """
        return self._keep("namespaces", lambda: tuple(space for _, _, space in self._native.tags()))

    @property
    def attrs(self) -> ByteList:
        """The attribute runs on the page, as written (the paper's AL)."""
        return ByteList(self._native.attr_count, self._native.attr_run)

    @property
    def contents(self) -> ByteList:
        """The contents on the page, as written (the paper's CL)."""
        return ByteList(self._native.content_count, self._native.content_raw)

    # The paper's names.
    N = n
    ST = children
    TL = tags
    TM = tag
    AL = attrs
    AM = attr
    CL = contents
    CM = content

    # ------------------------------------------------------------ inside

    # `get`, not `try`: each column misses once per page, and an exception costs more than a view.

    def _keep(self, name: str, make: Callable[[], _T]) -> _T:
        kept: _T | None = self._kept.get(name)
        if kept is None:
            kept = self._kept[name] = make()
        return kept

    def _stored(self, name: str) -> NDArray[Any]:
        column: NDArray[Any] | None = self._kept.get(name)
        if column is None:
            offset, count, dtype = self._native.column(name)
            memory = _core.view(self._native)
            column = self._kept[name] = _column(memory, dtype, count, offset)
        return column

    def _derived(self, name: str, make: Callable[[], _core.Navigation]) -> Nodes:
        column: Nodes | None = self._kept.get(name)
        if column is None:
            column = self._kept[name] = nodes(_core.view(make()))
        return column


# numpy is imported when a column is first used: the import takes as long as all of `quire --help`.


def nodes(memory: bytes | memoryview) -> Nodes:
    """View node numbers that a kernel made."""
    from quire.digest import views  # noqa: PLC0415 - see above

    return views.nodes(memory)


def _truths(memory: bytes) -> NDArray[np.bool_]:
    from quire.digest import views  # noqa: PLC0415 - see above

    return views.truths(memory)


def _column(memory: memoryview, dtype: str, count: int, offset: int) -> NDArray[Any]:
    from quire.digest import views  # noqa: PLC0415 - see above

    return views.column(memory, dtype, count, offset)
