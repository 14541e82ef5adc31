"""Which database the commands use, and how they open it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.common.terminal import Refusal
from quire.errors import MissingExtra

if TYPE_CHECKING:
    from quire.sentinels.service import Service

VARIABLE = "QUIRE_DATABASE"

DatabaseOption = Annotated[
    str | None,
    typer.Option(
        "--database",
        metavar="FILE|URL",
        envvar=VARIABLE,
        help="Where watches are stored: a file, or postgresql://… (default: quire.db in your data folder).",
    ),
]
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Name or number of a watch.")]
UrlOption = Annotated[
    str | None,
    typer.Option("--url", metavar="URL", help="Which page, if the watch has several."),
]


def default_database() -> Path:
    """Return the file that holds watches unless another one is named."""
    folder = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(folder) / "quire" / "quire.db"


def open_service(database: str | None) -> Service:
    """Open the database of watches; create it if it is new.

    Raises:
        Refusal: a package is missing, or the folder cannot be written.
    """
    try:
        from quire.sentinels.service import Service  # noqa: PLC0415 - heavy
        from quire.sentinels.store.database import Database  # noqa: PLC0415 - heavy
    except ImportError as error:
        raise MissingExtra(f"{error.name} is not installed", extra="serve") from None
    where: str | Path = database or default_database()
    if isinstance(where, Path) or "://" not in where:
        folder = Path(where).parent
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Refusal(
                f"{folder}: {error.strerror}", hint="name another file: --database FILE"
            ) from None
    return Service(Database.open(where))
