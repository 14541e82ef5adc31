"""The sanitiser: which parts of an untrusted page may appear in our documents.

Only the elements, attributes and address schemes listed here are allowed. No script, event handler,
frame or working form gets through, and nothing that loads. Allowed parts are written from parsed
values and escaped in one place (``quire.display.escape``); markup is never copied. Foreign elements
(SVG, MathML) and raw text are left out: sanitisers break when parsers are mixed. Styles go through a
CSS parser with a list of allowed properties and functions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from quire import _core
from quire.digest.references import resolve

# Elements that are kept.
KEPT = frozenset(
    [
        "a",
        "abbr",
        "acronym",
        "address",
        "article",
        "aside",
        "b",
        "bdi",
        "bdo",
        "big",
        "blockquote",
        "br",
        "button",
        "caption",
        "center",
        "cite",
        "code",
        "col",
        "colgroup",
        "data",
        "dd",
        "del",
        "details",
        "dfn",
        "dir",
        "div",
        "dl",
        "dt",
        "em",
        "fieldset",
        "figcaption",
        "figure",
        "font",
        "footer",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hgroup",
        "hr",
        "i",
        "img",
        "input",
        "ins",
        "kbd",
        "label",
        "legend",
        "li",
        "main",
        "mark",
        "menu",
        "nav",
        "ol",
        "optgroup",
        "option",
        "output",
        "p",
        "pre",
        "q",
        "rt",
        "ruby",
        "s",
        "samp",
        "search",
        "section",
        "select",
        "small",
        "span",
        "strike",
        "strong",
        "sub",
        "summary",
        "sup",
        "table",
        "tbody",
        "td",
        "textarea",
        "tfoot",
        "th",
        "thead",
        "time",
        "tr",
        "tt",
        "u",
        "ul",
        "var",
        "wbr",
    ]
)

# Elements that are left out with everything in them.
DROPPED = frozenset(
    [
        "applet",
        "area",
        "audio",
        "base",
        "bgsound",
        "canvas",
        "datalist",
        "embed",
        "frame",
        "frameset",
        "head",
        "iframe",
        "link",
        "math",
        "meta",
        "noembed",
        "noframes",
        "noscript",
        "param",
        "script",
        "source",
        "style",
        "svg",
        "template",
        "title",
        "track",
    ]
)

# Elements with behaviour, and the harmless elements that replace them.
REPLACED = {
    # The style sheets of the page are rewritten to these names: see the kernel `style`.
    "body": "quire-body",
    "html": "quire-html",
    "dialog": "div",
    "form": "div",
    "listing": "pre",
    "plaintext": "pre",
    "xmp": "pre",
    # Browsers do not show the text of these.
    "meter": "span",
    "progress": "span",
    "rp": "span",
}

VOID = frozenset({"br", "col", "hr", "img", "input", "wbr"})

# Elements without marks in their text: browsers would show the marks as text, or drop them.
PLAIN = frozenset({"option", "optgroup", "select", "textarea"})

# Elements that are seen but have no text that could be marked.
ATOMS = frozenset({"hr", "img", "input", "select", "textarea"})

# Elements inside a line of text; all others end it.
INLINE = frozenset(
    [
        "a",
        "abbr",
        "acronym",
        "b",
        "bdi",
        "bdo",
        "big",
        "button",
        "cite",
        "code",
        "data",
        "del",
        "dfn",
        "em",
        "font",
        "i",
        "img",
        "input",
        "ins",
        "kbd",
        "label",
        "mark",
        "output",
        "q",
        "rt",
        "ruby",
        "s",
        "samp",
        "select",
        "small",
        "span",
        "strike",
        "strong",
        "sub",
        "sup",
        "textarea",
        "time",
        "tt",
        "u",
        "var",
        "wbr",
    ]
)

# Elements that browsers only accept inside a table.
TABLE_ONLY = frozenset({"caption", "col", "colgroup", "tbody", "td", "tfoot", "th", "thead", "tr"})

# Elements of tables; browsers move other content directly inside them to the front of the table.
TABLE_PARTS = frozenset({"table", "thead", "tbody", "tfoot", "tr", "colgroup"})

_ATTRIBUTES = frozenset(
    [
        "abbr",
        "align",
        "alt",
        "bgcolor",
        "border",
        "cellpadding",
        "cellspacing",
        "checked",
        "color",
        "cols",
        "colspan",
        "datetime",
        "dir",
        "face",
        "headers",
        "height",
        "hidden",
        "high",
        "label",
        "lang",
        "low",
        "max",
        "min",
        "multiple",
        "nowrap",
        "open",
        "optimum",
        "placeholder",
        "reversed",
        "rows",
        "rowspan",
        "scope",
        "selected",
        "size",
        "span",
        "start",
        "summary",
        "title",
        "type",
        "valign",
        "value",
        "width",
    ]
)

_INPUTS = frozenset(
    [
        "button",
        "checkbox",
        "color",
        "date",
        "datetime-local",
        "email",
        "hidden",
        "month",
        "number",
        "password",
        "radio",
        "range",
        "reset",
        "search",
        "submit",
        "tel",
        "text",
        "time",
        "url",
        "week",
    ]
)

_IMAGE = re.compile(
    r"data:image/(?:png|gif|jpe?g|webp|avif|bmp);base64,[A-Za-z0-9+/=\s]*", re.ASCII | re.IGNORECASE
)
# The prefix of our own classes; a page must not use them.
_OURS = "quire-"
# Hosts without an owner, by RFC 2606: pages of folders have such addresses.
_NOWHERE = ".invalid"
_SCHEMES = frozenset({"http", "https", "mailto"})


def element(name: str, namespace: str) -> str | None:
    """Return the name of the element to write; None to leave it out with everything in it.

    >>> [element(name, "html") for name in ("p", "script", "form", "x-card")]
    ['p', None, 'div', 'span']
    """
    if namespace != "html" or name in DROPPED:
        return None
    if name in KEPT:
        return name
    return REPLACED.get(name, "span")


@dataclass(frozen=True, slots=True)
class Setting:
    """Where an element is written, as far as its attributes depend on it.

    Attributes:
        base: the base address; without it, relative addresses are left out.
        images: whether to keep images from the web.
        is_bare: whether style sheets of the page are missing. Then sizes and positions in ``style``
            attributes are left out: alone, they would make blank boxes.
        embedded: returns the ``data:`` address to write for the address of an image.
        prepared: returns a ``style`` attribute in which images that are at hand have names.
    """

    base: str | None = None
    images: bool = False
    is_bare: bool = False
    embedded: Callable[[str], str | None] | None = None
    prepared: Callable[[str], str] = str


def attributes(
    name: str, found: Mapping[str, str], setting: Setting, *, holds_marks: bool = False
) -> Iterator[tuple[str, str]]:
    """Yield the attributes to keep, with values that are safe but not yet escaped.

    >>> found = {"href": "javascript:x", "onclick": "x", "title": "Go"}
    >>> dict(attributes("a", found, Setting()))
    {'title': 'Go'}

    Args:
        name: the name of the element to write.
        found: the attributes on the page.
        setting: where the element is written.
        holds_marks: the element is marked or has marks in it, so nothing may hide it.
    """
    found = _with_source(found) if name == "img" else found
    source = _image_of(found, setting) if name == "img" and "src" in found else None
    has_image = name != "img" or source is not None
    for key, value in found.items():
        kept: str | None
        if key == "href" and name == "a":
            kept = link(value, setting.base)
        elif key == "src" and name == "img":
            kept = source
        elif key == "style":
            css = setting.prepared(value)
            kept = style(css, holds_marks=holds_marks, is_bare=setting.is_bare) or None
        elif (key in {"height", "width"} and not has_image) or (key == "hidden" and holds_marks):
            kept = None
        else:
            kept = _value(name, key, value)
        if kept is not None:
            yield key, kept
        if key == "href" and kept is not None and not kept.startswith("#"):
            yield "rel", "noopener noreferrer nofollow"
            yield "target", "_blank"
    if name in {"button", "input", "select", "textarea"}:
        yield "disabled", ""
    if name == "details" and holds_marks and "open" not in found:
        yield "open", ""


def _with_source(found: Mapping[str, str]) -> Mapping[str, str]:
    """Return the attributes of an image; its first source stands for ``src`` if it has none.

    >>> _with_source({"srcset": "a.png, b.png 2x"})
    {'srcset': 'a.png, b.png 2x', 'src': 'a.png'}
    """
    if "src" in found or not found.get("srcset", "").strip():
        return found
    return {**found, "src": found["srcset"].split(maxsplit=1)[0].rstrip(",")}


def _image_of(found: Mapping[str, str], setting: Setting) -> str | None:
    address = found["src"]
    known = image(address, setting.base, remote=setting.images)
    return setting.embedded(address) if known is None and setting.embedded is not None else known


def _value(name: str, key: str, value: str) -> str | None:
    """Return the safe value of an attribute that is not an address; None to leave it out."""
    if key == "class":
        return " ".join(word for word in value.split() if not _is_ours(word)) or None
    if key == "id":
        return None if _is_ours(value) else value
    if key == "type" and name == "input":
        return value.lower() if value.lower() in _INPUTS else "text"
    return value if key in _ATTRIBUTES else None


def _is_ours(name: str) -> bool:
    # Documents in quirks mode do not tell small and capital letters apart.
    return name.strip().lower().startswith(_OURS)


def link(address: str, base: str | None) -> str | None:
    r"""Return the address of a link if it is http, https, mailto or an anchor on the same page.

    >>> link("#top", None), link("/a", "https://example.org/b"), link("/a", None)
    ('#top', 'https://example.org/a', None)
    >>> link(" java\nscript:alert(1)", None)
    >>> link("b.html", "https://folder.invalid/a.html")
    """
    found = resolve(base, address)
    if found.startswith("#"):
        return found
    try:
        parts = urlsplit(found)
        leads_nowhere = (parts.hostname or "").endswith(_NOWHERE)
    except ValueError:  # unbalanced brackets and the like
        return None
    return found if parts.scheme.lower() in _SCHEMES and not leads_nowhere else None


def image(address: str, base: str | None, *, remote: bool) -> str | None:
    """Return the address of an image if it may be shown: embedded in the page, or ``remote``.

    >>> image("data:image/png;base64,AAAA", None, remote=False)
    'data:image/png;base64,AAAA'
    >>> image("data:text/html,x", None, remote=True)
    >>> image("//a.org/b.png", "https://a.org", remote=False)
    """
    if _IMAGE.fullmatch(address.strip()):
        return address.strip()
    found = link(address, base) if remote else None
    return found if found is not None and found[:4].lower() == "http" else None


def style_sheet(css: str, media: str = "", *, is_bare: bool = False) -> str:
    r"""Return what of a style sheet loads nothing and hides no marks.

    It is made for a cascade layer of its own, below the marks: see the kernel
    ``crates/quire-core/src/style``.

    >>> style_sheet("@import 'x'; p { color: red; background: url(http://example.org/x) }")
    'p{color:red}\n'

    Args:
        css: the text of the style sheet.
        media: the media it is for, as in ``<style media="print">``.
        is_bare: other style sheets of the page are missing. Then nothing is taken out of its place,
            since it could end up above something else.
    """
    if media.strip() and not set(media) & set("{};"):
        css = f"@media {media}{{{css}}}"
    return _core.sanitize_sheet(_whole(css), is_bare=is_bare)


def style(css: str, *, holds_marks: bool = False, is_bare: bool = False) -> str:
    r"""Return what of a ``style`` attribute loads nothing.

    >>> style(r"color: red; background: \75 rl(http://example.org/x); height: 90px")
    'color:red;height:90px'
    >>> style("color: red; height: 90px", is_bare=True), style("opacity: 0", holds_marks=True)
    ('color:red', '')

    Args:
        css: the value of the attribute.
        holds_marks: leave out what could hide marks.
        is_bare: leave out sizes and positions that only make sense with other styles.
    """
    return _core.sanitize_declarations(_whole(css), holds_marks=holds_marks, is_bare=is_bare)


def _whole(text: str) -> str:
    # Half a surrogate pair has no UTF-8 form.
    return text.encode("utf-8", "replace").decode()
