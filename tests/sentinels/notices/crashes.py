"""Processes that are killed at any step, for the tests of outboxes.

``World`` works with any store: give it one that implements ``Store``.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Protocol

from sqlalchemy import select

from quire.errors import NoticeFailed
from quire.sentinels.form.watch import Notify
from quire.sentinels.notices import Event, MemoryOutbox, Outbox, Parcel, Retrying, Sender
from quire.sentinels.store import CheckResult, Database, NewEvent, add_watch, edit_watch
from quire.sentinels.store.outbox import SqlOutbox, next_due_queue
from quire.sentinels.store.plain import instant
from quire.sentinels.store.results import insert_events
from quire.sentinels.store.tables import member, notice
from tests.sentinels.notices.events import START, event

LEASE = timedelta(minutes=5)
NOW_AND_THEN = timedelta(seconds=1)


class Clock:
    """A clock that tests move."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        """Return the time."""
        return self.now

    def move(self, to: datetime | None) -> None:
        """Move forward."""
        self.now = max(self.now, to) if to else self.now


class Crash(BaseException):
    """The process was killed."""


class CrashingOutbox:
    """A store that survives while its process is killed before or after any step."""

    def __init__(self, store: Outbox, crash: Callable[[str], None]) -> None:
        self._store = store
        self._crash = crash

    def __getattr__(self, name: str) -> Callable[..., Awaitable[object]]:
        async def step(*given: object) -> object:
            self._crash(f"before {name}")
            found = await getattr(self._store, name)(*given)
            self._crash(f"after {name}")
            return found

        return step


class Receivers:
    """Get parcels; may fail, and be killed between getting and answering."""

    def __init__(self, crash: Callable[[str], None], chance: random.Random) -> None:
        self.got: list[tuple[str, str, list[str]]] = []
        self._crash = crash
        self._chance = chance

    async def deliver(self, target: str, parcel: Parcel, text: str) -> None:
        """Get a parcel."""
        del text
        await asyncio.sleep(0)
        self._crash("before delivery")
        if self._chance.random() < 0.1:
            raise NoticeFailed("refused")
        self.got.append((target, parcel.id, [each.id for each in parcel.events]))
        await asyncio.sleep(0)
        self._crash("after delivery")
        if self._chance.random() < 0.1:
            raise NoticeFailed("the answer was lost")


RULES = [
    Notify(targets=("a:1", "b:1")),
    Notify(targets=("a:1",), bundle="hourly"),
    Notify(targets=("b:1", "c:1"), at_most=3),
]


class Store(Protocol):
    """An outbox with methods for tests."""

    async def add(self, event: Event, rules: Notify, now: datetime) -> None:
        """Add the notices of an event."""
        ...

    async def is_empty(self) -> bool:
        """Tell whether nothing waits."""
        ...

    async def next_due(self) -> datetime | None:
        """Return when the next queue is due or its lease ends."""
        ...

    @property
    def outbox(self) -> Outbox:
        """The outbox."""
        ...


class InMemory:
    """A store in memory."""

    def __init__(self) -> None:
        self._memory = MemoryOutbox()
        self.outbox: Outbox = self._memory

    async def add(self, event: Event, rules: Notify, now: datetime) -> None:
        """Add the notices of an event."""
        self._memory.add(event, rules, now)

    async def is_empty(self) -> bool:
        """Tell whether nothing waits."""
        return self._memory.is_empty()

    async def next_due(self) -> datetime | None:
        """Return when the next queue is due or its lease ends."""
        return self._memory.next_due()


class InDatabase:
    """A store in a database, with a watch for each kind of rules."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._watches: dict[str, tuple[int, Notify]] = {}
        self.outbox: Outbox = SqlOutbox(database)

    async def add(self, event: Event, rules: Notify, now: datetime) -> None:
        """Add the notices of an event, as a check does."""
        add_event(self._database, self._watch(event.watch, rules), event, rules, now)

    def _watch(self, name: str, rules: Notify) -> int:
        known = self._watches.get(name)
        if known is not None and known[1] == rules:
            return known[0]
        form = {"url": f"https://example.org/{name}", "name": name, "notify": notify_form(rules)}
        with self._database.write() as connection:
            if known is None:
                number = add_watch(connection, form, 0.0).id
            else:
                number = edit_watch(connection, known[0], form, 0.0).id
        self._watches[name] = number, rules
        return number

    async def is_empty(self) -> bool:
        """Tell whether nothing waits."""
        with self._database.read() as connection:
            waiting = select(notice.c.id).where(notice.c.state.in_(["new", "waiting"]))
            return connection.execute(waiting).first() is None

    async def next_due(self) -> datetime | None:
        """Return when the next queue is due or its lease ends."""
        with self._database.read() as connection:
            due = next_due_queue(connection, START.timestamp())
        return None if due is None else instant(due)


