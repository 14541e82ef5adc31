"""Captures for ``quire fragments``: every version of every page in some sources, and who got it.

Out of folders, WARC and Parquet files and archives, one after the other, with what cannot be read named. Readers are told apart by a source
of their own (``--variant``), by a parameter of addresses (``--variant-query``) or by a cookie of requests (``--variant-cookie``).
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit, urlunsplit

import typer

from quire.cli.common import terminal
from quire.cli.common.archives import opened
from quire.cli.common.crawls import find_crawls, is_archive_folder, nothing_read
from quire.cli.common.terminal import Refusal, printable
from quire.cli.fragments.pages import note_troubles
from quire.display import format_count, format_time, is_web_address
from quire.progress import Progress
from quire.sources.places import is_archive

if TYPE_CHECKING:
    from quire.fragments.site.collection import Seen
    from quire.sources import Capture, Trouble


ByFolderOption = Annotated[
    bool,
    typer.Option(
        "--by-folder",
        help="Files that have a time in their name (20260517T110233Z.html) are versions of the page that their folder is.",
    ),
]
VariantOption = Annotated[
    list[str] | None,
    typer.Option(
        "--variant",
        metavar="SOURCE",
        help="What another reader got of the same pages: a folder with the same names, a WARC file or an archive. May be given again.",
    ),
]
VariantQueryOption = Annotated[
    list[str] | None,
    typer.Option(
        "--variant-query",
        metavar="PARAM",
        help="Addresses that differ in this parameter are one page for different readers. May be given again.",
    ),
]
VariantCookieOption = Annotated[
    list[str] | None,
    typer.Option(
        "--variant-cookie",
        metavar="NAME",
        help="Requests that differ in this cookie are of different readers; WARC files with request records only. May be given again.",
    ),
]

#: A date, and a time of day where there is one, with or without signs between the numbers, to the second or to a part of it. A time that
#: cannot be read makes no time of the date alone: captures of a day would all be of midnight.
_TIME = re.compile(
    r"(?<!\d)(\d{4})-?(\d\d)-?(\d\d)"
    r"(?:[T _-]?(\d\d)[:.-]?(\d\d)(?:[:.-]?(\d\d)(?:[.,](\d{1,9})|[_-]?(\d{3}|\d{6}|\d{9}))?)?)?(?!T?\d)"
)


def time_in(name: str) -> datetime | None:
    """Read the time that is in a name.

    >>> time_in("20260131T093000Z.html")
    datetime.datetime(2026, 1, 31, 9, 30, tzinfo=datetime.timezone.utc)
    >>> time_in("20260131T093000250Z.html").microsecond, time_in("20260131T93Z.html")
    (250000, None)
    >>> time_in("2026-01-31.html").date().isoformat(), time_in("home.html")
    ('2026-01-31', None)
    """
    for found in _TIME.finditer(name):
        try:
            year, month, day, hour, minute, second = (int(part or 0) for part in found.groups()[:6])
            micros = int((found[7] or found[8] or "").ljust(6, "0")[:6])
            return datetime(year, month, day, hour, minute, second, micros, tzinfo=UTC)
        except ValueError:
            continue
    return None


@dataclasses.dataclass(frozen=True, slots=True)
class Variants:
    """What tells readers apart.

    Attributes:
        sources: what other readers got.
        queries: parameters of addresses.
        cookies: names of cookies.
    """

    sources: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    cookies: tuple[str, ...] = ()

    @classmethod
    def told(
        cls, sources: list[str] | None, queries: list[str] | None, cookies: list[str] | None
    ) -> Variants:
        """As the options say."""
        return cls(tuple(sources or ()), tuple(queries or ()), tuple(cookies or ()))

    def __bool__(self) -> bool:
        return bool(self.sources or self.queries or self.cookies)

    @property
    def vary(self) -> tuple[str, ...]:
        """The header of requests that readers are told apart by; addresses need none."""
        return () if self.queries and not (self.sources or self.cookies) else ("Cookie",)


def without_query(url: str, names: Sequence[str]) -> tuple[str, str]:
    """Give an address without some parameters, and those.

    >>> without_query("https://a.example/fish?user=mary&day=1", ["user"])
    ('https://a.example/fish?day=1', 'user=mary')
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return url, ""
    pairs = parts.query.split("&")
    mine = [pair for pair in pairs if pair.partition("=")[0] in names]
    if not mine:
        return url, ""
    others = [pair for pair in pairs if pair.partition("=")[0] not in names]
    return urlunsplit(parts._replace(query="&".join(others))), "&".join(sorted(mine))


