"""Lists of watches and changes with thousands of rows: how long a page takes, and how large it is.

The whole application answers in this process, with guard, session and template, but without a
network. Every answer is checked for the number of its rows.
"""

import asyncio
import random
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import insert

from benchmarks.context import Context
from benchmarks.measure import Samples
from benchmarks.report import Report, Right, Table, at_most, every
from quire.sentinels.accounts import Hasher
from quire.sentinels.notices.differences import Difference, Differences
from quire.sentinels.notices.event import Event, EventKind
from quire.sentinels.service import Service
from quire.sentinels.store import Database
from quire.sentinels.store.overview.tags import tag_key
from quire.sentinels.store.tables import event, member, page, tag, watch
from quire.web import create_app

ROUNDS = 15
DAY = 86_400.0
EVENTS_OF_A_WATCH = 10
TAGS = 40
#: Addresses, what they are, and how many rows they must have; None for fewer than a whole page.
PATHS: dict[str, tuple[str, int | None]] = {
    "/": ("the first page", 50),
    "/?order=name": ("by name", 50),
    "/?order=due&page=100": ("page 100, by next check", 50),
    "/?show=trouble": ("in trouble", 50),
    "/?tag=tag+7": ("with a tag", 50),
    "/?text=shop77.": ("a text in names and addresses", None),
    "/changes": ("changes", 50),
    "/changes?tag=tag+7": ("changes of a tag", 50),
    "/changes?kind=error": ("changes of a rare kind", 50),
}


def run(context: Context) -> Report:
    """Measure the lists on SQLite and PostgreSQL."""
    watches = context.pick(10_000, 6_000)
    report = Report(
        title=f"Lists with {watches:,} watches",
        inputs=f"{watches:,} generated watches on as many pages, {TAGS} tags, "
        f"{watches * EVENTS_OF_A_WATCH:,} events in 60 days, seed {context.seed}",
        method=f"wall time of the application in this process, from request to last byte, {ROUNDS} "
        "rounds after one that is not counted, and CPU time of the process, in which SQLite runs too; "
        "bytes of the answer, not compressed; the goal is about CPU time (SQLite) and the best round "
        "(PostgreSQL), because others used the machine too",
    )
    rows = []
    for kind, address in _addresses(report):
        context.say(f"{kind}: {watches:,} watches")
        database = Database.open(address)
        _install(database, watches, context.seed)
        rows += _measure(report, kind, Service(database))
        database.close()
    headings = ["database", "page", "rows", "ms, median ± IQR", "slowest, ms", "CPU, ms", "kB"]
    report.tables.append(Table(headings, rows, "one page each"))
    return report


def _addresses(report: Report) -> Iterator[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        yield "SQLite", str(Path(folder) / "quire.db")
    if not any(Path("/usr/lib/postgresql").glob("*/bin/initdb")):
        report.notes.append("PostgreSQL is not installed: left out")
        return
    from tests.sentinels.databases import new_postgres  # noqa: PLC0415 - starts a server

    yield "PostgreSQL", new_postgres()


def _measure(report: Report, kind: str, service: Service) -> list[list[str]]:
    app = create_app(service, hasher=Hasher(memory_kib=8, passes=1))
    state = app.state.quire
    account = state.accounts.add("someone", "a long password", "editor").id
    cookie = f"{state.guard.cookie}={state.sessions.begin(account)}"
    rows, right = [], 0
    with asyncio.Runner() as runner:
        for path, (what, expected) in PATHS.items():
            taken, spent, body = [], [], b""
            for _ in range(ROUNDS + 1):
                start, begun = time.perf_counter(), time.process_time()
                body = runner.run(get(app, path, cookie))
                taken.append(time.perf_counter() - start)
                spent.append(time.process_time() - begun)
            samples, own = Samples(tuple(taken[1:])), Samples(tuple(spent[1:]))
            count = len(re.findall(rb'<tr id="watch-|<li class="event">', body))
            right += count == expected if expected is not None else 0 < count < 50
            slowest = max(samples.seconds) * 1e3
            size = len(body) / 1e3
            rows.append(
                [
                    kind,
                    what,
                    str(count),
                    samples.spread(1e3, 1),
                    f"{slowest:.1f}",
                    f"{own.median * 1e3:.1f}",
                    f"{size:.1f}",
                ]
            )
            report.data[f"{kind} {path}"] = {
                "seconds": samples.seconds,
                "cpu_seconds": own.seconds,
                "bytes": len(body),
            }
            if path == "/":
                # SQLite works in this process, where a busy neighbour does not count. PostgreSQL
                # has its own processes: there the best round is the one with fewest neighbours.
                server = own.median if kind == "SQLite" else samples.best
                report.goals.append(at_most(f"{kind}: the first page", server * 1e3, 200, " ms"))
                report.goals.append(at_most(f"{kind}: its bytes", size, 100, " kB"))
    note = "pages with the expected number of rows"
    report.right.append(Right(kind, right, len(PATHS), note))
    report.goals.append(every(f"{kind}: {note}", right, len(PATHS)))
    return rows


async def get(app: Callable[..., Any], path: str, cookie: str) -> bytes:
    """Ask the application for a page."""
    bare, _, query = path.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": bare,
        "raw_path": bare.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(b"host", b"127.0.0.1"), (b"cookie", cookie.encode())],
        "client": ("127.0.0.1", 12345),
        "server": ("127.0.0.1", 80),
    }
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    if sent[0]["status"] != 200:
        raise RuntimeError(f"{path}: status {sent[0]['status']}")
    return b"".join(message.get("body", b"") for message in sent[1:])


