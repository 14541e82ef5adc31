"""The sources that a command reads: checks before the work begins, and troubles in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from quire.cli.common import terminal
from quire.cli.common.files import STANDARD_INPUT
from quire.cli.common.terminal import Refusal
from quire.display import format_count, printable, shorten

if TYPE_CHECKING:
    from quire.sources import Trouble

_READABLE = "sources are WARC, ARC, WACZ and Parquet files, pages, archives, and folders of these"
_MOST_TROUBLES = 20
_MOST_NAME = 70


def find_sources(sources: Sequence[str]) -> list[str]:
    """List the archives and files that sources lead to.

    Raises:
        Refusal: a source is standard input.
        SourceNotFound: a source does not exist, or there is nothing to read in it.
    """
    from quire.captures import find  # noqa: PLC0415 - heavy

    check_not_standard_input(sources)
    return find(sources)


def find_crawls(sources: Sequence[str]) -> list[str]:
    """List the files that sources lead to, for commands that do not read archives.

    Raises:
        Refusal: a source is standard input or an archive.
        SourceNotFound: a source does not exist, or there is nothing to read in it.
    """
    from quire.archive import is_archive  # noqa: PLC0415 - heavy

    paths = find_sources(sources)
    archives = [path for path in paths if is_archive(path)]
    files = paths[len(archives) :]
    named = [source for source in sources if is_archive(source)]
    if named or not files:
        raise Refusal(
            f"{[*named, *archives][0]}: a quire archive; this command reads crawls and pages",
            hint="`quire archive export ARCHIVE crawl.warc.gz` writes its pages as a crawl",
        )
    for path in archives:
        terminal.note(f"{path}: a quire archive, left out")
    return files


def check_not_standard_input(sources: Sequence[str]) -> None:
    """Refuse standard input.

    Raises:
        Refusal: a source is ``-``.
    """
    if STANDARD_INPUT in sources:
        raise Refusal(
            "-: standard input is not read here, since sources are read more than once",
            hint="write it to a file, and name the file",
        )


def counted_paths(paths: Sequence[str]) -> str:
    """Count the archives and the files among paths, in words."""
    from quire.archive import is_archive  # noqa: PLC0415 - heavy

    archives = sum(map(is_archive, paths))
    files = len(paths) - archives
    parts = [(archives, "archive"), (files, "file")]
    return " and ".join(format_count(n, word) for n, word in parts if n)


def nothing_read(troubles: Sequence[Trouble], count: int) -> Refusal:
    """Say that no page could be read, and why: the first of ``count`` troubles."""
    if not troubles:
        return Refusal("no page in these sources", hint=_READABLE)
    first, more = troubles[0], count - 1
    others = f"; {more:,} more" if more else ""
    return Refusal(f"nothing could be read: {first.name}: {first.reason}{others}", hint=_READABLE)


def print_troubles(
    troubles: Sequence[Trouble], *, elsewhere: str = "-o and --format json list all"
) -> None:
    """Print the first sources that could not be read, and say where all are listed."""
    if not troubles:
        return
    terminal.write_text(f"{len(troubles):,} could not be read:\n")
    for trouble in troubles[:_MOST_TROUBLES]:
        name = printable(shorten(trouble.name, _MOST_NAME))
        terminal.write_text(f"  {name}: {terminal.one_line(trouble.reason, most=160)}\n")
    more = len(troubles) - _MOST_TROUBLES
    if more > 0:
        terminal.write_text(f"  … {more:,} more; {elsewhere}\n")
