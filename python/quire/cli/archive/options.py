"""What the commands of ``quire archive`` share: arguments, times, sizes, and how an archive is opened."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quire.cli.common.files import STANDARD_INPUT
from quire.cli.common.terminal import Refusal

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


def check_name(path: str) -> None:
    """Check the name of an archive that is to be made.

    Raises:
        Refusal: it is that of a file, or means something else.
    """
    if path in {"", STANDARD_INPUT}:
        raise Refusal(f"{path!r}: no name for a folder", hint="choose one such as site.quire")
    if Path(path).exists() and not Path(path).is_dir():
        raise Refusal(f"{path}: a file, not a folder", hint="choose another name")
