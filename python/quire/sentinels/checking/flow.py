"""The flow of checks: claims pages as places become free, fetches them, hands answers on.

Fetches run side by side, and none waits for another: a page that answers after a minute takes one
place of many, and the others go on. Answers are handed on in batches, in the order in which they
came; a check may ask for a second fetch of its page (a probe).

A host gets ``PER_HOST`` places at most if there is a pause between its requests. The other pages of
that host are given back and come again when their turn is near, so that a site with a thousand
watched pages does not fill all places with pages that wait.

A page is ours until its lease ends. Leases of pages that are still being fetched are renewed; a
page whose lease was lost is dropped, because another worker has it.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias
from urllib.parse import urlsplit

from quire.sentinels.checking.answers import Fetched, FetchProblem
from quire.sentinels.checking.check import Check
from quire.sentinels.store.claims import ClaimedPage

_LOG = logging.getLogger(__name__)

Answer: TypeAlias = Fetched | FetchProblem
#: Fetches a page. It never raises: a fetch that fails is an answer too.
Fetcher: TypeAlias = Callable[[ClaimedPage], Awaitable[Answer]]

#: Answers that are handed on together.
WRITTEN_TOGETHER = 64
#: Places that one host gets, if its requests have pauses between them.
PER_HOST = 8
#: How long an idle worker sleeps, at most, before it looks again, in seconds.
IDLE_S = 5.0
#: How long a worker that is told to stop waits for fetches that are under way, in seconds.
STOPPING_S = 5.0


@dataclass(frozen=True, slots=True)
class Ready:
    """A fetch that ended: the first one of a check, or the probe that the check asked for."""

    page: ClaimedPage
    answer: Answer
    check: Check | None = None


class Pages(Protocol):
    """The store, as the flow needs it."""

    async def claim(self, most: int) -> list[ClaimedPage]:
        """Claim up to ``most`` pages that are due."""
        ...

    async def finish(self, ready: list[Ready]) -> list[Ready]:
        """Evaluate and write results; return those whose check needs a probe."""
        ...

    async def next_due_s(self) -> float | None:
        """Return in how many seconds the next page is due; None if none is."""
        ...

    async def renew(self, pages: Sequence[ClaimedPage]) -> set[int]:
        """Renew leases; return the ids of the pages that are still ours."""
        ...

    async def give_back(self, pages: Sequence[ClaimedPage], after_s: Sequence[float]) -> None:
        """End claims without a check; each page is due again after some seconds."""
        ...


class Flow:
    """One run of a worker.

    Args:
        pages: the store.
        fetch: fetches a page.
        places: how many pages are fetched at the same time.
        lease_s: how long a claim lasts, in seconds.
        pause_s: the pause between two requests to one host, in seconds.
    """

    def __init__(
        self, pages: Pages, fetch: Fetcher, *, places: int, lease_s: float, pause_s: float = 0.0
    ) -> None:
        self._pages = pages
        self._fetch = fetch
        self._places = places
        self._lease_s = lease_s
        self._pause_s = pause_s
        self._answers: asyncio.Queue[Ready | None] = asyncio.Queue()
        self._under_way: dict[int, tuple[ClaimedPage, asyncio.Task[None]]] = {}
        self._claimed = 0

    async def run_due(self) -> int:
        """Check all pages that are due now; return how many were claimed."""
        loop = asyncio.get_running_loop()
        renew_at = loop.time() + self._lease_s / 3
        try:
            while True:
                more = await self._fill(postpones=False)
                if not self._under_way and not more:
                    return self._claimed
                await self._finish_next(max(renew_at - loop.time(), 0.0))
                if loop.time() >= renew_at:
                    await self._renew()
                    renew_at = loop.time() + self._lease_s / 3
        finally:
            await self._cancel()

    async def run(self, stop: asyncio.Event) -> None:
        """Check pages when they are due, until ``stop`` is set."""
        loop = asyncio.get_running_loop()
        waking = asyncio.create_task(self._wake(stop))
        renew_at = loop.time() + self._lease_s / 3
        look_at = 0.0
        try:
            while not stop.is_set():
                if loop.time() >= look_at and len(self._under_way) < self._places:
                    look_at = loop.time()
                    if not await self._fill(postpones=self._pause_s > 0):
                        due_s = await self._pages.next_due_s()
                        look_at += IDLE_S if due_s is None else min(max(due_s, 0.05), IDLE_S)
                await self._finish_next(max(min(look_at, renew_at) - loop.time(), 0.05))
                if loop.time() >= renew_at:
                    await self._renew()
                    renew_at = loop.time() + self._lease_s / 3
            end = loop.time() + STOPPING_S
            while self._under_way and loop.time() < end:
                await self._finish_next(end - loop.time())
            left = [page for page, _ in self._under_way.values()]
            await self._cancel()
            await self._pages.give_back(left, [0.0] * len(left))
        finally:
            waking.cancel()
            await self._cancel()

    # ------------------------------------------------------------ fetching

    async def _fill(self, *, postpones: bool) -> bool:
        """Claim pages for free places; tell whether there may be more of them."""
        room = self._places - len(self._under_way)
        if room <= 0:
            return True
        claimed = await self._pages.claim(room)
        late: list[ClaimedPage] = []
        hosts = Counter(_host(page) for page, _ in self._under_way.values())
        for page in claimed:
            host = _host(page)
            if postpones and hosts[host] >= PER_HOST:
                late.append(page)
            else:
                self._begin(page)
            hosts[host] += 1
        if late:
            behind = Counter[str]()
            after_s = []
            for page in late:
                behind[_host(page)] += 1
                after_s.append((PER_HOST / 2 + behind[_host(page)]) * self._pause_s)
            await self._pages.give_back(late, after_s)
        self._claimed += len(claimed) - len(late)
        return len(claimed) == room

    def _begin(self, page: ClaimedPage, check: Check | None = None) -> None:
        """Fetch a page: for the first time in a check, or once more for a check that goes on."""
        before = self._under_way.get(page.id)
        if before is not None:  # our lease ended, and we claimed the page again
            before[1].cancel()
        self._under_way[page.id] = (page, asyncio.create_task(self._fetch_one(page, check)))

    async def _fetch_one(self, page: ClaimedPage, check: Check | None) -> None:
        # A second fetch has no conditions, because the page itself is needed.
        asked = page if check is None else replace(page, etag=None, last_modified=None)
        try:
            answer = await self._fetch(asked)
        except Exception as error:  # noqa: BLE001 - ours; the page must not keep its place
            _LOG.exception("fetching %s failed in an unexpected way", page.url)
            answer = FetchProblem("bug", f"{type(error).__name__}: {error}")
        self._answers.put_nowait(Ready(page, answer, check))

    async def _finish_next(self, wait_s: float) -> None:
        """Wait for an answer, and hand on all that are there."""
        ready: list[Ready] = []
        with suppress(TimeoutError):
            async with asyncio.timeout(wait_s):
                first = await self._answers.get()
            ready = [] if first is None else [first]
        while len(ready) < WRITTEN_TOGETHER and not self._answers.empty():
            more = self._answers.get_nowait()
            ready += [] if more is None else [more]
        ready = [each for each in ready if self._is_ours(each.page)]
        if not ready:
            return
        probes = await self._pages.finish(ready)
        for each in ready:
            del self._under_way[each.page.id]
        for each in probes:
            self._begin(each.page, each.check)

    def _is_ours(self, page: ClaimedPage) -> bool:
        """Tell whether a page is under way with the claim under which it was fetched."""
        found = self._under_way.get(page.id)
        return found is not None and found[0].fence == page.fence

    # ------------------------------------------------------------ leases

    async def _renew(self) -> None:
        pages = [page for page, _ in self._under_way.values()]
        held = await self._pages.renew(pages) if pages else set()
        for page in pages:
            if page.id not in held:
                _, task = self._under_way.pop(page.id)
                task.cancel()

    async def _wake(self, stop: asyncio.Event) -> None:
        await stop.wait()
        self._answers.put_nowait(None)

    async def _cancel(self) -> None:
        tasks = [task for _, task in self._under_way.values()]
        self._under_way.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _host(page: ClaimedPage) -> str:
    return urlsplit(page.url).netloc
