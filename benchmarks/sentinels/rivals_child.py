"""One pass of quire over all watches of a database, as ``quire watch run`` makes it.

Run by ``rivals``: ``python -m benchmarks.sentinels.rivals_child DATABASE NOW``; prints JSON.
"""

import asyncio
import json
import sys
import time

from quire.sentinels.checking.fetching import GateFetcher
from quire.sentinels.checking.worker import Worker
from quire.sentinels.store import Database
from quire.sources.gate import Gate, Politeness, parse_networks


async def check(path: str, now: float) -> dict[str, float]:
    """Check everything that is due."""
    database = Database.open(path)
    polite = Politeness(connections=8, pause_s=0)
    async with Gate(allow_networks=parse_networks("127.0.0.0/8"), politeness=polite) as gate:
        worker = Worker(database, GateFetcher(gate), clock=lambda: now)
        start = time.process_time()
        checked = await worker.run_due()
        spent = time.process_time() - start
        worker.close()
    database.close()
    return {
        "checked": checked,
        "seconds": spent,
        "events": worker.tally.events,
        "failed": worker.tally.failed,
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(check(sys.argv[1], float(sys.argv[2])))))
