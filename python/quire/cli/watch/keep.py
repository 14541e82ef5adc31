"""``quire watch export``, ``backup`` and ``restore``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quire.cli.common import terminal
from quire.cli.common.terminal import reports_errors
from quire.cli.watch.opening import DatabaseOption, open_service
from quire.display import format_count

FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="The backup.")]


@reports_errors
def export(*, database: DatabaseOption = None) -> None:
    """Print all watches as JSON, for `quire watch add --file`.

    \b
    Example:
      quire watch export > watches.json
    """
    service = open_service(database)
    terminal.write_json([each.form for each in service.watches(most=1_000_000)])


@reports_errors
def backup(file: FileArgument, *, database: DatabaseOption = None) -> None:
    """Copy everything (watches, versions, events) to one new file.

    \b
    Example:
      quire watch backup watches-2026-05.db
    """
    rows = open_service(database).backup(file)
    terminal.write_text(f"{file}: {format_count(rows, 'row')}\n")


@reports_errors
def restore(file: FileArgument, *, database: DatabaseOption = None) -> None:
    """Copy a backup into an empty database, SQLite or PostgreSQL.

    \b
    Example:
      quire watch restore watches-2026-05.db --database postgresql://me@localhost/quire
    """
    rows = open_service(database).restore(file)
    terminal.write_text(f"{format_count(rows, 'row')} restored\n")
