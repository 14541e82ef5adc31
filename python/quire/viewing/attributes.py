"""Attributes with addresses: which ones an element has, and how a browser uses them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from quire.viewing.places import Use

#: An address inside the same document.
LOCAL = re.compile(r"#[\w.:-]+")

# Where scripts find the address of an image that they load when it is scrolled into view.
_LATE = ("data-src", "data-original", "data-lazy-src", "data-lazy", "data-url")
_LATE_SETS = ("data-srcset", "data-lazy-srcset")
# Elements of SVG that refer to others of the same document.
_REFERRING = frozenset({"filter", "linearGradient", "pattern", "radialGradient", "textPath", "use"})


def uses(written: str, found: Mapping[str, str], space: str) -> Iterator[tuple[str, str, Use]]:
    """Yield attributes that have addresses, with the way in which a browser uses them.

    >>> list(uses("a", {"href": "/b", "ping": "/c"}, "html"))
    [('href', '/b', <Use.LINK: 'link'>)]
    """
    if space == "svg":
        yield from _svg_uses(written, found)
    elif space == "html":
        if written in {"img", "source"}:
            found = {**found, **_late(found)}
        for key, use in _USES.get(written, {}).items():
            if found.get(key):
                yield key, found[key], use


_USES = {
    "a": {"href": Use.LINK},
    "area": {"href": Use.LINK},
    "audio": {"src": Use.MEDIA},
    "frame": {"src": Use.FRAME},
    "iframe": {"src": Use.FRAME},
    "img": {"src": Use.IMAGE, "srcset": Use.IMAGE},
    "input": {"src": Use.IMAGE},
    "source": {"src": Use.MEDIA, "srcset": Use.IMAGE},
    "video": {"src": Use.MEDIA, "poster": Use.IMAGE},
    **dict.fromkeys(  # noqa: RUF024 - never changed
        ("body", "table", "tbody", "td", "tfoot", "th", "thead", "tr"), {"background": Use.IMAGE}
    ),
}


def _svg_uses(written: str, found: Mapping[str, str]) -> Iterator[tuple[str, str, Use]]:
    href = found.get("href", found.get("xlink:href"))
    if href is None:
        return
    use = {"a": Use.LINK, "image": Use.IMAGE}.get(written)
    if use is not None:
        yield "href", href, use
    elif written in _REFERRING and LOCAL.fullmatch(href.strip()):
        yield "href", href.strip(), Use.LINK


def _late(found: Mapping[str, str]) -> dict[str, str]:
    """Return the addresses of an image that a script of the page would load later."""
    src = next((found[key] for key in _LATE if found.get(key)), "")
    srcset = next((found[key] for key in _LATE_SETS if found.get(key)), "")
    is_empty = not found.get("src") or found["src"].strip()[:5].lower() == "data:"
    return {
        **({"src": src} if src and is_empty else {}),
        **({"srcset": srcset} if srcset else {}),
    }
