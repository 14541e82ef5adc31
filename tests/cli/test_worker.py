"""``quire worker`` as a process: it checks what is due, stops in order, and waits for databases."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

from quire.demo.changing import DemoSite
from quire.sentinels.service import Service
from quire.sentinels.store import Database

QUIRE = (sys.executable, "-m", "quire.cli")


def test_a_worker_checks_until_it_is_stopped(tmp_path: Path) -> None:
    where = tmp_path / "quire.db"
    with closing(Database.open(where)) as database, DemoSite() as site:
        service = Service(database)
        service.add({"url": site.url, "where": "#headline", "every": "1 s", "name": "Headline"})
        process = subprocess.Popen(
            [*QUIRE, "worker", "--pause", "0", "--database", str(where), "--format", "json"],
            env=os.environ | {"QUIRE_ALLOW_NETWORKS": f"{site.host}/32"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        end = time.monotonic() + 240
        while time.monotonic() < end and not service.pages("Headline")[0].versions:
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=240)

        assert process.returncode == 0, err
        assert json.loads(out)["checked"] >= 1
        assert service.pages("Headline")[0].state == "fine"