def _install(database: Database, watches: int, seed: int) -> None:
    """Store watches with pages, tags and events as the service would, many at a time."""
    draw, now = random.Random(seed), time.time()
    numbers = range(1, watches + 1)
    urls = {
        each: f"https://shop{each % 997}.example/article/{each}?colour=blue" for each in numbers
    }
    tags = {each: [f"tag {each % TAGS}", f"team {each % 7}"] for each in numbers}
    with database.write() as connection:
        connection.execute(
            insert(watch),
            [
                {
                    "id": each,
                    "name": f"Price of article {each} of the shop number {each % 997}",
                    "form": {"url": urls[each], "where": "#price", "tags": tags[each]},
                    "paused": each % 50 == 0,
                    "created": now,
                    "updated": now,
                }
                for each in numbers
            ],
        )
        connection.execute(
            insert(tag),
            [
                {"watch": each, "key": tag_key(name), "name": name}
                for each in numbers
                for name in tags[each]
            ],
        )
        connection.execute(
            insert(page),
            [
                {
                    "id": each,
                    "key": f"{each}",
                    "url": urls[each],
                    "fetching": {},
                    "due": now + 3600 * draw.random(),
                    "checked": now - 3600 * draw.random(),
                    "state": "fine" if each % 40 else "gone",
                    "error": None if each % 70 else "the host does not answer",
                }
                for each in numbers
            ],
        )
        connection.execute(
            insert(member),
            [
                {
                    "watch": each,
                    "page": each,
                    "due": now + 3600 * draw.random(),
                    "installed": now,
                    "fired": now - 60 * DAY * draw.random() if each % 3 else None,
                    "missing": each % 90 == 0,
                }
                for each in numbers
            ],
        )
        connection.execute(
            insert(event),
            [_event(each, watches, now, draw) for each in range(watches * EVENTS_OF_A_WATCH)],
        )
        if not database.is_sqlite:
            connection.exec_driver_sql("ANALYZE")  # as autovacuum does after a while


def _event(number: int, watches: int, now: float, draw: random.Random) -> dict[str, Any]:
    about = 1 + number % watches
    at = now - 60 * DAY * draw.random()
    kind: EventKind = "change" if number % 500 else "error"
    prices = Difference("edited", "#price", "text", f"{draw.random():.2f}", f"{draw.random():.2f}")
    found = Event(
        id=f"{number:032x}",
        kind=kind,
        watch=str(about),
        name=f"Price of article {about}",
        url=f"https://shop.example/article/{about}",
        time=datetime.fromtimestamp(at, UTC),
        reason="" if kind == "change" else "The host does not answer.",
        differences=Differences((prices,)) if kind == "change" else Differences(),
    )
    about_it = {"id": found.id, "watch": about, "page": about, "kind": kind, "time": at}
    return {**about_it, "body": found.to_dict()}
