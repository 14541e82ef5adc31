"""Which addresses of a list are watched: those that match, and that the list may speak for.

A list speaks for its own site: the same host, and https if the list came by https. Pages of other
hosts are only watched if the user allows it, and never get the credentials of the watch.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from quire import _core
from quire.errors import FetchFailed
from quire.sentinels.form.watch import Pages
from quire.sentinels.listings.listing import Listing
from quire.sources.gate.urls import WebAddress, join, parse


@dataclass(frozen=True, slots=True)
class Sorted:
    """The addresses of a list in their canonical form.

    Attributes:
        own: pages of the site of the list that match.
        foreign: pages of other sites that match, if they are allowed.
        lists: other lists of the same site.
        left_out: how many addresses of other sites, or that are not valid, were left out.
    """

    own: tuple[str, ...]
    foreign: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    left_out: int = 0


def sort_addresses(listing: Listing, at: str, pages: Pages) -> Sorted:
    """Sort the addresses of a list.

    >>> listing = Listing(("fish", "https://example.org/chips#top", "https://b.example/", "mailto:x"))
    >>> sort_addresses(listing, "https://example.org/menu/", Pages(()))
    Sorted(own=('https://example.org/menu/fish', 'https://example.org/chips'), foreign=(), lists=(), left_out=1)

    Args:
        listing: the list.
        at: the address of the list, after redirects.
        pages: what the user wants.
    """
    here = parse(at)
    base = _joined(here, listing.base) or here if listing.base else here
    pattern = _core.Pattern(pages.pattern) if pages.pattern else None
    own: dict[str, None] = {}
    foreign: dict[str, None] = {}
    left_out = 0
    for address in _addresses(base, listing.pages):
        if address.key == here.key or (pattern is not None and not pattern.is_match(address.key)):
            continue
        if speaks_for(here, address):
            own.setdefault(address.key)
        elif pages.elsewhere:
            foreign.setdefault(address.key)
        else:
            left_out += 1
    lists = {
        address.key: None
        for address in _addresses(base, listing.lists)
        if speaks_for(here, address) and address.key != here.key
    }
    return Sorted(tuple(own), tuple(foreign), tuple(lists), left_out)


def speaks_for(here: WebAddress, address: WebAddress) -> bool:
    """Tell whether a list may name a page as its own.

    >>> here = parse("http://example.org/")
    >>> [speaks_for(here, parse(each)) for each in ("http://example.org/a", "https://example.org/")]
    [True, True]
    >>> speaks_for(parse("https://example.org/"), parse("http://example.org/"))
    False
    """
    if address.origin == here.origin:
        return True
    is_upgrade = (here.scheme, here.port, address.scheme, address.port) == (
        "http",
        80,
        "https",
        443,
    )
    return is_upgrade and address.host == here.host


def _addresses(base: WebAddress, written: Iterable[str]) -> Iterable[WebAddress]:
    for text in written:
        found = _joined(base, text)
        if found is not None:
            yield found


def _joined(base: WebAddress, text: str) -> WebAddress | None:
    try:
        return join(base, text.strip())
    except FetchFailed:  # mailto:, javascript:, file:, or not an address at all
        return None
