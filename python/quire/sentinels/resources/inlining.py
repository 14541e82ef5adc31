"""Inlining: a page with its stored style sheets and images inside it.

Redlines and other reports load nothing: they show only styles and images that are in the page. So
links to stored style sheets become ``style`` elements, and stored images become ``data:`` addresses.
The bytes of everything else stay as they are, and so do the words and the elements that people see.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator

from quire.digest.files import encode
from quire.digest.page import Digest
from quire.digest.references import base_of
from quire.display import escape
from quire.sentinels.resources.gathering import css_text
from quire.sentinels.resources.kinds import Kind
from quire.sentinels.resources.storing import Resources
from quire.viewing import safe_css
from quire.viewing.places import Places, Use

#: Bytes of all images that are written into one page, and of all style sheets.
MOST_IMAGE_BYTES = 2_000_000
MOST_STYLE_BYTES = 1_000_000
#: Style sheets inside style sheets.
MOST_IMPORTS = 2

# Encodings whose bytes are ASCII where they look like it.
_ASCII = frozenset(
    {"utf-8", "windows-1252", "iso-8859-1", "us-ascii", "iso-8859-15", "windows-1251"}
)


def inlined(page: Digest, url: str, store: Resources) -> Digest:
    """Return a page with its stored style sheets and images inside it.

    Pages other than HTML, and those in encodings such as UTF-16, stay as they are.

    Args:
        page: the page.
        url: its address.
        store: the resources.
    """
    if page.kind != "html" or "verbatim" in page.flags or page.encoding.lower() not in _ASCII:
        return page
    work = _Inlining(page, url, store)
    edits = sorted(work.edits())
    if not edits:
        return page
    source = page.decode()
    pieces: list[bytes] = []
    at = 0
    for start, end, text in edits:
        if start < at:
            continue
        pieces += [source[at:start], text.encode("ascii", "xmlcharrefreplace")]
        at = end
    pieces.append(source[at:])
    return encode(b"".join(pieces), kind="html", encoding=page.encoding)


class _Inlining:
    def __init__(self, page: Digest, url: str, store: Resources) -> None:
        self.page, self.store = page, store
        base = base_of(url, page._native.base()) or url  # noqa: SLF001 - as in `Digest.links`
        self.places = Places(url, base, lambda found, _: found)
        self.image_bytes = self.style_bytes = 0

    def edits(self) -> Iterator[tuple[int, int, str]]:
        """Yield the parts of the source to replace."""
        for node in self.page.select("link[href][rel~=stylesheet i], img[src]").tolist():
            found = self.page.attributes(node)
            is_image = "src" in found
            text = self._image(found) if is_image else self._style(found)
            start, end = self.page.span(node)
            if text is not None and start < end:
                yield start, end, text

    def _style(self, found: dict[str, str]) -> str | None:
        css = self._sheet(self.places.find(found["href"], Use.STYLE), MOST_IMPORTS)
        if css is None:
            return None
        media = f' media="{escape(found["media"])}"' if found.get("media") else ""
        return f"<style{media}>{_escaped(css)}</style>"

    def _sheet(self, url: str | None, imports: int) -> str | None:
        """Return a stored style sheet with those that it imports in front of it."""
        stored = self.store.at(url) if url is not None else None
        if stored is None or stored.type != Kind.CSS.value:
            return None
        self.style_bytes += len(stored.data)
        if self.style_bytes > MOST_STYLE_BYTES:
            return None
        inside: list[str] = []

        def place(found: str, use: Use) -> None:
            if use is Use.STYLE and imports:
                inside.append(found)

        own = safe_css(css_text(stored.data), url=stored.url, place=place)
        before = [self._sheet(each, imports - 1) for each in inside]
        return "\n".join([*(each for each in before if each), own])

    def _image(self, found: dict[str, str]) -> str | None:
        url = self.places.find(found["src"], Use.IMAGE)
        stored = self.store.at(url) if url is not None and url[:5] != "data:" else None
        # Sanitisers of reports leave SVG out, also in data addresses.
        if stored is None or not stored.type.startswith("image/") or stored.type == Kind.SVG.value:
            return None
        self.image_bytes += len(stored.data)
        if self.image_bytes > MOST_IMAGE_BYTES:
            return None
        data = base64.b64encode(stored.data).decode("ascii")
        values = {**found, "src": f"data:{stored.type};base64,{data}"}
        values.pop("srcset", None)
        return "<img" + "".join(f' {key}="{escape(value)}"' for key, value in values.items()) + ">"


def _escaped(css: str) -> str:
    """Write a style sheet in ASCII, with the escapes of CSS: references mean nothing in it."""
    return "".join(each if each.isascii() else f"\\{ord(each):x} " for each in css)
