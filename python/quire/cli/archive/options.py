"""Arguments and options that several ``quire archive`` commands share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.common.files import STANDARD_INPUT
from quire.cli.common.terminal import Refusal

if TYPE_CHECKING:
    from quire.captures.file_names import FileNames

ArchiveArgument = Annotated[str, typer.Argument(metavar="ARCHIVE", help="Folder of the archive.")]
SourcesArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="SOURCE",
        help="WARC, ARC, WACZ or Parquet files, folders, pages, patterns or fsspec addresses.",
    ),
]
SkipKnownOption = Annotated[
    bool,
    typer.Option(
        "--skip-known/--no-skip-known",
        help="Skip pages and records that are already stored, equal in everything.",
    ),
]
ByFolderOption = Annotated[
    bool,
    typer.Option(
        "--by-folder",
        help="Store files with a time in their name (20260517T110233Z.html) as versions of one "
        "page: their folder.",
    ),
]
UrlPrefixOption = Annotated[
    str,
    typer.Option(
        metavar="URL",
        help="Start of the addresses of files: site/a.html from the source site becomes URL "
        "followed by a.html (default: the names of the files).",
    ),
]
FetchedOption = Annotated[
    str | None,
    typer.Option(
        "--time",
        metavar="TIME",
        help="Fetch time for pages that do not record one (default: file modification time).",
    ),
]
UrlArgument = Annotated[str, typer.Argument(metavar="URL", help="Address of the page.")]
PrefixOption = Annotated[
    str, typer.Option(metavar="URL", help="Only pages whose address starts with this.")
]
SinceOption = Annotated[
    str | None, typer.Option(metavar="TIME", help="Only pages fetched at this time or later.")
]
UntilOption = Annotated[
    str | None, typer.Option(metavar="TIME", help="Only pages fetched at this time or earlier.")
]


def named_files(sources: Sequence[str], prefix: str, *, by_folder: bool) -> FileNames:
    """Return the rule that gives files their addresses.

    Raises:
        Refusal: The prefix is not the start of an address.
    """
    from quire.captures.file_names import FileNames  # noqa: PLC0415 - heavy

    if prefix and "://" not in prefix:
        raise Refusal(
            f"--url-prefix {prefix}: not the start of an address",
            hint=f"use for example --url-prefix https://{prefix.strip('/')}/",
        )
    return FileNames(tuple(sources), prefix, by_folder)


def check_name(path: str) -> None:
    """Check the name given for a new archive.

    Raises:
        Refusal: The name is empty, means standard input, or belongs to a file.
    """
    if path in {"", STANDARD_INPUT}:
        raise Refusal(
            f"{path!r}: not a name for a folder", hint="choose one, for example site.quire"
        )
    if Path(path).exists() and not Path(path).is_dir():
        raise Refusal(f"{path}: is a file, not a folder", hint="choose another name")
