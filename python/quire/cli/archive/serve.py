"""``quire archive serve``: browse archives on this machine."""

from __future__ import annotations

import errno
from contextlib import ExitStack
from typing import Annotated

import typer

from quire.cli.common import terminal
from quire.cli.common.archives import library_of
from quire.cli.common.options import Format, FormatOption
from quire.cli.common.terminal import Refusal, reports_errors
from quire.errors import MissingExtra


@reports_errors
def serve(
    *,
    archives: Annotated[
        list[str], typer.Argument(metavar="ARCHIVE...", help="Folders of archives.")
    ],
    port: Annotated[
        int,
        typer.Option(min=0, max=65535, metavar="N", help="Port to listen on; 0 picks a free one."),
    ] = 8321,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Browse archives in a browser on this machine.

    Search addresses, see all captures of one, open any of them as it was, and compare two. Several
    archives are browsed as one. Pages are shown with their own style sheets and images, without
    scripts, and nothing is loaded from elsewhere. Wayback clients can query /cdx.

    Archives are only read. Requests from other machines, or from sites that pretend to be this
    machine, are refused. Press Ctrl-C to stop.

    \b
    Examples:
      quire archive serve site.quire
      quire archive serve 2025.quire 2026.quire
      quire archive serve site.quire --port 0 --format json
    """
    try:
        from quire.cli.archive.loop import run_browser  # noqa: PLC0415 - heavy
        from quire.web.server import address_of, listen  # noqa: PLC0415 - heavy
    except ImportError as error:
        raise MissingExtra(f"{error.name} is not installed", extra="serve") from None
    with ExitStack() as stack:
        library = library_of(archives, stack)
        assert library is not None  # noqa: S101 - the argument has at least one
        try:
            bound = stack.enter_context(listen("127.0.0.1", port))
        except OSError as error:
            is_taken = error.errno in (errno.EADDRINUSE, errno.EACCES)
            hint = "choose another port: --port 0 picks a free one" if is_taken else None
            raise Refusal(f"cannot listen on port {port}: {error.strerror}", hint=hint) from None
        address = address_of(bound)
        if format is Format.json:
            terminal.write_json({"archives": archives, "address": address})
        else:
            terminal.write_text(f"{', '.join(archives)}: open {address}\n")
        terminal.flush()
        run_browser(library, bound)
