"""A worker with short leases: ``python -m tests.sentinels.kills.watching DATABASE``."""

from __future__ import annotations

import asyncio
import sys

from quire.sentinels.running import RunOptions, keep_watching
from quire.sentinels.store import Database
from quire.sources.gate import Politeness, parse_networks

OPTIONS = RunOptions(
    allow_networks=parse_networks("127.0.0.0/8"),
    politeness=Politeness(connections=20, pause_s=0.0),
    lease_seconds=4.0,
)

if __name__ == "__main__":
    asyncio.run(keep_watching(Database.open(sys.argv[1]), OPTIONS, asyncio.Event()))
