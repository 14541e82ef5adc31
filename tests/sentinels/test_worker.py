"""The worker, from a watch to an event, on both databases."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from sqlalchemy import Row, Table, select

from quire.sentinels.checking.answers import Fetched, FetchProblem
from quire.sentinels.checking.flow import Answer
from quire.sentinels.checking.worker import Worker
from quire.sentinels.notices import Event
from quire.sentinels.store import ClaimedPage, Database, add_watch, claim_pages, remove_watch
from quire.sentinels.store.plain import instant
from quire.sentinels.store.tables import event, member, notice, page, queue, version, visit

URL = "https://example.org/menu"


class Web:
    """Pages that a test changes, and a clock that it moves."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes | FetchProblem | Fetched] = {}
        self.requests: list[str] = []
        self.now = 1_000_000.0

    async def fetch(self, claimed: ClaimedPage) -> Answer:
        """Answer as the test says."""
        self.requests.append(claimed.url)
        await asyncio.sleep(0)
        found = self.pages[claimed.url]
        return Fetched(200, found, "text/html") if isinstance(found, bytes) else found

    def worker(self, database: Database) -> Worker:
        """Make a worker with this web and this clock."""
        return Worker(database, self.fetch, clock=lambda: self.now)


def install(database: Database, now: float, *forms: dict[str, Any]) -> list[int]:
    with database.write() as connection:
        return [add_watch(connection, form, now).id for form in forms]


def run(worker: Worker) -> int:
    return asyncio.run(worker.run_due())


def rows(database: Database, table: Table) -> list[Row[Any]]:
    with database.read() as connection:
        return list(connection.execute(select(table)))


def added(events: list[Row[Any]]) -> list[tuple[str, ...]]:
    return [Event.from_dict(each.body).added for each in events]


def test_a_change_becomes_an_event_and_a_notice(database: Database) -> None:
    web = Web()
    web.pages[URL] = b"<p id=price>9.50</p><p>Fish</p></html>"
    target = "https://hooks.example/x"
    install(
        database,
        web.now,
        {"url": URL, "name": "price", "where": "#price", "notify": target, "every": "1 h"},
        {"url": URL, "name": "fish", "where": "p + p", "every": "1 h"},
    )
    worker = web.worker(database)

    assert run(worker) == 1  # one fetch for both
    assert rows(database, event) == []
    web.now += 3600
    web.pages[URL] = b"<p id=price>8.50</p><p>Fish</p></html>"
    assert run(worker) == 1

    (found,) = rows(database, event)
    assert (found.kind, found.old, found.new) == ("change", 0, 1)
    told = Event.from_dict(found.body)
    assert (told.name, told.removed, told.added) == ("price", ("9.50",), ("8.50",))
    assert [each.path for each in told.differences.entries] == ["#price"]
    assert (told.old_time, told.new_time) == (instant(1_000_000.0), instant(web.now))
    assert [each.target for each in rows(database, queue)] == [target]
    assert [(each.event, each.state) for each in rows(database, notice)] == [(told.id, "new")]
    assert web.requests == [URL, URL]


def test_nothing_is_stored_for_changes_that_nobody_sees(database: Database) -> None:
    web = Web()
    install(database, web.now, {"url": URL, "every": "1 h"})
    worker = web.worker(database)
    for number in range(5):
        web.pages[URL] = b"<p>Fish</p><script nonce=%d></script><input value=%d></html>" % (
            number,
            number,
        )
        run(worker)
        web.now += 3600

    assert len(rows(database, version)) == 1
    assert rows(database, event) == []
    assert [each.outcome for each in rows(database, visit)] == ["first", *["same"] * 4]


