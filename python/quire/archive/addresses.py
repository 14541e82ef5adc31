"""Addresses: the normal form of an address, and the address that a person means.

People leave out the scheme or the last slash, write capitals, or add ``www.``; crawlers store one
of these spellings. An address is looked up as it is first, then in its usual spellings, which needs
only the index. If none of them is stored, all addresses are compared in the normal form of CDXJ
(``surt``), and the most similar ones are suggested.
"""

from __future__ import annotations

import difflib
import heapq
import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote, unquote_to_bytes, urlsplit, urlunsplit

_WWW = re.compile(r"^www\d*\.")
_PORTS = {"http": 80, "https": 443}
# Each level of escaping is a pass over the address; more levels only occur in attacks.
_MOST_ESCAPES = 8
_PRINTABLE = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in "#%")
_SPACES = re.compile(r"[\x00-\x20\x7f]")
#: Maximum number of suggestions, and how similar they must be, from 0 to 1.
MOST_SUGGESTED = 3
LEAST_ALIKE = 0.8
_MOST_COMPARED = 50
_MOST_COMPARED_CHARACTERS = 200
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?![0-9]+(/|$))")


def key(url: str) -> str:
    """Return the sort key of an address, like the package ``surt``.

    The host is reversed. Scheme, ``www.``, default port and fragment are removed. Letters are
    lower case, paths are normalized, parameters are sorted, and only necessary characters are
    escaped.

    >>> key("https://www.Fish.example:443/%7EMarket/../a?b=2&a=1#top")
    'example,fish)/a?a=1&b=2'
    >>> key("urn:a b")
    'urn:a%20b'
    """
    text = _SPACES.sub(lambda found: f"%{ord(found[0]):02x}", url.strip())
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        return text.lower()
    if parts.scheme.lower() not in {"http", "https", "ftp"} or not host:
        return text.lower()
    turned = ",".join(reversed(_WWW.sub("", _plain(host)).strip(".").split(".")))
    if port is not None and port != _PORTS.get(parts.scheme.lower()):
        turned += f":{port}"
    query = "&".join(sorted(_escaped(parts.query).lower().split("&")))
    path = _direct(_escaped(parts.path)).lower()
    return f"{turned}){path}" + (f"?{query}" if query else "")


def spellings(url: str) -> Iterator[str]:
    """Yield an address as it is, and then as others may write it.

    >>> for spelling in list(spellings("HTTP://Fish.example/a/"))[:4]:
    ...     print(spelling)
    HTTP://Fish.example/a/
    http://fish.example/a/
    http://fish.example/a
    http://www.fish.example/a/
    """
    yield url
    try:
        parts = urlsplit(with_scheme(url))
        host = parts.netloc.lower()
    except ValueError:
        return
    scheme = parts.scheme.lower()
    if scheme not in _PORTS or not host:
        return
    host = host.removesuffix(f":{_PORTS[scheme]}")
    plain = _WWW.sub("", host)
    hosts = dict.fromkeys([host, *([plain] if plain != host else [f"www.{host}"])])
    slashed = parts.path if parts.path.endswith("/") else parts.path + "/"
    paths = dict.fromkeys([parts.path, slashed, slashed.removesuffix("/")])
    for other in dict.fromkeys([scheme, *_PORTS]):
        for name in hosts:
            for path in paths:
                made = urlunsplit((other, name, path, parts.query, parts.fragment))
                if made != url:
                    yield made


def _plain(host: str) -> str:
    """Convert a host to ASCII, as in DNS."""
    try:
        return host.encode("idna").decode().lower()
    except UnicodeError:
        return _escaped(host).lower()


def _escaped(text: str) -> str:
    """Escape only where necessary, after undoing repeated escaping."""
    data = text.encode("utf-8", "surrogatepass")
    for _ in range(_MOST_ESCAPES):
        plain = unquote_to_bytes(data)
        if plain == data:
            break
        data = plain
    return quote(data, safe=_PRINTABLE)


def _direct(path: str) -> str:
    """Remove empty path segments and resolve ``..``."""
    steps: list[str] = []
    for step in path.split("/"):
        if step == "..":
            del steps[-1:]
        elif step not in {"", "."}:
            steps.append(step)
    return "/" + "/".join(steps)


def same_address(url: str, addresses: Iterable[str]) -> tuple[str | None, list[str]]:
    """Find an address by its normal form, and otherwise the most similar ones.

    >>> same_address("Fish.example/%61", ["http://www.fish.example/a/", "https://b.example/"])
    ('http://www.fish.example/a/', [])
    >>> same_address("fish.example/codd", ["http://fish.example/cod", "https://b.example/"])
    (None, ['http://fish.example/cod'])

    Returns:
        The address, or None and a few similar addresses.
    """
    plain, web = key(url), key(with_scheme(url))
    rough: list[tuple[int, str, str, str]] = []
    for address in addresses:
        found = key(address)
        wanted = web if _SCHEME.match(address) else plain
        if found == wanted:
            return address, []
        rough.append((-_ends(found, wanted), address, found, wanted))
    near = []
    for _, address, found, wanted in heapq.nsmallest(_MOST_COMPARED, rough):
        pair = found[:_MOST_COMPARED_CHARACTERS], wanted[:_MOST_COMPARED_CHARACTERS]
        ratio = difflib.SequenceMatcher(None, *pair, autojunk=False).ratio()
        if ratio >= LEAST_ALIKE:
            near.append((-ratio, address))
    return None, [address for _, address in sorted(near)[:MOST_SUGGESTED]]


def _ends(one: str, other: str) -> int:
    """Count the characters that two texts share at their beginnings and ends."""
    start = _common(one, other)
    return start + _common(one[start:][::-1], other[start:][::-1]) - max(len(one), len(other))


def _common(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))


def with_scheme(url: str) -> str:
    """Return an address with a scheme, which people leave out.

    >>> with_scheme("fish.example/a"), with_scheme("https://fish.example/")
    ('http://fish.example/a', 'https://fish.example/')
    """
    return url if _SCHEME.match(url) else f"http://{url}"
