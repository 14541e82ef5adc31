"""Who does batch work: the options of the commands that have any, and the engine of what was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.common.terminal import Refusal
from quire.progress import Progress

if TYPE_CHECKING:
    from quire.engines import Engine

EngineOption = Annotated[
    str | None,
    typer.Option(
        metavar="ENGINE", help="Who does the work: local, local:4 (threads), spark://HOST:PORT."
    ),
]
ThreadsOption = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Threads of this machine; one a core.")
]


def opened_engine(engine: str | None, threads: int | None, listener: Progress) -> Engine:
    """Open the engine of an address.

    Raises:
        Refusal: the address is of none.
    """
    from quire.engines import open_engine  # noqa: PLC0415 - heavy

    try:
        return open_engine(engine, threads=threads, listener=listener)
    except ValueError as error:
        raise Refusal(str(error)) from None
