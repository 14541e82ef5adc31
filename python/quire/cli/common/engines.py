"""The options that choose the engine for batch work, and opening that engine."""

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
        metavar="ENGINE",
        help="Where to run: local, local:4 (four threads) or spark://HOST:PORT (default: local).",
    ),
]
ThreadsOption = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Number of local threads (default: one per core)."),
]


def opened_engine(engine: str | None, threads: int | None, progress: Progress) -> Engine:
    """Open an engine by its address.

    Raises:
        Refusal: the address is not valid.
    """
    from quire.engines import open_engine  # noqa: PLC0415 - heavy

    try:
        return open_engine(engine, threads=threads, progress=progress)
    except ValueError as error:
        raise Refusal(str(error)) from None
