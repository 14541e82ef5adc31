"""``quire serve`` and ``quire worker``: the service that watches pages."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from socket import socket
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.common import terminal
from quire.cli.common.archives import library_of
from quire.cli.common.options import Format, FormatOption
from quire.cli.common.terminal import Refusal, one_line, reports_errors
from quire.cli.watch.opening import DatabaseOption, open_service
from quire.display import format_count
from quire.errors import MissingExtra

if TYPE_CHECKING:
    from quire.sentinels.notices.event import Event
    from quire.sentinels.running import RunOptions
    from quire.sentinels.service import Service

PauseOption = Annotated[
    float,
    typer.Option("--pause", min=0, metavar="SECONDS", help="Pause between requests to one host."),
]

PORT = 8322


@reports_errors
def serve(
    *,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(min=0, max=65535, metavar="N", help="Port to listen on; 0 picks a free one."),
    ] = PORT,
    base_url: Annotated[
        str,
        typer.Option(
            "--base-url",
            metavar="URL",
            envvar="QUIRE_BASE_URL",
            help="Address under which people reach it, if not this machine's.",
        ),
    ] = "",
    demo: Annotated[
        bool,
        typer.Option("--demo", help="Watch a small site that changes by itself; keep nothing."),
    ] = False,
    archive: Annotated[
        list[str] | None,
        typer.Option("--archive", metavar="PATH", help="Archive to browse; may be repeated."),
    ] = None,
    pause: PauseOption = 1.0,
    database: DatabaseOption = None,
    log_format: Annotated[
        Format | None,
        typer.Option(
            "--log-format",
            help="Format of the log on standard error (default: text on a terminal, else json).",
        ),
    ] = None,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Watch pages, send notices, and answer on the web, until it is stopped.

    The first start makes an account and prints its password once. Only this machine can reach the
    service, unless --host and --base-url say otherwise. Press Ctrl-C to stop.

    Pages on private networks need permission: QUIRE_ALLOW_NETWORKS=192.168.0.0/16.

    \b
    Examples:
      quire serve
      quire serve --demo
      quire serve --archive site.quire
      quire serve --host 0.0.0.0 --base-url https://watch.example.org \\
          --database postgresql://quire@db.example/quire
    """
    try:
        from quire.cli.watch.loop import run_service  # noqa: PLC0415 - heavy
        from quire.web.server import address_of  # noqa: PLC0415 - heavy
        from quire.web.settings import Settings  # noqa: PLC0415 - heavy
    except ImportError as error:
        raise MissingExtra(f"{error.name} is not installed", extra="serve") from None
    try:
        settings = Settings(base_url=base_url.rstrip("/"))
    except ValueError as error:
        raise Refusal(f"--{error}".replace("base_url", "base-url", 1)) from None
    with ExitStack() as stack:
        if demo and database is None:
            folder = stack.enter_context(TemporaryDirectory(prefix="quire-demo-"))
            database = str(Path(folder) / "quire.db")
        service = open_service(database)
        stack.callback(service.database.close)
        bound = stack.enter_context(_bound(host, port))
        options, site = run_options(pause, base_url), ""
        if demo:
            options, site = _begin_demo(service, options, stack)
        address = base_url or address_of(bound)

        def greet(password: str | None) -> None:
            _greet(address, password, format, demo=demo)

        library = library_of(archive or [], stack)
        run_service(
            service,
            bound,
            options,
            settings,
            greet,
            demo=site,
            library=library,
            logs_as_json=None if log_format is None else log_format is Format.json,
        )
        if format is Format.text:
            terminal.note("stopped")


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
    from quire.cli.watch.loop import run_worker  # noqa: PLC0415 - heavy

    terminal.note("worker: started; press Ctrl-C to stop")
    tally = run_worker(service, run_options(pause))
    if format is Format.json:
        terminal.write_json(
            {"checked": tally.checks, "failed": tally.failed, "events": tally.events}
        )
    else:
        terminal.note(
            f"worker: stopped after {format_count(tally.checks, 'check')}, {tally.failed:,} failed, "
            f"{format_count(tally.events, 'event')}"
        )


def _greet(address: str, password: str | None, format: Format, *, demo: bool) -> None:  # noqa: A002 - the name of the option
    if format is Format.json:
        terminal.write_json({"address": address, "account": "admin", "password": password})
        terminal.flush()
        return
    terminal.write_text(f"quire is at {address}\n")
    if password is not None:
        terminal.write_text(
            f"  log in as admin with the password {password}\n"
            "  (shown only now; you choose your own when you log in)\n"
        )
    if demo:
        terminal.write_text(
            "It watches a small newspaper on this machine that changes every few seconds.\n"
            "Changes that watches announce appear below; the advertisement and the counter of\n"
            "visitors, which differ in every response, do not. Press Ctrl-C to stop.\n\n"
        )
    terminal.flush()


def _begin_demo(service: Service, options: RunOptions, stack: ExitStack) -> tuple[RunOptions, str]:
    """Start the site of the demo and add its watches; print their events.

    Returns:
        How to run, and the address of the site.
    """
    from quire.demo.changing import DemoSite, demo_watches  # noqa: PLC0415 - only here
    from quire.sources.gate import Politeness, parse_networks  # noqa: PLC0415 - heavy

    site = stack.enter_context(DemoSite())
    for form in demo_watches(site.url):
        service.add(form)
    changed = replace(
        options,
        allow_networks=(*options.allow_networks, *parse_networks(f"{site.host}/32")),
        politeness=Politeness(pause_s=0.2),
        on_event=_print_event,
    )
    return changed, site.url


def _print_event(event: Event) -> None:
    """Print what a watch announces, on one line."""
    what = " · ".join(event.added) or event.reason or event.kind
    terminal.write_text(
        f"{event.time.astimezone():%H:%M:%S}  {one_line(event.name, most=20)}: {one_line(what)}\n"
    )
    terminal.flush()


@contextmanager
def _bound(host: str, port: int) -> Iterator[socket]:
    from quire.web.server import listen  # noqa: PLC0415 - heavy

    try:
        found = listen(host, port)
    except OSError as error:
        is_taken = error.errno in (errno.EADDRINUSE, errno.EACCES)
        other = (
            "another port: --port 0 picks a free one" if is_taken else "an address of this machine"
        )
        raise Refusal(
            f"cannot listen on {host}, port {port}: {error.strerror}", hint=f"choose {other}"
        ) from None
    with found:
        yield found


def run_options(pause: float, base_url: str = "") -> RunOptions:
    """Return how to run, from options and the environment."""
    from quire.sentinels.running import RunOptions  # noqa: PLC0415 - heavy
    from quire.sources.gate import Politeness  # noqa: PLC0415 - heavy
    from quire.sources.gate.one_page import networks_from_environment  # noqa: PLC0415 - heavy

    return RunOptions(
        allow_networks=networks_from_environment(),
        politeness=Politeness(pause_s=pause),
        base_url=base_url,
    )
