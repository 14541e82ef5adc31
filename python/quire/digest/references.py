"""Links and images of a page, with their addresses resolved.

Addresses are cleaned as in browsers (surrounding white space and inner line breaks are removed) and
then resolved by RFC 3986 with ``urllib.parse.urljoin``. The other steps of the URL Standard are not
applied: backslashes stay backslashes, nothing is percent-encoded, hosts keep their upper case and
their script, and default ports stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

# Characters that browsers remove from an address before parsing it.
_INNER = str.maketrans("", "", "\t\n\r")
_OUTER = "".join(map(chr, range(0x21)))
# Schemes that browsers never accept in a base address.
_NO_BASE = frozenset({"data", "javascript"})


@dataclass(frozen=True, slots=True)
class Link:
    """One address that a page links to.

    Attributes:
        node: the element.
        tag: its name: ``a``, ``area``, ``link``, ``form``, ``iframe``, ``frame``, ``embed`` or
            ``script``.
        url: the resolved address.
        raw: the address as written, with character references decoded.
        text: the visible text of an ``a``, or the ``alt`` of an ``area``; empty for other elements.
            The text of an ``a`` is cut at 1,000 characters (from at most 1,000 nodes and 16,000
            bytes), because links can be nested and each would repeat all the text inside it.
            ``page.text(link.node)`` returns all of it.
    """

    node: int
    tag: str
    url: str
    raw: str
    text: str


@dataclass(frozen=True, slots=True)
class Image:
    """One image of a page; each candidate of a ``srcset`` is one image.

    Attributes:
        node: the element.
        tag: its name: ``img``, ``source``, ``video``, ``input`` or ``image``.
        url: the resolved address.
        raw: the address as written, with character references decoded.
        alt: the alternative text.
    """

    node: int
    tag: str
    url: str
    raw: str
    alt: str


def base_of(page: str | None, own: str | None) -> str | None:
    """Choose the base address that the addresses of a page are resolved against.

    As in browsers, a ``base`` element is ignored if nothing can be relative to it.

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

    Without an absolute base, or the address cannot be parsed, it stays as written.

    >>> resolve("https://example.org/a/b", " ../c?d\n")
    'https://example.org/c?d'
    >>> resolve(None, "c"), resolve("../a/", "c"), resolve("https://example.org", "http://[")
    ('c', 'c', 'http://[')
    """
    address = address.strip(_OUTER).translate(_INNER)
    try:
        # Joining to a relative base would lose `..`.
        return urljoin(base, address) if base and urlsplit(base).scheme else address
    except ValueError:  # unbalanced brackets and the like
        return address
