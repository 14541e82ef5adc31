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
from collections.abc import Sequence
from dataclasses import dataclass, field

from quire.sentinels.checking.fetching import GateFetcher
from quire.sentinels.checking.worker import Tally, Worker
from quire.sentinels.store.database import Database
from quire.sources.gate import Gate, Politeness, Proxy
from quire.sources.gate.addresses import Network

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How pages are fetched and notices are sent.

    Attributes:
        allow_networks: private networks that watches and webhooks may reach.
        politeness: how often and how many at once hosts are asked.
        proxy: the proxy for all requests that do not name one.
        base_url: the address of the service, for links in notices.
    """

    allow_networks: Sequence[Network] = ()
    politeness: Politeness = field(default_factory=Politeness)
    proxy: Proxy | None = None
    base_url: str = ""


async def keep_watching(database: Database, options: RunOptions, stop: asyncio.Event) -> Tally:
    """Check pages when they are due and send notices, until ``stop`` is set.

    Returns:
        What was done.
    """
    async with Gate(
        allow_networks=options.allow_networks, politeness=options.politeness, proxy=options.proxy
    ) as gate:
        worker = Worker(database, GateFetcher(gate))
        _LOG.info("worker %s has started", worker.owner)
        try:
            await worker.run(stop)
        finally:
            worker.close()
        _LOG.info("worker %s has stopped after %d checks", worker.owner, worker.tally.checks)
        return worker.tally
