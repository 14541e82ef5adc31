"""Includes: how a fragment is named, and the one way an include of it is written and read.

A name is the first 32 hexadecimal digits (128 bits) of the SHA-256 of what is named, after all includes in it are filled in. So a
file says what must come of it, and nothing of a page gets into a name. Writers and readers share one grammar::

    <esi:include src="PREFIX/FOLDER/NAME.html"/>

Folders tell a cache what to do, for it decides by address alone:

``templates``   files with includes, of pages and of fragments: the only ones that are searched for includes
``fragments``   fragments without includes
``whole``       pages without includes
"""

from __future__ import annotations

import hashlib
import re
from typing import Literal, TypeAlias

#: The deepest that includes may nest: Varnish stops there, silently.
DEEPEST = 5

Folder: TypeAlias = Literal["fragments", "templates", "whole"]
FOLDERS: tuple[Folder, ...] = ("fragments", "templates", "whole")

NAME = re.compile(r"[0-9a-f]{32}")
_DIGITS = 32
_PREFIX = re.compile(r"(?:/[A-Za-z0-9_-]{1,64}){0,8}")


def name_of(data: bytes) -> str:
    """Name bytes.

    >>> name_of(b"<nav>Start</nav>")
    'b28b1475cb4e8d906e9f10f553caa9b8'
    """
    return hashlib.sha256(data).hexdigest()[:_DIGITS]


def checked_prefix(prefix: str) -> str:
    """Give back a prefix of addresses that may stand in templates and in VCL: ``/quire``, or nothing.

    Raises:
        ValueError: it has more in it than letters, digits, ``-``, ``_`` and ``/``.
    """
    if _PREFIX.fullmatch(prefix) is None:
        raise ValueError(
            f"prefix {prefix!r}: expected nothing, or words after slashes as in /quire/esi"
        )
    return prefix


def include(prefix: str, folder: Folder, name: str) -> bytes:
    """Write an include.

    >>> include("/q", "fragments", "0" * 32)
    b'<esi:include src="/q/fragments/00000000000000000000000000000000.html"/>'
    """
    return f'<esi:include src="{prefix}/{folder}/{name}.html"/>'.encode("ascii")


def include_pattern(prefix: str) -> re.Pattern[bytes]:
    """What reads an include that ``include`` wrote, and no other: groups are folder and name."""
    start = re.escape(f'<esi:include src="{prefix}/').encode("ascii")
    return re.compile(start + rb'(fragments|templates)/([0-9a-f]{32})\.html"/>')
