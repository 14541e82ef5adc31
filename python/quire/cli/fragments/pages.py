"""Pages for ``quire fragments``: out of crawls, folders and archives, one after the other, with what cannot be read named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.common import terminal
from quire.cli.common.archives import opened
from quire.cli.common.crawls import find_crawls, is_archive_folder, nothing_read
from quire.display import format_time
from quire.progress import Progress

if TYPE_CHECKING:
    from quire.fragments import SourcePage
    from quire.sources import Capture, Trouble

SourcesArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="SOURCE",
        help="Folders, pages, WARC and Parquet files, patterns, addresses that fsspec knows, archives.",
    ),
]

# What makes parts of pages one shared part.
MinMatchOption = Annotated[
    float,
    typer.Option(
        min=0.01, max=1, metavar="SHARE", help="How much parts overlap that are one, at least."
    ),
]
MinTextOption = Annotated[
    int, typer.Option(min=1, metavar="N", help="Bytes of text that a part has, at least.")
]
SharedByOption = Annotated[
    int, typer.Option(min=2, metavar="N", help="Pages that share a part, at least.")
]

_MOST_NAMED = 5


def note_troubles(troubles: Sequence[Trouble]) -> None:
    """Name what could not be read: the first, and how many more."""
    for trouble in troubles[:_MOST_NAMED]:
        terminal.note(f"{trouble.name}: not read: {trouble.reason}")
    more = len(troubles) - _MOST_NAMED
    if more > 0:
        terminal.note(f"{more:,} more could not be read")


def find_sources(sources: Sequence[str]) -> list[str]:
    """List the archives among some sources, and the files of all others.

    Raises:
        Refusal: one is standard input.
        SourceNotFound: one is not there, or has nothing in it.
    """
    archives = [source for source in dict.fromkeys(sources) if is_archive_folder(source)]
    crawls = [source for source in sources if source not in archives]
    return [*archives, *(find_crawls(crawls) if crawls else [])]


def read_source(path: str, /, *, most_bytes: int) -> Iterator[Capture | Trouble]:
    """Read everything in a path that ``find_sources`` gave; of an archive the newest version of each address."""
    from quire.sources import read  # noqa: PLC0415 - heavy

    if is_archive_folder(path):
        yield from _read_newest(path, most_bytes)
    else:
        yield from read(path, most_bytes=most_bytes)


def _read_newest(archive: str, most_bytes: int) -> Iterator[Capture | Trouble]:
    from quire.sources import Capture, Trouble  # noqa: PLC0415 - heavy

    damaged: list[Trouble] = []
    with opened(archive) as source:
        newest = {page.url: page.time for page in source.pages(order="url")}
        for page in source.read(
            on_damage=lambda error: damaged.append(Trouble(archive, str(error)))
        ):
            # Two may have been fetched at one time: the first of them stands for both.
            if newest.get(page.url) != page.time:
                continue
            del newest[page.url]
            name = f"{page.url} {format_time(page.time)}"
            try:
                body = page.content(most_bytes=most_bytes)
            except OSError as error:
                yield Trouble(archive, str(error))
                continue
            yield Capture(name, page.url, page.time, b"", body, page.content_type)
    yield from damaged


class Pages:
    """The pages of some sources, to go through once."""

    def __init__(self, sources: Sequence[str], most_bytes: int, tell: Progress) -> None:
        self._paths = find_sources(sources)
        self._most_bytes = most_bytes
        self._tell = tell
        self.troubles: list[Trouble] = []
        self.count: int = 0

    def __iter__(self) -> Iterator[SourcePage]:
        """Read them; an archive gives the newest version of each address.

        Raises:
            Refusal: nothing could be read.
        """
        from quire.fragments import SourcePage  # noqa: PLC0415 - heavy
        from quire.sources import Capture  # noqa: PLC0415 - heavy

        for done, path in enumerate(self._paths, start=1):
            for found in read_source(path, most_bytes=self._most_bytes):
                if isinstance(found, Capture):
                    self.count += 1
                    yield SourcePage(found.name, found.url, found.body, found.content_type)
                else:
                    self.troubles.append(found)
            self._tell("files", done, len(self._paths))
        if not self.count:
            raise nothing_read(self.troubles, len(self.troubles))

    def complain(self) -> None:
        """Name what could not be read."""
        note_troubles(self.troubles)
