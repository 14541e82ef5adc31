"""``quire archive export``: writes an archive as WARC, for other tools."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from quire.cli.archive.interrupts import explained
from quire.cli.archive.options import ArchiveArgument, PrefixOption, SinceOption, UntilOption
from quire.cli.common import files, terminal
from quire.cli.common.archives import opened
from quire.cli.common.options import ForceOption, Format, FormatOption
from quire.cli.common.step_progress import progress_bars
from quire.cli.common.terminal import Refusal, printable, reports_errors
from quire.cli.common.times import end_of, start_of
from quire.display import format_count


@reports_errors
def export(
    *,
    archive: ArchiveArgument,
    output: Annotated[
        str,
        typer.Argument(
            metavar="OUT",
            help="WARC file to write, for example crawl.warc.gz; - for standard output.",
        ),
    ],
    prefix: PrefixOption = "",
    since: SinceOption = None,
    until: UntilOption = None,
    force: ForceOption = False,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Write pages to a WARC file, with a CDXJ index beside it.

    Pages that came from WARC files are written as the same records, byte for byte, together with
    the requests, metadata and all other records that came with them. Other pages become `response`
    records, or `resource` records if they have no HTTP headers.

    \b
    Examples:
      quire archive export site.quire crawl.warc.gz
      quire archive export site.quire may.warc.gz --since 2026-05 --until 2026-05
      quire archive export site.quire a.warc.gz --prefix https://example.org/ --force
      quire archive export site.quire - | ssh backup "cat > crawl.warc.gz"

    An index is only written beside a file.
    """
    from quire.archive import export as write  # noqa: PLC0415 - heavy
    from quire.archive.warc.export import index_path  # noqa: PLC0415 - heavy

    if output == files.STANDARD_INPUT:
        if format is Format.json:
            raise Refusal("-: the WARC goes to standard output, and so would the JSON")
        _to_standard_output(archive, prefix, start_of(since), end_of(until))
        return
    for path in (Path(output), index_path(Path(output))):
        files.check_free(path, force=force)
    Path(output).parent.mkdir(parents=True, exist_ok=True)
    with (
        explained(lambda: f"{output} was not written"),
        opened(archive) as source,
        progress_bars() as progress,
    ):
        done = write(
            source,
            output,
            prefix=prefix,
            since=start_of(since),
            until=end_of(until),
            progress=progress,
        )
    if format is Format.json:
        values = {"warc": str(done.warc), "index": str(done.index), "pages": done.pages}
        values = {**values, "records": done.records}
        terminal.write_json({**values, "damaged": done.damaged})
    else:
        terminal.write_text(f"{printable(output)}: {format_count(done.records, 'record')}\n")
        terminal.write_text(f"{printable(str(done.index))}: index\n")
    for damage in done.damaged:
        terminal.complain(damage)
    if done.damaged:
        raise typer.Exit(terminal.ERROR)


def _to_standard_output(
    archive: str, prefix: str, since: datetime | None, until: datetime | None
) -> None:
    from quire.archive.warc.export import export_stream  # noqa: PLC0415 - heavy

    with opened(archive) as source, terminal.binary_output() as stream:
        records, damaged = export_stream(source, stream, prefix=prefix, since=since, until=until)
    terminal.note(format_count(records, "record"))
    for damage in damaged:
        terminal.complain(damage)
    if damaged:
        raise typer.Exit(terminal.ERROR)
