"""Notices from a change to their receivers, through the outbox of both databases."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import threading
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from sqlalchemy import event as database_event
from sqlalchemy import func, select

from quire.errors import NoticeFailed, StaleClaim, StoreError
from quire.sentinels.checking.answers import Fetched
from quire.sentinels.checking.worker import Worker
from quire.sentinels.form.watch import Notify, Window
from quire.sentinels.notices import (
    Parcel,
    Retrying,
    Sender,
    webhook_gate,
)
from quire.sentinels.sending import NoticeOptions, make_sender
from quire.sentinels.service import Service
from quire.sentinels.store import ClaimedPage, Database, add_watch, edit_watch
from quire.sentinels.store.outbox import SqlOutbox, add_notices, next_due_queue
from quire.sentinels.store.plain import instant
from quire.sentinels.store.tables import event, notice, page, queue, version
from quire.sources.gate.addresses import parse_networks
from tests.sentinels.notices.crashes import (
    LEASE,
    Clock,
    InDatabase,
    InMemory,
    Store,
    add_event,
    notify_form,
)
from tests.sentinels.notices.events import HOSTILE, START, hostile_event
from tests.sentinels.notices.events import event as made_event

URL = "https://example.org/menu"
LOOPBACK = parse_networks("127.0.0.0/8")


class Pages:
    """A page that a test changes, and checks of it."""

    def __init__(self, database: Database) -> None:
        self.price = 0
        self.now = START.timestamp()
        self.worker = Worker(database, self.fetch, clock=lambda: self.now)

    async def fetch(self, _: ClaimedPage) -> Fetched:
        """Answer with the price."""
        return Fetched(200, b"<p id=price>%d</p></html>" % self.price, "text/html")

    async def change(self) -> None:
        """Change the page and check it."""
        self.price += 1
        self.now += 3600
        await self.worker.run_due()


def count(database: Database, table: Any) -> int:  # noqa: ANN401 - a table
    with database.read() as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar_one()


def next_due(database: Database) -> datetime | None:
    with database.read() as connection:
        due = next_due_queue(connection, START.timestamp())
    return None if due is None else instant(due)


async def send_all(database: Database, sender: Sender, clock: Clock) -> None:
    """Send until nothing waits, and move the clock from due time to due time."""
    while (due := next_due(database)) is not None:
        clock.move(due)
        await sender.run_once()


Handler = Callable[[web.Request, int], Awaitable[web.Response]]


@asynccontextmanager
async def receivers(**handlers: Handler) -> AsyncIterator[tuple[str, dict[str, list[str]]]]:
    """Run webhooks; give their address, and what was accepted by path, repeats left out."""
    accepted: dict[str, list[str]] = {name: [] for name in handlers}
    tries = dict.fromkeys(handlers, 0)

    async def handle(request: web.Request) -> web.Response:
        name = request.match_info["name"]
        body = await request.json()
        tries[name] += 1
        answer = await handlers[name](request, tries[name])
        if answer.status == 200:
            known = set(accepted[name])
            accepted[name] += [each["id"] for each in body["events"] if each["id"] not in known]
        return answer

    app = web.Application()
    app.router.add_post("/{name}", handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}", accepted
    finally:
        await runner.cleanup()


async def fine(_: web.Request, __: int) -> web.Response:
    return web.Response()


async def busy(_: web.Request, tried: int) -> web.Response:
    return web.Response(status=503 if tried % 3 else 200)


async def hangs(_: web.Request, tried: int) -> web.Response:
    if tried % 2:
        await asyncio.sleep(30)
    return web.Response()


async def resets(request: web.Request, tried: int) -> web.Response:
    if tried % 2:
        assert request.transport is not None
        request.transport.abort()
    return web.Response(status=200 if tried % 2 == 0 else 500)


def test_webhooks_that_fail_hang_or_reset_get_every_event_once_and_in_order(
    database: Database,
) -> None:
    is_mended = False

    async def gone(_: web.Request, __: int) -> web.Response:
        return web.Response(status=200 if is_mended else 410)

    async def main() -> None:
        nonlocal is_mended
        clock, pages = Clock(), Pages(database)
        async with (
            receivers(fine=fine, busy=busy, hangs=hangs, resets=resets, gone=gone) as (at, got),
            webhook_gate(allow_networks=LOOPBACK) as gate,
        ):
            service = Service(database)
            targets = [f"{at}/{name}" for name in got]
            form = {"url": URL, "name": "price", "where": "#price", "every": "1 h"}
            service.add({**form, "notify": targets})
            with database.write() as connection:
                connection.execute(page.update().values(due=pages.now))
            sender = make_sender(database, gate, NoticeOptions(), clock=clock, timeout_s=0.3)
            await pages.change()
            for _ in range(4):
                await pages.change()
            clock.move(instant(pages.now))
            await send_all(database, sender, clock)
            events = [each.id for each in reversed(service.events())]
            assert len(events) == 4
            assert got == {name: [] if name == "gone" else events for name in got}
            letters = service.dead_letters()
            assert [each.event for each in letters] == events[::-1]
            assert {each.reason for each in letters} == {
                f"{at}/…: the webhook answered with status 410; expected 200 to 299"
            }
            assert {each.target for each in letters} == {f"{at}/…"}

            is_mended = True
            assert service.resend([each.id for each in reversed(letters)] + ["unknown"]) == 4
            await send_all(database, sender, clock)
            assert got["gone"] == events
            assert service.dead_letters() == []
            assert {each.state for each in service.notices()} == {"sent"}
            pages.worker.close()

    asyncio.run(main())


def test_a_check_that_is_killed_before_any_statement_stores_all_of_it_or_nothing(
    database: Database,
) -> None:
    """A change, its event and its notices commit together."""
    pages = Pages(database)
    targets = ["https://a.example/", "https://b.example/"]
    with database.write() as connection:
        add_watch(connection, {"url": URL, "every": "1 h", "notify": targets}, pages.now)
    asyncio.run(pages.change())
    kill_at, statements, done = 0, 0, False

    def kill(*_: object) -> None:
        nonlocal statements
        statements += 1
        if statements == kill_at:
            raise KeyboardInterrupt

    def tables() -> tuple[int, ...]:
        return tuple(count(database, table) for table in (version, event, notice))

    database_event.listen(database.engine, "before_cursor_execute", kill)
    database_event.listen(database.engine, "commit", kill)
    pages.price += 1
    while not done:
        kill_at, statements = kill_at + 1, 0
        pages.now += 3600
        try:
            asyncio.run(pages.worker.run_due())
            done = True
        except (KeyboardInterrupt, StoreError):
            kill_at, before = 0, kill_at
            found = tables()
            assert found in ((1, 0, 0), (2, 1, 2))
            kill_at, done = before, found == (2, 1, 2)
        pages.worker.close()
        pages.worker = Worker(database, pages.fetch, clock=lambda: pages.now)

    database_event.remove(database.engine, "before_cursor_execute", kill)
    database_event.remove(database.engine, "commit", kill)
    assert kill_at > 10
    assert tables() == (2, 1, 2)


def rules(chance: random.Random) -> Notify:
    quiet = (Window(start=time(chance.randint(0, 23)), end=time(chance.randint(0, 23))),)
    return Notify(
        targets=tuple(chance.sample(["https://a.example/", "https://b.example/"], 2)),
        bundle=chance.choice(["now", "hourly", "daily", "weekly"]),
        quiet=quiet if chance.random() < 0.5 else (),
        zone=chance.choice(["UTC", "Asia/Kathmandu", "America/New_York"]),
        at_most=chance.choice([0, 1, 2, 5]),
        errors=chance.random() < 0.5,
    )


class NoJitter(random.Random):
    """Pauses are as long as they can be."""

    def random(self) -> float:
        """Return no chance."""
        return 0.0


class Run:
    """Events that come at certain times, targets that fail at times, and what they got."""

    def __init__(self, seed: int) -> None:
        chance = random.Random(seed)
        self.seed = seed
        self.rules = [rules(chance) for _ in range(3)]
        self.coming = sorted(
            (START + timedelta(minutes=chance.randint(0, 3000)), number) for number in range(40)
        )
        self.clock = Clock()
        self.got: dict[str, list[tuple[datetime, str, list[str]]]] = {}
        self.tries: Counter[str] = Counter()

    async def deliver(self, target: str, parcel: Parcel, text: str) -> None:
        """Get a parcel, or fail."""
        del text
        key = f"{parcel.notices[0].event.watch} {target}"
        self.tries[f"{key} {parcel.id}"] += 1
        place = f"{self.seed} {key} {parcel.id} {self.tries[f'{key} {parcel.id}']}"
        if random.Random(place).random() < 0.3:
            raise NoticeFailed("busy", retry_after_s=100.5)
        entry = (self.clock.now, parcel.id, [each.id for each in parcel.events])
        self.got.setdefault(key, []).append(entry)

    async def run(self, store: Store) -> None:
        """Send everything."""
        retrying = Retrying(factor=1.0, tries=3)
        sender = Sender(
            store.outbox, self.deliver, clock=self.clock, retrying=retrying, chance=NoJitter()
        )
        while True:
            while self.coming and self.coming[0][0] <= self.clock.now:
                _, number = self.coming.pop(0)
                kind = "change" if number % 5 else "error"
                told = made_event(number, watch=f"w{number % 3}", kind=kind)
                await store.add(told, self.rules[number % 3], self.clock.now)
            if not await sender.run_once():
                due = await store.next_due()
                times = [each for each in (due, *(at for at, _ in self.coming[:1])) if each]
                if not times:
                    return
                self.clock.move(min(times))


@pytest.mark.parametrize("seed", range(6))
def test_quiet_hours_bundles_and_limits_are_those_of_the_outbox_in_memory(
    database: Database, seed: int
) -> None:
    expected, found = Run(seed), Run(seed)
    asyncio.run(expected.run(InMemory()))
    asyncio.run(found.run(InDatabase(database)))

    assert found.got == expected.got
    assert sum(map(len, expected.got.values())) > 3
    assert max(expected.tries.values()) > 1


def watch_with(database: Database, notify: Notify) -> int:
    with database.write() as connection:
        form = {"url": URL, "name": "w1", "notify": notify_form(notify)}
        return add_watch(connection, form, START.timestamp()).id


def test_edits_take_effect_on_notices_that_wait(database: Database) -> None:
    weekly = Notify(targets=("a:1", "b:1"), bundle="weekly")
    number = watch_with(database, weekly)
    add_event(database, number, made_event(1), weekly, START)
    outbox, clock, got = SqlOutbox(database), Clock(), []

    async def deliver(target: str, parcel: Parcel, text: str) -> None:
        got.append((target, parcel.id, text))

    async def main() -> None:
        sender = Sender(outbox, deliver, clock=clock)
        assert await sender.run_once() == 2
        assert await sender.run_once() == 0  # both wait until Monday
        with database.write() as connection:
            form = {"url": URL, "name": "w1", "notify": {"to": "a:1", "text": "{name}"}}
            edit_watch(connection, number, form, clock.now.timestamp())
        await sender.run_once()

    asyncio.run(main())
    outbox.close()

    assert got == [("a:1", made_event(1).id, "{name}")]
    states = {each.target: (each.state, each.reason) for each in Service(database).notices()}
    assert states == {
        "a:…": ("sent", ""),
        "b:…": ("dropped", "the watch does not have this target any more"),
    }
    assert next_due(database) is None


def test_an_edit_while_a_queue_is_claimed_is_not_forgotten(database: Database) -> None:
    weekly = Notify(targets=("a:1",), bundle="weekly")
    number = watch_with(database, weekly)
    add_event(database, number, made_event(1), weekly, START)
    outbox = SqlOutbox(database)

    async def main() -> None:
        (claim,) = await outbox.claim(START, LEASE, 10)
        with database.write() as connection:
            form = {"url": URL, "name": "w1", "notify": "a:1"}
            edit_watch(connection, number, form, START.timestamp())
        await outbox.release(claim, START + timedelta(days=5))

    asyncio.run(main())
    outbox.close()

    due = next_due(database)
    assert due is not None
    assert due <= START


def test_a_removed_watch_takes_its_queues_along_also_while_they_are_sent_from(
    database: Database,
) -> None:
    wanted = Notify(targets=("a:1",))
    number = watch_with(database, wanted)
    add_event(database, number, made_event(1), wanted, START)
    outbox = SqlOutbox(database)

    async def main() -> None:
        (claim,) = await outbox.claim(START, LEASE, 10)
        Service(database).remove("w1")
        with pytest.raises(StaleClaim, match="removed"):
            await outbox.sent(claim, Parcel("p", claim.waiting), START)
        assert await outbox.claim(START + LEASE, LEASE, 10) == []

    asyncio.run(main())
    outbox.close()

    assert count(database, queue) == count(database, notice) == 0


def test_claims_of_several_processes_are_disjoint(database: Database) -> None:
    wanted = Notify(targets=tuple(f"a:{number}" for number in range(40)))
    number = watch_with(database, wanted)
    add_event(database, number, made_event(1), wanted, START)
    claimed: list[str] = []
    start = threading.Barrier(4)

    def claim() -> None:
        outbox = SqlOutbox(database)
        start.wait()
        while found := asyncio.run(outbox.claim(START, LEASE, 3)):
            claimed.extend(each.target for each in found)
        outbox.close()

    threads = [threading.Thread(target=claim) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    # One that was locked at the only look of the others is claimed by none: it is due later.
    assert len(claimed) == len(set(claimed))
    rest = asyncio.run(SqlOutbox(database).claim(START, LEASE, 100))
    assert sorted(claimed + [each.target for each in rest]) == sorted(wanted.targets)


def test_checks_that_add_notices_in_any_order_never_wait_for_each_other(
    database: Database,
) -> None:
    """Two long transactions add to the same two queues, in opposite orders, beside a claim."""
    if database.is_sqlite:
        pytest.skip("SQLite has one writer")
    wanted = Notify(targets=("a:1", "b:1"))
    number = watch_with(database, wanted)
    backwards = Notify(targets=("b:1", "a:1"))
    for each in range(3):
        add_event(database, number, made_event(each), Notify(), START)
    with database.write() as one, database.write() as two:
        for connection in (one, two):
            connection.exec_driver_sql("SET LOCAL lock_timeout = '240s'")
        add_notices(one, number, made_event(0), wanted, 0.0)
        add_notices(two, number, made_event(1), backwards, 0.0)
        outbox = SqlOutbox(database)
        assert asyncio.run(outbox.claim(START, LEASE, 10)) == []
        add_notices(one, number, made_event(2), backwards, 0.0)

    claims = asyncio.run(outbox.claim(START, LEASE, 10))
    outbox.close()
    assert [len(each.waiting) for each in claims] == [3, 3]


def test_a_notice_that_commits_late_does_not_come_between_packed_ones(database: Database) -> None:
    if database.is_sqlite:
        pytest.skip("SQLite has one writer")
    wanted = Notify(targets=("a:1",), bundle="hourly")
    number = watch_with(database, wanted)
    for each in range(3):
        add_event(database, number, made_event(each), Notify(), START)
    outbox = SqlOutbox(database)

    async def main() -> None:
        with database.write() as late:
            with database.write() as early:
                add_notices(early, number, made_event(0), wanted, 0.0)
            add_notices(late, number, made_event(1), wanted, 0.0)
            with database.write() as early:
                add_notices(early, number, made_event(2), wanted, 0.0)
            (claim,) = await outbox.claim(START, LEASE, 10)
            await outbox.pack(claim, Parcel("p", claim.waiting))
        (again,) = await outbox.claim(START + LEASE, LEASE, 10)
        assert [each.parcel for each in again.waiting] == ["p", "p", ""]

    asyncio.run(main())
    outbox.close()


def test_any_text_survives_the_database(database: Database) -> None:
    wanted = Notify(targets=("a:1",))
    number = watch_with(database, wanted)
    events = [replace(hostile_event(text), id=f"e{at}") for at, text in enumerate(HOSTILE)]
    for each in events:
        add_event(database, number, each, wanted, START)
    outbox = SqlOutbox(database)

    async def main() -> None:
        (claim,) = await outbox.claim(START, LEASE, 10)
        assert [each.event for each in claim.waiting] == events
        for each, text in zip(claim.waiting, HOSTILE, strict=True):
            parcel = Parcel("p", (each,))
            await outbox.failed(claim, parcel, text, START)
            await outbox.bury(claim, parcel, text, START)

    asyncio.run(main())
    assert len(asyncio.run(outbox.dead_letters(100))) == len(HOSTILE)
    outbox.close()


def test_a_damaged_event_holds_up_no_others(database: Database) -> None:
    wanted = Notify(targets=("a:1",))
    number = watch_with(database, wanted)
    add_event(database, number, made_event(1), wanted, START)
    add_event(database, number, made_event(2), wanted, START)
    with database.write() as connection:
        connection.execute(
            event.update().where(event.c.id == made_event(1).id).values(body={"schema": "?"})
        )
    outbox = SqlOutbox(database)
    (claim,) = asyncio.run(outbox.claim(START, LEASE, 10))
    outbox.close()

    assert [each.event.id for each in claim.waiting] == [made_event(1).id, made_event(2).id]
    assert "cannot be read" in claim.waiting[0].event.reason


def test_a_full_disk_loses_no_event_and_no_notice_that_was_acknowledged(tmp_path: Path) -> None:
    database = Database.open(tmp_path / "small.db")
    pages = Pages(database)
    targets = ["https://a.example/", "https://b.example/"]
    with database.write() as connection:
        add_watch(connection, {"url": URL, "every": "1 h", "notify": targets}, pages.now)
    asyncio.run(pages.change())
    with database.read() as connection:
        limit = connection.exec_driver_sql("PRAGMA page_count").scalar_one() + 4

    @database_event.listens_for(database.engine, "connect")
    def restrict(connection: sqlite3.Connection, _: object) -> None:
        connection.execute(f"PRAGMA max_page_count={limit}")

    database.engine.dispose()
    acknowledged = 0
    with pytest.raises(StoreError, match="disk is full"):  # noqa: PT012 - it counts
        while True:
            asyncio.run(pages.change())
            acknowledged += 1
    pages.worker.close()
    assert acknowledged
    assert count(database, event) == acknowledged
    assert count(database, notice) == 2 * acknowledged

    limit = 1_000_000  # there is room again
    database.engine.dispose()
    pages.worker = Worker(database, pages.fetch, clock=lambda: pages.now)
    asyncio.run(pages.change())
    got: dict[str, list[str]] = {target: [] for target in targets}

    async def deliver(target: str, parcel: Parcel, text: str) -> None:
        del text
        got[target] += [each.id for each in parcel.events]

    clock = Clock()
    clock.move(instant(pages.now))
    outbox = SqlOutbox(database)
    asyncio.run(send_all(database, Sender(outbox, deliver, clock=clock), clock))
    outbox.close()
    pages.worker.close()
    events = [each.id for each in reversed(Service(database).events(most=2000))]
    assert len(events) == acknowledged + 1
    assert got == dict.fromkeys(targets, events)


def test_a_new_watch_never_has_the_event_ids_of_a_removed_one(database: Database) -> None:
    ids: list[str] = []
    for _ in range(2):
        pages = Pages(database)
        pages.now += 10 * len(ids)
        with database.write() as connection:
            form = {"url": URL, "name": "price", "every": "1 h"}
            number = add_watch(connection, form, pages.now).id
        asyncio.run(pages.change())
        asyncio.run(pages.change())
        pages.worker.close()
        service = Service(database)
        ids += [each.id for each in service.events()]
        service.remove(str(number))

    assert len(ids) == len(set(ids)) == 2
