"""A worker with short leases and short pauses: ``python -m tests.sentinels.kills.watching DATABASE``.

Every fifth notice fails at first, and everything behind it waits for it. With the pauses of the
service (30 s, then twice as long each time) a page with bad luck would need minutes.
"""

from __future__ import annotations

import asyncio
import sys
from datetime import timedelta

from quire.sentinels.notices.policy import Retrying
from quire.sentinels.running import RunOptions, keep_watching
from quire.sentinels.store import Database
from quire.sources.gate import Politeness, parse_networks

OPTIONS = RunOptions(
    allow_networks=parse_networks("127.0.0.0/8"),
    politeness=Politeness(connections=20, pause_s=0.0),
    lease_seconds=4.0,
    retrying=Retrying(first=timedelta(seconds=0.5), longest=timedelta(seconds=2), tries=1000),
)

if __name__ == "__main__":
    asyncio.run(keep_watching(Database.open(sys.argv[1]), OPTIONS, asyncio.Event()))
