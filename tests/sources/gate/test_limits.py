"""Every limit, just below it, at it, and just above it; and the error gives its name."""

from __future__ import annotations

import asyncio
import gzip
from dataclasses import replace

import pytest

from quire.errors import FetchCause, FetchFailed
from quire.sources.gate import Limits, Request, Response
from tests.sources.gate.servers import PATIENT, Handler, always, answer, open_gate, serving


def fetched(handler: Handler, limits: Limits) -> Response:
    async def run() -> Response:
        async with serving(handler) as seen, open_gate(limits=limits) as gate:
            return await gate.fetch(Request(seen.url(), obey_robots=False))

    return asyncio.run(run())


def refused_by(handler: Handler, limits: Limits) -> str | None:
    try:
        fetched(handler, limits)
    except FetchFailed as error:
        return error.limit if error.limit and error.limit in str(error) else "not named"
    return None


@pytest.mark.parametrize("extra", [-1, 0, 1])
@pytest.mark.parametrize("is_chunked", [False, True])
def test_wire_bytes(extra: int, is_chunked: bool) -> None:  # noqa: FBT001 - a case
    body = b"a" * (1000 + extra)
    data = answer(body)
    if is_chunked:
        head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        data = head + b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)

    found = refused_by(always(data), replace(PATIENT, wire_bytes=1000))

    assert found == ("wire_bytes" if extra > 0 else None)


@pytest.mark.parametrize("extra", [-1, 0, 1])
def test_decoded_bytes(extra: int) -> None:
    data = gzip.compress(b"a" * (1000 + extra))

    found = refused_by(
        always(answer(data, "200 OK", "Content-Encoding: gzip")),
        replace(PATIENT, decoded_bytes=1000),
    )

    assert found == ("decoded_bytes" if extra > 0 else None)


@pytest.mark.parametrize("extra", [-1, 0, 1])
def test_ratio(extra: int) -> None:
    # Stored blocks, so that the ratio is chosen: one long run, then bytes that do not compress.
    page = b"a" * (2_000_000 + extra)
    data = gzip.compress(page, 9)
    ratio = 2_000_000 / len(data)
    limits = replace(PATIENT, ratio=int(ratio) + 1)
    assert refused_by(always(answer(data, "200 OK", "Content-Encoding: gzip")), limits) is None

    limits = replace(PATIENT, ratio=int(ratio))
    assert refused_by(always(answer(data, "200 OK", "Content-Encoding: gzip")), limits) == "ratio"


def test_ratio_counts_only_above_a_megabyte() -> None:
    limits = replace(PATIENT, ratio=1)
    for size, expected in ((999_999, None), (1_000_000, None), (1_000_001, "ratio")):
        data = gzip.compress(b"a" * size)
        found = refused_by(always(answer(data, "200 OK", "Content-Encoding: gzip")), limits)
        assert found == expected


@pytest.mark.parametrize("extra", [-1, 0, 1])
def test_header_count(extra: int) -> None:
    # One field is the length.
    fields = [f"X-{at}: a" for at in range(20 + extra - 1)]

    found = refused_by(always(answer(b"", "200 OK", *fields)), replace(PATIENT, header_count=20))

    assert found == ("header_count" if extra > 0 else None)


@pytest.mark.parametrize("extra", [-1, 0, 1])
def test_header_bytes(extra: int) -> None:
    taken = len("Content-Length: 0\r\n")
    first = "A: " + "a" * 500
    second = "B: " + "b" * (1000 + extra - taken - len(first) - len("B: ") - 4)

    found = refused_by(
        always(answer(b"", "200 OK", first, second)), replace(PATIENT, header_bytes=1000)
    )

    assert found == ("header_bytes" if extra > 0 else None)


def test_one_long_header_field() -> None:
    data = answer(b"", "200 OK", "A: " + "a" * 5000)

    assert refused_by(always(data), replace(PATIENT, header_bytes=1000)) == "header_bytes"


@pytest.mark.parametrize("extra", [-1, 0, 1])
def test_redirects(extra: int) -> None:
    hops = 3 + extra

    async def handler(head: bytes, writer: asyncio.StreamWriter) -> None:
        at = int(head.split(b" ")[1][1:] or 0)
        if at < hops:
            writer.write(answer(b"", "302 Found", f"Location: /{at + 1}"))
        else:
            writer.write(answer())

    found = refused_by(handler, replace(PATIENT, redirects=3))

    assert found == ("redirects" if extra > 0 else None)


async def _silent(head: bytes, writer: asyncio.StreamWriter) -> None:
    del head, writer
    await asyncio.Event().wait()


async def _drip(head: bytes, writer: asyncio.StreamWriter) -> None:
    del head
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
    while True:
        writer.write(b"a")
        await writer.drain()
        await asyncio.sleep(0.02)


def test_idle_s() -> None:
    assert refused_by(_silent, replace(PATIENT, idle_s=0.2)) == "idle_s"


def test_whole_s_stops_a_server_that_sends_one_byte_at_a_time() -> None:
    assert refused_by(_drip, replace(PATIENT, whole_s=0.4)) == "whole_s"


def test_whole_s_counts_all_redirects_together() -> None:
    async def handler(head: bytes, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.1)
        writer.write(answer(b"", "302 Found", f"Location: /{len(head)}a"))

    assert refused_by(handler, replace(PATIENT, whole_s=0.35)) == "whole_s"


def test_dns_s() -> None:
    async def run() -> FetchFailed:
        async def never(host: str) -> list[str]:
            await asyncio.Event().wait()
            return [host]

        async with open_gate(never, limits=replace(PATIENT, dns_s=0.2)) as gate:
            with pytest.raises(FetchFailed) as caught:
                await gate.fetch(Request("http://a.example/", obey_robots=False))
            return caught.value

    error = asyncio.run(run())
    assert (error.cause, error.limit) == (FetchCause.TIMEOUT, "dns_s")
    assert error.url == "http://a.example/"


def test_wait_s() -> None:
    async def run() -> FetchFailed:
        limits = replace(PATIENT, wait_s=0.2)
        async with serving(_silent) as seen, open_gate(limits=limits) as gate:
            request = Request(seen.url(), obey_robots=False)
            first = [asyncio.create_task(gate.fetch(request)) for _ in range(10)]
            while len(seen.heads) < len(first):  # noqa: ASYNC110 - the server has no event for it
                await asyncio.sleep(0.01)
            with pytest.raises(FetchFailed) as caught:
                await gate.fetch(request)
            for task in first:
                task.cancel()
            await asyncio.gather(*first, return_exceptions=True)
            return caught.value

    assert asyncio.run(run()).cause is FetchCause.RETRY_LATER
