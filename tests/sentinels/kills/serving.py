"""``quire serve`` with short leases: ``python -m tests.sentinels.kills.serving DATABASE``."""

from __future__ import annotations

import sys

from quire.cli.watch.loop import run_service
from quire.sentinels.service import Service
from quire.sentinels.store import Database
from quire.web.server import listen
from quire.web.settings import Settings
from tests.sentinels.kills.watching import OPTIONS

if __name__ == "__main__":
    service = Service(Database.open(sys.argv[1]))
    with listen("127.0.0.1", 0) as bound:
        run_service(service, bound, OPTIONS, Settings(), lambda _: None)
