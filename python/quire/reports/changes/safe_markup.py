"""The sanitiser: which parts of an untrusted page may appear in our documents.

Only the elements, attributes and address schemes listed here are allowed. No script, event handler,
frame or working form gets through, and nothing that loads. Allowed parts are written from parsed
values and escaped in one place (``quire.display.escape``); markup is never copied. Foreign elements
(SVG, MathML) and raw text are left out: sanitisers break when parsers are mixed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

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
    "body": "div",
    "dialog": "div",
    "form": "div",
    "html": "div",
    "listing": "pre",
    "plaintext": "pre",
    "xmp": "pre",
}

VOID = frozenset({"br", "col", "hr", "img", "input", "wbr"})

# Elements without marks in their text: browsers would show the marks as text, or drop them.
PLAIN = frozenset({"option", "optgroup", "select", "textarea"})

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


def attributes(
    name: str, found: Mapping[str, str], *, base: str | None, images: bool
) -> Iterator[tuple[str, str]]:
    """Yield the attributes to keep, with values that are safe but not yet escaped.

    >>> found = {"href": "javascript:x", "onclick": "x", "title": "Go"}
    >>> dict(attributes("a", found, base=None, images=False))
    {'title': 'Go'}

    Args:
        name: the name of the element to write.
        found: the attributes on the page.
        base: the base address; without it, relative addresses are left out.
        images: whether to keep images from the web.
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
    """Return the safe value of an attribute that is not an address; None to leave it out."""
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
    r"""Return the address of a link if it is http, https, mailto or an anchor on the same page.

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


# CSS that loads something, or did in old browsers.
_LOADING = re.compile(
    r"@import|@namespace|@charset|(?:url|src|image|image-set|cross-fade|element|paint|expression)\s*\(|-moz-binding|behavior\s*:",
    re.IGNORECASE,
)
_CSS_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))", re.DOTALL)


def style(css: str) -> str:
    r"""Return a style sheet that loads nothing; empty if it hides its functions behind escapes.

    >>> style("p { color: red; background: url(http://example.org/x) }")
    'p { color: red; background: quire-none(http://example.org/x) }'
    >>> style(r"p { background: \75 rl(http://example.org/x) }")
    ''
    """
    # Do this first: dropping a character later could join its neighbours to a forbidden name.
    css = "".join(c for c in css if c >= " " or c in "\n\t")
    if "\\" in css:
        plain = _CSS_ESCAPE.sub(_unescaped, css)
        if len(_LOADING.findall(plain)) != len(_LOADING.findall(css)):
            return ""
    kept = _LOADING.sub(_neutral, css)
    # Escape every `<`, so that nothing can end the style sheet.
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
    except ValueError:  # beyond the last character
        return "\ufffd"
