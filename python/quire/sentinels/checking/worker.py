"""The worker: claims due pages, fetches them, evaluates their sentinels, writes results.

Fetches run side by side on the event loop (see ``flow``). Everything else (database, parsing,
evaluation) runs in one thread beside it, in the order in which fetches end. Results are written in batches, one
transaction each, because a transaction that survives power loss costs milliseconds.

Any number of workers on any hosts can share a PostgreSQL database. A worker that dies leaves
nothing behind but leases, which end by themselves.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import NoReturn, TypeVar
from uuid import uuid4

from sqlalchemy import Connection

from quire.errors import QuireError, StaleClaim, StoreError
from quire.sentinels.checking.answers import FetchProblem
from quire.sentinels.checking.check import Check
from quire.sentinels.checking.flow import Answer, Fetcher, Flow, Ready
from quire.sentinels.checking.lists import ListCheck
from quire.sentinels.groups.shortcuts import ALL_SHORTCUTS, Shortcuts
from quire.sentinels.notices.event import Event
from quire.sentinels.store.claims import (
    ClaimedPage,
    claim_pages,
    next_due,
    release_page,
    renew_leases,
)
from quire.sentinels.store.database import Database
from quire.sentinels.store.results import (
    CheckResult,
    NewVersion,
    PageGroup,
    last_firings,
    load_group,
    load_page,
    version_numbers,
    version_reader,
    write_result,
)
from quire.sentinels.store.retention import prune_page

T = TypeVar("T")

_LOG = logging.getLogger(__name__)

#: Pages fetched at once; a worker that dies keeps them from others until their leases end.
BATCH = 100
#: How long a worker may take for a page, from its claim to its result.
LEASE_SECONDS = 180.0
#: Pages whose members a worker keeps in memory.
MOST_KEPT = 100_000
#: The first and the longest pause before a database that is away is asked again, in seconds.
FIRST_WAIT_S = 1.0
LONGEST_WAIT_S = 30.0
#: Pages whose fetch takes a larger share of a lease than this are not fetched a second time.
SLOW = 0.1
#: Without a watch that says what to keep, every so many versions old ones are looked for.
PRUNED_EVERY = 16


@dataclass(slots=True)
class Tally:
    """What a worker did.

    Attributes:
        checks: pages checked.
        changed: pages with a new version.
        failed: pages that could not be fetched.
        events: events found.
        lost: results that came after the end of their lease.
        probes: second fetches, to tell changes from noise.
        outcomes: how many checks ended how.
    """

    checks: int = 0
    changed: int = 0
    failed: int = 0
    events: int = 0
    lost: int = 0
    probes: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)


class Worker:
    """Checks pages that are due.

    Args:
        database: where watches, pages and versions are.
        fetch: fetches a page.
        owner: the name of the worker in leases; unique.
        clock: the time in seconds since 1970.
        batch: pages fetched at once.
        lease_seconds: how long a worker may take for a page.
        pause_s: the pause between two requests to one host, in seconds.
        shortcuts: which shortcuts the evaluation takes.
        on_event: called with each event once it is stored.
    """

    def __init__(
        self,
        database: Database,
        fetch: Fetcher,
        *,
        owner: str = "",
        clock: Callable[[], float] = time.time,
        batch: int = BATCH,
        lease_seconds: float = LEASE_SECONDS,
        pause_s: float = 0.0,
        shortcuts: Shortcuts = ALL_SHORTCUTS,
        on_event: Callable[[Event], None] = lambda _: None,
    ) -> None:
        self.database = database
        self.fetch = fetch
        self.owner: str = owner or f"{socket.gethostname()}-{os.getpid()}-{uuid4().hex[:8]}"
        self.clock = clock
        self.batch = batch
        self.lease_seconds = lease_seconds
        self.pause_s = pause_s
        self.shortcuts = shortcuts
        self.on_event = on_event
        self.tally: Tally = Tally()
        self._groups: OrderedDict[int, PageGroup] = OrderedDict()
        # One thread: SQLite has one writer, and evaluation holds the interpreter anyway.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="quire-store")

    async def run_due(self) -> int:
        """Check all pages that are due now; return how many were checked."""
        return await self._flow().run_due()

    async def run(self, stop: asyncio.Event) -> None:
        """Check pages when they are due, until ``stop`` is set.

        If the database cannot be reached, this waits and tries again. Pages that were under way are
        fetched again when their leases end.
        """
        wait_s = FIRST_WAIT_S
        while not stop.is_set():
            start = time.monotonic()
            try:
                await self._flow().run(stop)
            except StoreError as error:
                self._groups.clear()
                if time.monotonic() - start > LONGEST_WAIT_S:
                    wait_s = FIRST_WAIT_S
                _LOG.error("%s; trying again in %g s", error, wait_s)
                with suppress(TimeoutError):
                    await asyncio.wait_for(stop.wait(), wait_s)
                wait_s = min(wait_s * 2, LONGEST_WAIT_S)

    def close(self) -> None:
        """End the thread of the store."""
        self._thread.shutdown()

    def _flow(self) -> Flow:
        return Flow(
            self,
            self.fetch,
            places=self.batch,
            lease_s=self.lease_seconds,
            pause_s=self.pause_s,
        )

    # ------------------------------------------------------------ what the flow asks for

    async def claim(self, most: int) -> list[ClaimedPage]:
        """Claim up to ``most`` pages that are due."""
        return await self._write(
            lambda connection: claim_pages(
                connection, self.owner, self.clock(), self.lease_seconds, most
            )
        )

    async def finish(self, ready: list[Ready]) -> list[Ready]:
        """Evaluate and write results; return those whose check needs a probe."""
        events: list[Event] = []
        probes = await self._call(partial(self._finish, ready, events))
        for event in events:
            self.on_event(event)
        return probes

    async def next_due_s(self) -> float | None:
        """Return in how many seconds the next page is due; None if none is."""

        def read() -> float | None:
            with self.database.read() as connection:
                return next_due(connection)

        due = await self._call(read)
        return None if due is None else due - self.clock()

    async def renew(self, pages: Sequence[ClaimedPage]) -> set[int]:
        """Renew leases; return the ids of the pages that are still ours."""
        return await self._write(
            lambda connection: renew_leases(connection, pages, self.clock(), self.lease_seconds)
        )

    async def give_back(self, pages: Sequence[ClaimedPage], after_s: Sequence[float]) -> None:
        """End claims without a check; each page is due again after some seconds."""
        now = self.clock()

        def write(connection: Connection) -> None:
            for page, after in zip(pages, after_s, strict=True):
                release_page(connection, page, {"due": now + after} if after else {})

        await self._write(write)

    async def _write(self, work: Callable[[Connection], T]) -> T:
        def write() -> T:
            with self.database.write() as connection:
                return work(connection)

        return await self._call(write)

    async def _call(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    # ------------------------------------------------------------ in the thread of the store

    def _finish(self, ready: list[Ready], events: list[Event]) -> list[Ready]:
        """Evaluate and write some results in one transaction; return those that need a probe."""
        probes = []
        try:
            with self.database.write() as connection:
                for each in ready:
                    check = self._finish_one(connection, each, events)
                    if check is not None:
                        probes.append(Ready(each.page, each.answer, check))
        except BaseException:
            for each in ready:  # what is kept in memory was not written
                self._groups.pop(each.page.id, None)
            events.clear()
            raise
        return probes

    def _finish_one(
        self, connection: Connection, ready: Ready, events: list[Event]
    ) -> Check | None:
        """Write the result of a check; return the check if it needs a probe first."""
        page = ready.page
        try:
            with connection.begin_nested():
                check = ready.check or self._begin(connection, page)
                found = check.found
                result = self._check(connection, check, ready)
                if result.wants_probe:
                    self._renew(connection, page)
                    found.group.load = _not_now
                    self.tally.probes += 1
                    return check
                write_result(connection, page, found, result)
                if result.version is not None and self._prunes(found, result.version):
                    prune_page(connection, page.id, self.clock())
        except StaleClaim:
            self._groups.pop(page.id, None)
            self.tally.lost += 1
            return None
        found.group.load = _not_now
        self._count(result)
        events += (new.event for new in result.events)
        return None

    def _begin(self, connection: Connection, page: ClaimedPage) -> Check:
        found = self._group(connection, page)
        return Check(
            page,
            found,
            self.clock(),
            _not_now,
            others=partial(last_firings, connection),
            shortcuts=self.shortcuts,
        )

    def _check(self, connection: Connection, check: Check, ready: Ready) -> CheckResult:
        page, found = ready.page, check.found
        reader = version_reader(connection, page.id, page.url)
        found.group.load = lambda number: load_page(connection, page.id, page.url, number)
        check.read = reader.read
        check.numbers = partial(version_numbers, connection, page.id)
        first = check.first_answer or ready.answer
        if not found.members and found.lists:
            return ListCheck(connection, page, found, check.now).run(first, None)
        try:
            if ready.check is not None:
                result = check.resume(ready.answer)
            else:
                result = check.run(ready.answer, may_probe=self._may_probe(ready.answer))
            if found.lists and not result.wants_probe:
                result = ListCheck(connection, page, found, check.now).run(first, result)
        except (QuireError, MemoryError) as error:
            # A page that cannot be evaluated must not stop the others: it is a failed check.
            self._groups.pop(page.id, None)
            fresh = self._group(connection, page)
            found.group, found.members = fresh.group, fresh.members
            found.lists, found.seen = fresh.lists, fresh.seen
            problem = FetchProblem(type(error).__name__, str(error))
            result = Check(page, found, check.now, reader.read).run(problem)
            if found.lists:
                result = ListCheck(connection, page, found, check.now).run(problem, result)
        return result

    def _renew(self, connection: Connection, page: ClaimedPage) -> None:
        if not renew_leases(connection, [page], self.clock(), self.lease_seconds):
            raise StaleClaim(f"the check of {page.url} took longer than its lease")

    def _may_probe(self, answer: Answer) -> bool:
        # The lease starts anew with the probe, but a slow page must not hold others up twice.
        return answer.seconds < self.lease_seconds * SLOW

    def _group(self, connection: Connection, page: ClaimedPage) -> PageGroup:
        found = self._groups.get(page.id)
        if found is None or found.revision != page.revision:
            found = load_group(connection, page, _not_now)
            self._groups[page.id] = found
            while len(self._groups) > MOST_KEPT:
                self._groups.popitem(last=False)
        self._groups.move_to_end(page.id)
        return found

    def _prunes(self, found: PageGroup, new: NewVersion) -> bool:
        """Tell whether to look for versions to delete: always if a watch asks, or now and then."""
        asked = any(member.watch.keep is not None for member in found.members.values())
        number = new.stored.number
        return number > 0 and (asked or number % PRUNED_EVERY == 0)

    def _count(self, result: CheckResult) -> None:
        self.tally.checks += 1
        self.tally.changed += result.version is not None
        self.tally.failed += result.outcome == "failed"
        self.tally.events += len(result.events)
        self.tally.outcomes[result.outcome] = self.tally.outcomes.get(result.outcome, 0) + 1


def _not_now(number: int) -> NoReturn:
    raise RuntimeError(f"version {number} was asked for outside of a check")
