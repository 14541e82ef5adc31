"""Live pages: rows and events arrive, for those who may see them, until someone stops."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from quire.errors import StoreError
from quire.sentinels.checking.answers import Fetched
from quire.sentinels.service import BulkAction, Service
from quire.sentinels.store import ClaimedPage
from quire.web.pages.live.hub import Hub, HubFull
from quire.web.pages.watches.row import mark
from quire.web.server import listen, serve_app
from tests.patience import PATIENCE_S
from tests.web.conftest import Site
from tests.web.counting_hub import CountingHub

EVERY_S = 0.02


def allowed() -> bool:
    return True


async def next_message(stream: AsyncIterator[bytes], name: str) -> dict[str, Any]:
    """Wait for a message of a stream."""
    async with asyncio.timeout(PATIENCE_S):
        async for each in stream:
            head, _, rest = each.decode("ascii").partition("\n")
            if head == f"event: {name}":
                found: dict[str, Any] = json.loads(rest.strip().removeprefix("data: "))
                return found
    raise AssertionError("the stream has ended")


async def until_read(hub: CountingHub, *watches: int) -> None:
    """Wait until the hub has read for a page that shows these watches."""
    async with asyncio.timeout(PATIENCE_S):
        while not hub.has_read_for(watches):  # noqa: ASYNC110 - also used by threads
            await asyncio.sleep(0.005)


def marks(site: Site) -> dict[int, str]:
    return {row.id: mark(row) for row in site.service.rows_of([site.watch])}


def test_a_row_that_changed_is_sent_and_no_other(site: Site) -> None:
    hub = Hub(site.service, every_s=EVERY_S)
    other = site.service.add({"url": "https://other.example/", "name": "other"}).id
    known = {row.id: mark(row) for row in site.service.rows_of([site.watch, other])}

    async def run() -> None:
        async with aclosing(hub.open(known, allowed)) as stream:  # type: ignore[type-var]
            await anext(stream)
            await asyncio.to_thread(site.service.act, [site.watch], BulkAction.PAUSE)
            found = await next_message(stream, "row")
            assert found["id"] == site.watch
            assert 'class="badge ">paused' in found["html"]
            assert found["mark"] == marks(site)[site.watch]
            await asyncio.to_thread(site.service.remove, site.watch)
            assert await next_message(stream, "gone") == {"id": site.watch}

    site.runner.run(run())
    assert hub.clients == 0


def test_a_row_that_changed_before_the_page_connected_is_sent_at_once(site: Site) -> None:
    hub = Hub(site.service, every_s=EVERY_S)

    async def run() -> None:
        stream = hub.open({site.watch: "0"}, allowed)
        async with aclosing(stream):  # type: ignore[type-var]
            assert (await next_message(stream, "row"))["id"] == site.watch

    site.runner.run(run())


def test_new_events_are_told_and_old_ones_are_not(site: Site) -> None:
    hub = CountingHub(site.service, every_s=EVERY_S)

    async def wait() -> dict[str, Any]:
        async with aclosing(hub.open(marks(site), allowed)) as stream:  # type: ignore[type-var]
            await anext(stream)
            await until_read(hub, site.watch)
            await _check(site, b"<p id=price>1.25</p></html>")
            return await next_message(stream, "news")

    found = site.runner.run(wait())

    newest = site.service.events(site.watch)[0].id
    said = {"id": newest, "watch": site.watch, "name": "price", "kind": "changed", "words": "1.25"}
    assert found == {"changes": [said]}


def test_news_come_before_the_row_so_that_a_page_tells_a_change_once(site: Site) -> None:
    hub = CountingHub(site.service, every_s=3600)

    async def run() -> list[bytes]:
        async with aclosing(hub.open(marks(site), allowed)) as stream:  # type: ignore[type-var]
            await anext(stream)
            await until_read(hub, site.watch)
            await _check(site, b"<p id=price>1.25</p></html>")
            await hub._read_once(is_first=False)
            return [(await anext(stream)).partition(b"\n")[0] for _ in range(2)]

    assert site.runner.run(run()) == [b"event: news", b"event: row"]


async def _check(site: Site, body: bytes) -> None:
    async def fetch(_: ClaimedPage) -> Fetched:
        return Fetched(200, body, "text/html")

    site.service.make_due(site.watch)
    await site.service.run_due(fetch)


def test_one_reader_reads_for_all_pages_and_stops_with_the_last(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[int]] = []
    read = Service.rows_of

    def note(self: Service, numbers: list[int]) -> Any:  # noqa: ANN401 - as the method
        asked.append(list(numbers))
        return read(self, numbers)

    monkeypatch.setattr(Service, "rows_of", note)
    hub = Hub(site.service, every_s=3600)

    async def run() -> None:
        streams = [hub.open({site.watch: "0"}, allowed) for _ in range(20)]
        for each in streams:
            await anext(each)
        for each in streams:
            await next_message(each, "row")
        assert hub.clients == 20
        reader = hub._reader
        assert reader is not None
        for each in streams:
            await each.aclose()  # type: ignore[attr-defined]
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.wait({reader})
        assert asyncio.all_tasks() == {asyncio.current_task()}

    site.runner.run(run())
    assert asked == [[site.watch]]


def test_only_so_many_pages_are_open(site: Site) -> None:
    hub = Hub(site.service, most=2)

    async def run() -> None:
        streams = [hub.open({}, allowed) for _ in range(2)]
        for each in streams:
            await anext(each)
        with pytest.raises(HubFull):
            hub.open({}, allowed)
        for each in streams:
            await each.aclose()  # type: ignore[attr-defined]
        hub.open({}, allowed)

    site.runner.run(run())


def test_a_stream_ends_with_its_session_and_with_the_service(site: Site) -> None:
    async def until_end(hub: Hub, *, is_open: bool) -> list[bytes]:
        async with asyncio.timeout(PATIENCE_S):
            stream = hub.open({}, lambda: is_open)
            found = [await anext(stream)]
            if is_open:
                hub.close()
            found += [each async for each in stream]
        return found

    ended = site.runner.run(until_end(Hub(site.service, beat_s=0.02), is_open=False))
    assert ended[-1] == b"event: end\ndata: {}\n\n"
    stopping = Hub(site.service)
    assert site.runner.run(until_end(stopping, is_open=True))[-1] == b": stopping\n\n"
    with pytest.raises(HubFull):
        stopping.open({}, allowed)


def test_there_are_signs_of_life_while_the_database_is_away(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise StoreError("gone")

    monkeypatch.setattr(Service, "rows_of", fail)
    monkeypatch.setattr(Service, "changes", fail)
    hub = Hub(site.service, every_s=0.01, beat_s=0.05)

    async def run() -> None:
        async with aclosing(hub.open({1: "0"}, allowed)) as stream:  # type: ignore[type-var]
            seen = [await anext(stream) for _ in range(3)]
            assert seen[1:] == [b": still here\n\n"] * 2
            monkeypatch.undo()
            assert await next_message(stream, "row")

    site.runner.run(run())


def test_a_page_that_takes_nothing_is_let_go(site: Site) -> None:
    hub = Hub(site.service)

    async def run() -> None:
        stream = hub.open({}, allowed)
        await anext(stream)
        (client,) = hub._clients
        for number in range(2_000):
            client.send("gone", {"id": number})
        assert client.messages.qsize() <= 300
        found = [each async for each in stream]
        assert found[-1] == b"event: end\ndata: {}\n\n"

    site.runner.run(run())


@pytest.mark.parametrize(
    "query",
    ["", "?watches=x", "?watches=1", "?watches=1:", "?watches=0:a", "?watches=1:G", "?watches=,"],
)
def test_addresses_that_make_no_sense_are_refused(site: Site, query: str) -> None:
    assert site.browser("viewer").get(f"/live{query}").status == 422


def test_too_many_rows_are_refused(site: Site) -> None:
    rows = ",".join(f"{number}:a" for number in range(1, 102))

    assert site.browser("viewer").get(f"/live?watches={rows}").status == 422


def test_the_stream_is_for_sessions_and_ends_when_they_log_out(site: Site) -> None:
    hub = site.app.state.live = CountingHub(site.service, every_s=0.02, beat_s=0.05)
    browser = site.browser("viewer")
    assert site.program("admin").get("/live?watches=").status == 403
    assert site.anonymous().get("/live?watches=").status == 401

    async def leave() -> None:
        await until_read(hub, site.watch)
        with site.service.database.write() as connection:
            connection.exec_driver_sql("DELETE FROM session")

    leaving = site.runner.get_loop().create_task(leave())
    reply = browser.get(f"/live?watches={site.watch}:0")

    assert leaving.done()
    assert reply.headers["content-type"].startswith("text/event-stream")
    assert reply.headers["cache-control"] == "no-store"
    assert reply.text.startswith("retry: 5000\n\n")
    assert "event: row\n" in reply.text
    assert reply.text.endswith("event: end\ndata: {}\n\n")


def test_an_open_page_does_not_keep_the_server_from_stopping(site: Site) -> None:
    browser = site.browser("viewer")

    async def run() -> bytes:
        bound, stop = listen("127.0.0.1", 0), asyncio.Event()
        host, port = bound.getsockname()[:2]
        serving = asyncio.create_task(serve_app(site.app, bound, stop))
        reader, writer = await asyncio.open_connection(host, port)
        head = f"GET /live?watches= HTTP/1.1\r\nHost: {host}\r\nCookie: {browser.cookie}\r\n\r\n"
        writer.write(head.encode())
        await reader.readuntil(b"retry: 5000")
        stop.set()
        rest = await asyncio.wait_for(reader.read(), PATIENCE_S)
        writer.close()
        await serving
        bound.close()
        return rest

    assert b": stopping\n\n" in site.runner.run(run())


def test_an_open_stream_does_not_keep_a_session_from_ending(site: Site) -> None:
    browser = site.browser("viewer")
    sessions = site.app.state.quire.sessions
    key = browser.cookie.partition("=")[2]
    found = sessions.identify(key)
    with site.service.database.write() as connection:
        connection.exec_driver_sql("UPDATE session SET used = used - 40000")  # of 43,200 seconds

    assert sessions.is_open(found.session)

    with site.service.database.write() as connection:
        connection.exec_driver_sql("UPDATE session SET used = used - 4000")
    assert not sessions.is_open(found.session)
