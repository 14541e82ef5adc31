"""Options for commands that need versions of pages; ``quire.captures.histories`` in their words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.common.terminal import Refusal
from quire.cli.fragments.captures import Captures, Variants
from quire.errors import CaptureTimeUnknown, QuireError
from quire.progress import Progress
from quire.sources.capture import MOST_BYTES

if TYPE_CHECKING:
    from quire.fragments import Lifetimes

HistoryArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="HISTORY",
        help="Folders of captures with times in their names, WARC, WACZ and Parquet files, or archives.",
    ),
]
UrlOption = Annotated[
    str | None,
    typer.Option(
        "--url",
        help="Only the page with this address, or of this folder (default: all pages).",
        metavar="URL",
    ),
]
ChildChangeOption = Annotated[
    float,
    typer.Option(
        help="A part counts as changed when at least this share of its children changed.",
        metavar="SHARE",
    ),
]
MinBytesOption = Annotated[int, typer.Option(help="Minimum bytes of text in a part.", metavar="N")]

_NAMES = (
    "name captures by their times, like 20260131T093000Z.html; WARC files and archives record them"
)
_ADDRESSES = "--url must match exactly; without --url, all pages are listed"


def histories(
    sources: Sequence[str],
    progress: Progress,
    *,
    url: str | None,
    child_change: float,
    min_bytes: int,
    variants: Variants | None = None,
) -> Iterator[tuple[str, Lifetimes]]:
    """Find the pages of some sources, and how long the parts of each live.

    Raises:
        Refusal: there are no versions, a capture has no time, or a setting is out of range.
    """
    from quire.captures import histories as find_histories  # noqa: PLC0415 - heavy

    captures = Captures(sources, MOST_BYTES, progress, by_folder=True, variants=variants, url=url)
    count = 0
    found = find_histories(
        captures, child_change=child_change, min_bytes=min_bytes, progress=progress
    )
    try:
        for count, history in enumerate(found, start=1):  # noqa: B007 - looked at below
            yield history
    except CaptureTimeUnknown as error:
        captures.complain()
        raise Refusal(f"{error.name}: no time in its name", hint=_NAMES) from None
    except QuireError:
        raise
    except ValueError as error:  # a setting
        raise Refusal(str(error)) from error
    captures.complain()
    if not count:
        raise Refusal(
            f"{', '.join(sources)}: no versions of {url or 'any page'}",
            hint=_NAMES if url is None else _ADDRESSES,
        )