def notify_form(rules: Notify) -> dict[str, object]:
    """Write rules as a user would."""
    return {
        "to": list(rules.targets),
        "bundle": rules.bundle,
        "at_most": rules.at_most,
        "errors": rules.errors,
        **({"text": rules.text} if rules.text else {}),
        "zone": rules.zone,
        "quiet": [
            {"days": list(each.days), "from": f"{each.start:%H:%M}", "to": f"{each.end:%H:%M}"}
            for each in rules.quiet
        ],
    }


def add_event(
    database: Database, watch_id: int, event: Event, rules: Notify, now: datetime
) -> None:
    """Store an event and its notices, as a check of a page does."""
    with database.write() as connection:
        page_id = connection.execute(
            select(member.c.page).where(member.c.watch == watch_id)
        ).scalar_one()
        result = CheckResult(now.timestamp(), "changed")
        result.events.append(NewEvent(watch_id, event, rules))
        insert_events(connection, page_id, result)


class World:
    """A store, receivers and changes, in which processes live until they are killed.

    Args:
        seed: decides when changes come and when processes are killed.
        store: any store; it must survive its processes.
        events: how many events there are.
    """

    def __init__(self, seed: int, store: Store, events: int = 300) -> None:
        self.store = store
        self.chance = random.Random(seed)
        self.crashes: Counter[str] = Counter()
        self.clock = Clock()
        self.receivers = Receivers(self.crash, self.chance)
        self.expected: dict[tuple[str, str], list[str]] = {}
        times = sorted(
            START + timedelta(seconds=self.chance.randint(0, 4_000)) for _ in range(events)
        )
        self.coming = [
            (time, event(n, watch=f"w{n % 3}"), RULES[n % 3]) for n, time in enumerate(times)
        ]

    def crash(self, place: str) -> None:
        """Kill the process, perhaps."""
        if self.chance.random() < 0.03 and self.crashes.total() < 100:
            self.crashes[place] += 1
            raise Crash

    async def find_changes(self) -> None:
        """Add the events that are due."""
        while self.coming and self.coming[0][0] <= self.clock.now:
            _, one, rules = self.coming.pop(0)
            await self.store.add(one, rules, self.clock.now)
            await self.store.add(one, rules, self.clock.now)  # found again after a crash
            for target in rules.targets:
                self.expected.setdefault((one.watch, target), []).append(one.id)

    async def live(self) -> None:
        """Send until nothing is left, or the process is killed."""
        sender = Sender(
            CrashingOutbox(self.store.outbox, self.crash),  # type: ignore[arg-type]  # has each method
            self.receivers.deliver,
            concurrent=3,
            lease=LEASE,
            clock=self.clock,
            chance=self.chance,
            retrying=Retrying(tries=1_000_000),
        )
        while True:
            await self.find_changes()
            if not await sender.run_once():
                next_change = self.coming[0][0] if self.coming else None
                due = await self.store.next_due()
                times = [each for each in (due, next_change) if each]
                if not times:
                    return
                self.clock.move(min(times))

    def run(self) -> None:
        """Start a process again and again until everything is sent."""
        while True:
            try:
                asyncio.run(self.live())
            except Crash:
                self.clock.now += NOW_AND_THEN
            else:
                return

    def received(self) -> tuple[dict[tuple[str, str], list[str]], int]:
        """Return what each receiver got, without parcels that it knew by their id; and these."""
        queues = {(id_, t): w for (w, t), ids in self.expected.items() for id_ in ids}
        found: dict[tuple[str, str], list[str]] = {}
        seen: set[tuple[str, str]] = set()
        for target, key, events in self.receivers.got:
            if (target, key) not in seen:
                seen.add((target, key))
                for each in events:
                    found.setdefault((queues[each, target], target), []).append(each)
        return found, len(self.receivers.got) - len(seen)
