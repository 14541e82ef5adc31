"""``quire watch import``, ``export``, ``schema``, ``backup`` and ``restore``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from quire.cli.common import terminal
from quire.cli.common.terminal import Refusal, reports_errors
from quire.cli.watch.opening import DatabaseOption, open_service
from quire.display import format_count

FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="The backup.")]


class FileFormat(StrEnum):
    """The formats of watches in files."""

    yaml = "yaml"
    json = "json"


@reports_errors
def import_(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Export of changedetection.io, urlwatch, webchanges or Distill, or a list of URLs.",
        ),
    ],
    *,
    database: DatabaseOption = None,
) -> None:
    """Import watches from another tool. What cannot be carried over is listed.

    A watch that would mean something else is imported paused. Watches with a name that exists are
    left out.

    \b
    Examples:
      quire watch import changedetection-backup.zip
      quire watch import urls.yaml
      quire watch import addresses.txt
    """
    from quire.sentinels.form import watch_to_dict  # noqa: PLC0415 - heavy
    from quire.sentinels.imports import import_watches  # noqa: PLC0415 - heavy

    try:
        with file.open("rb") as opened:
            imported = import_watches(opened, file.name)
    except OSError as error:
        raise Refusal(f"{file}: {error.strerror}") from None
    service = open_service(database)
    added = service.add_all(watch_to_dict(watch, secrets=True) for watch in imported.watches)
    for note in (*added.notes, *imported.notes):
        terminal.note(str(note))
    terminal.write_text(f"{format_count(len(added.watches), 'watch', 'watches')} imported\n")


@reports_errors
def export(
    *,
    secrets: Annotated[
        bool, typer.Option("--secrets", help="Include passwords, cookies and targets of notices.")
    ] = False,
    format: Annotated[  # noqa: A002 - the name of the option
        FileFormat, typer.Option(help="Format of the file.")
    ] = FileFormat.yaml,
    database: DatabaseOption = None,
) -> None:
    """Print all watches, for `quire watch add --file`.

    \b
    Examples:
      quire watch export > watches.yaml
    """
    from quire.sentinels.form import watches_to_text  # noqa: PLC0415 - heavy

    service = open_service(database)
    watches = [each.watch for each in service.watches(most=1_000_000)]
    terminal.write_text(watches_to_text(watches, format.value, secrets=secrets))


@reports_errors
def schema() -> None:
    """Print the JSON Schema of a watch, for editors and other programs.

    \b
    Examples:
      quire watch schema > watch.schema.json
    """
    from quire.sentinels.form import schema_text  # noqa: PLC0415 - heavy

    terminal.write_text(schema_text())


@reports_errors
def backup(file: FileArgument, *, database: DatabaseOption = None) -> None:
    """Copy everything (watches, versions, events) to one new file.

    \b
    Examples:
      quire watch backup watches-2026-05.db
    """
    rows = open_service(database).backup(file)
    terminal.write_text(f"{file}: {format_count(rows, 'row')}\n")


@reports_errors
def restore(file: FileArgument, *, database: DatabaseOption = None) -> None:
    """Copy a backup into an empty database, SQLite or PostgreSQL.

    \b
    Examples:
      quire watch restore watches-2026-05.db --database postgresql://me@localhost/quire
    """
    rows = open_service(database).restore(file)
    terminal.write_text(f"{format_count(rows, 'row')} restored\n")
