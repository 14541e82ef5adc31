"""``quire watch import``, ``export``, ``schema``, ``prune``, ``backup`` and ``restore``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from quire.cli.common import terminal
from quire.cli.common.terminal import Refusal, reports_errors
from quire.cli.watch.opening import DatabaseOption, UrlOption, open_service
from quire.display import format_bytes, format_count

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
            help="Export of changedetection.io, urlwatch, webchanges, Distill or quire, or a list of URLs.",
        ),
    ],
    *,
    database: DatabaseOption = None,
) -> None:
    """Import watches from another tool, or from quire. What cannot be carried over is listed.

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
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Write the versions of this watch.")
    ] = None,
    *,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="PATH",
            help="Archive to create, or WARC file if the name ends in .warc.gz.",
        ),
    ] = None,
    url: UrlOption = None,
    secrets: Annotated[
        bool, typer.Option("--secrets", help="Include passwords, cookies and targets of notices.")
    ] = False,
    format: Annotated[  # noqa: A002 - the name of the option
        FileFormat, typer.Option(help="Format of the file.")
    ] = FileFormat.yaml,
    database: DatabaseOption = None,
) -> None:
    """Print all watches, for `quire watch add --file`; or write the versions of one watch.

    \b
    Examples:
      quire watch export > watches.yaml
      quire watch export News -o news.quire
      quire watch export News -o news.warc.gz
    """
    from quire.sentinels.form import watches_to_text  # noqa: PLC0415 - heavy

    if (name is None) != (output is None):
        raise Refusal(
            "the versions of a watch need its name and a path",
            hint="quire watch export NAME -o versions.quire",
        )
    service = open_service(database)
    if name is not None and output is not None:
        count = service.export_versions(name, output, url)
        terminal.write_text(f"{output}: {format_count(count, 'version')}\n")
        return
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
def prune(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME...]", help="Only pages of these watches (default: all)."),
    ] = None,
    *,
    versions: Annotated[
        int | None, typer.Option("--versions", metavar="N", min=1, help="Keep the newest N.")
    ] = None,
    age: Annotated[
        str | None, typer.Option("--age", metavar="TIME", help="Keep those that are not older.")
    ] = None,
    size: Annotated[
        str | None,
        typer.Option("--bytes", metavar="SIZE", help="Keep the newest that fit, such as 500 MB."),
    ] = None,
    database: DatabaseOption = None,
) -> None:
    """Delete old versions of pages, as watches say under `keep`, or as you say here.

    The latest version of a page stays, and so do versions that a watch will be compared with.

    \b
    Examples:
      quire watch prune
      quire watch prune News --versions 100
      quire watch prune --age "90 days"
    """
    from quire.sentinels.form import read_watch  # noqa: PLC0415 - heavy

    length = int(size) if size is not None and size.isdecimal() else size
    given = {"versions": versions, "age": age, "bytes": length}
    given = {key: value for key, value in given.items() if value is not None}
    keep = read_watch({"url": "https://example.org/", "keep": given}).keep if given else None
    done = open_service(database).prune(names or (), keep)
    terminal.write_text(
        f"{format_count(done.versions, 'version')} deleted, {format_bytes(max(done.bytes, 0))} freed\n"
    )


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
