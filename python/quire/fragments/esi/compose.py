"""Composing: a page made from its template and fragments, strictly.

Only includes that ``includes.include`` wrote are filled in, to the byte. Anything else that begins
with ``<esi:`` or ``<!--esi`` is an error. So are a fragment that is missing, empty or not a plain
file, includes that nest too deep, and a page that grows longer than it should. A folder that was
tampered with cannot make this loop, wait, fill memory or read elsewhere: each include adds at least
one byte, so there are no more of them than ``DEEPEST`` times the bytes of the page.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Callable
from pathlib import Path
from typing import cast

from quire.errors import CompositionError
from quire.fragments.cuts.includes import DEEPEST, Folder, include_pattern
from quire.safe_read import read_plain

_ESI = re.compile(rb"</?esi:|<!--esi", re.IGNORECASE)

#: Returns the bytes of a file, by folder, name and the most bytes to read.
Reader = Callable[[Folder, str, int], bytes]


def compose(
    template: bytes, read: Reader, *, most_bytes: int, prefix: str = "", file: str = "template"
) -> bytes:
    r"""Fill in the includes of a template, and the includes in those.

    >>> page = b'<esi:include src="/fragments/%s.html"/><p>Open' % (b"7" * 32)
    >>> compose(page, lambda folder, name, most: b"<nav>Start</nav>", most_bytes=100)
    b'<nav>Start</nav><p>Open'

    Args:
        template: its bytes.
        read: returns the bytes of files.
        most_bytes: a longer page is an error.
        prefix: begins the addresses in includes.
        file: the name of the template in errors.

    Raises:
        CompositionError: it cannot be composed.
    """
    pattern = include_pattern(prefix)
    pieces: list[bytes] = []
    length = 0
    # Files being composed: bytes, position, name. Never deeper than `DEEPEST`.
    opened: list[tuple[bytes, int, str]] = [(template, 0, file)]
    while opened:
        data, at, name = opened.pop()
        found = _ESI.search(data, at)
        end = found.start() if found else len(data)
        pieces.append(data[at:end])
        length += end - at
        if length > most_bytes:
            raise CompositionError(f"{name}: composes to more than {most_bytes} bytes", file=name)
        if found is None:
            continue
        included = pattern.match(data, end)
        if included is None:
            raise CompositionError(
                f"{name}: ESI at byte {end} is not an include that quire wrote", file=name
            )
        opened.append((data, included.end(), name))
        if len(opened) > DEEPEST:
            raise CompositionError(f"{name}: includes nest deeper than {DEEPEST}", file=name)
        folder = cast("Folder", included[1].decode("ascii"))
        part = included[2].decode("ascii")
        called = f"{folder}/{part}.html"
        fragment = read(folder, part, most_bytes - length)
        if not fragment:
            raise CompositionError(f"{called}: empty", file=called)
        # Only templates are composed, as in a cache; other files are copied byte by byte.
        if folder == "templates":
            opened.append((fragment, 0, called))
            continue
        pieces.append(fragment)
        length += len(fragment)
        if length > most_bytes:
            raise CompositionError(
                f"{called}: composes to more than {most_bytes} bytes", file=called
            )
    return b"".join(pieces)


def folder_reader(folder: Path) -> Reader:
    """Read the files of a composition in a folder."""

    def read(kind: Folder, name: str, most_bytes: int) -> bytes:
        called = f"{kind}/{name}.html"
        if (folder / kind).is_symlink():
            raise CompositionError(f"{kind}: leads elsewhere", file=called)
        try:
            return read_plain(folder / called, most_bytes)
        except FileNotFoundError:
            raise CompositionError(f"{called}: missing", file=called) from None
        except OSError as error:
            raise CompositionError(f"{called}: {_reason(error)}", file=called) from None

    return read


def _reason(error: OSError) -> str:
    if error.errno == errno.ELOOP:
        return "leads elsewhere"
    return (error.strerror or str(error) or "cannot be read").lower()
