"""Addresses: where the pages of a composition are served, and the type they are served as.

An address is written as a client asks for it: ``//example.org/news?id=1``, or ``/news.html`` if no
host is known, as for files. Only the characters of ``ADDRESS`` get into it, and so into VCL: the
ones that can end a VCL string, and white space, become percent-encoded, as browsers send them.
Everything else stays as it is: addresses that differ in case, in a slash at the end or in the query
are different pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Literal, NamedTuple, TypeAlias
from urllib.parse import quote, unquote, urlsplit

from quire.fragments.site.collection import CollectedPage

#: Why a page is not served under an address of its own: another page has it, it was captured as
#: an error or redirect, its address is longer than caches accept, it has no host although the
#: site has several, or its name cannot be written as an address.
Unserved: TypeAlias = Literal["", "taken", "status", "long", "host", "form"]

#: No address is longer: Varnish accepts 8 kB for a line of a request.
MOST_BYTES = 4096
# Printable ASCII without space, quotation mark, backslash, less-than, greater-than and number sign.
_TARGET = r"/[!$-;=?-\[\]-~]*"
_HOST = r"(?:[a-z0-9_](?:[a-z0-9_.-]*)|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?"
#: The grammar of an address; nothing else gets into VCL.
ADDRESS = re.compile(rf"(?://({_HOST})|(?!//))({_TARGET})")
#: The grammar of a content type; parameters other than the charset are dropped.
CONTENT_TYPE = re.compile(r"[a-z0-9.+-]{1,60}/[a-z0-9.+-]{1,60}(?:;charset=[a-z0-9._:-]{1,40})?")

# The characters of _TARGET that ``quote`` would encode.
_KEPT = "".join(chr(code) for code in range(33, 127) if re.fullmatch(_TARGET, f"/{chr(code)}"))
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}
_OK = 200
_INDEX = re.compile(r"(.*/)index\.html?")
_TYPES = {
    ".json": "application/json",
    ".txt": "text/plain",
    ".xhtml": "application/xhtml+xml",
    ".xml": "application/xml",
}
_PARAMETER = re.compile(r';\s*charset\s*=\s*"?([^\s;"]+)"?', re.IGNORECASE)
_NO_TIME = datetime(1, 1, 1, tzinfo=UTC)


class Place(NamedTuple):
    """Where a page is served.

    Attributes:
        address: its address, or nothing.
        unserved: why there is none.
    """

    address: str
    unserved: Unserved = ""


def address_of(url: str) -> Place:
    r"""Return the address that a URL, or a path on the server, is asked for by.

    >>> address_of("https://Example.org:443/a b?q=\"}#top").address
    '//example.org/a%20b?q=%22}'
    >>> address_of("2026/fish.html").address, address_of("https://a.example").address
    ('/2026/fish.html', '//a.example/')
    >>> address_of("ftp://a.example/")
    Place(address='', unserved='form')
    """
    text = url.partition("#")[0]
    host = ""
    scheme, separator, _ = text.partition("://")
    if separator and scheme.isalnum():
        try:
            parts = urlsplit(text)
            found = _host(parts.hostname or "", parts.port, scheme.lower())
        except ValueError:
            found = ""
        if scheme.lower() not in _DEFAULT_PORTS or not found:
            return Place("", "form")
        host = f"//{found}"
        # Not from ``parts``: it drops an empty query, and line breaks.
        rest = re.match(r"[^/?]*", text[len(scheme) + 3 :])
        text = text[len(scheme) + 3 + (rest.end() if rest else 0) :]
    target = text if text.startswith("/") else f"/{text}"
    address = host + quote(target.encode("utf-8", "surrogateescape"), safe=_KEPT)
    if len(address) > MOST_BYTES:
        return Place("", "long")
    return Place(address) if ADDRESS.fullmatch(address) else Place("", "form")


def _host(name: str, port: int | None, scheme: str) -> str:
    if ":" in name:
        name = f"[{name}]"
    elif not name.isascii():
        name = name.encode("idna").decode("ascii")
    told = f":{port}" if port is not None else ""
    return name.lower() + (told if told != _DEFAULT_PORTS.get(scheme) else "")


def split_address(address: str) -> tuple[str, str]:
    """Split an address into its host, or nothing, and the rest.

    >>> split_address("//a.example/news?id=1"), split_address("/news.html")
    (('a.example', '/news?id=1'), ('', '/news.html'))

    Raises:
        ValueError: it is not an address.
    """
    found = ADDRESS.fullmatch(address)
    if found is None:
        raise ValueError(f"{address[:80]!r}: expected an address such as //example.org/news")
    return found[1] or "", found[2]


def index_address(address: str) -> str | None:
    """Return the address of the folder that a file is the index page of, if it is one.

    >>> index_address("/shop/index.html"), index_address("/shop/fish.html")
    ('/shop/', None)
    """
    found = _INDEX.fullmatch(address)
    return found[1] if found and not address.startswith("//") else None


def content_type_of(declared: str | None, address: str) -> str:
    """Return the content type that a page is served as: the declared one, or one by its ending.

    >>> content_type_of('Text/HTML; charset="UTF-8"; level=1', "/")
    'text/html;charset=utf-8'
    >>> content_type_of(None, "/prices.json"), content_type_of("text/html; }", "/")
    ('application/json', 'text/html')
    """
    kind, _, parameters = (declared or "").lower().partition(";")
    charset = _PARAMETER.search(f";{parameters}")
    wanted = kind.strip() + (f";charset={charset[1]}" if charset else "")
    for found in (wanted, kind.strip()):
        if CONTENT_TYPE.fullmatch(found):
            return found
    ending = PurePosixPath(unquote(address.partition("?")[0])).suffix.lower()
    return _TYPES.get(ending, "text/html")


def places_of(pages: Sequence[CollectedPage]) -> list[Place]:
    """Return where each page is served: every address belongs to one page.

    Of several pages at one address, the one captured over https is served, then the newest, then
    the first. Pages of files have no host. They are served on the only host, or on any.
    """
    places = [_own(page) for page in pages]
    hosts = hosts_of(one.address for one in places if one.address)
    if len(hosts) > 1:
        places = [Place("", "host") if _is_on_any(one) else one for one in places]
    # With one host or none, the host says nothing.
    keys = [
        one.address if len(hosts) > 1 or not one.address else split_address(one.address)[1]
        for one in places
    ]
    served: dict[str, int] = {}
    numbers = range(len(pages))
    for number in sorted(numbers, key=lambda one: _preference(pages[one]), reverse=True):
        if keys[number]:
            served.setdefault(keys[number], number)
    return [
        Place("", "taken")
        if key and pages[served[key]].body != pages[number].body
        else places[number]
        for number, key in enumerate(keys)
    ]


def _own(page: CollectedPage) -> Place:
    status = page.versions[-1].status
    if status not in {None, _OK}:
        return Place("", "status")
    return address_of(page.address or page.url)


def _is_on_any(place: Place) -> bool:
    return bool(place.address) and not place.address.startswith("//")


def _preference(page: CollectedPage) -> tuple[bool, datetime]:
    """Order pages of one address; the greatest is served."""
    time = page.versions[-1].time or _NO_TIME
    at = time if time.tzinfo else time.replace(tzinfo=UTC)
    return page.url.lower().startswith("https://"), at


def hosts_of(addresses: Iterable[str]) -> set[str]:
    """List the hosts of addresses.

    >>> sorted(hosts_of(["//a.example/", "//b.example/x", "/y"]))
    ['a.example', 'b.example']
    """
    return {split_address(address)[0] for address in addresses} - {""}
