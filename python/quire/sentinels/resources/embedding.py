"""Embedding: the stored style sheets, images and fonts of pages, for documents that load nothing.

Redlines are written as one document, so what pages need is written into them. Nothing here changes a
page: its nodes, and the differences between two of its versions, stay the same.

One query finds the stored ones; their bytes are read only if a document is drawn, and only of those
that it needs.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from quire.digest.page import Digest
from quire.digest.references import base_of
from quire.sentinels.resources.gathering import css_text
from quire.sentinels.resources.kinds import Kind, sniff
from quire.sentinels.resources.storing import Resource, Resources
from quire.viewing import NOTHING, Looks, Places, Sheet, Use, style_relation

#: Bytes of all images of a document, of all its style sheets, and of all its fonts.
MOST_IMAGE_BYTES = 2_000_000
MOST_STYLE_BYTES = 1_000_000
MOST_FONT_BYTES = 1_500_000
#: Style sheets and images of one page that are looked for.
MOST_ADDRESSES = 200
#: Addresses that are looked for while a document is drawn, those inside style sheets included.
MOST_READ = 600


#: Returns the resource of an address for a use; None if there is none.
Find: TypeAlias = Callable[[str, Use], Resource | None]


class StoredLooks:
    """The stored style sheets, images and fonts of some pages.

    Args:
        pages: the pages, each with its address.
        store: the resources.
    """

    def __init__(self, pages: Iterable[tuple[Digest, str]], store: Resources) -> None:
        self._store = store
        self._is_html = False
        wanted: dict[str, Use] = {}
        for page, url in pages:
            self._is_html |= page.kind == "html"
            wanted |= addresses_of(page, url)
        #: Another one for other stored bytes, for caches of drawings. Those inside style sheets are
        #: not looked at: they are fetched together with them.
        self.key: str = " ".join(sorted(store.hashes(wanted).values()))

    def load(self) -> Looks:
        """Return the reader for a drawing."""
        return ReadLooks(lambda url, _: self._store.at(url)) if self._is_html else NOTHING


@dataclass(frozen=True, slots=True)
class FoundLooks:
    """Style sheets, images and fonts that are in another place than the store, such as an archive.

    Attributes:
        key: another one for other bytes, for caches of drawings.
        find: returns the resource of an address for a use; None if there is none.
    """

    key: str
    find: Find

    def load(self) -> Looks:
        """Return the reader for a drawing."""
        return ReadLooks(self.find)


class ReadLooks:
    """Reads style sheets, images and fonts within limits, each once.

    Args:
        find: returns the resource of an address for a use; None if there is none.
    """

    def __init__(self, find: Find) -> None:
        self._find = find
        self._left = {
            Use.STYLE: MOST_STYLE_BYTES,
            Use.IMAGE: MOST_IMAGE_BYTES,
            Use.FONT: MOST_FONT_BYTES,
        }
        self._reads_left = MOST_READ
        self._known: dict[tuple[str, Use], str | None] = {}

    def sheet(self, url: str) -> Sheet | None:
        """Return a style sheet; None if there is none."""
        found = self._take(url, Use.STYLE)
        return None if found is None else Sheet(css_text(found.data), found.url)

    def image(self, url: str) -> str | None:
        """Return an image as a ``data:`` address; None if there is none."""
        return self._as_data(url, Use.IMAGE)

    def font(self, url: str) -> str | None:
        """Return a font as a ``data:`` address; None if there is none."""
        return self._as_data(url, Use.FONT)

    def _as_data(self, url: str, use: Use) -> str | None:
        if (url, use) not in self._known:
            found = self._take(url, use)
            self._known[url, use] = (
                None
                if found is None
                else f"data:{found.type};base64,{base64.b64encode(found.data).decode('ascii')}"
            )
        return self._known[url, use]

    def _take(self, url: str, use: Use) -> Resource | None:
        self._reads_left -= 1
        found = self._find(url, use) if self._reads_left >= 0 else None
        if found is None or not _FITS[use](found.type) or len(found.data) > self._left[use]:
            return None
        self._left[use] -= len(found.data)
        return found


_FITS: dict[Use, Callable[[str], bool]] = {
    Use.STYLE: lambda kind: kind == Kind.CSS.value,
    Use.IMAGE: lambda kind: kind.startswith("image/"),
    Use.FONT: lambda kind: kind.startswith("font/"),
}


def sniffed(url: str, data: bytes, content_type: str, use: Use) -> Resource | None:
    """Return bytes from anywhere as a resource; None if a page may not use them in this way.

    >>> sniffed("https://a.example/b", b"GIF89a", "text/html", Use.IMAGE).type
    'image/gif'
    """
    kind = sniff(data, content_type, use)
    return None if kind is None else Resource(kind.value, data, url)


def addresses_of(page: Digest, url: str) -> dict[str, Use]:
    """Return the style sheets and images that a document of a page would show, style sheets first.

    >>> import quire
    >>> page = quire.encode(b"<img src=b.png><link rel=stylesheet href=a.css>")
    >>> list(addresses_of(page, "https://example.org/"))
    ['https://example.org/a.css', 'https://example.org/b.png']

    Args:
        page: the page.
        url: its address.
    """
    found: dict[str, Use] = {}
    if page.kind != "html":
        return found
    base = base_of(url, page._native.base()) or url  # noqa: SLF001 - as in `Digest.links`
    places = Places(url, base, lambda address, _: address)
    for selector, name, use in (("link[rel]", "href", Use.STYLE), ("img[src]", "src", Use.IMAGE)):
        for node in page.select(selector).tolist():
            if len(found) >= MOST_ADDRESSES:
                return found
            attributes = page.attributes(node)
            if use is Use.STYLE and style_relation(attributes) != "stylesheet":
                continue
            address = places.find(attributes.get(name, ""), use)
            if address is not None and address[:5].lower() != "data:":
                found[address.partition("#")[0]] = use
    return found
