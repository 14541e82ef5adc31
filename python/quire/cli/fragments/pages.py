"""The sources of ``quire fragments``, as pages: options, progress, and troubles in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.common import terminal
from quire.cli.common.crawls import find_sources, nothing_read
from quire.progress import Progress

if TYPE_CHECKING:
    from quire.fragments import SourcePage
    from quire.sources import Trouble

SourcesArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="SOURCE",
        help="Folders, pages, WARC, WACZ and Parquet files, archives, patterns, addresses that fsspec knows.",
    ),
]

# When parts of pages count as one shared part.
MinMatchOption = Annotated[
    float,
    typer.Option(
        min=0.01,
        max=1,
        metavar="SHARE",
        help="Minimum overlap (0 to 1) for two parts to count as the same fragment.",
    ),
]
MinTextOption = Annotated[
    int, typer.Option(min=1, metavar="N", help="Minimum bytes of text in a part.")
]
SharedByOption = Annotated[
    int, typer.Option(min=2, metavar="N", help="Minimum number of pages that share a part.")
]

_MOST_NAMED = 5


def note_troubles(troubles: Sequence[Trouble]) -> None:
    """Name the first sources that could not be read, and count the rest."""
    for trouble in troubles[:_MOST_NAMED]:
        terminal.note(f"{trouble.name}: not read: {trouble.reason}")
    more = len(troubles) - _MOST_NAMED
    if more > 0:
        terminal.note(f"{more:,} more could not be read")


class Pages:
    """The pages of some sources, and of an archive the newest capture of each. Iterate once."""

    def __init__(self, sources: Sequence[str], most_bytes: int, progress: Progress) -> None:
        self._paths = find_sources(sources)
        self._most_bytes = most_bytes
        self._progress = progress
        self.troubles: list[Trouble] = []
        self.count: int = 0

    def __iter__(self) -> Iterator[SourcePage]:
        """Read them.

        Raises:
            Refusal: no page could be read.
        """
        from quire.captures import Trouble, read_newest  # noqa: PLC0415 - heavy
        from quire.fragments import SourcePage  # noqa: PLC0415 - heavy

        for done, path in enumerate(self._paths, start=1):
            for found in read_newest(path, most_bytes=self._most_bytes):
                if isinstance(found, Trouble):
                    self.troubles.append(found)
                else:
                    self.count += 1
                    yield SourcePage(found.name, found.url, found.body, found.content_type)
            self._progress("files", done, len(self._paths))
        if not self.count:
            raise nothing_read(self.troubles, len(self.troubles))

    def complain(self) -> None:
        """Name the sources that could not be read."""
        note_troubles(self.troubles)
