"""Composing: a page made from its template and fragments, strictly.

Only includes that ``includes.include`` wrote are filled in, to the byte. Anything else that begins
with ``<esi:`` or ``<!--esi`` is an error. So are a fragment that is missing, empty or not a plain
file, includes that nest too deep, and a page that grows longer than it should. A folder that was
tampered with cannot make this loop, wait, fill memory or read elsewhere.

Each file is read and composed once, however many pages include it. So composing costs as much as
reading the files and writing the page, and a long page needs files of some length (``MOST_TIMES``).
"""

from __future__ import annotations

import errno
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from quire.errors import CompositionError
from quire.fragments.cuts.includes import DEEPEST, Folder, include_pattern
from quire.safe_read import read_plain

_ESI = re.compile(rb"</?esi:|<!--esi", re.IGNORECASE)

#: Returns the bytes of a file, by folder, name and the most bytes to read.
Reader = Callable[[Folder, str, int], bytes]


#: A page of more than ``FREE_BYTES`` is at most this many times as long as the files it is composed of.
MOST_TIMES = 1_000
FREE_BYTES = 64 << 20
# Files that are kept for later pages.
_MOST_KEPT_BYTES = 64 << 20


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
    return Composer(read, prefix=prefix).page(template, most_bytes=most_bytes, file=file)


class Composer:
    """Composes pages that share files; files composed for one page are kept for the others."""

    def __init__(self, read: Reader, *, prefix: str = "") -> None:
        self._read = read
        self._pattern = include_pattern(prefix)
        self._kept: dict[str, _Composed] = {}
        self._kept_bytes = 0

    def page(self, template: bytes, *, most_bytes: int, file: str = "template") -> bytes:
        """Compose a page; as ``compose``."""
        return self._filled(template, 0, most_bytes, file, {}).data

    def _filled(
        self,
        data: bytes,
        depth: int,
        most_bytes: int,
        name: str,
        opened: dict[str, _Composed],
    ) -> _Composed:
        """Compose a file that so many others are around. ``opened`` has the files of this page."""
        pieces: list[bytes] = []
        files = {name: len(data)}
        at = length = levels = 0
        while True:
            found = _ESI.search(data, at)
            end = found.start() if found else len(data)
            pieces.append(data[at:end])
            length += end - at
            _check_length(length, most_bytes, name)
            if found is None:
                if length > FREE_BYTES and length > MOST_TIMES * sum(files.values()):
                    raise CompositionError(
                        f"{name}: composes to more than {MOST_TIMES:,} times the bytes of its files",
                        file=name,
                    )
                return _Composed(b"".join(pieces), levels, files)
            included = self._pattern.match(data, end)
            if included is None:
                raise CompositionError(
                    f"{name}: ESI at byte {end} is not an include that quire wrote", file=name
                )
            at = included.end()
            called = f"{included[1].decode('ascii')}/{included[2].decode('ascii')}.html"
            part = opened.get(called)
            if part is None:
                if depth >= DEEPEST:
                    raise _too_deep(name)
                part = self._part(included, depth + 1, most_bytes - length, called, opened)
            levels = max(levels, part.levels + 1)
            if depth + levels > DEEPEST:
                raise _too_deep(name)
            pieces.append(part.data)
            length += len(part.data)
            _check_length(length, most_bytes, called)
            if called not in files:
                files |= part.files

    def _part(
        self,
        included: re.Match[bytes],
        depth: int,
        most_bytes: int,
        called: str,
        opened: dict[str, _Composed],
    ) -> _Composed:
        part = self._kept.get(called)
        if part is None:
            folder = cast("Folder", included[1].decode("ascii"))
            data = self._read(folder, included[2].decode("ascii"), most_bytes)
            if not data:
                raise CompositionError(f"{called}: empty", file=called)
            # Only templates are composed, as in a cache; other files are copied byte by byte.
            if folder == "templates":
                part = self._filled(data, depth, most_bytes, called, opened)
            else:
                part = _Composed(data, 0, {called: len(data)})
            # A file cut off at the limit is too long for this page, but not for every page.
            if len(data) <= most_bytes and self._kept_bytes + len(part.data) <= _MOST_KEPT_BYTES:
                self._kept[called] = part
                self._kept_bytes += len(part.data)
        opened[called] = part
        return part


@dataclass(frozen=True, slots=True)
class _Composed:
    """A file with its includes filled in.

    Attributes:
        data: its bytes.
        levels: how deep includes nest in it.
        files: the lengths of the files it is composed of.
    """

    data: bytes
    levels: int
    files: dict[str, int]


def _check_length(length: int, most_bytes: int, name: str) -> None:
    if length > most_bytes:
        raise CompositionError(f"{name}: composes to more than {most_bytes} bytes", file=name)


def _too_deep(name: str) -> CompositionError:
    return CompositionError(f"{name}: includes nest deeper than {DEEPEST}", file=name)


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