class Captures:
    """The captures of some sources, to go through once: all versions that there are, for all readers."""

    def __init__(
        self,
        sources: Sequence[str],
        most_bytes: int,
        tell: Progress,
        *,
        by_folder: bool = False,
        variants: Variants | None = None,
        url: str | None = None,
    ) -> None:
        self._variants = variants or Variants()
        if self._variants.sources and len(sources) > 1:
            raise Refusal(
                f"--variant: which of {len(sources)} sources is it another reader's of?",
                hint="name one SOURCE, and one --variant for each other reader",
            )
        known = {os.path.realpath(source) for source in sources}
        for source in self._variants.sources:
            if os.path.realpath(source) in known:
                raise Refusal(
                    f"--variant {source}: named twice, and nobody is another reader than himself",
                    hint="name what others got",
                )
            known.add(os.path.realpath(source))
        readers = [("", source) for source in sources]
        readers += [(source, source) for source in self._variants.sources]
        self._places: list[tuple[str, str, str]] = []
        for reader, source in readers:
            paths = [source] if is_archive_folder(source) else find_crawls([source])
            self._places += [(reader, source, path) for path in paths]
        self._check_cookies()
        self._most_bytes, self._tell, self._by_folder = most_bytes, tell, by_folder
        self._url = url
        self._cookies_found = 0
        self._files = self._timed_names = 0
        self._known: set[str] = set()
        self._alone = 0
        self.troubles: list[Trouble] = []

    def __iter__(self) -> Iterator[Seen]:
        """Read them.

        Raises:
            Refusal: nothing could be read.
        """
        from quire.fragments.site.collection import Seen  # noqa: PLC0415 - heavy

        count = 0
        for done, (reader, source, path) in enumerate(self._places, start=1):
            archive = is_archive_folder(path)
            cookies = self._cookies(path)
            for capture in self._from_archive(path) if archive else self._from_crawl(path):
                found = self._seen(capture, reader, source, cookies.get(capture.name, ""))
                if found is not None and self._url in {None, found.capture.url}:
                    count += 1
                    yield Seen(*found)
            self._tell("files", done, len(self._places))
        if not count and self._url is None:
            raise nothing_read(self.troubles, len(self.troubles))

    def _seen(self, capture: Capture, reader: str, source: str, cookie: str) -> Seen | None:
        """Whose a capture is, and of which page; None for a page that only another reader has."""
        from quire.fragments.site.collection import Seen  # noqa: PLC0415 - heavy

        url, query = without_query(capture.url, self._variants.queries)
        # Names of captures in archives begin with their addresses, and so with what tells readers apart.
        name = capture.name.replace(capture.url, url, 1) if url != capture.url else capture.name
        found = dataclasses.replace(capture, name=name, url=url)
        page = url if capture.time is not None else capture.name
        if self._variants.sources and not is_web_address(page):
            page = os.path.relpath(page, source)
        if not reader:
            self._known.add(page)
        elif page not in self._known:
            self._alone += 1
            return None
        self._cookies_found += bool(cookie)
        return Seen(found, page, " ".join(part for part in (reader, query, cookie) if part))

    def _check_cookies(self) -> None:
        if not self._variants.cookies:
            return
        for _, _, path in self._places:
            if is_archive_folder(path) or not is_archive(path):
                raise Refusal(
                    f"{path}: --variant-cookie reads the requests in WARC files, and here are none",
                    hint="name the WARC files of the crawl, or what each reader got with --variant",
                )

    def _cookies(self, path: str) -> dict[str, str]:
        if not self._variants.cookies:
            return {}
        from quire.sources.readers import cookies_sent  # noqa: PLC0415 - heavy

        return cookies_sent(path, self._variants.cookies, most_bytes=self._most_bytes)

    def _from_archive(self, archive: str) -> Iterator[Capture]:
        from quire.sources import Capture, Trouble  # noqa: PLC0415 - heavy

        def damaged(error: Exception) -> None:
            self.troubles.append(Trouble(archive, str(error)))

        with opened(archive) as source:
            url = None if self._variants.queries else self._url
            pages = (
                source.read(on_damage=damaged)
                if url is None
                else (source.get(url, time=one.time) for one in source.versions(url))
            )
            for page in pages:
                try:
                    body = page.content(most_bytes=self._most_bytes)
                except OSError as error:
                    damaged(error)
                    continue
                name = f"{page.url} {format_time(page.time)}"
                yield Capture(name, page.url, page.time, b"", body, page.content_type)

    def _from_crawl(self, path: str) -> Iterator[Capture]:
        from quire.sources import Capture, read  # noqa: PLC0415 - heavy

        for found in read(path, most_bytes=self._most_bytes):
            if not isinstance(found, Capture):
                self.troubles.append(found)
            elif found.time is not None:
                yield found
            elif self._by_folder:
                yield _version(found)
            else:
                self._files += 1
                self._timed_names += time_in(PurePath(found.name).name) is not None
                yield found

    def complain(self) -> None:
        """Name what could not be read, and what was not found."""
        note_troubles(self.troubles)
        # A date in a few names is what a page is about; in most, it is when they were captured.
        if self._timed_names > max(1, self._files // 2):
            terminal.note(
                f"{format_count(self._timed_names, 'file')} have times in their names; --by-folder takes those in a folder for versions of one page"
            )
        if self._alone:
            terminal.note(
                f"{format_count(self._alone, 'page')} of --variant left out: the first reader has none of that name"
            )
        if self._variants.cookies and not self._cookies_found:
            names = ", ".join(printable(name) for name in self._variants.cookies)
            terminal.note(f"no request has the cookie {names}: nothing is known to be private")


def _version(found: Capture) -> Capture:
    """A file that has a time in its name, as a version of the page that its folder is; others as they are."""
    name = PurePath(found.name)
    time = time_in(name.name)
    if time is None:
        return found
    return dataclasses.replace(found, url=str(name.parent), time=time)