def test_a_page_that_is_not_itself_is_not_a_change(database: Database) -> None:
    web = Web()
    good = b"<html><p>Fish and chips</p></html>"
    install(
        database,
        web.now,
        {"url": URL, "name": "text", "every": "1 h"},
        {"url": URL, "name": "gone", "preset": "page gone", "every": "1 h"},
    )
    worker = web.worker(database)
    answers: list[bytes | FetchProblem | Fetched] = [
        good,
        FetchProblem("timeout", "no answer in 30 s"),
        FetchProblem("timeout", "no answer in 30 s"),
        Fetched(503, b"<h1>Checking your browser</h1></html>", "text/html"),
        Fetched(404, b"<h1>Not found</h1></html>", "text/html"),
        good,
    ]
    for answer in answers:
        web.pages[URL] = answer
        run(worker)
        web.now += 3600

    outcomes = [each.outcome for each in rows(database, visit)]
    assert outcomes == ["first", "failed", "failed", "blocked", "gone", "same"]
    told = [(each.body["name"], each.kind) for each in rows(database, event)]
    assert sorted(told) == [
        ("gone", "change"),  # gone
        ("gone", "change"),  # and back
        ("gone", "error"),
        ("text", "error"),  # once for two failures
    ]
    assert len(rows(database, version)) == 1


def test_members_that_are_not_due_wait_and_keep_their_base(database: Database) -> None:
    web = Web()
    web.pages[URL] = b"<p>0</p></html>"
    install(
        database,
        web.now,
        {"url": URL, "name": "often", "every": "1 h"},
        {"url": URL, "name": "rarely", "every": "3 h"},
    )
    worker = web.worker(database)
    run(worker)
    for hour in range(1, 7):
        web.now += 3600
        web.pages[URL] = b"<p>%d</p></html>" % hour
        run(worker)

    told = [(each.body["name"], each.old, each.new) for each in rows(database, event)]
    assert sorted(told) == [
        *[("often", number, number + 1) for number in range(6)],
        ("rarely", 0, 3),
        ("rarely", 3, 6),
    ]


@pytest.mark.parametrize("has_body", [True, False])
@pytest.mark.parametrize(
    ("before", "after", "watch"),
    [("<p>Fish", "<p>Chips", "text"), ("<p class=a>Fish", "<p class=b>Fish", "attributes")],
)
def test_a_member_that_was_not_due_learns_of_a_change_later(
    database: Database,
    *,
    before: str,
    after: str,
    watch: str,
    has_body: bool,
) -> None:
    web = Web()
    web.pages[URL] = f"{before}</p></html>".encode()
    install(
        database,
        web.now,
        {"url": URL, "name": "often", "every": "1 h"},
        {"url": URL, "name": "rarely", "every": "3 h", "watch": watch},
    )
    worker = web.worker(database)
    run(worker)
    web.now += 3600
    web.pages[URL] = f"{after}</p></html>".encode()
    run(worker)
    # From now on the page stays as it is, whether the server sends it again or not.
    if not has_body:
        web.pages[URL] = Fetched(304, b"", not_modified=True)
    for _ in range(4):
        web.now += 3600
        run(worker)

    told = [(each.body["name"], each.old, each.new) for each in rows(database, event)]
    assert [each for each in told if each[0] == "rarely"] == [("rarely", 0, 1)]


@pytest.mark.parametrize("restart", [False, True])
def test_a_worker_that_lost_its_lease_writes_nothing(
    database: Database,
    *,
    restart: bool,
) -> None:
    web = Web()
    web.pages[URL] = b"<p>0</p></html>"
    install(database, web.now, {"url": URL, "every": "1 h"})
    slow, quick = web.worker(database), web.worker(database)
    run(slow)
    web.now += 3600

    async def hang(_: ClaimedPage) -> Answer:
        web.now += 1000  # longer than the lease
        web.pages[URL] = b"<p>1</p></html>"
        await quick.run_due()
        return Fetched(200, b"<p>old</p></html>", "text/html")

    slow.fetch = hang
    run(slow)

    assert slow.tally.lost == 1
    assert added(rows(database, event)) == [("1",)]
    assert len(rows(database, version)) == 2
    if restart:
        slow = web.worker(database)
    slow.fetch = web.fetch
    web.now += 3600
    web.pages[URL] = b"<p>2</p></html>"
    run(slow)
    assert added([each for each in rows(database, event) if each.new == 2]) == [("2",)]


