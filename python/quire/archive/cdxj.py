"""CDXJ: the index beside a ``.warc.gz``, by which replay tools find a record.

A line for each record, sorted: the address turned round (``example,www)/path``, so that a host and its parts sort
together), the time in fourteen digits, and a JSON object that says where the record is.

Above: ``export``. Below: nothing.
"""

from __future__ import annotations

import heapq
import json
import re
import tempfile
from collections.abc import Iterator
from datetime import datetime
from typing import TextIO
from urllib.parse import urlsplit

#: Lines that are held in memory; more are sorted in parts.
MOST_LINES = 200_000

_WWW = re.compile(r"^www\d*\.")
_PORTS = {"http": 80, "https": 443}
_SPACES = re.compile(r"[\x00-\x20\x7f]")


def key(url: str) -> str:
    """Give the key that an address is sorted and found by.

    Hosts are turned round; scheme, ``www.``, a port that goes without saying and the fragment are left out; letters are small, and
    parameters are sorted.

    >>> key("https://www.Fish.example:443/Market?b=2&a=1#top")
    'example,fish)/market?a=1&b=2'
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
    turned = ",".join(reversed(_WWW.sub("", host.lower()).strip(".").split(".")))
    if port is not None and port != _PORTS.get(parts.scheme.lower()):
        turned += f":{port}"
    path = parts.path.lower() or "/"
    if len(path) > 1:
        path = path.rstrip("/") or "/"
    query = "&".join(sorted(parts.query.lower().split("&"))) if parts.query else ""
    return f"{turned}){path}" + (f"?{query}" if query else "")


def line(url: str, time: datetime, fields: dict[str, str]) -> str:
    """Give the line of a record."""
    told = json.dumps({"url": url, **fields})
    return f"{key(url)} {time:%Y%m%d%H%M%S} {told}\n".encode("utf-8", "replace").decode()


class Lines:
    """Lines in any number, sorted on the disk."""

    def __init__(self) -> None:
        self._held: list[str] = []
        self._parts: list[TextIO] = []

    def add(self, line: str) -> None:
        """Take in a line."""
        self._held.append(line)
        if len(self._held) >= MOST_LINES:
            self._put_away()

    def _put_away(self) -> None:
        part = tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n")  # noqa: SIM115 - see close
        self._parts.append(part)
        part.writelines(sorted(self._held))
        part.seek(0)
        self._held = []

    def sorted(self) -> Iterator[str]:
        """Give all lines in order."""
        return heapq.merge(*self._parts, sorted(self._held))

    def close(self) -> None:
        """Let go of them."""
        for part in self._parts:
            part.close()
        self._parts, self._held = [], []
