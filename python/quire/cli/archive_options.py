"""What the commands of ``quire archive`` share: arguments, times, sizes, and how an archive is opened."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.crawls import is_archive_folder
from quire.cli.files import STANDARD_INPUT
from quire.cli.terminal import Refusal
from quire.sources.capture import parse_time

if TYPE_CHECKING:
    from quire.archive import Archive

ArchiveArgument = Annotated[str, typer.Argument(metavar="ARCHIVE", help="The archive: a folder.")]
SourcesArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="SOURCE",
        help="WARC, ARC, WACZ and Parquet files, folders, pages, patterns, addresses that fsspec knows.",
    ),
]
SkipKnownOption = Annotated[
    bool,
    typer.Option(
        "--skip-known", help="Leave out pages that are there with the same time and bytes."
    ),
]
FetchedOption = Annotated[
    str | None,
    typer.Option(
        "--time",
        metavar="TIME",
        help="When pages were fetched that do not say; when their files were changed, if left out.",
    ),
]
MostBytesOption = Annotated[
    int, typer.Option("--most-bytes", min=1, metavar="N", help="A longer page is not read.")
]
UrlArgument = Annotated[str, typer.Argument(metavar="URL", help="The address of a page.")]
PrefixOption = Annotated[
    str, typer.Option(metavar="URL", help="Only pages whose address begins so.")
]
SinceOption = Annotated[
    str | None, typer.Option(metavar="TIME", help="Only pages of that time or later.")
]
UntilOption = Annotated[
    str | None, typer.Option(metavar="TIME", help="Only pages of that time or before.")
]

_DIGITS = {4: "year", 6: "month", 8: "day", 10: "hour", 12: "minute", 14: "second"}
_STEPS = {
    "day": timedelta(days=1),
    "hour": timedelta(hours=1),
    "minute": timedelta(minutes=1),
    "second": timedelta(seconds=1),
}
_UNITS = ("B", "kB", "MB", "GB", "TB")
_THOUSAND = 1000
_DECEMBER = 12


def opened(path: str, *, write: bool = False) -> Archive:
    """Open an archive.

    Raises:
        Refusal: there is none.
    """
    from quire.archive import Archive  # noqa: PLC0415 - heavy

    if not Path(path).exists():
        raise Refusal(f"{path}: no such archive", hint="`quire archive create` makes one")
    if not Path(path).is_dir():
        raise Refusal(
            f"{path}: a file, and an archive is a folder",
            hint="`quire archive add NEW FILE --create` makes one of crawls and pages",
        )
    if not is_archive_folder(path):
        raise Refusal(
            f"{path}: a folder, but no archive: it has neither archive.json nor journals nor segments",
            hint="`quire archive add NEW FOLDER --create` makes one of pages in a folder",
        )
    return Archive.open(path, write=write)


def check_name(path: str) -> None:
    """Check the name of an archive that is to be made.

    Raises:
        Refusal: it is that of a file, or means something else.
    """
    if path in {"", STANDARD_INPUT}:
        raise Refusal(f"{path!r}: no name for a folder", hint="choose one such as site.quire")
    if Path(path).exists() and not Path(path).is_dir():
        raise Refusal(f"{path}: a file, not a folder", hint="choose another name")


def start_of(text: str | None) -> datetime | None:
    """Read a time that something begins at: 2026-05 is the beginning of May.

    >>> start_of("2026-05").isoformat()
    '2026-05-01T00:00:00+00:00'

    Raises:
        Refusal: it is none.
    """
    if text is None:
        return None
    found = parse_time(text)
    if found is None:
        raise Refusal(
            f"{text}: not a time", hint="use 2026-05-17, 2026-05-17T11:02:33 or 20260517110233"
        )
    return found


def end_of(text: str | None) -> datetime | None:
    """Read a time that something lasts until: 2026-05 is the end of May.

    >>> end_of("2026-05").isoformat(), end_of("20260517110233").isoformat()
    ('2026-05-31T23:59:59.999999+00:00', '2026-05-17T11:02:33.999999+00:00')

    Raises:
        Refusal: it is none.
    """
    start = start_of(text)
    if start is None or text is None or "." in text:
        return start
    digits = len(re.sub(r"\D", "", re.sub(r"[+]00:?00$", "", text.strip())))
    unit = _DIGITS.get(digits, "second")
    try:
        if unit == "year":
            after = start.replace(year=start.year + 1)
        elif unit == "month":
            is_last = start.month == _DECEMBER
            after = start.replace(
                year=start.year + is_last, month=1 if is_last else start.month + 1
            )
        else:
            after = start + _STEPS[unit]
        return after - timedelta(microseconds=1)
    except (OverflowError, ValueError):  # the last of all years
        return start


def told_time(time: datetime) -> str:
    """Give a time in full, so that it names the version: fractions where there are any.

    >>> told_time(start_of("2026-05-17T11:02:33.5"))
    '2026-05-17T11:02:33.500000Z'
    """
    return time.isoformat().removesuffix("+00:00") + "Z"


def told_bytes(count: int) -> str:
    """Give a size for a person.

    >>> told_bytes(999), told_bytes(12_345), told_bytes(3_000_000)
    ('999 B', '12.3 kB', '3.0 MB')
    """
    size = float(count)
    for unit in _UNITS:
        if size < _THOUSAND or unit == _UNITS[-1]:
            return f"{count} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= _THOUSAND
    return f"{count} B"