def test_a_worker_that_loses_its_lease_during_a_probe_writes_nothing(database: Database) -> None:
    web = Web()
    web.pages[URL] = b"<div><p>0</p></div></html>"
    install(database, web.now, {"url": URL, "every": "1 h"})
    slow, quick = web.worker(database), web.worker(database)
    slow.batch = 1  # it does not claim the page again by itself
    run(slow)
    web.now += 3600
    web.pages[URL] = b"<div><p>1</p></div></html>"
    asked = 0

    async def hang(claimed: ClaimedPage) -> Answer:
        nonlocal asked
        asked += 1
        if asked == 2:  # the probe
            assert (claimed.etag, claimed.last_modified) == (None, None)
            web.now += 1000  # longer than the lease
            web.pages[URL] = b"<div><p>2</p></div></html>"
            await quick.run_due()
        return Fetched(200, b"<div><p>1</p></div></html>", "text/html", etag="x")

    slow.fetch = hang
    run(slow)

    assert (asked, slow.tally.lost, slow.tally.probes) == (2, 1, 1)
    assert added(rows(database, event)) == [("2",)]


def test_noise_is_left_out_on_both_databases(database: Database) -> None:
    web = Web()
    count = 0

    async def fetch(_: ClaimedPage) -> Answer:
        nonlocal count
        count += 1
        return Fetched(200, b"<p>Fish</p><p>Seen %d times</p></html>" % count, "text/html")

    install(database, web.now, {"url": URL, "every": "1 h"})
    for _ in range(4):
        worker = web.worker(database)  # nothing is known but what the database has
        worker.fetch = fetch
        run(worker)
        web.now += 3600

    assert rows(database, event) == []
    assert len(rows(database, version)) == 1
    (found,) = rows(database, page)
    assert [each["samples"] for each in found.noise["entries"]] == [
        ["Seen 2 times", "Seen 3 times"]
    ]


def test_a_page_that_waits_long_for_its_turn_stays_claimed(database: Database) -> None:
    web = Web()
    web.now = time.time()
    install(database, web.now, {"url": URL})
    others: list[ClaimedPage] = []

    async def fetch(_: ClaimedPage) -> Answer:
        for _step in range(3):  # longer than a lease, in steps that are shorter than one
            web.now += 0.2
            # Until the worker has renewed its lease.
            while rows(database, page)[0].lease_until < web.now + 0.3:  # noqa: ASYNC110 - a row
                await asyncio.sleep(0.01)
        with database.write() as connection:
            others.extend(claim_pages(connection, "other", web.now, 60, 10))
        return Fetched(200, b"<p>Fish</p></html>", "text/html")

    worker = Worker(database, fetch, clock=lambda: web.now, lease_seconds=0.3)
    assert run(worker) == 1
    worker.close()
    assert others == []
    assert (worker.tally.lost, len(rows(database, version))) == (0, 1)


def test_claims_are_disjoint_and_end(database: Database) -> None:
    install(database, 0, *({"url": f"{URL}/{number}"} for number in range(10)))

    def claim(owner: str, now: float) -> set[int]:
        with database.write() as connection:
            return {each.id for each in claim_pages(connection, owner, now, 60, 6)}

    first, second = claim("a", 100), claim("b", 100)
    assert len(first) == 6
    assert len(second) == 4
    assert not first & second
    assert claim("c", 159) == set()
    assert claim("c", 160) == first


def test_a_watch_that_is_removed_takes_its_page_along(database: Database) -> None:
    one, two = install(database, 0, {"url": URL, "name": "a"}, {"url": URL, "name": "b"})
    with database.write() as connection:
        remove_watch(connection, one)
    assert len(rows(database, page)) == len(rows(database, member)) == 1
    with database.write() as connection:
        remove_watch(connection, two)
    assert rows(database, page) == rows(database, member) == []
