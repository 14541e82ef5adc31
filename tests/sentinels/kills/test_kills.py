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
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Self

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
#: How long all notices may take; seconds on a machine with nothing else to do.
PATIENCE_S = 3600 if IS_SOAK else 600

pytestmark = pytest.mark.timeout(2 * PATIENCE_S)


class Workers:
    """Processes that check and send; each that ends is replaced, as a service manager would.

    Args:
        where: their database.
        folder: gets a file for each process, with what it said.
        kinds: which processes: ``watching`` is a worker, ``serving`` the whole service.
    """

    def __init__(self, where: str, folder: Path, *kinds: str) -> None:
        self._where = where
        self._folder = folder
        self._kinds = kinds
        self._running: list[subprocess.Popen[bytes]] = []
        self._said: list[Path] = []

    def __enter__(self) -> Self:
        for kind in self._kinds:
            self._running.append(self._start(kind))
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._running:
            each.send_signal(signal.SIGCONT)
            each.kill()
            each.wait()

    def _start(self, kind: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"tests.sentinels.kills.{kind}", self._where]
        self._said.append(self._folder / f"{kind}-{len(self._said)}.log")
        with self._said[-1].open("wb") as said:
            return subprocess.Popen(command, cwd=ROOT, stderr=said)

    def tend(self) -> None:
        """Replace processes that ended by themselves."""
        for place, each in enumerate(self._running):
            if each.poll() is not None:
                self._running[place] = self._start(self._kinds[place])

    def kill(self, chance: random.Random) -> None:
        """Kill one of them, and start another one."""
        each = chance.choice(self._running)
        each.kill()
        each.wait()
        self.tend()

    @contextmanager
    def paused(self, chance: random.Random) -> Iterator[None]:
        """Stop one of them, as if its machine slept."""
        asleep = chance.choice(self._running)
        asleep.send_signal(signal.SIGSTOP)
        yield
        asleep.send_signal(signal.SIGCONT)

    def wait_until(self, is_so: Callable[[], bool]) -> None:
        """Wait for a condition, and replace processes that end meanwhile."""
        end = time.monotonic() + PATIENCE_S
        while not is_so():
            assert time.monotonic() < end, self.last_words()
            self.tend()
            time.sleep(0.1)

    def last_words(self) -> dict[str, list[str]]:
        """Return the last lines that each of them said."""
        return {path.name: path.read_text().splitlines()[-2:] for path in self._said}


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
    with (
        Postgres(tmp_path) as server,
        Town(PAGES, CHANGES, chance) as town,
        closing(Database.open(server.new_database())) as database,
        Workers(server.newest, tmp_path, "watching", "watching", "serving") as workers,
    ):
        service = Service(database)
        install(service, town)
        workers.wait_until(lambda: all_seen(service))
        town.begin()
        for number in range(KILLS):
            time.sleep(chance.uniform(0.2, 1.5))
            if number % 10 == 4:
                server.kill()
                server.start()
            elif number % 10 == 7:
                with workers.paused(chance):
                    time.sleep(6)  # longer than its leases
            else:
                workers.kill(chance)
        workers.wait_until(lambda: town.is_done)
        check(town, service)


def test_kills_of_a_worker_and_of_the_service_on_sqlite(tmp_path: Path) -> None:
    chance = random.Random(2)
    where = str(tmp_path / "quire.db")
    with (
        Town(PAGES, CHANGES, chance) as town,
        closing(Database.open(where)) as database,
        Workers(where, tmp_path, "watching", "serving") as workers,
    ):
        service = Service(database)
        install(service, town)
        workers.wait_until(lambda: all_seen(service))
        town.begin()
        for _ in range(KILLS):
            time.sleep(chance.uniform(0.2, 1.5))
            workers.kill(chance)
        workers.wait_until(lambda: town.is_done)
        check(town, service)


def all_seen(service: Service) -> bool:
    try:
        watches = service.watches(most=1000)
        return all(page.versions for each in watches for page in service.pages(str(each.id)))
    except StoreError:
        return False
