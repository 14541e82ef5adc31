"""The hub: one reader of the database for all pages that are open.

A page says which rows it shows, with a mark of each. Every few seconds the hub reads the rows that
any page shows, and sends to each page those whose mark is another now, so that nothing is missed
between the page and its connection. Without open pages nothing is read.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from starlette.concurrency import run_in_threadpool

from quire.errors import StoreError
from quire.sentinels.service import Service, StoredEvent
from quire.sentinels.store.overview.event_rows import WantedEvents
from quire.sentinels.store.overview.watch_rows import WatchRow
from quire.web.logs import logger
from quire.web.pages.watches.changes import shown_event
from quire.web.pages.watches.row import mark, row_html

#: Pages that are open at the same time, and rows that one of them shows.
MOST_CLIENTS = 60
MOST_ROWS = 100
#: Seconds between two readings, and between two signs of life.
EVERY_S = 2.0
BEAT_S = 15.0
#: Messages that wait for one page; a page that does not take them is let go.
MOST_WAITING = 300
#: Events that are read at once, and remembered.
MOST_EVENTS = 20
MOST_SEEN = 500
#: Numbers in one query.
CHUNK = 500

#: The end of a stream.
_END = b""


class HubFull(Exception):
    """Too many pages are open."""


@dataclass(eq=False)
class _Client:
    """An open page: the rows that it shows by number with their marks, and messages for it."""

    marks: dict[int, str]
    messages: asyncio.Queue[bytes] = field(default_factory=lambda: asyncio.Queue(MOST_WAITING))

    def send(self, name: str, data: Mapping[str, Any]) -> None:
        try:
            self.messages.put_nowait(message(name, data))
        except asyncio.QueueFull:
            self.end()

    def end(self) -> None:
        while True:
            try:
                self.messages.put_nowait(_END)
            except asyncio.QueueFull:
                self.messages.get_nowait()
            else:
                return


class Hub:
    """Sends changed rows and new events to open pages.

    Args:
        service: the watches.
        every_s: seconds between two readings.
        beat_s: seconds between two signs of life.
        most: pages that are open at the same time.
    """

    def __init__(
        self,
        service: Service,
        *,
        every_s: float = EVERY_S,
        beat_s: float = BEAT_S,
        most: int = MOST_CLIENTS,
    ) -> None:
        self._service = service
        self._every_s = every_s
        self._beat_s = beat_s
        self._most = most
        self._clients: set[_Client] = set()
        self._reader: asyncio.Task[None] | None = None
        self._seen: deque[str] = deque(maxlen=MOST_SEEN)
        self._is_closed = False

    @property
    def clients(self) -> int:
        """How many pages are open."""
        return len(self._clients)

    def open(
        self, marks: Mapping[int, str], is_allowed: Callable[[], bool]
    ) -> AsyncIterator[bytes]:
        """Open the stream of a page.

        Args:
            marks: the marks of its rows, by the number of the watch.
            is_allowed: whether its session goes on; asked now and then, in a thread.

        Raises:
            HubFull: too many pages are open, or the service is stopping.
        """
        if self._is_closed or len(self._clients) >= self._most:
            raise HubFull
        return self._messages(_Client(dict(marks)), is_allowed)

    def close(self) -> None:
        """End all streams, because the service stops."""
        self._is_closed = True
        for client in self._clients:
            client.end()

    async def _messages(
        self, client: _Client, is_allowed: Callable[[], bool]
    ) -> AsyncIterator[bytes]:
        # Added here and not before: a stream that is never read would never be removed.
        self._clients.add(client)
        if self._reader is None or self._reader.done():
            self._reader = asyncio.create_task(self._read())
        beat = monotonic() + self._beat_s
        try:
            yield b"retry: 5000\n\n"
            while True:
                try:
                    async with asyncio.timeout(max(0.0, beat - monotonic())):
                        found = await client.messages.get()
                except TimeoutError:
                    beat = monotonic() + self._beat_s
                    if not await _asked(is_allowed):
                        yield message("end", {})
                        return
                    yield b": still here\n\n"
                    continue
                if found == _END:
                    yield message("end", {}) if not self._is_closed else b": stopping\n\n"
                    return
                yield found
        finally:
            self._clients.discard(client)
            if not self._clients and self._reader is not None:
                self._reader.cancel()
                self._reader = None

    async def _read(self) -> None:
        is_first = True
        while True:
            try:
                await self._read_once(is_first=is_first)
                is_first = False
            except StoreError:
                logger().warning("live pages wait for the database")
            await asyncio.sleep(self._every_s)

    async def _read_once(self, *, is_first: bool) -> None:
        wanted = sorted({number for client in self._clients for number in client.marks})
        rows, events = await run_in_threadpool(self._read_store, wanted)
        marks = {number: mark(row) for number, row in rows.items()}
        written: dict[int, str] = {}
        new = [each for each in events if each.id not in self._seen]
        self._seen.extend(each.id for each in reversed(new))
        for client in list(self._clients):
            # Before the rows: a page that has the news need not guess why its row changed.
            if new and not is_first:
                client.send("news", {"changes": [_news(each) for each in reversed(new)]})
            self._send_rows(client, rows, marks, written)

    def _read_store(self, wanted: list[int]) -> tuple[dict[int, WatchRow], list[StoredEvent]]:
        rows: dict[int, WatchRow] = {}
        for at in range(0, len(wanted), CHUNK):
            rows |= {row.id: row for row in self._service.rows_of(wanted[at : at + CHUNK])}
        return rows, self._service.changes(WantedEvents(), most=MOST_EVENTS)

    def _send_rows(
        self,
        client: _Client,
        rows: dict[int, WatchRow],
        marks: dict[int, str],
        written: dict[int, str],
    ) -> None:
        for number, before in list(client.marks.items()):
            if number not in rows:
                del client.marks[number]
                client.send("gone", {"id": number})
            elif marks[number] != before:
                if number not in written:
                    written[number] = row_html(rows[number], may_edit=False)
                client.marks[number] = marks[number]
                client.send("row", {"id": number, "mark": marks[number], "html": written[number]})


def message(name: str, data: Mapping[str, Any]) -> bytes:
    r"""Return a server-sent event. JSON in ASCII has no line ends, so nothing can add a field.

    >>> message("gone", {"id": 5, "text": "a\nb"})
    b'event: gone\ndata: {"id": 5, "text": "a\\nb"}\n\n'
    """
    return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode("ascii")


async def _asked(is_allowed: Callable[[], bool]) -> bool:
    try:
        return await run_in_threadpool(is_allowed)
    except StoreError:
        return True  # the database is away; asked again later


def _news(event: StoredEvent) -> dict[str, Any]:
    shown = shown_event(event)
    texts = shown.added or shown.removed
    words = shown.message or (texts[0][:100] if texts else shown.kind)
    return {
        "id": shown.id,
        "watch": shown.watch,
        "name": shown.name,
        "kind": shown.kind,
        "words": words,
    }
