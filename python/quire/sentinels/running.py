"""Running: checks pages and sends notices until it is told to stop.

``quire worker`` is this and nothing else; ``quire serve`` runs it beside the web server. Any number
of them can share a PostgreSQL database: every page and every queue of notices is claimed by one of
them at a time.

Checks and notices run side by side on one event loop. If the database cannot be reached, both wait
and try again: claims that were open end by their leases, and what was found since is found again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from quire.sentinels.checking.fetching import GateFetcher
from quire.sentinels.checking.worker import LEASE_SECONDS, Tally, Worker
from quire.sentinels.notices.channels.webhook import webhook_gate
from quire.sentinels.notices.event import Event
from quire.sentinels.notices.policy import DEFAULT_RETRYING, Retrying
from quire.sentinels.sending import NoticeOptions, make_sender
from quire.sentinels.store.database import Database
from quire.sources.gate import Gate, Politeness, Proxy
from quire.sources.gate.addresses import Network

_LOG = logging.getLogger(__name__)

#: A sender gives up a message after this share of its lease, so that the lease outlives it.
_SENDING_SHARE = 1 / 3


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How pages are fetched and notices are sent.

    Attributes:
        allow_networks: private networks that watches and webhooks may reach.
        politeness: how often and how many at once hosts are asked.
        proxy: the proxy for all requests that do not name one.
        base_url: the address of the service, for links in notices.
        lease_seconds: how long a page or a queue of notices stays with a worker that died.
        retrying: how notices that could not be sent are sent again.
        on_event: called with each event that a watch announces, once it is stored.
    """

    allow_networks: Sequence[Network] = ()
    politeness: Politeness = field(default_factory=Politeness)
    proxy: Proxy | None = None
    base_url: str = ""
    lease_seconds: float = LEASE_SECONDS
    retrying: Retrying = DEFAULT_RETRYING
    on_event: Callable[[Event], None] = lambda _: None


async def keep_watching(database: Database, options: RunOptions, stop: asyncio.Event) -> Tally:
    """Check pages when they are due and send notices, until ``stop`` is set.

    Returns:
        What was done.
    """
    networks, proxy = options.allow_networks, options.proxy
    notices = NoticeOptions.from_environment()
    if options.base_url:
        notices = replace(notices, base_url=options.base_url)
    async with (
        Gate(allow_networks=networks, politeness=options.politeness, proxy=proxy) as gate,
        GateFetcher(gate) as fetch,
        webhook_gate(allow_networks=networks, proxy=proxy) as hooks,
    ):
        worker = Worker(
            database,
            fetch,
            pause_s=options.politeness.pause_s,
            lease_seconds=options.lease_seconds,
            on_event=options.on_event,
        )
        sender = make_sender(
            database,
            hooks,
            notices,
            lease=timedelta(seconds=options.lease_seconds),
            timeout_s=options.lease_seconds * _SENDING_SHARE,
            retrying=options.retrying,
        )
        _LOG.info("worker %s has started", worker.owner)
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(worker.run(stop))
                tasks.create_task(sender.run(stop))
        finally:
            worker.close()
        _LOG.info("worker %s has stopped after %d checks", worker.owner, worker.tally.checks)
        return worker.tally
