"""A stranger's page to point at: every text and every image is a link of ours.

The document is that of ``page``, with three differences. Each run of text, and each image or control,
is inside a link that names the element it belongs to. Elements that browsers react to themselves
(``a``, ``button``, ``label``) get other names, and style sheets follow them. Elements that the caller
paints get a class. So a person can hover, click, or press Tab and Enter, without any script.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from quire.digest.page import Digest
from quire.digest.references import base_of
from quire.display import escape
from quire.viewing.page import Columns, Layout, PageWriter, safe_page
from quire.viewing.places import Place, Places

#: The anchor of the part that was chosen last.
HERE = "quire-here"


class Paint(Enum):
    """How an element is painted; the value is its class."""

    CHOSEN = "quire-chosen"
    IGNORED = "quire-ignored"


@dataclass(frozen=True, slots=True)
class Pointing:
    """Links and paint that are added to a page.

    Attributes:
        link: returns the address of the link for an element; None to add no links.
        painted: elements to paint.
        here: the element to scroll to.
    """

    link: Callable[[int], str] | None = None
    painted: Mapping[int, Paint] = field(default_factory=dict)
    here: int | None = None


# Elements that react to clicks, and the names that they get here.
RENAMED = {"a": "quire-a", "button": "quire-button", "label": "quire-label"}
# Elements that are one thing to point at, whatever is in them.
_WHOLE = frozenset(
    {"img", "input", "select", "textarea", "video", "audio", "iframe", "meter", "progress"}
)
# Elements in which a link would be lost.
_TEXT_ONLY = frozenset({"select", "option", "optgroup", "textarea", "title"})
_TYPE_SELECTOR = re.compile(r"(?<![\w.#:\-\[=\"'\\@&])(a|button|label)(?![\w\-\\(])", re.ASCII)

_STYLE = """
:where(quire-a){color:#0645ad;text-decoration:underline}
:where(quire-button){border:1px solid #888;border-radius:3px;display:inline-block;padding:1px 6px}
a.quire-pick{all:unset!important;cursor:pointer!important}
a.quire-pick>*{pointer-events:none!important}
:has(>a.quire-pick:hover){outline:2px solid #1673b8!important;outline-offset:1px!important;
background-color:rgba(22,115,184,.16)!important}
:has(>a.quire-pick:focus-visible){outline:3px solid #1673b8!important;outline-offset:2px!important;
background-color:rgba(22,115,184,.22)!important}
.quire-chosen.quire-chosen.quire-chosen{outline:3px solid #0b7a3b!important;outline-offset:-1px!important;
background-color:rgba(20,160,80,.20)!important}
.quire-ignored.quire-ignored.quire-ignored{outline:3px dashed #b3261e!important;outline-offset:-1px!important;
background-image:repeating-linear-gradient(45deg,rgba(179,38,30,.22) 0 6px,transparent 6px 12px)!important}
.quire-ignored.quire-ignored *{opacity:.75}
a:target{scroll-margin-top:35vh!important}
"""


def pointing_page(
    page: Digest,
    pointing: Pointing,
    *,
    url: str,
    place: Place,
    layout: Layout = Layout.PAGE,
) -> bytes:
    """Return a page as a safe document to point at. See ``safe_page`` for the other arguments.

    >>> import quire
    >>> page = quire.encode(b"<p>Cod <a href=/cod>8.40</a>")
    >>> made = pointing_page(
    ...     page, Pointing(lambda node: f"/{node}"), url="https://a.example/", place=lambda *_: None
    ... )
    >>> made.partition(b"<body>")[2].partition(b"<style>")[0].decode()
    '<p><a class="quire-pick" href="/4" target="_top">Cod </a><quire-a><a class="quire-pick"
    href="/6" target="_top">8.40</a></quire-a></p></body></html>'

    Args:
        page: the page.
        pointing: links and paint.
        url: its address.
        place: gets each address, and returns the address to write; None to leave it out.
        layout: how the document looks.
    """
    if page.kind != "html":
        return safe_page(page, url=url, place=place, layout=layout)
    base = base_of(url, page._native.base()) or url
    writer = _PointingWriter(Places(url, base, place), layout, page, pointing)
    writer.page(page)
    writer.out.append(f"<style>{_STYLE}</style>")
    return "".join(writer.out).encode("utf-8", "replace")


def renamed_types(css: str) -> str:
    """Let the rules of a safe style sheet follow the elements that got other names.

    >>> renamed_types("nav a:hover, a.x > button { color: a } @media a { label{} }")
    'nav quire-a:hover, quire-a.x > quire-button { color: a } @media a { quire-label{} }'
    """
    out = []
    at = 0
    for match in re.finditer(r"[{};]", css):
        piece = css[at : match.start()]
        if match[0] == "{" and "@" not in piece:
            piece = _TYPE_SELECTOR.sub(r"quire-\1", piece)
        out.append(piece + match[0])
        at = match.end()
    return "".join([*out, css[at:]])


class _Columns(Columns):
    """The columns of a page, with the names that elements have here."""

    def written(self, node: int) -> str | None:
        """Return the name of the element to write; None to leave it out."""
        found = super().written(node)
        return RENAMED.get(found or "", found) if self.space(node) == "html" else found


class _PointingWriter(PageWriter):
    """Writes a page to point at."""

    def __init__(self, places: Places, layout: Layout, whole: Digest, pointing: Pointing) -> None:
        super().__init__(places, layout)
        self.whole = whole
        self.pointing = pointing
        self._is_anchored = False

    def columns(self, page: Digest) -> Columns:
        """Return the columns of a page."""
        return _Columns(page)

    def text(self, columns: Columns, node: int) -> None:
        """Write a text as a link to the element that it is in."""
        text = columns.page.text(node)
        above = int(columns.page.parent[node])
        can_link = columns.space(above) == "html" and columns.name(above) not in _TEXT_ONLY
        if not text.strip() or not can_link or not self._opens(columns, above):
            self.out.append(escape(text))
        else:
            self.out.append(f"{escape(text)}</a>")

    def element(self, columns: Columns, node: int) -> str | None:
        """Write the start of an element, painted; one thing to point at is inside a link."""
        name = columns.name(node)
        is_whole = name in _WHOLE or name == "svg:svg"
        opened = is_whole and self._opens(columns, node)
        at = len(self.out)
        closing = super().element(columns, node)
        paint = self.pointing.painted.get(node) if columns.page is self.whole else None
        if paint is not None and len(self.out) > at:
            self.out[at] = _with_class(self.out[at], paint.value)
        if not opened:
            return closing
        if closing is None:
            self.out.append("</a>")
            return None
        return f"{closing}</a>"

    def style(self, css: str, found: Mapping[str, str]) -> None:
        """Write a style sheet whose rules follow the names of elements here."""
        at = len(self.out)
        super().style(css, found)
        self.out[at:] = [renamed_types(each) for each in self.out[at:]]

    def _opens(self, columns: Columns, node: int) -> bool:
        """Open the link to an element, or the anchor to scroll to, if there is one."""
        if columns.page is not self.whole:
            return False
        here, link = self.pointing.here, self.pointing.link
        is_here = (
            here is not None and not self._is_anchored and here <= node < here + columns.sizes[here]
        )
        self._is_anchored |= is_here
        anchor = f' id="{HERE}"' if is_here else ""
        if link is not None:
            address = escape(link(node))
            self.out.append(f'<a class="quire-pick"{anchor} href="{address}" target="_top">')
        elif is_here:
            self.out.append(f"<a{anchor}>")
        return link is not None or is_here


def _with_class(start: str, name: str) -> str:
    """Return a start tag with one more class. Values are escaped, so the mark is found at once.

    >>> _with_class('<p id="a" class="b">', "c"), _with_class('<p id="a">', "c")
    ('<p id="a" class="c b">', '<p class="c" id="a">')
    """
    if ' class="' in start:
        return start.replace(' class="', f' class="{name} ', 1)
    return re.sub(r"^<([\w-]+)", rf'<\1 class="{name}"', start)
