"""Turns: how often and how many at once the gate asks one host.

By default a host gets one request at a time, with a pause in between, and is left alone for as long
as it asks for (Retry-After). Requests to other hosts are not held up: a request takes one of the
gate's places only after its turn at the host has come.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from quire.errors import FetchCause, FetchFailed

# Idle hosts are forgotten when there are more of them.
_MOST_HOSTS = 10_000


@dataclass(frozen=True, slots=True)
class Politeness:
    """How the gate treats hosts.

    Attributes:
        connections: how many requests one host gets at the same time.
        pause_s: pause between two requests to the same host, in seconds; a longer Crawl-delay in
            robots.txt wins.
        most_pause_s: the longest Crawl-delay that is obeyed, in seconds.
        most_retry_after_s: the longest Retry-After that is obeyed, in seconds.
        places: how many requests the gate makes at the same time, to all hosts.
    """

    connections: int = 1
    pause_s: float = 1.0
    most_pause_s: float = 60.0
    most_retry_after_s: float = 86_400.0
    places: int = 64

    def __post_init__(self) -> None:
        if self.connections < 1 or self.places < 1:
            raise ValueError("connections and places must be 1 or more")


class _Host:
    """The queue of one host."""

    __slots__ = ("free_at", "queue", "users")

    def __init__(self, connections: int) -> None:
        self.queue: asyncio.Semaphore = asyncio.Semaphore(connections)
        self.free_at: float = 0.0
        self.users: int = 0


class Turns:
    """Hands out turns at hosts."""

    def __init__(self, politeness: Politeness) -> None:
        self._politeness = politeness
        self._hosts: dict[str, _Host] = {}
        self._places = asyncio.Semaphore(politeness.places)

    @asynccontextmanager
    async def turn(
        self,
        host: str,
        *,
        url: str,
        wait_s: float,
        pause_s: float | None = None,
        takes_place: bool = True,
    ) -> AsyncIterator[None]:
        """Wait for a turn at a host, and keep it for the duration of the block.

        Args:
            host: the host.
            url: the page, for errors.
            wait_s: how long to wait at most, in seconds.
            pause_s: pause after this turn, if not the usual one, in seconds.
            takes_place: whether the turn takes one of the places for all hosts.

        Raises:
            FetchFailed: the turn does not come in time; cause ``RETRY_LATER``.
        """
        known = self._host(host)
        known.users += 1
        loop = asyncio.get_running_loop()
        try:
            give_up_at = loop.time() + wait_s
            self._check(known, url, host, give_up_at, loop)
            await self._queued(known.queue, url, host, give_up_at)
            try:
                self._check(known, url, host, give_up_at, loop)
                if known.free_at > loop.time():
                    await asyncio.sleep(known.free_at - loop.time())
                if takes_place:
                    await self._queued(self._places, url, host, give_up_at)
                try:
                    yield
                finally:
                    if takes_place:
                        self._places.release()
                    pause = self._politeness.pause_s if pause_s is None else pause_s
                    if pause:
                        known.free_at = max(known.free_at, loop.time() + pause)
            finally:
                known.queue.release()
        finally:
            known.users -= 1

    def leave_alone(self, host: str, seconds: float) -> None:
        """Keep a host free of requests for a while, since it asked for it."""
        seconds = min(max(seconds, 0.0), self._politeness.most_retry_after_s)
        known = self._host(host)
        known.free_at = max(known.free_at, asyncio.get_running_loop().time() + seconds)

    async def _queued(
        self,
        queue: asyncio.Semaphore,
        url: str,
        host: str,
        give_up_at: float,
    ) -> None:
        if not queue.locked():
            await queue.acquire()  # returns at once
            return
        try:
            async with asyncio.timeout_at(give_up_at):
                await queue.acquire()
        except TimeoutError:
            raise _not_now(url, host, None) from None

    def _check(
        self,
        known: _Host,
        url: str,
        host: str,
        give_up_at: float,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        if known.free_at > give_up_at:
            raise _not_now(url, host, known.free_at - loop.time())

    def _host(self, host: str) -> _Host:
        known = self._hosts.get(host)
        if known is None:
            if len(self._hosts) >= _MOST_HOSTS:
                self._forget()
            known = self._hosts[host] = _Host(self._politeness.connections)
        return known

    def _forget(self) -> None:
        now = asyncio.get_running_loop().time()
        idle = [
            name for name, host in self._hosts.items() if not host.users and host.free_at <= now
        ]
        for name in idle:
            del self._hosts[name]


def _not_now(url: str, host: str, retry_after_s: float | None) -> FetchFailed:
    if retry_after_s is None:
        finding = f"{host} is busy with other requests; the turn of this one did not come in time"
    else:
        finding = f"{host} asked clients to wait; it is left alone for {retry_after_s:.0f} s more"
    return FetchFailed(
        f"{url}: {finding}", url=url, cause=FetchCause.RETRY_LATER, retry_after_s=retry_after_s
    )
