"""``quire archive serve``: shows the pages of an archive in a browser on this machine."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

import typer

from quire.cli.archive.options import ArchiveArgument
from quire.cli.common import terminal
from quire.cli.common.archives import opened
from quire.cli.common.options import Format, FormatOption
from quire.cli.common.terminal import reports_errors


@reports_errors
def serve(
    *,
    archive: ArchiveArgument,
    port: Annotated[
        int,
        typer.Option(min=0, max=65535, metavar="N", help="Port to listen on; 0 picks a free one."),
    ] = 8321,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Show the pages of an archive in a browser on this machine.

    The archive is only read. Pages are shown without scripts, forms or cookies, and nothing
    they refer to is loaded. Requests from other machines, or from sites that pretend to be this
    machine, are refused. Press Ctrl-C to stop.

    \b
    Examples:
      quire archive serve site.quire
      quire archive serve site.quire --port 0 --format json
    """
    from quire.cli.archive.server import ArchiveServer  # noqa: PLC0415 - heavy

    with opened(archive) as source, ArchiveServer(source, port) as server:
        if format is Format.json:
            terminal.write_json({"archive": archive, "address": server.address})
        else:
            terminal.write_text(f"{archive}: open {server.address}\n")
        terminal.flush()
        with suppress(KeyboardInterrupt):
            server.serve_forever()
