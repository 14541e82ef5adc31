"""Arguments and options that several ``quire archive`` commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quire.cli.common.files import STANDARD_INPUT
from quire.cli.common.terminal import Refusal

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
    typer.Option("--skip-known", help="Skip pages already stored with the same time and bytes."),
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
