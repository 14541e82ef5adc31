"""Reading a list of pages: a sitemap (an index, text, or gzipped), a feed, or the links of a page.

Lists come from strangers. Bodies are bounded by the gate, and again here when they are unpacked;
addresses are bounded in number and length. XML that is not well-formed is read as far as it goes,
because many sitemaps and feeds are not.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from quire.digest.files import encode
from quire.digest.page import Digest
from quire.display import format_bytes
from quire.errors import MalformedSource
from quire.sentinels.form.watch import Finder
from quire.sentinels.parts.feeds import feed_entries
from quire.sentinels.parts.reading import FOLLOWED

#: Bytes of a list that are read, after unpacking. A sitemap of 50,000 pages has about 8 MB.
MOST_BYTES = 20_000_000
#: Addresses of one list that are read. The sitemap protocol allows 50,000.
MOST_ADDRESSES = 100_000
#: Characters of an address. Browsers and servers stop at 2,000 to 8,000.
MOST_LETTERS = 4_000

_GZIP = b"\x1f\x8b"


class NotAListing(ValueError):
    """The page is not a list of the kind that the watch expects."""


@dataclass(frozen=True, slots=True)
class Listing:
    """What a list has.

    Attributes:
        pages: addresses of pages as they are written, in the order of the list.
        lists: addresses of other lists: the sitemaps of an index.
        base: the address that the others are relative to, if the page says so.
    """

    pages: tuple[str, ...]
    lists: tuple[str, ...] = ()
    base: str = ""


def read_listing(finder: Finder, body: bytes, content_type: str = "") -> Listing:
    """Read a list of pages.

    >>> read_listing("links", b"<a href=/fish>Fish</a> <a href='?page=2'>more</a>").pages
    ('/fish', '?page=2')

    Args:
        finder: what the list is.
        body: the decoded body of the response.
        content_type: its content type, if known.

    Raises:
        NotAListing: it is something else, or is too long.
    """
    body = _unpacked(body)
    if len(body) > MOST_BYTES:
        raise NotAListing(f"the list has more than {format_bytes(MOST_BYTES)}")
    page = _page(body, "" if finder == "sitemap" else content_type)
    if finder == "links":
        return Listing(_bounded(_links(page)), base=_base(page))
    if finder == "feed":
        entries = feed_entries(page)
        if entries is None:
            raise NotAListing("the page is not a feed; expected RSS, Atom or JSON Feed")
        return Listing(_bounded(each.link for each in entries))
    return _sitemap(page)


def _page(body: bytes, content_type: str) -> Digest:
    try:
        return encode(body, content_type=content_type or None, recover=True)
    except MalformedSource as error:  # JSON in an unknown character set, and the like
        raise NotAListing(str(error)) from None


def _unpacked(body: bytes) -> bytes:
    """Unpack a file that was gzipped on the server, as sitemaps often are."""
    if not body.startswith(_GZIP):
        return body
    pieces: list[bytes] = []
    left = MOST_BYTES + 1
    rest = body
    try:
        while rest.startswith(_GZIP) and left > 0:
            unzip = zlib.decompressobj(wbits=31)
            piece = unzip.decompress(rest, left)
            pieces.append(piece)
            left -= len(piece)
            if not unzip.eof:
                if left > 0:
                    raise NotAListing("the list is gzipped, and ends early")
                break
            rest = unzip.unused_data
    except zlib.error as error:
        raise NotAListing(f"the list is gzipped, and damaged ({error})") from None
    return b"".join(pieces)


def _links(page: Digest) -> Iterator[str]:
    names = [str(name) for name in page.tags]
    for node, address in page.addresses("links"):
        if names[page.tag[node]] in FOLLOWED:
            yield address


def _base(page: Digest) -> str:
    """Return the address that the page says its links are relative to."""
    for node in page.select("base[href]").tolist()[:1]:
        return page.attributes(node)["href"].strip()[:MOST_LETTERS]
    return ""


def _sitemap(page: Digest) -> Listing:
    if page.kind == "text":
        lines = [line.strip() for line in page.text().split("\n")]
        addresses = [line for line in lines if line.startswith(("http://", "https://"))]
        if not addresses or len(addresses) < sum(map(bool, lines)):
            raise NotAListing(
                "the page is not a sitemap; expected XML, or one address on each line"
            )
        return Listing(_bounded(iter(addresses)))
    names = [str(name) for name in page.tags]
    if page.kind != "xml" or not _is_sitemap(page, names):
        raise NotAListing("the page is not a sitemap; expected <urlset> or <sitemapindex>")
    pages = _bounded(_locations(page, names, "url"))
    return Listing(pages, _bounded(_locations(page, names, "sitemap")))


def _is_sitemap(page: Digest, names: list[str]) -> bool:
    tops = page.tag[page.depth == 1].tolist()
    return any(names[tag].rpartition(":")[2] in ("urlset", "sitemapindex") for tag in tops)


def _locations(page: Digest, names: list[str], kind: str) -> Iterator[str]:
    """Return the text of each ``loc`` right below an element; not those of images and videos."""
    is_kind = [name.rpartition(":")[2] == kind for name in names]
    tags, sizes = page.tag.tolist(), page.size.tolist()
    for node in range(page.n):
        if not is_kind[tags[node]]:
            continue
        prefix = names[tags[node]].rpartition(":")[0]
        wanted = f"{prefix}:loc" if prefix else "loc"
        child, end = node + 1, node + sizes[node]
        while child < end:
            if names[tags[child]] == wanted:
                yield page.text(child).strip()
                break
            child += sizes[child]


def _bounded(addresses: Iterator[str]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for address in addresses:
        if address and len(address) <= MOST_LETTERS:
            found.setdefault(address)
        if len(found) == MOST_ADDRESSES:
            break
    return tuple(found)
