"""CDXJ: the index beside a ``.warc.gz`` that replay tools use to find a record.

One line for each record, sorted: the address with its host reversed (``example,www)/path``, so
that a domain and its subdomains sort together), the time in fourteen digits, and a JSON object
with the position of the record.
"""

from __future__ import annotations

import heapq
import json
import re
import tempfile
from collections.abc import Iterator
from datetime import datetime
from typing import TextIO
from urllib.parse import quote, unquote_to_bytes, urlsplit, urlunsplit

#: Maximum lines in memory; more are sorted in parts on disk.
MOST_LINES = 200_000

_WWW = re.compile(r"^www\d*\.")
_PORTS = {"http": 80, "https": 443}
# Each level of escaping is a pass over the address; more levels only occur in attacks.
_MOST_ESCAPES = 8
_PRINTABLE = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in "#%")
_SPACES = re.compile(r"[\x00-\x20\x7f]")


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
        parts = urlsplit(url)
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


def line(url: str, time: datetime, fields: dict[str, str]) -> str:
    """Return the line of a record."""
    values = json.dumps({"url": url, **fields})
    return f"{key(url)} {time:%Y%m%d%H%M%S} {values}\n".encode("utf-8", "replace").decode()


class Lines:
    """Sorts any number of lines, on disk if necessary."""

    def __init__(self) -> None:
        self._held: list[str] = []
        self._parts: list[TextIO] = []

    def add(self, line: str) -> None:
        """Add a line."""
        self._held.append(line)
        if len(self._held) >= MOST_LINES:
            self._put_away()

    def _put_away(self) -> None:
        part = tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n")  # noqa: SIM115 - close()
        self._parts.append(part)
        part.writelines(sorted(self._held))
        part.seek(0)
        self._held = []

    def sorted(self) -> Iterator[str]:
        """Yield all lines in order."""
        return heapq.merge(*self._parts, sorted(self._held))

    def close(self) -> None:
        """Drop the lines and their temporary files."""
        for part in self._parts:
            part.close()
        self._parts, self._held = [], []
