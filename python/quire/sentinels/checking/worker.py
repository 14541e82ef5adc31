"""The worker: claims due pages, fetches them, evaluates their sentinels, writes results.

Fetches run concurrently on the event loop. Everything else (database, parsing, evaluation) runs in
one thread beside it, in the order in which fetches end. Results are written in batches, one
transaction each, because a transaction that survives power loss costs milliseconds.

Any number of workers on any hosts can share a PostgreSQL database. A worker that dies leaves
nothing behind but leases, which end by themselves.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import NoReturn, TypeAlias, TypeVar
from uuid import uuid4

from sqlalchemy import Connection

from quire.errors import QuireError, StaleClaim
from quire.sentinels.checking.check import Check, Fetched, FetchProblem
from quire.sentinels.checking.lists import ListCheck
from quire.sentinels.groups.shortcuts import ALL_SHORTCUTS, Shortcuts
from quire.sentinels.store.claims import ClaimedPage, claim_pages, next_due, renew_leases
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

Answer: TypeAlias = Fetched | FetchProblem
#: Fetches a page. It never raises: a fetch that fails is an answer too.
Fetcher: TypeAlias = Callable[[ClaimedPage], Awaitable[Answer]]

#: Pages claimed at once; a worker that dies keeps them from others until their leases end.
BATCH = 100
#: How long a worker may take for a page, from its claim to its result.
LEASE_SECONDS = 180.0
#: Results written in one transaction.
WRITTEN_TOGETHER = 64
#: Pages whose members a worker keeps in memory.
MOST_KEPT = 100_000
#: Without a watch that says what to keep, every so many versions old ones are looked for.
PRUNED_EVERY = 16
#: How long an idle worker sleeps, at most, before it looks again.
IDLE_SECONDS = 5.0


@dataclass(slots=True)
class Tally:
    """What a worker did.

    Attributes:
        checks: pages checked.
        changed: pages with a new version.
        failed: pages that could not be fetched.
        events: events found.
        lost: results that came after the end of their lease.
    """

    checks: int = 0
    changed: int = 0
    failed: int = 0
    events: int = 0
    lost: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)


class Worker:
    """Checks pages that are due.

    Args:
        database: where watches, pages and versions are.
        fetch: fetches a page.
        owner: the name of the worker in leases; unique.
        clock: the time in seconds since 1970.
        batch: pages claimed at once.
        lease_seconds: how long a worker may take for a page.
        shortcuts: which shortcuts the evaluation takes.
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
        shortcuts: Shortcuts = ALL_SHORTCUTS,
    ) -> None:
        self.database = database
        self.fetch = fetch
        self.owner: str = owner or f"{socket.gethostname()}-{os.getpid()}-{uuid4().hex[:8]}"
        self.clock = clock
        self.batch = batch
        self.lease_seconds = lease_seconds
        self.shortcuts = shortcuts
        self.tally: Tally = Tally()
        self._groups: OrderedDict[int, PageGroup] = OrderedDict()
        # One thread: SQLite has one writer, and evaluation holds the interpreter anyway.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="quire-store")

    async def run_due(self) -> int:
        """Check all pages that are due now; return how many were checked."""
        checked = 0
        while claimed := await self._call(self._claim):
            await self._check_all(claimed)
            checked += len(claimed)
        return checked

    async def run(self, stop: asyncio.Event) -> None:
        """Check pages when they are due, until ``stop`` is set."""
        while not stop.is_set():
            if await self.run_due():
                continue
            due = await self._call(self._next_due)
            wait = IDLE_SECONDS if due is None else min(IDLE_SECONDS, due - self.clock())
            try:
                await asyncio.wait_for(stop.wait(), max(0.05, wait))
            except TimeoutError:
                continue

    def close(self) -> None:
        """End the thread of the store."""
        self._thread.shutdown()

    # ------------------------------------------------------------ one batch

    async def _check_all(self, claimed: list[ClaimedPage]) -> None:
        answers: asyncio.Queue[tuple[ClaimedPage, Answer]] = asyncio.Queue()

        async def fetch_one(page: ClaimedPage) -> None:
            answers.put_nowait((page, await self.fetch(page)))

        left = {page.id: page for page in claimed}
        async with asyncio.TaskGroup() as tasks:
            keeper = tasks.create_task(self._keep_leases(left))
            for page in claimed:
                tasks.create_task(fetch_one(page))
            while left:
                ready = [await answers.get()]
                while len(ready) < WRITTEN_TOGETHER and not answers.empty():
                    ready.append(answers.get_nowait())
                for page, _ in ready:
                    del left[page.id]
                await self._call(partial(self._finish, ready))
            keeper.cancel()

    async def _keep_leases(self, left: dict[int, ClaimedPage]) -> None:
        """Extend the leases of pages that wait: for their turn at a host, or for the browser."""
        while True:
            await asyncio.sleep(self.lease_seconds / 3)
            await self._call(partial(self._renew, list(left.values())))

    async def _call(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    # ------------------------------------------------------------ in the thread of the store

    def _claim(self) -> list[ClaimedPage]:
        with self.database.write() as connection:
            return claim_pages(connection, self.owner, self.clock(), self.lease_seconds, self.batch)

    def _renew(self, pages: list[ClaimedPage]) -> None:
        with self.database.write() as connection:
            renew_leases(connection, pages, self.clock(), self.lease_seconds)

    def _next_due(self) -> float | None:
        with self.database.read() as connection:
            return next_due(connection)

    def _finish(self, ready: list[tuple[ClaimedPage, Answer]]) -> None:
        """Evaluate and write some results in one transaction."""
        try:
            with self.database.write() as connection:
                for page, answer in ready:
                    self._finish_one(connection, page, answer)
        except BaseException:
            for page, _ in ready:  # what is kept in memory was not written
                self._groups.pop(page.id, None)
            raise

    def _finish_one(self, connection: Connection, page: ClaimedPage, answer: Answer) -> None:
        try:
            with connection.begin_nested():
                found = self._group(connection, page)
                result = self._check(connection, page, found, answer)
                write_result(connection, page, found, result)
                if result.version is not None and self._prunes(found, result.version):
                    prune_page(connection, page.id, self.clock())
        except StaleClaim:
            self._groups.pop(page.id, None)
            self.tally.lost += 1
            return
        found.group.load = _not_now
        self._count(result)

    def _check(
        self, connection: Connection, page: ClaimedPage, found: PageGroup, answer: Answer
    ) -> CheckResult:
        reader = version_reader(connection, page.id, page.url)
        found.group.load = lambda number: load_page(connection, page.id, page.url, number)
        now = self.clock()
        if not found.members and found.lists:
            return ListCheck(connection, page, found, now).run(answer, None)
        try:
            result = Check(
                page,
                found,
                now,
                reader.read,
                others=partial(last_firings, connection),
                numbers=partial(version_numbers, connection, page.id),
                shortcuts=self.shortcuts,
            ).run(answer)
            if found.lists:
                result = ListCheck(connection, page, found, now).run(answer, result)
        except (QuireError, MemoryError) as error:
            # A page that cannot be evaluated must not stop the others: it is a failed check.
            self._groups.pop(page.id, None)
            fresh = self._group(connection, page)
            found.group, found.members = fresh.group, fresh.members
            found.lists, found.seen = fresh.lists, fresh.seen
            problem = FetchProblem(type(error).__name__, str(error))
            result = Check(page, found, now, reader.read).run(problem)
            if found.lists:
                result = ListCheck(connection, page, found, now).run(problem, result)
        return result

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
