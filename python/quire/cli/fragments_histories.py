"""Versions of pages for ``quire fragments``: out of folders of captures, WARC files and archives.

A folder, a WARC file or an archive holds versions of one page or of many. In a folder, captures in one folder are versions of one page, and the time
of each is in its name (20260131T093000Z.html, 2026-01-31.html); in the others, an address is a page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.archive_options import opened
from quire.cli.crawls import is_archive_folder
from quire.cli.terminal import Refusal, note
from quire.errors import SourceNotFound
from quire.sources.places import is_archive, is_parquet

if TYPE_CHECKING:
    from quire.digest import Digest
    from quire.fragments import Lifetimes

HistoryArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="HISTORY",
        help="Folders of captures with times in their names, WARC files or archives.",
    ),
]
UrlOption = Annotated[
    str | None, typer.Option("--url", help="Only the page of this address.", metavar="URL")
]
ChildChangeOption = Annotated[
    float,
    typer.Option(
        help="Share of its parts that changed, from which a part changed as a whole.",
        metavar="SHARE",
    ),
]
MinBytesOption = Annotated[
    int, typer.Option(help="Bytes of text that a fragment has at least.", metavar="N")
]

#: A date, and a time of day where there is one, with or without signs between the numbers.
_TIME = re.compile(
    r"(?<!\d)(\d{4})-?(\d\d)-?(\d\d)(?:[T _-]?(\d\d)[:.-]?(\d\d)(?:[:.-]?(\d\d))?)?(?!\d)"
)
_PAGES = (".html", ".htm", ".xhtml")


def time_in(name: str) -> datetime | None:
    """Read the time that is in a name.

    >>> time_in("20260131T093000Z.html")
    datetime.datetime(2026, 1, 31, 9, 30, tzinfo=datetime.timezone.utc)
    >>> time_in("2026-01-31.html").date().isoformat(), time_in("home.html")
    ('2026-01-31', None)
    """
    for found in _TIME.finditer(name):
        try:
            year, month, day, hour, minute, second = (int(part or 0) for part in found.groups())
            return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
        except ValueError:
            continue
    return None


def histories(sources: Sequence[str], url: str | None) -> Iterator[tuple[str, list[Dated]]]:
    """Find the pages that have versions: a name for each, and when and what was captured, in order of time.

    Raises:
        Refusal: there is none, or a capture has no time.
    """
    found = False
    for source in sources:
        for name, captures in _of(source, url):
            found = True
            yield name, _ascending(name, captures)
    if not found:
        wanted = f"{', '.join(sources)}: no versions of {url or 'any page'}"
        raise Refusal(wanted, hint="a folder holds captures, with the time of each in its name")


class Dated:
    """A capture that is read when it is its turn."""

    def __init__(self, time: datetime, body: bytes | Path, content_type: str | None = None) -> None:
        self.time: datetime = time
        self._body = body
        self._content_type = content_type

    def page(self) -> Digest:
        """The page."""
        from quire.digest import encode  # noqa: PLC0415 - heavy

        return encode(self._body, content_type=self._content_type)


def lives_of(captures: list[Dated], *, child_change: float, min_bytes: int) -> Lifetimes:
    """Find the lives of the parts of a page.

    Raises:
        Refusal: a setting is out of range.
    """
    from quire.fragments import lifetimes  # noqa: PLC0415 - heavy

    versions = ((capture.time, capture.page()) for capture in captures)
    try:
        return lifetimes(versions, child_change=child_change, min_bytes=min_bytes)
    except ValueError as error:
        raise Refusal(str(error)) from error


def _of(source: str, url: str | None) -> Iterator[tuple[str, list[Dated]]]:
    if is_archive_folder(source):
        yield from _of_archive(source, url)
    elif is_archive(source) or is_parquet(source):
        yield from _of_crawl(source, url)
    elif Path(source).is_dir():
        yield from _of_folder(Path(source))
    else:
        raise SourceNotFound(f"{source}: no such folder, WARC file or archive", name=source)


def _of_folder(folder: Path) -> Iterator[tuple[str, list[Dated]]]:
    groups: dict[Path, list[Path]] = {}
    for file in sorted(folder.rglob("*")):
        if file.suffix.lower() in _PAGES and file.is_file():
            groups.setdefault(file.parent, []).append(file)
    for inner, files in groups.items():
        captures = []
        for file in files:
            time = time_in(file.name)
            if time is None:
                raise Refusal(
                    f"{file}: no time in its name",
                    hint="name captures by their times, like 20260131T093000Z.html",
                )
            captures.append(Dated(time, file))
        yield str(inner), captures


def _of_archive(source: str, url: str | None) -> Iterator[tuple[str, list[Dated]]]:
    with opened(source) as archive:
        addresses = [url] if url else sorted({version.url for version in archive.pages()})
        for address in addresses:
            found = [archive.get(address, time=known.time) for known in archive.versions(address)]
            if found:
                yield address, [Dated(one.time, one.content(), one.content_type) for one in found]


def _of_crawl(source: str, url: str | None) -> Iterator[tuple[str, list[Dated]]]:
    from quire.sources import Trouble, read  # noqa: PLC0415 - heavy

    pages: dict[str, list[Dated]] = {}
    for capture in read(source):
        if isinstance(capture, Trouble):
            note(f"{capture.name}: {capture.reason}")
        elif capture.time is not None and url in {None, capture.url}:
            dated = Dated(capture.time, capture.body, capture.content_type)
            pages.setdefault(capture.url, []).append(dated)
    yield from pages.items()


def _ascending(name: str, captures: list[Dated]) -> list[Dated]:
    """Captures by time, one of each; archives may hold the same one twice."""
    kept: dict[datetime, Dated] = {}
    for capture in sorted(captures, key=lambda one: one.time):
        kept.setdefault(capture.time, capture)
    if len(kept) < len(captures):
        note(f"{name}: {len(captures) - len(kept)} captures of the same time left out")
    return list(kept.values())
