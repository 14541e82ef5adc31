"""Workers, the service and PostgreSQL are killed while pages change: no notice is lost or doubled.

With ``KILL_SOAK=1``, as in `make soak`, there are 1,000 changes and 100 kills.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import func, select

from quire.errors import StoreError
from quire.sentinels.service import Service
from quire.sentinels.store import Database
from quire.sentinels.store.tables import event
from tests.sentinels.databases import Postgres
from tests.sentinels.kills.town import Town

ROOT = Path(__file__).parents[3]
IS_SOAK = bool(os.environ.get("KILL_SOAK"))
PAGES, CHANGES, KILLS = (50, 20, 100) if IS_SOAK else (8, 3, 8)
PATIENCE_S = 1800 if IS_SOAK else 600

pytestmark = pytest.mark.timeout(PATIENCE_S + 120)


class Workers:
    """Processes that check and send; each that dies is replaced.

    Args:
        where: their database.
        kinds: which processes: ``watching`` is a worker, ``serving`` the whole service.
    """

    def __init__(self, where: str, *kinds: str) -> None:
        self._where = where
        self._kinds = kinds
        self.running = [self._start(kind) for kind in kinds]

    def _start(self, kind: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"tests.sentinels.kills.{kind}", self._where]
        return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)

    def kill(self, chance: random.Random) -> None:
        """Kill one of them, and start another one."""
        place = chance.randrange(len(self.running))
        self.running[place].kill()
        self.running[place].wait()
        self.running[place] = self._start(self._kinds[place])

    def pause(self, chance: random.Random) -> Callable[[], None]:
        """Stop one of them as if its machine slept; returns a function that wakes it up."""
        asleep = chance.choice(self.running)
        asleep.send_signal(signal.SIGSTOP)
        return lambda: asleep.send_signal(signal.SIGCONT) if asleep.poll() is None else None

    def end(self) -> None:
        """Kill all of them."""
        for each in self.running:
            each.send_signal(signal.SIGCONT)
            each.kill()
            each.wait()


def wait_until(is_so: Callable[[], bool], patience_s: float) -> None:
    end = time.monotonic() + patience_s
    while not is_so() and time.monotonic() < end:
        time.sleep(0.1)
    assert is_so()


def install(service: Service, town: Town) -> None:
    for number, url in enumerate(town.urls):
        form = {"url": url, "name": f"page {number}", "where": "#n", "every": "1 s"}
        service.add({**form, "notify": {"to": [town.hook]}, "fetch": {"robots": False}})


def check(town: Town, service: Service) -> None:
    """Every change gave one event, and its notice arrived."""
    expected = {(page, number) for page in range(PAGES) for number in range(1, CHANGES + 1)}
    assert set(town.received) == expected
    assert {key: ids for key, ids in town.received.items() if len(ids) != 1} == {}
    with service.database.read() as connection:
        stored = connection.execute(
            select(func.count()).select_from(event).where(event.c.kind == "change")
        ).scalar_one()
    assert stored == len(expected)


def test_kills_of_workers_of_the_service_and_of_postgresql(tmp_path: Path) -> None:
    chance = random.Random(1)
    with Postgres(tmp_path) as server, Town(PAGES, CHANGES, chance) as town:
        service = Service(Database.open(server.new_database()))
        install(service, town)
        workers = Workers(server.newest, "watching", "watching", "serving")
        try:
            wait_until(lambda: all_seen(service), PATIENCE_S / 4)
            town.begin()
            for number in range(KILLS):
                time.sleep(chance.uniform(0.2, 1.5))
                if number % 10 == 4:
                    server.kill()
                    server.start()
                elif number % 10 == 7:
                    wake = workers.pause(chance)
                    time.sleep(6)  # longer than its leases
                    wake()
                else:
                    workers.kill(chance)
            wait_until(lambda: town.is_done, PATIENCE_S / 2)
            check(town, service)
        finally:
            workers.end()
            service.database.close()


def test_kills_of_a_worker_and_of_the_service_on_sqlite(tmp_path: Path) -> None:
    chance = random.Random(2)
    with Town(PAGES, CHANGES, chance) as town:
        where = str(tmp_path / "quire.db")
        service = Service(Database.open(where))
        install(service, town)
        workers = Workers(where, "watching", "serving")
        try:
            wait_until(lambda: all_seen(service), PATIENCE_S / 4)
            town.begin()
            for _ in range(KILLS):
                time.sleep(chance.uniform(0.2, 1.5))
                workers.kill(chance)
            wait_until(lambda: town.is_done, PATIENCE_S / 2)
            check(town, service)
        finally:
            workers.end()
            service.database.close()


def all_seen(service: Service) -> bool:
    try:
        watches = service.watches(most=1000)
        return all(page.versions for each in watches for page in service.pages(str(each.id)))
    except StoreError:
        return False
