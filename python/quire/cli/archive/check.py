"""``quire archive verify`` and ``repair``: find damage, and copy everything still readable."""

from __future__ import annotations

from typing import Annotated

import typer

from quire.cli.archive.options import ArchiveArgument
from quire.cli.common import terminal
from quire.cli.common.archives import check_archive, opened
from quire.cli.common.options import Format, FormatOption
from quire.cli.common.step_progress import progress_bars
from quire.cli.common.terminal import Refusal, printable, reports_errors
from quire.display import format_count


@reports_errors
def verify(*, archive: ArchiveArgument, format: FormatOption = Format.text) -> None:  # noqa: A002 - the name of the option
    """Read every byte of an archive and report damage.

    Nothing is changed. Every page is compared with the checksum it was stored with.

    \b
    Examples:
      quire archive verify site.quire
      quire archive verify site.quire --format json | jq -r '.findings[]'

    Exit codes: 0 if nothing is damaged, 2 on damage or any other error.
    """
    with opened(archive) as target:
        pages, findings = len(target), target.verify()
    if format is Format.json:
        terminal.write_json({"archive": archive, "pages": pages, "findings": findings})
    else:
        for finding in findings:
            terminal.write_text(printable(finding) + "\n")
        if not findings:
            terminal.write_text(
                f"{printable(archive)}: {format_count(pages, 'page')}, no damage found\n"
            )
    if findings:
        terminal.complain(
            f"{archive}: {format_count(len(findings), 'finding')}",
            hint="use `quire archive repair` to copy everything readable to a new archive",
        )
        raise typer.Exit(terminal.ERROR)


@reports_errors
def repair(
    *,
    archive: ArchiveArgument,
    output: Annotated[
        str | None,
        typer.Argument(metavar="NEW", help="New archive (default: only report, write nothing)."),
    ] = None,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Copy everything readable from a damaged archive to a new one.

    ARCHIVE is only read. Every lost page is listed with its file and offset.

    \b
    Examples:
      quire archive repair site.quire
      quire archive repair site.quire mended.quire
      quire archive repair site.quire mended.quire --format json | jq '.lost[].url'

    Exit codes: 0 if nothing was lost, 2 if something was lost or on any other error.
    """
    from quire.archive.repair import repair as mend  # noqa: PLC0415 - heavy

    check_archive(archive)
    try:
        with progress_bars() as progress:
            done = mend(archive, output, progress=progress)
    except FileExistsError as error:
        raise Refusal(str(error), hint="choose a name that is not taken") from None
    lost = [
        {"file": str(one.file), "offset": one.offset, "what": one.what, "url": one.url}
        for one in done.lost
    ]
    if format is Format.json:
        terminal.write_json(
            {
                "archive": archive,
                "new": output,
                "pages": done.pages,
                "records": done.companions,
                "lost": lost,
            }
        )
    else:
        where = f"{printable(output)}: {format_count(done.pages, 'page')}" if output else None
        can = f"{printable(archive)}: {format_count(done.pages, 'page')} can be read"
        terminal.write_text((where or can) + ("; lost:\n" if lost else "; nothing was lost\n"))
        for one in done.lost:
            terminal.write_text(f"  {printable(str(one))}\n")
    if lost:
        raise typer.Exit(terminal.ERROR)
