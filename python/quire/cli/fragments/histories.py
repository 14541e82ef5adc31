"""Versions of pages for ``quire fragments lifetimes`` and ``simulate``: out of folders of captures, WARC files and archives.

In a folder, captures in one folder are versions of one page, and the time of each is in its name (20260131T093000Z.html, 2026-01-31.html); in
the others, an address is a page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.common.terminal import Refusal
from quire.cli.fragments.captures import Captures, Variants
from quire.progress import Progress
from quire.sources.capture import MOST_BYTES

if TYPE_CHECKING:
    from quire.fragments import Lifetimes

HistoryArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="HISTORY",
        help="Folders of captures with times in their names, WARC and Parquet files, or archives.",
    ),
]
UrlOption = Annotated[
    str | None,
    typer.Option("--url", help="Only the page of this address, or of this folder.", metavar="URL"),
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

_HINT = (
    "name captures by their times, like 20260131T093000Z.html; WARC files and archives know them"
)
_ADDRESSES = "addresses, and names of folders that are pages, are compared to the letter; without --url, all pages are told of"


def histories(
    sources: Sequence[str],
    tell: Progress,
    *,
    url: str | None,
    child_change: float,
    min_bytes: int,
    variants: Variants | None = None,
) -> Iterator[tuple[str, Lifetimes]]:
    """Find the pages of some sources, and what the versions of each tell; pages are put by on disk.

    Raises:
        Refusal: there is none, a capture has no time, or a setting is out of range.
    """
    from quire.fragments.site.collection import Collection  # noqa: PLC0415 - heavy
    from quire.fragments.site.site_lifetimes import page_lifetimes  # noqa: PLC0415 - heavy

    captures = Captures(sources, MOST_BYTES, tell, by_folder=True, variants=variants, url=url)
    with Collection(captures) as site:
        captures.complain()
        if not site.pages:
            raise Refusal(
                f"{', '.join(sources)}: no versions of {url or 'any page'}",
                hint=_HINT if url is None else _ADDRESSES,
            )
        for page in site.pages:
            # What several readers got at one time has nothing to say about time, and does not need one.
            if page.versions[0].time is None and not page.others:
                raise Refusal(f"{page.name}: no time in its name", hint=_HINT)
        for done, page in enumerate(site.pages, start=1):
            try:
                found = page_lifetimes(site, page, child_change=child_change, min_bytes=min_bytes)
            except ValueError as error:
                raise Refusal(str(error)) from error
            tell("versions", done, len(site.pages))
            yield page.url, found
