"""The judge of documents: nothing in them runs, and nothing leads out of the place.

It reads a document as a browser would, with a parser that the writer does not use, and knows nothing
of how it was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser

from tests.viewing.css_judge import css_faults

#: The addresses that the tests place start with this.
PLACED = "/placed/"

_ELEMENTS_THAT_ACT = frozenset(
    [
        "script",
        "object",
        "embed",
        "applet",
        "base",
        "portal",
        "fencedframe",
        "animate",
        "animatemotion",
        "animatetransform",
        "set",
        "foreignobject",
        "feimage",
        "template",
        "noscript",
        "noembed",
        "noframes",
        "xmp",
        "plaintext",
        "track",
        "canvas",
        "annotation-xml",
    ]
)
_METAS = frozenset({"charset", "Content-Security-Policy", "referrer", "viewport", "color-scheme"})
_ADDRESSES = frozenset(
    [
        "action",
        "background",
        "cite",
        "classid",
        "code",
        "codebase",
        "data",
        "dynsrc",
        "href",
        "lowsrc",
        "longdesc",
        "manifest",
        "poster",
        "profile",
        "src",
        "xlink:href",
    ]
)
_FORBIDDEN = frozenset({"srcdoc", "is", "nonce", "formaction", "target", "ping"})


def faults(document: bytes) -> list[str]:
    """List everything in a document that could act."""
    tree = LexborHTMLParser(document.decode())
    found: list[str] = []
    for node in tree.css("*"):
        name = (node.tag or "").lower()
        attributes = {key.lower(): value or "" for key, value in node.attributes.items()}
        found += _of_element(name, attributes)
        if name == "style":
            found += css_faults(node.text())
        for key, value in attributes.items():
            found += (f"{name} {fault}" for fault in _of_attribute(key, value))
    return found


def _of_element(name: str, attributes: dict[str, str]) -> Iterator[str]:
    if name in _ELEMENTS_THAT_ACT:
        yield f"<{name}>"
    if name == "meta" and "charset" not in attributes:
        said = {attributes.get("name"), attributes.get("http-equiv")} - {None}
        if not said <= _METAS:
            yield f"<meta {attributes}>"
    if name == "link" and set(attributes.get("rel", "").split()) - {"stylesheet", "alternate"}:
        yield f"<link {attributes}>"
    if name == "form" and attributes.get("method") != "dialog":
        yield "<form> that sends"


def _of_attribute(key: str, value: str) -> Iterator[str]:
    if key.startswith("on") or key in _FORBIDDEN or (key in _ADDRESSES and not _is_placed(value)):
        yield f"{key}={value!r}"
    elif key == "srcset":
        wrong = [each for each in value.split(", ") if not _is_placed(each.strip())]
        if wrong:
            yield f"srcset={wrong!r}"
    elif key in {"style", "clip-path", "fill", "filter", "mask", "stroke"}:
        yield from css_faults(value)


def _is_placed(address: str) -> bool:
    is_data = re.match(r"data:(image|font)/", address, re.IGNORECASE) is not None
    return address.startswith((PLACED, "#")) or is_data
