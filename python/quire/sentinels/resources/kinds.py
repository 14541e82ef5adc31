"""Kinds of resources: decided by their first bytes, not by the type that a server gives.

A server of strangers may call a web page an image, or the other way round. The type that is served
later is the one found here. Anything else is refused: scripts, web pages, documents, archives.
"""

from __future__ import annotations

import re
from enum import Enum

from quire.viewing import Use

#: Bytes that are looked at.
HEAD = 4096

_SVG = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--.{0,2000}?-->\s*)*"
    rb"(?:<!DOCTYPE\s+svg[^>\[]{0,300}>\s*)?(?:<!--.{0,2000}?-->\s*)*<svg[\s>]",
    re.DOTALL | re.IGNORECASE,
)
_MARKUP = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?!!--)")


class Kind(Enum):
    """A kind of resource; its value is the type that it is served with."""

    PNG = "image/png"
    GIF = "image/gif"
    JPEG = "image/jpeg"
    WEBP = "image/webp"
    AVIF = "image/avif"
    BMP = "image/bmp"
    ICO = "image/x-icon"
    SVG = "image/svg+xml"
    WOFF = "font/woff"
    WOFF2 = "font/woff2"
    TTF = "font/ttf"
    OTF = "font/otf"
    CSS = "text/css; charset=utf-8"


_BEGIN = (
    (b"\x89PNG\r\n\x1a\n", Kind.PNG),
    (b"GIF87a", Kind.GIF),
    (b"GIF89a", Kind.GIF),
    (b"\xff\xd8\xff", Kind.JPEG),
    (b"BM", Kind.BMP),
    (b"\x00\x00\x01\x00", Kind.ICO),
    (b"wOFF", Kind.WOFF),
    (b"wOF2", Kind.WOFF2),
    (b"\x00\x01\x00\x00", Kind.TTF),
    (b"true", Kind.TTF),
    (b"OTTO", Kind.OTF),
)
_OF_USE = {
    Use.IMAGE: frozenset(each for each in Kind if each.value.startswith("image/")),
    Use.FONT: frozenset(each for each in Kind if each.value.startswith("font/")),
    Use.STYLE: frozenset({Kind.CSS}),
}


def sniff(data: bytes, content_type: str, use: Use) -> Kind | None:
    """Return the kind of a resource; None if it is not one that a page may use in this way.

    >>> sniff(b"GIF89a...", "text/html", Use.IMAGE), sniff(b"<script>", "image/png", Use.IMAGE)
    (<Kind.GIF: 'image/gif'>, None)
    >>> sniff(b"p { color: red }", "text/css", Use.STYLE), sniff(b"p {}", "text/html", Use.STYLE)
    (<Kind.CSS: 'text/css; charset=utf-8'>, None)

    Args:
        data: its bytes.
        content_type: what the server calls it.
        use: how the page uses it.
    """
    found = _style(data, content_type) if use is Use.STYLE else _binary(data)
    return found if found in _OF_USE.get(use, frozenset()) else None


def _binary(data: bytes) -> Kind | None:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return Kind.WEBP
    if data[4:8] == b"ftyp" and data[8:12] in {b"avif", b"avis", b"mif1"}:
        return Kind.AVIF
    for begin, kind in _BEGIN:
        if data.startswith(begin):
            return kind
    return Kind.SVG if _SVG.match(data[:HEAD]) else None


def _style(data: bytes, content_type: str) -> Kind | None:
    # Text has no signature. Browsers go by the type too, and a web page is never a style sheet.
    said = content_type.partition(";")[0].strip().lower()
    is_text = b"\0" not in data[:HEAD] and not _MARKUP.match(data[:HEAD])
    return Kind.CSS if said in {"text/css", ""} and is_text else None
