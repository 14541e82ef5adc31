"""Handing a page to code that wants an lxml tree.

lxml refuses names and characters that XML does not have, so they are changed on the
way: forbidden characters of a text become U+FFFD, those of a name are spelled
``U0003A`` as html5lib does. Doctypes are left out. In HTML, elements have no namespace except
those of SVG and MathML, as lxml's own HTML parser has it. One pass over the page, no recursion.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from quire.errors import MissingExtra

if TYPE_CHECKING:
    from lxml import etree

    from quire.digest.page import Digest

_NAMESPACES = {
    "svg": "http://www.w3.org/2000/svg",
    "math": "http://www.w3.org/1998/Math/MathML",
}
_PREFIXES = {
    "xlink": "http://www.w3.org/1999/xlink",
    "xml": "http://www.w3.org/XML/1998/namespace",
}
_BAD_TEXT = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Narrower than XML, so that whatever passes is a name to every version of libxml2.
_BAD_IN_NAME = re.compile(r"[^A-Za-z0-9_.\-\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u3001-\ud7ff]")
_BAD_FIRST = re.compile(r"[0-9.\-]")


def to_lxml(page: Digest) -> etree._Element:
    """Build an lxml tree and give its root element.

    A page without exactly one element at the top (a fragment) gets a ``div`` around it.

    >>> import quire
    >>> root = to_lxml(quire.encode(b"<p>Fish &amp; <b>chips</b>!"))
    >>> root.xpath("string(//p)")
    'Fish & chips!'

    Raises:
        MissingExtra: lxml is not installed.
        TypeError: a page of this kind has no elements.
    """
    try:
        from lxml import etree as library  # noqa: PLC0415 - optional, and slow to import
    except ImportError:
        raise MissingExtra("lxml is not installed", extra="lxml") from None
    if page.kind not in {"html", "xml", "tree"}:
        raise TypeError(f"a page of kind {page.kind} has no elements; expected html, xml or tree")
    whole = _Builder(page, library.Element("div")).build()
    elements = [child for child in whole if isinstance(child.tag, str)]
    if len(elements) != 1 or (whole.text or "").strip() or (elements[0].tail or "").strip():
        return whole
    # One root: comments beside it stay its neighbours, outside of any parent.
    (root,) = elements
    before = list(root.itersiblings(preceding=True))
    after = list(root.itersiblings())
    whole.remove(root)
    root.tail = None
    for node in reversed(before):
        node.tail = None
        root.addprevious(node)
    for node in reversed(after):
        node.tail = None
        root.addnext(node)
    return root


class _Builder:
    """Fills one element with a page."""

    def __init__(self, page: Digest, whole: etree._Element) -> None:
        self.page = page
        self.last: etree._Element | None = None  # the node that a text comes after
        self.texts: list[str] = []
        # Open elements: where they end, and the prefixes bound in them.
        self.open: list[tuple[int, etree._Element, dict[str | None, str]]] = [
            (page.n, whole, {"xml": _PREFIXES["xml"]})
        ]

    def build(self) -> etree._Element:
        """Add every node of the page."""
        page = self.page
        tags, namespaces = page.tags, page.tag_namespaces
        column, sizes = page.tag.tolist(), page.size.tolist()
        for node in range(1, page.n):
            while self.open[-1][0] <= node:
                self._close()
            name = tags[column[node]]
            if namespaces[column[node]]:
                self._element(name, namespaces[column[node]], node, node + sizes[node])
            elif name in {"#text", "#cdata"}:
                self.texts.append(page.text(node))
            elif name == "#comment":
                self._comment(page.text(node))
            elif name == "#instruction":
                self._instruction(page.text(node))
        while len(self.open) > 1:
            self._close()
        self._flush()
        return self.open[0][1]

    def _close(self) -> None:
        self._flush()
        self.last = self.open.pop()[1]

    def _flush(self) -> None:
        if not self.texts:
            return
        text = _BAD_TEXT.sub("\ufffd", "".join(self.texts))
        self.texts.clear()
        if self.last is None:
            self.open[-1][1].text = text
        else:
            self.last.tail = text

    def _element(self, name: str, namespace: str, node: int, end: int) -> None:
        from lxml import etree as library  # noqa: PLC0415 - optional, and slow to import

        self._flush()
        _, parent, bound = self.open[-1]
        attributes = self.page.attributes(node)
        declared: dict[str | None, str] = {}
        if namespace == "xml":
            declared = _declared(attributes)
            bound = {**bound, **declared} if declared else bound
            spelled = _qualified(name, bound, default=True)
            pairs = {
                _qualified(key, bound, default=False): value
                for key, value in attributes.items()
                if key != "xmlns" and not key.startswith("xmlns:")
            }
        else:
            spelled = _name(name)
            if namespace in _NAMESPACES:
                spelled = f"{{{_NAMESPACES[namespace]}}}{spelled}"
                declared = {None: _NAMESPACES[namespace]}
            pairs = {_qualified(key, _PREFIXES, default=False): v for key, v in attributes.items()}
        clean = {key: _BAD_TEXT.sub("\ufffd", value) for key, value in pairs.items()}
        try:
            element = library.SubElement(parent, spelled, clean, nsmap=declared or None)
        except ValueError:  # an address that is none as a namespace
            clean = {_name(key): value for key, value in clean.items()}
            element = library.SubElement(parent, _name(name), clean)
        self.open.append((end, element, bound))
        self.last = None

    def _comment(self, text: str) -> None:
        from lxml import etree as library  # noqa: PLC0415 - optional, and slow to import

        self._flush()
        text = _BAD_TEXT.sub("\ufffd", text)
        while "--" in text:
            text = text.replace("--", "- -")
        self.last = library.Comment(f"{text} " if text.endswith("-") else text)
        self.open[-1][1].append(self.last)

    def _instruction(self, text: str) -> None:
        from lxml import etree as library  # noqa: PLC0415 - optional, and slow to import

        target, _, data = text.partition(" ")
        if target.lower() == "xml":  # the declaration
            return
        self._flush()
        data = _BAD_TEXT.sub("\ufffd", data).replace("?>", "? >")
        self.last = library.ProcessingInstruction(_name(target), data)
        self.open[-1][1].append(self.last)


def _declared(attributes: Mapping[str, str]) -> dict[str | None, str]:
    """Read the prefixes that an XML element binds."""
    return {
        key.partition(":")[2] or None: value
        for key, value in attributes.items()
        if (key == "xmlns" or key.startswith("xmlns:")) and value and key != "xmlns:xml"
    }


def _qualified(name: str, bound: Mapping[str | None, str] | Mapping[str, str], *, default: bool) -> str:
    """Spell a name as lxml does, with the address of its namespace."""
    prefix, colon, local = name.partition(":")
    spaces: dict[str | None, str] = dict(bound.items())
    if colon and local and prefix in spaces:
        return f"{{{spaces[prefix]}}}{_name(local)}"
    if not colon and default and None in spaces:
        return f"{{{spaces[None]}}}{_name(name)}"
    return _name(name)


def _name(name: str) -> str:
    """Spell a name with characters that XML has."""
    name = _BAD_IN_NAME.sub(_code, name)
    return _BAD_FIRST.sub(_code, name, count=1) if _BAD_FIRST.match(name) else name or "_"


def _code(character: re.Match[str]) -> str:
    return f"U{ord(character[0]):05X}"
