"""The event loop of ``quire serve`` and ``quire worker``, ended by signals."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine
from functools import partial
from socket import socket
from typing import Any

from quire.archive.browsing import Library
from quire.sentinels.accounts import Accounts
from quire.sentinels.checking.worker import Tally
from quire.sentinels.notices.channels.webhook import webhook_gate
from quire.sentinels.running import RunOptions, keep_watching
from quire.sentinels.service import Service
from quire.sources.gate import Gate, Politeness
from quire.sources.gate.one_page import fetch_good
from quire.web import Settings, create_app, set_up_logs
from quire.web.server import serve_app
from quire.web.settings import OperatorOption

#: A person who looks at a page waits for it, so its parts are fetched as a browser would.
VISIT = Politeness(connections=6, pause_s=0.0)


def run_worker(service: Service, options: RunOptions) -> Tally:
    """Check pages and send notices until a signal comes; return what was done."""

    async def work() -> Tally:
        stop = asyncio.Event()
        _stop_on_signals(stop)
        return await keep_watching(service.database, options, stop)

    return asyncio.run(work())


def run_service(
    service: Service,
    bound: socket,
    options: RunOptions,
    settings: Settings,
    greet: Callable[[str | None], None],
    *,
    demo: str = "",
    library: Library | None = None,
    logs_as_json: bool | None = None,
) -> None:
    """Check pages, send notices and answer on the web until a signal comes.

    Args:
        service: the watches.
        bound: the socket to answer on.
        options: how to run.
        settings: how to answer.
        greet: called once everything is ready, with the password of a first start.
        demo: the address of the site of the demo, if this is the demo.
        library: archives to browse.
        logs_as_json: write logs as JSON (default: if standard error is not a terminal).
    """
    set_up_logs(as_json=logs_as_json)
    app = create_app(
        service,
        settings,
        open_gate=lambda: webhook_gate(allow_networks=options.allow_networks),
        fetch_page=partial(fetch_good, allow_networks=options.allow_networks),
        open_pages=lambda: Gate(
            allow_networks=options.allow_networks, politeness=VISIT, proxy=options.proxy
        ),
        demo=demo,
        options=_shown_options(service, options),
        library=library,
    )

    async def work() -> None:
        stop = asyncio.Event()
        _stop_on_signals(stop)
        greet(Accounts(service.database).make_first())
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_until_end(serve_app(app, bound, stop), stop))
            tasks.create_task(_until_end(keep_watching(service.database, options, stop), stop))

    asyncio.run(work())


def _shown_options(service: Service, options: RunOptions) -> list[OperatorOption]:
    """Return what the operator chose, for people to see."""
    polite, notices = options.politeness, service.options
    address = service.database.engine.url.render_as_string(hide_password=True)
    networks = ", ".join(map(str, options.allow_networks)) or "none"
    mail = (
        "not set up" if notices.mail is None else f"{notices.mail.host}, as {notices.mail.sender}"
    )
    return [
        OperatorOption("Database", address.removeprefix("sqlite:///"), "--database"),
        OperatorOption("Address for people", options.base_url or "this machine only", "--base-url"),
        OperatorOption("Pause between requests to one host", f"{polite.pause_s:g} s", "--pause"),
        OperatorOption("Requests to one host at once", f"{polite.connections}", "built in"),
        OperatorOption("Requests to all hosts at once", f"{polite.places}", "built in"),
        OperatorOption("Private networks that may be reached", networks, "QUIRE_ALLOW_NETWORKS"),
        OperatorOption("Mail server", mail, "QUIRE_MAIL_SERVER"),
        OperatorOption(
            "Self-hosted services for notices",
            ", ".join(notices.places) or "none",
            "QUIRE_NOTICE_PLACES",
        ),
    ]


async def _until_end(work: Coroutine[Any, Any, object], stop: asyncio.Event) -> None:
    """Run work that goes on until the service stops; if it ends before, everything stops."""
    try:
        await work
    finally:
        stop.set()


def _stop_on_signals(stop: asyncio.Event) -> None:
    """Set an event on Ctrl-C and on SIGTERM, so that work under way ends in order."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
