"""Workers: one, then four processes that share a database.

A synthetic fetcher with real pages, SQLite with one worker and PostgreSQL on loopback with four. After
every pass the table of visits says whether each page was checked exactly once.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import func, insert, select

from benchmarks.context import Context
from benchmarks.provenance import REPOSITORY
from benchmarks.report import Report, Right, Table, every
from benchmarks.sentinels.synthetic_web import SyntheticWeb, form, sentinels_of_pages
from quire.sentinels.form.watch import Fetching
from quire.sentinels.store import Database
from quire.sentinels.store.plain import page_key
from quire.sentinels.store.tables import event, member, page, visit, watch

#: Pages and sentinels, for each kind of database.
SIZES = {"SQLite": (400, 10_000), "PostgreSQL": (4_000, 100_000)}
QUICK_SIZES = {"SQLite": (40, 1_000), "PostgreSQL": (80, 2_000)}
WORKERS = {"SQLite": 1, "PostgreSQL": 4}
#: The share of pages that changed, pass by pass; in the first one every page is new.
PASSES = (0.0, 0.0, 0.01)
START = 1_000_000.0
HOUR = 3_600.0


def run(context: Context) -> Report:
    """Run three passes on each database."""
    report = Report(
        title="Workers on a shared database",
        inputs=f"{SyntheticWeb().describe()}; 25 sentinels a page by Zipf's law, seed {context.seed}",
        method="wall time of a pass with all workers, and CPU time of all worker processes; synthetic fetcher",
    )
    rows: list[list[str]] = []
    for kind, (pages, sentinels) in context.pick(SIZES, QUICK_SIZES).items():
        for address in _addresses(kind, report):
            context.say(f"{kind}: {sentinels:,} sentinels on {pages:,} pages")
            counts = sentinels_of_pages(pages, sentinels, context.seed)
            rows += _run_one(report, kind, address, counts)
    headings = ["database", "workers", "sentinels", "pages", "pass", "checks", "wall, s", "CPU, s"]
    headings += ["checks a CPU s", "sentinels a CPU s", "events"]
    report.tables.append(Table(headings, rows, "passes in a row"))
    return report


def _addresses(kind: str, report: Report) -> Iterator[str]:
    """An empty database; none if the server is not installed."""
    if kind == "SQLite":
        with tempfile.TemporaryDirectory() as folder:
            yield str(Path(folder) / "quire.db")
        return
    starter = _postgres()
    if starter is None:
        report.notes.append("PostgreSQL is not installed: left out")
        return
    yield starter()


def _postgres() -> Callable[[], str] | None:
    if not any(Path("/usr/lib/postgresql").glob("*/bin/initdb")):
        return None
    from tests.sentinels.databases import new_postgres  # noqa: PLC0415 - starts a server

    return new_postgres


def _run_one(report: Report, kind: str, address: str, counts: Sequence[int]) -> list[list[str]]:
    pages, sentinels = len(counts), sum(counts)
    database = Database.open(address)
    _install(database, counts)
    rows = []
    once = events_before = 0
    for turn, share in enumerate(PASSES):
        now = START + turn * (HOUR + 1)
        found, wall = _pass(address, WORKERS[kind], now, turn, share)
        with database.read() as connection:
            visits = connection.execute(
                select(func.count()).where(visit.c.time == now).group_by(visit.c.page)
            ).scalars()
            is_once = list(visits) == [1] * pages
            events = connection.execute(select(func.count()).select_from(event)).scalar_one()
        once += is_once and sum(each["lost"] for each in found) == 0
        spent = sum(each["seconds"] for each in found)
        checks = sum(each["checks"] for each in found)
        rows.append(
            [
                kind,
                str(len(found)),
                f"{sentinels:,}",
                f"{pages:,}",
                "first" if not turn else f"{share:.0%} changed",
                f"{checks:,}",
                f"{wall:.1f}",
                f"{spent:.1f}",
                f"{checks / spent:,.0f}",
                f"{sentinels / spent:,.0f}",
                f"{events - events_before:,}",
            ]
        )
        events_before = events
        report.data[f"{kind} {turn}"] = found
    database.close()
    what = f"{kind}, {WORKERS[kind]} workers: passes in which every page was checked exactly once"
    report.right.append(Right(kind, once, len(PASSES), "passes with every page checked once"))
    report.goals.append(every(what, once, len(PASSES)))
    return rows


def _install(database: Database, counts: Sequence[int]) -> None:
    """Store pages, watches and members as ``add_watch`` would, many at a time."""
    plain = Fetching()
    addresses = [str(form(number, 0)["url"]) for number in range(len(counts))]
    places = [at for at, count in enumerate(counts) for _ in range(count)]
    forms = [form(at, number) for number, at in enumerate(places)]
    with database.write() as connection:
        connection.execute(
            insert(page),
            [
                {
                    "id": at + 1,
                    "key": page_key(url, plain),
                    "url": url,
                    "fetching": {},
                    "due": START,
                }
                for at, url in enumerate(addresses)
            ],
        )
        connection.execute(
            insert(watch),
            [
                {
                    "id": number + 1,
                    "name": each["name"],
                    "form": each,
                    "paused": False,
                    "created": START,
                    "updated": START,
                }
                for number, each in enumerate(forms)
            ],
        )
        connection.execute(
            insert(member),
            [
                {"watch": number + 1, "page": at + 1, "due": START, "installed": START}
                for number, at in enumerate(places)
            ],
        )


def _pass(
    address: str, workers: int, now: float, turn: int, share: float
) -> tuple[list[dict[str, Any]], float]:
    command = [sys.executable, "-m", "benchmarks.sentinels.worker_child", address]
    command += [str(now), str(turn), str(share)]
    start = time.monotonic()
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY)
        for _ in range(workers)
    ]
    found = []
    for each in running:
        printed, _ = each.communicate()
        if each.returncode:
            raise RuntimeError(f"a worker ended with {each.returncode}")
        found.append(json.loads(printed))
    return found, time.monotonic() - start
