"""Includes: how fragments are named, and the one way an include of them is written and read.

A name is the first 32 hexadecimal digits (128 bits) of the SHA-256 of the content, with all
includes in it filled in. So a file name tells what the file must compose to, and no text of a page
gets into a name. Writers and readers share one grammar::

    <esi:include src="PREFIX/FOLDER/NAME.html"/>

A cache decides by address alone, so folders tell it what to do:

``templates``   files with includes, of pages and of fragments: the only ones searched for includes
``fragments``   fragments without includes
``whole``       pages without includes
"""

from __future__ import annotations

import hashlib
import re
from typing import Literal, TypeAlias

#: How deep includes may nest at most: Varnish silently stops there.
DEEPEST = 5

Folder: TypeAlias = Literal["fragments", "templates", "whole"]
FOLDERS: tuple[Folder, ...] = ("fragments", "templates", "whole")

#: Digits of a name.
DIGITS = 32
NAME = re.compile(r"[0-9a-f]{32}")
_PREFIX = re.compile(r"(?:/[A-Za-z0-9_-]{1,64}){0,8}")


def name_of(data: bytes) -> str:
    """Name bytes.

    >>> name_of(b"<nav>Start</nav>")
    'b28b1475cb4e8d906e9f10f553caa9b8'
    """
    return hashlib.sha256(data).hexdigest()[:DIGITS]


def checked_prefix(prefix: str) -> str:
    """Check a prefix of addresses for templates and VCL, ``/quire`` or nothing, and return it.

    Raises:
        ValueError: it contains anything but letters, digits, ``-``, ``_`` and ``/``.
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
    """Return a pattern for the includes that ``include`` writes; groups are folder and name."""
    start = re.escape(f'<esi:include src="{prefix}/').encode("ascii")
    return re.compile(start + rb'(fragments|templates)/([0-9a-f]{32})\.html"/>')
