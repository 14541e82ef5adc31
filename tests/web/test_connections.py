"""Connections that send nothing, or a head that never ends, are closed; others are not."""

from __future__ import annotations

import asyncio

import pytest
from fastapi import FastAPI

from quire.web.connections import PunctualProtocol
from quire.web.server import listen, serve_app

HEAD = b"GET / HTTP/1.1\r\nHost: here\r\n"


@pytest.fixture(autouse=True)
def impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for a head for a moment only."""
    monkeypatch.setattr(PunctualProtocol, "head_s", 0.3)


async def answer_of(*pieces: bytes, pause_s: float = 0.0) -> tuple[bytes, bool]:
    """Send pieces to a server; return its answer, and whether it closed the connection."""
    app = FastAPI()

    @app.get("/")
    async def slow() -> str:
        await asyncio.sleep(0.8)  # longer than a head may take
        return "fish"

    stop = asyncio.Event()
    with listen("127.0.0.1", 0) as bound:
        running = asyncio.create_task(serve_app(app, bound, stop))
        reader, writer = await asyncio.open_connection(*bound.getsockname())
        found = b""
        try:
            for piece in pieces:
                writer.write(piece)
                await asyncio.sleep(pause_s)
            async with asyncio.timeout(3):
                while more := await reader.read(1000):
                    found += more
            is_closed = True
        except ConnectionError:
            is_closed = True
        except TimeoutError:
            is_closed = False
        writer.close()
        stop.set()
        await running
    return found, is_closed


def test_a_connection_without_a_request_is_closed() -> None:
    assert asyncio.run(answer_of()) == (b"", True)


def test_a_head_that_never_ends_is_closed_although_bytes_come() -> None:
    drip = [HEAD, *(b"X-%d: a\r\n" % number for number in range(20))]

    assert asyncio.run(answer_of(*drip, pause_s=0.1)) == (b"", True)


def test_a_second_head_that_never_ends_is_closed_after_the_first_answer() -> None:
    found, is_closed = asyncio.run(answer_of(HEAD + b"\r\n", b"", HEAD, pause_s=0.5))

    assert b"fish" in found
    assert is_closed


def test_an_answer_may_take_longer() -> None:
    found, _ = asyncio.run(answer_of(HEAD + b"Connection: close\r\n\r\n"))

    assert found.endswith(b'"fish"')
