"""Reading: yields all pages of a file of any format, or reads one page again by its name.

A name is the path; if the path holds many pages, ``#`` and a place follow: ``crawl.warc.gz#8192``,
``pages.parquet#17``. Batch work sends paths to machines and names between them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Protocol

from quire.errors import SourceNotFound, SourceUnreadable
from quire.sources.capture import MOST_BYTES, Capture, Trouble
from quire.sources.codings import CannotDecode, undo
from quire.sources.members import RecordOffset
from quire.sources.parquet import read_rows
from quire.sources.places import is_archive, is_parquet, open_place
from quire.sources.warc import Record, read_records

_NAME = re.compile(r"(.+)#(\d{1,18})(?:\+(\d{1,18}))?", re.DOTALL)


class PathReader(Protocol):
    """A function that reads every page in a path, as ``read`` does.

    Tasks of an engine call it on other machines, so it must be importable there.
    """

    def __call__(self, path: str, /, *, most_bytes: int) -> Iterator[Capture | Trouble]:
        """Read a path; the same pages and troubles in the same order each time."""
        ...


class NameReader(Protocol):
    """A function that reads one page by its name, as ``read_one`` does."""

    def __call__(self, name: str, /, *, most_bytes: int) -> Capture:
        """Read a page."""
        ...


def read(path: str, *, most_bytes: int = MOST_BYTES) -> Iterator[Capture | Trouble]:
    """Read every page in a file: one page, or all pages of a WARC or Parquet file.

    Any problem with the file or one of its pages is a ``Trouble``, and reading continues.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".html") as file:
    ...     _ = file.write(b"<p>Open"), file.flush()
    ...     [page.body for page in read(file.name)]
    [b'<p>Open']
    >>> list(read("gone.html"))
    [Trouble(name='gone.html', reason='no such file')]

    Args:
        path: A file or an fsspec address, as listed by ``find``.
        most_bytes: Maximum page size in bytes; a longer page is a ``Trouble``.

    Raises:
        MissingExtra: This path needs a library that is not installed.
    """
    try:
        yield from _read(path, most_bytes, None)
    except OSError as error:
        yield Trouble(path, reason(path, error))


def read_one(name: str, *, most_bytes: int = MOST_BYTES) -> Capture:
    """Read one page by the name of its ``Capture``.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".html") as file:
    ...     _ = file.write(b"<p>Open"), file.flush()
    ...     read_one(file.name).body
    b'<p>Open'

    Raises:
        SourceNotFound: The file does not exist, or has no page of that name.
        SourceUnreadable: The page is damaged, too long or empty.
        MissingExtra: This path needs a library that is not installed.
    """
    path, place = split_name(name)
    if place is None and (is_archive(path) or is_parquet(path)):
        raise SourceNotFound(
            f"{name}: holds many pages; expected one of them, for example {name}#0", name=name
        )
    try:
        found = next(_read(path, most_bytes, place), None)
    except SourceNotFound:
        raise
    except OSError as error:
        raise SourceUnreadable(f"{name}: {reason(path, error)}", name=name) from error
    if found is None or found.name != name:
        raise SourceNotFound(f"{name}: not the start of a page", name=name)
    if isinstance(found, Trouble):
        raise SourceUnreadable(f"{name}: {found.reason}", name=name)
    return found


def _read(path: str, most_bytes: int, place: RecordOffset | None) -> Iterator[Capture | Trouble]:
    if is_archive(path):
        for record in read_records(path, most_bytes=most_bytes, place=place):
            yield record if isinstance(record, Trouble) else _from_record(record, most_bytes)
    elif is_parquet(path):
        yield from read_rows(
            path, most_bytes=most_bytes, row=None if place is None else place.member
        )
    else:
        yield _from_file(path, most_bytes)


def _from_record(record: Record, most_bytes: int) -> Capture | Trouble:
    try:
        body = undo(record.head, record.payload, most_bytes)
    except CannotDecode as error:
        return Trouble(record.name, str(error))
    # The content type of a response record is always that of an HTTP message.
    declared = None if record.head else record.fields.get("content-type")
    return Capture(record.name, record.url, record.time, record.head, body, declared)


def _from_file(path: str, most_bytes: int) -> Capture | Trouble:
    with open_place(path) as file:
        body = file.read(most_bytes + 1)
        if len(body) > most_bytes:
            return Trouble(
                path, f"{file.seek(0, os.SEEK_END)} bytes; at most {most_bytes} are read"
            )
    return Capture(path, path, None, b"", body) if body else Trouble(path, "empty: 0 bytes")


def split_name(name: str) -> tuple[str, RecordOffset | None]:
    """Split a name into its path and the place in it, if it has one."""
    found = _NAME.fullmatch(name)
    if found is None or not (is_archive(found[1]) or is_parquet(found[1])):
        return name, None
    return found[1], RecordOffset(int(found[2]), int(found[3] or 0))


def reason(path: str, error: OSError) -> str:
    """Describe in one line why a path cannot be read, without its name."""
    message = error.strerror.lower() if error.strerror else str(error)
    return " ".join(message.removeprefix(f"{path}: ").split()) or type(error).__name__
