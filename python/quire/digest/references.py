"""Links and images: where a page points.

Addresses are read as browsers read them (white space around them and line ends in them go) and then
resolved by RFC 3986, with ``urllib.parse.urljoin``. What the URL Standard of browsers does beyond that is
not done: backslashes stay backslashes, nothing is percent-encoded, hosts keep their capitals and their
script, default ports stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

# What browsers take out of an address before they read it.
_INNER = str.maketrans("", "", "\t\n\r")
_OUTER = "".join(map(chr, range(0x21)))
# Schemes that are no base, whatever follows.
_NO_BASE = frozenset({"data", "javascript"})


@dataclass(frozen=True, slots=True)
class Link:
    """One address that a page points to.

    Attributes:
        node: the element.
        tag: its name: ``a``, ``area``, ``link``, ``form``, ``iframe``, ``frame``, ``embed``, ``script``.
        url: the address, resolved.
        raw: the address as written, character references decoded.
        text: what a reader sees of an ``a``; the ``alt`` of an ``area``; empty for others. Of an ``a`` the
            first 1,000 characters (of at most 1,000 nodes and 16,000 bytes): links can be nested, and each
            would repeat all the text inside it. ``page.text(link.node)`` gives everything.
    """

    node: int
    tag: str
    url: str
    raw: str
    text: str


@dataclass(frozen=True, slots=True)
class Image:
    """One image that a page shows; each candidate of a ``srcset`` is one.

    Attributes:
        node: the element.
        tag: its name: ``img``, ``source``, ``video``, ``input``, ``image``.
        url: the address, resolved.
        raw: the address as written, character references decoded.
        alt: the text in its place.
    """

    node: int
    tag: str
    url: str
    raw: str
    alt: str


def base_of(page: str | None, own: str | None) -> str | None:
    """Choose what the addresses of a page are resolved against.

    As in browsers, a ``base`` that nothing can be relative to is none.

    >>> base_of("https://example.org/a/", "../b/")
    'https://example.org/b/'
    >>> base_of("https://example.org/", "data:,x"), base_of("https://example.org/", "http://[")
    ('https://example.org/', 'https://example.org/')

    Args:
        page: the address of the page.
        own: the ``href`` of its ``base`` element.
    """
    if own is None:
        return page
    address = resolve(page, own)
    try:
        parts = urlsplit(address)
    except ValueError:
        return page
    hierarchical = parts.netloc or parts.path.startswith("/") or not parts.scheme
    return address if hierarchical and parts.scheme not in _NO_BASE else page


def resolve(base: str | None, address: str) -> str:
    r"""Resolve an address against a base.

    Where there is no absolute base, or the address cannot be read, it stays as written.

    >>> resolve("https://example.org/a/b", " ../c?d\n")
    'https://example.org/c?d'
    >>> resolve(None, "c"), resolve("../a/", "c"), resolve("https://example.org", "http://[")
    ('c', 'c', 'http://[')
    """
    address = address.strip(_OUTER).translate(_INNER)
    try:
        # Joined to a relative base, `..` would be lost.
        return urljoin(base, address) if base and urlsplit(base).scheme else address
    except ValueError:  # unbalanced brackets and the like
        return address
