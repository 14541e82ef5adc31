"""One worker process on a shared database; prints what it did as JSON.

Run by ``workers``: ``python -m benchmarks.sentinels.worker_child DATABASE NOW ROUND CHANGED``.
"""

import asyncio
import dataclasses
import json
import sys
import time

from benchmarks.sentinels.synthetic_web import SyntheticWeb
from quire.sentinels.checking.answers import Fetched
from quire.sentinels.checking.worker import Answer, Worker
from quire.sentinels.store import ClaimedPage, Database


def main(address: str, now: float, turn: int, changed: float) -> dict[str, object]:
    """Check pages until none is due."""
    web = SyntheticWeb()
    web.round, web.changed = turn, changed

    async def fetch(page: ClaimedPage) -> Answer:
        await asyncio.sleep(0)
        return Fetched(200, web.body(int(page.url.rpartition("/")[2])), "text/html")

    database = Database.open(address)
    worker = Worker(database, fetch, clock=lambda: now)
    begin, spent = time.monotonic(), time.process_time()
    checked = asyncio.run(worker.run_due())
    found = {
        "checked": checked,
        "seconds": time.process_time() - spent,
        "wall": time.monotonic() - begin,
        **dataclasses.asdict(worker.tally),
    }
    worker.close()
    database.close()
    return found


if __name__ == "__main__":
    arguments = sys.argv[1:]
    print(
        json.dumps(main(arguments[0], float(arguments[1]), int(arguments[2]), float(arguments[3])))
    )
