"""``quire serve`` and ``quire worker``: the service that watches pages."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.common import terminal
from quire.cli.common.options import Format, FormatOption
from quire.cli.common.terminal import reports_errors
from quire.cli.watch.opening import DatabaseOption, open_service
from quire.display import format_count

if TYPE_CHECKING:
    from quire.sentinels.checking.worker import Tally
    from quire.sentinels.running import RunOptions
    from quire.sentinels.service import Service

PauseOption = Annotated[
    float,
    typer.Option("--pause", min=0, metavar="SECONDS", help="Pause between requests to one host."),
]


@reports_errors
def worker(
    *,
    pause: PauseOption = 1.0,
    database: DatabaseOption = None,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Check pages and send notices until it is stopped, without the web pages.

    Start as many as you like, on any machine, for one PostgreSQL database. Each page is checked by
    one of them. Press Ctrl-C to stop; checks that were under way are made again later.

    Pages on private networks need permission: QUIRE_ALLOW_NETWORKS=192.168.0.0/16.

    \b
    Examples:
      quire worker
      quire worker --database postgresql://quire@db.example/quire
    """
    service = open_service(database)
    terminal.note("worker: started; press Ctrl-C to stop")
    tally = asyncio.run(_work(service, run_options(pause)))
    if format is Format.json:
        terminal.write_json(
            {"checked": tally.checks, "failed": tally.failed, "events": tally.events}
        )
    else:
        terminal.note(
            f"worker: stopped after {format_count(tally.checks, 'check')}, {tally.failed:,} failed, "
            f"{format_count(tally.events, 'event')}"
        )


async def _work(service: Service, options: RunOptions) -> Tally:
    from quire.sentinels.running import keep_watching  # noqa: PLC0415 - heavy

    stop = asyncio.Event()
    stop_on_signals(stop)
    return await keep_watching(service.database, options, stop)


def run_options(pause: float) -> RunOptions:
    """Return how to run, from options and the environment."""
    from quire.sentinels.running import RunOptions  # noqa: PLC0415 - heavy
    from quire.sources.gate import Politeness  # noqa: PLC0415 - heavy
    from quire.sources.gate.one_page import networks_from_environment  # noqa: PLC0415 - heavy

    return RunOptions(
        allow_networks=networks_from_environment(), politeness=Politeness(pause_s=pause)
    )


def stop_on_signals(stop: asyncio.Event) -> None:
    """Set an event on Ctrl-C and on SIGTERM, so that work under way ends in order."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
