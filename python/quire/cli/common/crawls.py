"""Crawls that a person named for ``quire archive add`` and ``quire templates``: looked at before the work begins."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from quire.cli.common import terminal
from quire.cli.common.files import STANDARD_INPUT
from quire.cli.common.terminal import Refusal
from quire.display import printable, shorten

if TYPE_CHECKING:
    from quire.sources import Trouble

_WHAT_IS_READ = "sources are WARC, ARC, WACZ and Parquet files, pages, and folders of these"
_MARK_BYTES = 64
_MOST_TROUBLES = 20
_MOST_NAME = 70


def find_crawls(sources: Sequence[str]) -> list[str]:
    """List the files of some sources.

    Raises:
        Refusal: one is standard input, or an archive.
        SourceNotFound: one is not there, or has nothing in it.
    """
    from quire.sources import find  # noqa: PLC0415 - heavy

    for source in sources:
        if source == STANDARD_INPUT:
            raise Refusal(
                "-: standard input is not read here, as a crawl is read at more than one place",
                hint="write it to a file, and name that",
            )
        if is_archive_folder(source):
            raise Refusal(
                f"{source}: an archive of quire, whose files are no pages",
                hint="`quire archive export ARCHIVE crawl.warc.gz` writes them as a crawl",
            )
    return find(sources)


def is_archive_folder(path: str) -> bool:
    """Tell whether a folder is an archive, also one that has lost a part."""
    folder = Path(path)
    if not folder.is_dir():
        return False
    if any(folder.glob("[0-9]*.journal")) or any(folder.glob("[0-9]*.segment")):
        return True
    try:
        with (folder / "archive.json").open("rb") as mark:
            return b'"quire archive"' in mark.read(_MARK_BYTES)
    except OSError:
        return False


def nothing_read(troubles: Sequence[Trouble], count: int) -> Refusal:
    """Say that nothing could be read, and why, by the first trouble of so many."""
    if not troubles:
        return Refusal("no page in what was named", hint=_WHAT_IS_READ)
    first, more = troubles[0], count - 1
    others = f"; {more:,} more" if more else ""
    return Refusal(
        f"nothing could be read: {first.name}: {first.reason}{others}", hint=_WHAT_IS_READ
    )


def print_troubles(
    troubles: Sequence[Trouble], *, elsewhere: str = "-o and --format json have all"
) -> None:
    """Print what could not be read, the first of it one by one; say where the rest is."""
    if not troubles:
        return
    terminal.write_text(f"{len(troubles):,} could not be read:\n")
    for trouble in troubles[:_MOST_TROUBLES]:
        name = printable(shorten(trouble.name, _MOST_NAME))
        terminal.write_text(f"  {name}: {terminal.one_line(trouble.reason, most=160)}\n")
    more = len(troubles) - _MOST_TROUBLES
    if more > 0:
        terminal.write_text(f"  … {more:,} more; {elsewhere}\n")
