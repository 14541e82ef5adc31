"""Captures out of a quire archive, with names by which one is found again.

A name is the archive, ``#``, the address and the time: ``site.quire#https://a.example/
2026-05-17T11:02:33Z``. It stays valid when the archive is compacted. Of several captures of one
address at one time, which have one name, the name stands for the one stored last.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime

from quire.archive import Archive, StoredPage, is_archive
from quire.display import format_time
from quire.errors import ArchiveError, PageNotFound, SourceNotFound, SourceUnreadable
from quire.sources import Capture, Trouble
from quire.sources.capture import header_values
from quire.sources.reading import reason

_TIMED = re.compile(r"(.*) (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z)", re.DOTALL)


def read_archive(
    archive: str, *, newest: bool = False, url: str | None = None, most_bytes: int
) -> Iterator[Capture | Trouble]:
    """Read the captures in an archive.

    Args:
        archive: its folder.
        newest: read only the newest capture of each address.
        url: read all captures of this address and no others; then ``newest`` does not count.
        most_bytes: a longer page is a ``Trouble``.
    """
    damaged: list[ArchiveError] = []
    try:
        with Archive.open(archive) as source:
            if url is not None:
                pages = _versions(source, url, damaged.append)
            elif newest:
                pages = source.newest(on_damage=damaged.append)
            else:
                pages = source.read(on_damage=damaged.append)
            for page in pages:
                yield from _troubles(archive, damaged)
                yield _capture(archive, page, most_bytes)
            yield from _troubles(archive, damaged)
    except (ArchiveError, OSError) as error:
        yield Trouble(archive, _reason(archive, error))


def read_stored(name: str, *, most_bytes: int) -> Capture:
    """Read one capture by its name; the newest of its address if the name has no time.

    Raises:
        SourceNotFound: the archive has no such capture.
        SourceUnreadable: it is damaged or too long.
    """
    archive, within = split_name(name)
    if not within:
        raise SourceNotFound(
            f"{name}: holds many pages; expected one of them, as in {archive}#https://a.example/",
            name=name,
        )
    url, time = _split_time(within)
    try:
        with Archive.open(archive) as source:
            page = source.get(url, time)
    except PageNotFound:
        raise SourceNotFound(f"{name}: no such page in the archive", name=name) from None
    except (ArchiveError, OSError) as error:
        raise SourceUnreadable(f"{name}: {_reason(archive, error)}", name=name) from error
    if time is not None and page.time != time:
        raise SourceNotFound(f"{name}: no capture of that time in the archive", name=name)
    read = _capture(archive, page, most_bytes)
    if isinstance(read, Trouble):
        raise SourceUnreadable(f"{name}: {read.reason}", name=name)
    return read


def split_name(name: str) -> tuple[str, str]:
    """Separate the archive in a name from the page in it; ``""`` for a missing part.

    >>> split_name("page.html#top")
    ('', 'page.html#top')
    """
    if is_archive(name):
        return name, ""
    place = name.find("#")
    while place >= 0:
        if is_archive(name[:place]):
            return name[:place], name[place + 1 :]
        place = name.find("#", place + 1)
    return "", name


def _versions(
    source: Archive, url: str, on_damage: Callable[[ArchiveError], None]
) -> Iterator[StoredPage]:
    for version in source.versions(url):
        try:
            yield source.get(url, version.time)
        except ArchiveError as error:
            on_damage(error)


def _capture(archive: str, page: StoredPage, most_bytes: int) -> Capture | Trouble:
    name = f"{archive}#{page.url} {format_time(page.time)}"
    if len(page.body) > most_bytes:
        return Trouble(name, f"{len(page.body)} bytes; at most {most_bytes} are read")
    try:
        body = page.content(most_bytes=most_bytes)
    except SourceUnreadable as error:
        return Trouble(name, _reason(page.url, error))
    return Capture(name, page.url, page.time, page.head, body, _declared(page))


def _declared(page: StoredPage) -> str | None:
    """Give the content type of a page that has no HTTP head but came in a WARC record."""
    record = None if page.head else page.warc_head()
    values = header_values(record, b"content-type") if record else []
    return values[-1] if values else None


def _troubles(archive: str, damaged: list[ArchiveError]) -> Iterator[Trouble]:
    for error in damaged:
        yield Trouble(archive, _reason(archive, error))
    damaged.clear()


def _reason(path: str, error: ArchiveError | OSError) -> str:
    if isinstance(error, OSError):
        return reason(path, error)
    return " ".join(str(error).removeprefix(f"{path}: ").split())


def _split_time(within: str) -> tuple[str, datetime | None]:
    """Separate the address in a name from the time; None for a name without one."""
    found = _TIMED.fullmatch(within)
    try:
        return (found[1], datetime.fromisoformat(found[2])) if found else (within, None)
    except ValueError:
        return within, None
