"""Safe: what of an untrusted page may stand in a document of ours.

Everything is forbidden that is not listed here: elements, attributes, schemes of addresses. No
script, no handler, no frame, no form that is sent, nothing that loads. What is allowed is
written from parsed values, escaped in one place (``quire.display.escape``), and never copied as markup. Foreign
elements (SVG, MathML) and raw text are left out: mixing parsers is what breaks sanitisers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from quire.digest.references import resolve

# Elements that stay what they are.
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
        "meter",
        "nav",
        "ol",
        "optgroup",
        "option",
        "output",
        "p",
        "pre",
        "progress",
        "q",
        "rp",
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

# Elements that are left out with all that is in them.
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

# Elements that would do something, and the harmless ones that look like them.
REPLACED = {
    "body": "div",
    "dialog": "div",
    "form": "div",
    "html": "div",
    "listing": "pre",
    "plaintext": "pre",
    "xmp": "pre",
}

VOID = frozenset({"br", "col", "hr", "img", "input", "wbr"})

# Elements whose text can have no marks in it: a browser would read the marks as text, or drop them.
PLAIN = frozenset({"option", "optgroup", "select", "textarea"})

# What a browser takes for a part of a table, and nowhere else for anything.
TABLE_ONLY = frozenset({"caption", "col", "colgroup", "tbody", "td", "tfoot", "th", "thead", "tr"})

# Parts of tables: what is directly in them and is no part of a table would be put in front of it.
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
# How the classes of our marks begin; a page must not have any.
_OURS = "quire-"
_SCHEMES = frozenset({"http", "https", "mailto"})


def element(name: str, namespace: str) -> str | None:
    """Name the element to write for one of a page; None to leave it out with all that is in it.

    >>> element("p", "html"), element("script", "html"), element("form", "html"), element("x-card", "html")
    ('p', None, 'div', 'span')
    """
    if namespace != "html" or name in DROPPED:
        return None
    if name in KEPT:
        return name
    return REPLACED.get(name, "span")


def attributes(
    name: str, found: Mapping[str, str], *, base: str | None, images: bool
) -> Iterator[tuple[str, str]]:
    """Give the attributes of an element that may stay, with values that are safe but not yet escaped.

    >>> dict(attributes("a", {"href": "javascript:x", "onclick": "x", "title": "Go"}, base=None, images=False))
    {'title': 'Go'}

    Args:
        name: the element that is written.
        found: the attributes of the page.
        base: what addresses are relative to; relative ones are left out when there is none.
        images: whether images of other sites may stay.
    """
    for key, value in found.items():
        kept: str | None
        if key == "href" and name == "a":
            kept = link(value, base)
        elif key == "src" and name == "img":
            kept = image(value, base, remote=images)
        else:
            kept = _value(name, key, value)
        if kept is not None:
            yield key, kept
        if key == "href" and kept is not None and not kept.startswith("#"):
            yield "rel", "noopener noreferrer nofollow"
            yield "target", "_blank"
    if name in {"button", "input", "select", "textarea"}:
        yield "disabled", ""


def _value(name: str, key: str, value: str) -> str | None:
    """Give what stays of a value that is no address; None for nothing."""
    if key == "class":
        return " ".join(word for word in value.split() if not word.startswith(_OURS)) or None
    if key == "id":
        return None if value.startswith(_OURS) else value
    if key == "style":
        return style(value) or None
    if key == "type" and name == "input":
        return value.lower() if value.lower() in _INPUTS else "text"
    return value if key in _ATTRIBUTES else None


def link(address: str, base: str | None) -> str | None:
    r"""Give the address of a link if it leads to a page: http, https, mail, or a place on the same page.

    >>> link("#top", None), link("/a", "https://example.org/b"), link("/a", None)
    ('#top', 'https://example.org/a', None)
    >>> link(" java\nscript:alert(1)", None)
    """
    found = resolve(base, address)
    if found.startswith("#"):
        return found
    try:
        scheme = urlsplit(found).scheme.lower()
    except ValueError:  # unbalanced brackets and the like
        return None
    return found if scheme in _SCHEMES else None


def image(address: str, base: str | None, *, remote: bool) -> str | None:
    """Give the address of an image if it may be shown: one that is in the page itself, or any when asked for.

    >>> image("data:image/png;base64,AAAA", None, remote=False)
    'data:image/png;base64,AAAA'
    >>> image("data:text/html,x", None, remote=True), image("//a.org/b.png", "https://a.org", remote=False)
    (None, None)
    """
    if _IMAGE.fullmatch(address.strip()):
        return address.strip()
    found = link(address, base) if remote else None
    return found if found is not None and found[:4].lower() == "http" else None


# What loads something, or once did.
_LOADING = re.compile(
    r"@import|@namespace|@charset|(?:url|src|image|image-set|cross-fade|element|paint|expression)\s*\(|-moz-binding|behavior\s*:",
    re.IGNORECASE,
)
_CSS_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))", re.DOTALL)


def style(css: str) -> str:
    r"""Give a style sheet that loads nothing; empty where it hides what it does.

    >>> style("p { color: red; background: url(http://example.org/x) }")
    'p { color: red; background: quire-none(http://example.org/x) }'
    >>> style(r"p { background: \75 rl(http://example.org/x) }")
    ''
    """
    # First of all: what is dropped later could join what it kept apart.
    css = "".join(c for c in css if c >= " " or c in "\n\t")
    if "\\" in css:
        plain = _CSS_ESCAPE.sub(_unescaped, css)
        if len(_LOADING.findall(plain)) != len(_LOADING.findall(css)):
            return ""
    kept = _LOADING.sub(_neutral, css)
    # No `<` at all: nothing in a style sheet can then end it.
    return kept.replace("<", "\\3c ")


def _neutral(found: re.Match[str]) -> str:
    what = found[0]
    if what.startswith("@"):
        return "@quire-none "
    return "quire-none(" if what.endswith("(") else "quire-none:"


def _unescaped(found: re.Match[str]) -> str:
    if found[1] is None:
        return found[2]
    try:
        return chr(int(found[1], 16))
    except ValueError:  # past the last character
        return "\ufffd"
