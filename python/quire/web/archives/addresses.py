"""Addresses of captures: ``TIMESTAMP``, a mark for their use, and the address of the page."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from urllib.parse import quote, unquote

from starlette.requests import Request

from quire.archive.browsing import parse_timestamp
from quire.viewing import Use

#: Longer addresses are refused.
LONGEST = 10_000
_ASKED = re.compile(r"/(\d{1,14}|\*)([a-z]{2}_)?/(.+)", re.ASCII | re.DOTALL)
# Proxies join slashes.
_ONE_SLASH = re.compile(r"(https?):/+(?=[^/])", re.ASCII | re.IGNORECASE)
# Some programs escape the whole address.
_WHOLLY_QUOTED = re.compile(r"https?%3a", re.ASCII | re.IGNORECASE)
_KEPT = "!$&'()*+,/:;=?@[]~%-._"


class Mark(Enum):
    """How a capture is asked for; the marks are those of the Wayback Machine."""

    PAGE = ""
    RAW = "id_"
    IMAGE = "im_"
    STYLE = "cs_"
    FRAME = "if_"
    OTHER = "oe_"


MARKS = {
    Use.IMAGE: Mark.IMAGE,
    Use.STYLE: Mark.STYLE,
    Use.FRAME: Mark.FRAME,
    Use.FONT: Mark.OTHER,
    Use.MEDIA: Mark.OTHER,
}


@dataclass(frozen=True, slots=True)
class Asked:
    """The capture that a request asks for.

    Attributes:
        url: the address of the capture.
        time: the time; None for the newest.
        mark: how it is used.
    """

    url: str
    time: datetime | None
    mark: Mark


def asked(request: Request, prefix: str) -> Asked | None:
    """Read the address of a request; None if it is not that of a capture.

    Args:
        request: the request.
        prefix: the part of its path in front of the timestamp.
    """
    raw = request.scope.get("raw_path") or request.scope["path"].encode()
    path = raw.partition(b"?")[0].decode("latin-1").removeprefix(prefix)
    found = _ASKED.fullmatch(path)
    if found is None:
        return None
    digits, mark, url = found.groups()
    query = request.scope.get("query_string", b"").decode("latin-1")
    if _WHOLLY_QUOTED.match(url):
        url = unquote(url, errors="surrogateescape")
    url = _ONE_SLASH.sub(r"\1://", url + (f"?{query}" if query else ""), count=1)
    time = None if digits == "*" else parse_timestamp(digits)
    known = {each.value for each in Mark}
    if len(url) > LONGEST or (time is None and digits != "*"):
        return None
    return Asked(url, time, Mark(mark) if mark in known else Mark.PAGE)


def in_path(url: str) -> str:
    """Write an address as part of a path.

    >>> in_path('https://a.example/b c?d="e"')
    'https://a.example/b%20c?d=%22e%22'
    """
    return quote(url.partition("#")[0].encode("utf-8", "replace"), safe=_KEPT)


def in_query(url: str) -> str:
    """Write an address as the value of a parameter."""
    return quote(url.encode("utf-8", "replace"), safe="/:")
