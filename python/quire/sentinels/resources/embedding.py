"""Embedding: the stored style sheets and images of pages, for documents that load nothing.

Redlines are written as one document, so what pages need is written into them. Nothing here changes a
page: its nodes, and the differences between two of its versions, stay the same.

One query finds the stored ones; their bytes are read only if a document is drawn.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable

from quire.digest.page import Digest
from quire.digest.references import base_of
from quire.sentinels.resources.gathering import css_text
from quire.sentinels.resources.kinds import Kind
from quire.sentinels.resources.storing import Resources
from quire.viewing import Embedded, Place, Places, Use, safe_css, style_relation

#: Bytes of all images of a document, and of all its style sheets.
MOST_IMAGE_BYTES = 2_000_000
MOST_STYLE_BYTES = 1_000_000
#: Style sheets and images of one page that are looked for.
MOST_ADDRESSES = 200
#: Style sheets inside style sheets: how deep, and how many each may name.
MOST_IMPORTS = 2
MOST_NAMED = 24


class StoredLooks:
    """The stored style sheets and images of some pages.

    Args:
        pages: the pages, each with its address.
        store: the resources.
    """

    def __init__(self, pages: Iterable[tuple[Digest, str]], store: Resources) -> None:
        self._store = store
        self._style_bytes = 0
        wanted: dict[str, Use] = {}
        for page, url in pages:
            wanted |= addresses_of(page, url)
        hashes = store.hashes(wanted)
        self._found = {url: use for url, use in wanted.items() if url in hashes}
        #: Another one for other stored bytes, for caches of drawings.
        self.key: str = " ".join(sorted(hashes.values()))

    def load(self) -> Embedded:
        """Read the style sheets and images."""
        styles: dict[str, str] = {}
        images: dict[str, str] = {}
        image_bytes = 0
        for url, use in self._found.items():
            if use is Use.STYLE:
                sheet = self._sheet(url, MOST_IMPORTS)
                if sheet is not None:
                    styles[url] = sheet
                continue
            stored = self._store.at(url)
            if stored is None or not stored.type.startswith("image/"):
                continue
            image_bytes += len(stored.data)
            if image_bytes > MOST_IMAGE_BYTES:
                break
            data = base64.b64encode(stored.data).decode("ascii")
            images[url] = f"data:{stored.type};base64,{data}"
        return Embedded(styles, images)

    def _sheet(self, url: str, imports: int) -> str | None:
        """Return a stored style sheet with those that it imports in front of it."""
        stored = self._store.at(url)
        if stored is None or stored.type != Kind.CSS.value:
            return None
        self._style_bytes += len(stored.data)
        if self._style_bytes > MOST_STYLE_BYTES:
            return None
        text = css_text(stored.data)
        if not imports or "@import" not in text.lower():
            return text
        inside: list[str] = []
        safe_css(text, url=stored.url, place=_noting(inside))
        named = list(dict.fromkeys(inside))[:MOST_NAMED]
        before = [self._sheet(each, imports - 1) for each in named]
        return "\n".join([*(each for each in before if each), text])


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


def _noting(inside: list[str]) -> Place:
    def place(url: str, use: Use) -> None:
        if use is Use.STYLE:
            inside.append(url)

    return place
