"""Convert a page to an lxml tree.

lxml rejects names and characters that XML does not allow, so this module replaces them: in texts
with U+FFFD, in names with their code (``U0003A``), as html5lib does. Doctypes are left out. In
HTML, only SVG and MathML elements have a namespace, as in lxml's own HTML parser. The conversion
takes one pass over the page and does not recurse.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import ModuleType
from typing import TYPE_CHECKING

from quire.errors import MissingExtra

if TYPE_CHECKING:
    from lxml import etree

    from quire.digest.page import Digest

_NAMESPACES = {
    "svg": "http://www.w3.org/2000/svg",
    "math": "http://www.w3.org/1998/Math/MathML",
}
# Prefixes that need no declaration.
_XML: Mapping[str | None, str] = {"xml": "http://www.w3.org/XML/1998/namespace"}
_HTML: Mapping[str | None, str] = {**_XML, "xlink": "http://www.w3.org/1999/xlink"}
_BAD_TEXT = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Stricter than XML, so that every version of libxml2 accepts the name.
_BAD_IN_NAME = re.compile(
    r"[^A-Za-z0-9_.\-\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u3001-\ud7ff]"
)
_BAD_FIRST = re.compile(r"[0-9.\-]")


def to_lxml(page: Digest) -> etree._Element:
    """Build an lxml tree and return its root element.

    If a page does not have exactly one top-level element (a fragment), a ``div`` is put around it.

    >>> import quire
    >>> root = to_lxml(quire.encode(b"<p>Fish &amp; <b>chips</b>!"))
    >>> root.xpath("string(//p)")
    'Fish & chips!'

    Raises:
        MissingExtra: lxml is not installed.
        TypeError: pages of this kind have no elements.
    """
    try:
        from lxml import etree as library  # noqa: PLC0415 - optional, and slow to import
    except ImportError:
        raise MissingExtra("lxml is not installed", extra="lxml") from None
    if page.kind not in {"html", "xml", "tree"}:
        raise TypeError(f"a page of kind {page.kind} has no elements; expected html, xml or tree")
    return _Builder(page, library).build()


class _Builder:
    """Walks a page and builds its tree."""

    def __init__(self, page: Digest, library: ModuleType) -> None:
        self.page = page
        self.library = library
        self.last: etree._Element | None = None  # the node that the next text follows
        self.texts: list[str] = []
        # Open elements: their end, and the outer bindings of the prefixes that they declare.
        self.open: list[tuple[int, etree._Element, Mapping[str | None, str | None]]] = []
        # The prefixes in scope. One shared table: a copy for each element would be quadratic.
        self.bound: dict[str | None, str] = dict(_XML)
        # Comments and instructions beside the root; they have no parent.
        self.before: list[etree._Element] = []
        self.after: list[etree._Element] = []

    def build(self) -> etree._Element:
        """Add every node of the page and return the root element."""
        page = self.page
        if not self._has_one_root():
            self.open.append((page.n, self.library.Element("div"), {}))
        tags, namespaces = page.tag_names, page.tag_namespaces
        column, sizes = page.tag.tolist(), page.size.tolist()
        root: etree._Element | None = None
        for node in range(1, page.n):
            while self.open and self.open[-1][0] <= node:
                root = self._close()
            name, namespace = tags[column[node]], namespaces[column[node]]
            if namespace:
                self._element(name, namespace, node, node + sizes[node])
            elif name in {"#text", "#cdata"}:
                self.texts.append(page.text(node))
            else:
                self._leaf(name, page.text(node) if page.content[node] >= 0 else "", root)
        while self.open:
            root = self._close()
        return self._among_neighbours(root)

    def _among_neighbours(self, root: etree._Element | None) -> etree._Element:
        if root is None:
            raise AssertionError("the tree has no root element")
        for neighbour in self.before:
            root.addprevious(neighbour)
        for neighbour in reversed(self.after):
            root.addnext(neighbour)
        return root

    def _has_one_root(self) -> bool:
        """Tell whether the top level has one element, with only comments and space around it."""
        page = self.page
        elements = 0
        for child in page.root:
            if child.namespace:
                elements += 1
            elif child.tag in {"#text", "#cdata"} and child.text.strip():
                return False
        return elements == 1

    def _close(self) -> etree._Element:
        self._flush()
        _, self.last, outside = self.open.pop()
        for prefix, address in outside.items():
            self._bind(prefix, address)
        return self.last

    def _bind(self, prefix: str | None, address: str | None) -> None:
        if address:
            self.bound[prefix] = address
        else:
            self.bound.pop(prefix, None)

    def _flush(self) -> None:
        if not self.texts or not self.open:
            self.texts.clear()  # white space beside the root
            return
        text = _BAD_TEXT.sub("\ufffd", "".join(self.texts))
        self.texts.clear()
        if self.last is None:
            self.open[-1][1].text = text
        else:
            self.last.tail = text

    def _element(self, name: str, namespace: str, node: int, end: int) -> None:
        self._flush()
        attributes = self.page.attributes(node)
        declared: dict[str | None, str] = {}
        outside: dict[str | None, str | None] = {}
        if namespace == "xml":
            declared = _declared(attributes)
            outside = {prefix: self.bound.get(prefix) for prefix in declared}
            for prefix, address in declared.items():
                self._bind(prefix, address)
            # lxml cannot undeclare the default namespace; a name without one is enough.
            if not declared.get(None, "-"):
                del declared[None]
            spelled = _qualified(name, self.bound, default=True)
            attributes = {
                _qualified(key, self.bound, default=False): value
                for key, value in attributes.items()
                if key != "xmlns" and not key.startswith("xmlns:")
            }
        else:
            spelled = _name(name)
            if namespace in _NAMESPACES:
                spelled = f"{{{_NAMESPACES[namespace]}}}{spelled}"
                declared = {None: _NAMESPACES[namespace]}
            attributes = {
                _qualified(key, _HTML, default=False): value for key, value in attributes.items()
            }
        clean = {key: _BAD_TEXT.sub("\ufffd", value) for key, value in attributes.items()}
        try:
            element = self._make(spelled, clean, declared)
        except ValueError:  # lxml rejects the address of a namespace
            clean = {_name(key): value for key, value in clean.items()}
            element = self._make(_name(name), clean, {})
        self.open.append((end, element, outside))
        self.last = None

    def _make(
        self, name: str, attributes: dict[str, str], declared: dict[str | None, str]
    ) -> etree._Element:
        element: etree._Element
        if self.open:
            parent = self.open[-1][1]
            element = self.library.SubElement(parent, name, attributes, nsmap=declared)
        else:
            element = self.library.Element(name, attributes, nsmap=declared)
        return element

    def _leaf(self, name: str, text: str, root: etree._Element | None) -> None:
        """Add a comment or instruction; skip doctypes and the content nodes of templates."""
        if name == "#comment":
            leaf = self.library.Comment(_comment(text))
        elif name == "#instruction" and text.partition(" ")[0].lower() != "xml":
            target, _, data = text.partition(" ")
            data = _BAD_TEXT.sub("\ufffd", data).replace("?>", "? >")
            leaf = self.library.ProcessingInstruction(_name(target), data)
        else:
            return
        self._flush()
        if self.open:
            self.open[-1][1].append(leaf)
            self.last = leaf
        else:
            (self.before if root is None else self.after).append(leaf)


def _comment(text: str) -> str:
    """Rewrite a comment without double dashes and without a dash at the end."""
    text = _BAD_TEXT.sub("\ufffd", text)
    while "--" in text:
        text = text.replace("--", "- -")
    return f"{text} " if text.endswith("-") else text


def _declared(attributes: Mapping[str, str]) -> dict[str | None, str]:
    """Return the prefixes an XML element declares; ``xmlns=""`` clears the default namespace."""
    return {
        key.partition(":")[2] or None: value
        for key, value in attributes.items()
        if key == "xmlns" or (key.startswith("xmlns:") and value and key != "xmlns:xml")
    }


def _qualified(name: str, bound: Mapping[str | None, str], *, default: bool) -> str:
    """Write a name as lxml does, with the address of its namespace."""
    prefix, colon, local = name.partition(":")
    if colon and local and prefix in bound:
        return f"{{{bound[prefix]}}}{_name(local)}"
    if not colon and default and None in bound:
        return f"{{{bound[None]}}}{_name(name)}"
    return _name(name)


def _name(name: str) -> str:
    """Replace the characters of a name that XML does not allow."""
    name = _BAD_IN_NAME.sub(_code, name)
    return _BAD_FIRST.sub(_code, name, count=1) if _BAD_FIRST.match(name) else name or "_"


def _code(character: re.Match[str]) -> str:
    return f"U{ord(character[0]):05X}"
