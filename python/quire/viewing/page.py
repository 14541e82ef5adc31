"""Pages of strangers, written as documents that are safe to look at.

The document is written from the tree of the page: elements and attributes of an allow-list
(``elements``), texts and values escaped, style sheets through ``css``, and every address through
``place``. No markup of the page is copied.

Three choices worth knowing before changing this file:

* Only ``style``, ``title`` and ``textarea`` have content that parsers read in another way than text
  between tags. Their content has no ``<`` that could end it and no ``&`` that could be decoded, so a
  parser in any state reads the same.
* A form is written with ``method=dialog``: such a form sends nothing.
* Scripts do not run, so the content of ``noscript`` is shown, and style sheets and images that a
  script of the page would load later (``data-src``, ``rel=preload``) are loaded at once.

Writing is one pass over the columns with a stack of open elements; nothing recurses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import Enum

from quire import _core
from quire.digest.files import encode
from quire.digest.page import Digest
from quire.digest.references import base_of
from quire.display import escape
from quire.viewing.attributes import LOCAL, uses
from quire.viewing.css import placed_css
from quire.viewing.doctypes import STANDARD, doctype
from quire.viewing.elements import INPUTS, PAINTED, VOID, is_allowed, written_name
from quire.viewing.places import Place, Places, Use

#: Written into every document, in case it is opened without the headers of a server.
POLICY = "script-src 'none'; object-src 'none'; base-uri 'none'; form-action 'none'"

#: Characters of ``style`` elements with which a page has a layout without other style sheets. Of 173
#: real pages with style sheets, 13 % have more; half have less than 500.
OWN_LAYOUT = 10_000

#: Most images in one ``srcset``.
MAX_CANDIDATES = 64

_CANDIDATE = re.compile(r"[\s,]*([^\s,]\S*)([^,(]*(?:\([^)]*\)[^,(]*)*)", re.ASCII)
_DESCRIPTOR = re.compile(r"\s*(?:\d{1,6}w|\d{1,4}(?:\.\d{1,6})?x)?\s*(?:\d{1,6}h)?\s*", re.ASCII)
_METAS = frozenset({"viewport", "color-scheme"})
_PLAIN = frozenset({"textarea", "title"})

_READING = """
:root{color-scheme:light dark}
body{font:1rem/1.55 system-ui,sans-serif;max-width:46rem;margin:0 auto;padding:1rem;
overflow-wrap:anywhere}
img,svg,video,picture{max-width:100%;height:auto}
svg:not([width]){width:1.5em}
table{border-collapse:collapse;max-width:100%}td,th{padding:.2em .5em;vertical-align:top}
pre{white-space:pre-wrap}figure{margin:1em 0}
"""
_TEXT = "pre{white-space:pre-wrap;overflow-wrap:anywhere;font:1rem/1.5 monospace;margin:1rem}"


class Layout(Enum):
    """How a document looks.

    ``PAGE`` is as its own style sheets say. ``READING`` is for pages whose style sheets are missing:
    a plain layout in one column, without the sizes and positions that only made sense with them.
    """

    PAGE = "page"
    READING = "reading"


def safe_page(page: Digest, *, url: str, place: Place, layout: Layout = Layout.PAGE) -> bytes:
    """Return a page as a document in UTF-8 that looks like it and can do nothing else.

    Pages that are not HTML are shown as text.

    >>> import quire
    >>> page = quire.encode(b"<p onclick=x>Hi<script>alert(1)</script><img src=a.png>")
    >>> made = safe_page(page, url="https://a.example/", place=lambda url, use: f"/store?{url}")
    >>> made.partition(b"<body>")[2]
    b'<p>Hi<img src="/store?https://a.example/a.png"></p></body></html>'

    Args:
        page: the page.
        url: its address.
        place: gets each address, and returns the address to write; None to leave it out.
        layout: how the document looks.
    """
    if page.kind != "html":
        text = escape(_text_of(page))
        style = f"<style>{_TEXT}</style>"
        return _bytes(
            f"{STANDARD}<html>{_head()}{style}</head><body><pre>\n{text}</pre></body></html>"
        )
    base = base_of(url, page._native.base()) or url
    writer = PageWriter(Places(url, base, place), layout)
    writer.page(page)
    return _bytes("".join(writer.out))


def lacks_styles(page: Digest, *, url: str, place: Place) -> bool:
    """Tell whether a page has style sheets and ``place`` gives none of them.

    A page with long ``style`` elements brings its layout with it, and lacks nothing.

    >>> import quire
    >>> page = quire.encode(b"<link rel=stylesheet href=a.css><p>Hi")
    >>> lacks_styles(page, url="https://a.example/", place=lambda url, use: None)
    True
    """
    if page.kind != "html":
        return False
    columns = Columns(page)
    if sum(len(columns.text(node)) for node in page.select("style").tolist()) >= OWN_LAYOUT:
        return False
    base = base_of(url, page._native.base()) or url
    places = Places(url, base, place)
    missing = 0
    for node in page.select("link[rel][href]").tolist():
        found = page.attributes(node)
        if style_relation(found) is None:
            continue
        if places.find(found["href"], Use.STYLE) is not None:
            return False
        missing += 1
    return missing > 0


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _text_of(page: Digest) -> str:
    return page.decode().decode("utf-8", "replace").replace("\0", "\ufffd")


def _head() -> str:
    return (
        '<head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="referrer" content="no-referrer">'
    )


class Columns:
    """The columns of a page as lists, and the start tags written for them."""

    def __init__(self, page: Digest) -> None:
        self.page = page
        self.tags: list[int] = page.tag.tolist()
        self.sizes: list[int] = page.size.tolist()
        self.attrs: list[int] = page.attr.tolist()
        self.names: list[str] = list(page.tags)
        self.spaces: list[str] = list(page.tag_namespaces)
        self.starts: dict[tuple[int, int], str] = {}
        self._written: dict[int, str | None] = {}

    def name(self, node: int) -> str:
        """Return the name of a node."""
        return self.names[self.tags[node]]

    def space(self, node: int) -> str:
        """Return the namespace of a node."""
        return self.spaces[self.tags[node]]

    def attributes(self, node: int) -> dict[str, str]:
        """Return the attributes of a node."""
        return self.page.attributes(node) if self.attrs[node] >= 0 else {}

    def text(self, node: int) -> str:
        """Return the text inside an element, with all its white space."""
        nodes = range(node + 1, node + self.sizes[node])
        return "".join(self.page.text(each) for each in nodes if self.name(each) == "#text")

    def written(self, node: int) -> str | None:
        """Return the name of the element to write; None to leave it out."""
        tag = self.tags[node]
        if tag not in self._written:
            self._written[tag] = written_name(self.names[tag], self.spaces[tag])
        return self._written[tag]


class PageWriter:
    """The document written so far, and how to write more of it.

    ``pointing`` writes texts and elements in its own way.
    """

    def __init__(self, places: Places, layout: Layout) -> None:
        self.places = places
        self.layout = layout
        self.out: list[str] = []

    def page(self, page: Digest) -> None:
        """Write a whole page."""
        self.out.append(doctype(page))
        if "head" not in page.tags:  # part of a page
            self.out.append(f"{self._head()}</head>")
        self.nodes(page)

    def nodes(self, page: Digest, *, inside: bool = False) -> None:
        """Write all nodes of a page.

        Args:
            page: the page.
            inside: the page is the content of ``noscript``.
        """
        columns = self.columns(page)
        tags, names, spaces = columns.tags, columns.names, columns.spaces
        # Open elements: where they end, their end tags and namespaces.
        stack: list[tuple[int, str, str]] = []
        node, n = 0, page.n
        while node < n:
            while stack and stack[-1][0] <= node:
                self.out.append(stack.pop()[1])
            name, space = names[tags[node]], spaces[tags[node]]
            above = stack[-1][2] if stack else "html"
            end = node + columns.sizes[node]
            if name == "#text":
                self.text(columns, node)
                closing = None
            elif name.startswith("#"):
                closing = "" if name == "#document" else None
            elif above not in {"html", space}:
                closing = None  # HTML inside SVG and MathML: parsers disagree about it
            elif name == "noscript":
                closing = self._noscript(columns, node, inside=inside)
            else:
                closing = self.element(columns, node)
            if closing is None:
                node = end
            else:
                stack.append((end, closing, space or "html"))
                node += 1
        while stack:
            self.out.append(stack.pop()[1])

    def columns(self, page: Digest) -> Columns:
        """Return the columns of a page, with the names under which its elements are written."""
        return Columns(page)

    def text(self, columns: Columns, node: int) -> None:
        """Write a text."""
        self.out.append(escape(columns.page.text(node)))

    def element(self, columns: Columns, node: int) -> str | None:
        """Write the start of an element, and return its end tag.

        Returns:
            None if the content of the element is left out or has been written.
        """
        tag = columns.tags[node]
        name, space = columns.names[tag], columns.spaces[tag]
        if name in _SPECIAL:
            self._special(columns, node, name)
            return None
        written = columns.written(node)
        if written is None:
            return None
        if written in _PLAIN or (space != "html" and written == "style"):
            self._plain(columns, node, written, space)
            return None
        if written == "head":
            self.out.append(self._head())
            return "</head>"
        # Pages repeat their attributes: equal start tags are written from the first.
        key = columns.attrs[node], tag
        if key not in columns.starts:
            columns.starts[key] = self._start(written, columns.attributes(node), space)
        self.out.append(columns.starts[key])
        return None if space == "html" and written in _WITHOUT_CONTENT else f"</{written}>"

    # ------------------------------------------------------------ single elements

    def _head(self) -> str:
        """Start the head of the document."""
        style = f"<style>{_READING}</style>" if self.layout is Layout.READING else ""
        return _head() + style

    def _start(self, written: str, found: Mapping[str, str], space: str) -> str:
        """Return the start tag of an element; a frame without an address is left out."""
        kept = dict(self._attributes(written, found, space))
        if space == "html" and written == "iframe":
            if "src" not in kept:
                return ""
            return f"<iframe{_run(kept)}></iframe>"
        # Browsers drop the first line break in `pre`.
        return f"<{written}{_run(kept)}>" + ("\n" if written == "pre" else "")

    def _plain(self, columns: Columns, node: int, written: str, space: str) -> None:
        """Write an element that only has text in it."""
        text, found = columns.text(node), columns.attributes(node)
        if written == "style":
            if self.layout is not Layout.READING:
                self.style(text, found)
            return
        self.out.append(self._start(written, found, space))
        self.out.append(("\n" if written == "textarea" else "") + escape(text) + f"</{written}>")

    def _special(self, columns: Columns, node: int, name: str) -> None:
        found = columns.attributes(node)
        if name == "style" and self.layout is not Layout.READING:
            self.style(columns.text(node), found)
        elif name == "link" and self.layout is not Layout.READING:
            self._link(found)
        elif name == "meta" and found.get("name", "").strip().lower() in _METAS:
            called, content = found["name"].strip().lower(), found.get("content", "")
            self.out.append(f'<meta name="{called}" content="{escape(content)}">')

    def style(self, css: str, found: Mapping[str, str]) -> None:
        """Write a style sheet that is in the page."""
        if found.get("type", "").strip().lower() in {"", "text/css"}:
            media = f' media="{escape(found["media"])}"' if found.get("media") else ""
            self.out.append(f"<style{media}>{placed_css(css, self.places)}</style>")

    def _link(self, found: Mapping[str, str]) -> None:
        relation = style_relation(found)
        address = self.places.find(found.get("href", ""), Use.STYLE) if relation else None
        if relation is None or address is None:
            return
        run = {"rel": relation, "href": address}
        if relation != "stylesheet":
            run["title"] = found.get("title", "")
        media = found.get("media", "")
        if media and not (media.strip().lower() == "print" and "media" in found.get("onload", "")):
            run["media"] = media
        self.out.append(f"<link{_run(run)}>")

    def _noscript(self, columns: Columns, node: int, *, inside: bool) -> str | None:
        """Write the content of ``noscript``, or return an empty end tag if it is in the tree."""
        if inside:
            return None
        if columns.sizes[node] > _ONE_TEXT:  # read as by a browser without scripts
            return ""
        text = columns.text(node)
        if "<" in text:
            data = text.encode("utf-8", "replace")
            self.nodes(encode(data, kind="html", encoding="utf-8", fragment="div"), inside=True)
        else:
            self.out.append(escape(text))
        return None

    # ------------------------------------------------------------ attributes

    def _attributes(
        self, written: str, found: Mapping[str, str], space: str
    ) -> Iterator[tuple[str, str]]:
        if space == "html" and written == "form":
            yield "method", "dialog"
        if space == "html" and written == "iframe":
            yield "sandbox", ""
        if space == "html" and written in {"audio", "video"}:
            yield "controls", ""
            yield "preload", "metadata"
        addresses = dict(self._addresses(written, found, space))
        yield from addresses.items()
        is_reading = self.layout is Layout.READING
        for key, value in found.items():
            kept: str | None = None
            if key == "style":
                kept = self._declarations(value)
            elif space == "svg" and key in PAINTED:
                kept = placed_css(value, self.places) if "(" in value or "\\" in value else value
            elif key in {"height", "width"} and is_reading and "src" not in addresses:
                continue
            elif is_allowed(key, space):
                kept = _value(written, key, value)
            if kept is not None:
                yield key, kept

    def _declarations(self, css: str) -> str | None:
        if self.layout is Layout.READING:
            whole = css.encode("utf-8", "replace").decode()
            return _core.sanitize_declarations(whole, holds_marks=False, is_bare=True) or None
        return placed_css(css, self.places) or None

    def _addresses(
        self, written: str, found: Mapping[str, str], space: str
    ) -> Iterator[tuple[str, str]]:
        """Yield the attributes with addresses that were placed."""
        for key, value, use in uses(written, found, space):
            if key == "srcset":
                placed = self._candidates(value) or None
            elif space == "svg" and LOCAL.fullmatch(value):
                placed = value
            else:
                placed = self.places.find(value, use) if value.strip() else None
            if placed is not None:
                yield key, placed

    def _candidates(self, value: str) -> str:
        """Place every address of a ``srcset``."""
        kept = []
        at = 0
        for _ in range(MAX_CANDIDATES):
            found = _CANDIDATE.match(value, at)
            if found is None:
                break
            at = found.end()
            address, descriptor = found.groups()
            if address.endswith(","):
                address, descriptor = address.rstrip(","), ""
                at = found.end(1)
            placed = self.places.find(address, Use.IMAGE)
            if placed is not None and _DESCRIPTOR.fullmatch(descriptor):
                # A comma at an end would be read as one between two images.
                kept.append(f"{_quoted(placed)} {' '.join(descriptor.split())}".strip())
        return ", ".join(kept)


def _run(attributes: Mapping[str, str]) -> str:
    return "".join(f' {key}="{escape(value)}"' for key, value in attributes.items())


_SPECIAL = frozenset({"link", "meta", "style"})
# Their content is only shown if a browser cannot load them.
_FRAMES = frozenset({"iframe"})
_WITHOUT_CONTENT = VOID | _FRAMES
# Nodes of an element with only a text in it.
_ONE_TEXT = 2


def _value(written: str, key: str, value: str) -> str | None:
    if key == "type" and written == "input":
        return value.lower() if value.strip().lower() in INPUTS else "text"
    return value


def style_relation(found: Mapping[str, str]) -> str | None:
    """Return how a ``link`` refers to a style sheet; None if it does not."""
    words = found.get("rel", "").lower().split()
    if found.get("type", "text/css").strip().lower() not in {"", "text/css"}:
        return None
    if "stylesheet" in words:
        return "alternate stylesheet" if "alternate" in words else "stylesheet"
    is_late = "preload" in words and found.get("as", "").strip().lower() == "style"
    return "stylesheet" if is_late and "onload" in found else None


def _quoted(address: str) -> str:
    """Write an address so that nothing in it separates it from others."""
    if address[:5].lower() == "data:":
        return address.replace(" ", "%20").rstrip(",")
    return address.replace(" ", "%20").replace(",", "%2C")
