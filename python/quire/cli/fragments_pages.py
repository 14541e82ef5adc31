"""Pages for ``quire fragments``: out of crawls, folders and archives, one after the other, with what cannot be read named."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli import terminal
from quire.cli.archive_options import opened, told_time
from quire.cli.crawls import find_crawls, is_archive_folder, nothing_read

if TYPE_CHECKING:
    from quire.fragments import SourcePage
    from quire.sources import Trouble

SourcesArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="SOURCE",
        help="Folders, pages, WARC and Parquet files, patterns, addresses that fsspec knows, archives.",
    ),
]

_MOST_NAMED = 5


class Pages:
    """The pages of some sources, to go through once."""

    def __init__(
        self, sources: Sequence[str], most_bytes: int, tell: Callable[[str, int, int], None]
    ) -> None:
        self._archives = [source for source in sources if is_archive_folder(source)]
        crawls = [source for source in sources if source not in self._archives]
        self._paths = find_crawls(crawls) if crawls else []
        self._most_bytes = most_bytes
        self._tell = tell
        self.troubles: list[Trouble] = []
        self.count: int = 0

    def __iter__(self) -> Iterator[SourcePage]:
        """Read them; an archive gives the newest version of each address.

        Raises:
            Refusal: nothing could be read.
        """
        of = len(self._archives) + len(self._paths)
        for done, archive in enumerate(self._archives):
            yield from self._from_archive(archive)
            self._tell("files", done + 1, of)
        for done, path in enumerate(self._paths, len(self._archives)):
            yield from self._from_crawl(path)
            self._tell("files", done + 1, of)
        if not self.count:
            raise nothing_read(self.troubles, len(self.troubles))

    def _from_archive(self, archive: str) -> Iterator[SourcePage]:
        from quire.fragments import SourcePage  # noqa: PLC0415 - heavy
        from quire.sources import Trouble  # noqa: PLC0415 - heavy

        with opened(archive) as source:
            newest = {page.url: page.time for page in source.pages(order="url")}
            for page in source.read(
                on_damage=lambda error: self.troubles.append(Trouble(archive, str(error)))
            ):
                # Two may have been fetched at one time: the first of them stands for both.
                if newest.get(page.url) != page.time:
                    continue
                del newest[page.url]
                try:
                    body = page.content(most_bytes=self._most_bytes)
                except OSError as error:
                    self.troubles.append(Trouble(archive, str(error)))
                    continue
                self.count += 1
                name = f"{page.url} {told_time(page.time)}"
                yield SourcePage(name, page.url, body, page.content_type)

    def _from_crawl(self, path: str) -> Iterator[SourcePage]:
        from quire.fragments import SourcePage  # noqa: PLC0415 - heavy
        from quire.sources import Capture, read  # noqa: PLC0415 - heavy

        for found in read(path, most_bytes=self._most_bytes):
            if isinstance(found, Capture):
                self.count += 1
                yield SourcePage(found.name, found.url, found.body, found.content_type)
            else:
                self.troubles.append(found)

    def complain(self) -> None:
        """Name what could not be read."""
        for trouble in self.troubles[:_MOST_NAMED]:
            terminal.note(f"{trouble.name}: not read: {trouble.reason}")
        more = len(self.troubles) - _MOST_NAMED
        if more > 0:
            terminal.note(f"{more:,} more could not be read")
