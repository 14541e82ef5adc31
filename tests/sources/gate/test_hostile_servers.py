"""Servers that lie, flood, hang and explode: each ends with its own cause, and within limits."""

from __future__ import annotations

import asyncio
import gzip
import subprocess
import sys
from pathlib import Path

import brotli  # type: ignore[import-untyped] # has no types
import pytest
import zstandard

from quire.errors import FetchCause, FetchFailed
from quire.sources.codings import TooLong
from quire.sources.gate import Limits, Request
from quire.sources.gate.answers import undo_or_tell
from tests.sources.gate.servers import (
    PATIENT,
    QUICK,
    Handler,
    always,
    answer,
    by_path,
    names,
    open_gate,
    serving,
)

ROOT = Path(__file__).parents[3]


def cause_of(handler: Handler, limits: Limits = PATIENT, **options: object) -> FetchCause:
    async def run() -> FetchCause:
        async with serving(handler) as seen, open_gate(limits=limits) as gate:
            options.setdefault("obey_robots", False)
            with pytest.raises(FetchFailed) as caught:
                await gate.fetch(Request(seen.url(), **options))  # type: ignore[arg-type]
            assert str(caught.value).isprintable()
            assert seen.url().rstrip("/") in str(caught.value)
            return caught.value.cause

    return asyncio.run(run())


def endless(start: bytes, more: bytes) -> Handler:
    async def handler(head: bytes, writer: asyncio.StreamWriter) -> None:
        del head
        writer.write(start)
        while True:
            writer.write(more)
            await writer.drain()

    return handler


def closing(data: bytes) -> Handler:
    async def handler(head: bytes, writer: asyncio.StreamWriter) -> None:
        del head
        writer.write(data)
        await writer.drain()
        writer.close()

    return handler


async def reset(head: bytes, writer: asyncio.StreamWriter) -> None:
    del head
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nabc")
    await writer.drain()
    await asyncio.sleep(0.05)
    writer.transport.abort()


OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"

HOSTILE: dict[str, tuple[Handler, FetchCause]] = {
    "endless body": (endless(OK + b"\r\n", b"a" * 65536), FetchCause.TOO_LARGE),
    "endless chunks": (endless(CHUNKED, b"1000\r\n" + b"a" * 4096 + b"\r\n"), FetchCause.TOO_LARGE),
    "endless header": (endless(OK, b"X: " + b"a" * 1000 + b"\r\n"), FetchCause.BAD_HTTP),
    "endless field": (endless(OK + b"X: ", b"a" * 1000), FetchCause.TOO_LARGE),
    "endless status": (endless(b"HTTP/1.1 200 ", b"a" * 1000), FetchCause.TOO_LARGE),
    "a million fields": (always(OK + b"A: b\r\n" * 1_000_000 + b"\r\n"), FetchCause.BAD_HTTP),
    "a long length": (always(answer(b"", length=10**15)), FetchCause.TOO_LARGE),
    "a huge chunk": (always(CHUNKED + b"FFFFFFFFFFFFFFFFF\r\nabc"), FetchCause.BAD_HTTP),
    "a bad chunk": (always(CHUNKED + b"zz\r\nabc"), FetchCause.BAD_HTTP),
    "a short body": (closing(answer(b"abc", length=1000)), FetchCause.TRUNCATED),
    "chunks without an end": (closing(CHUNKED + b"3\r\nabc\r\n"), FetchCause.TRUNCATED),
    "a long body": (closing(answer(b"abcdef", length=3)), FetchCause.BAD_HTTP),
    "a reset": (reset, FetchCause.TRUNCATED),
    "no answer": (closing(b""), FetchCause.CONNECT),
    "half a header": (closing(b"HTTP/1.1 200 OK\r\nContent-Le"), FetchCause.CONNECT),
    "not HTTP": (closing(b"220 mail.example ESMTP\r\n"), FetchCause.BAD_HTTP),
    "two lengths": (
        always(OK + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"),
        FetchCause.BAD_HTTP,
    ),
    "a negative length": (always(OK + b"Content-Length: -1\r\n\r\n"), FetchCause.BAD_HTTP),
    "broken gzip": (
        always(answer(gzip.compress(b"a" * 999)[:-20], "200 OK", "Content-Encoding: gzip")),
        FetchCause.BAD_ENCODING,
    ),
    "unknown coding": (
        always(answer(b"\x00\x01", "200 OK", "Content-Encoding: exi")),
        FetchCause.BAD_ENCODING,
    ),
    "three codings": (
        always(answer(b"\x1f\x8b", "200 OK", "Content-Encoding: gzip, gzip, gzip")),
        FetchCause.BAD_ENCODING,
    ),
    "endless continue": (endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), FetchCause.TIMEOUT),
    "redirect to itself": (
        always(answer(b"", "302 Found", "Location: /")),
        FetchCause.TOO_MANY_REDIRECTS,
    ),
    "redirect to a file": (
        always(answer(b"", "302 Found", "Location: file:///etc/passwd")),
        FetchCause.BAD_REDIRECT,
    ),
    "redirect to data": (
        always(answer(b"", "302 Found", "Location: data:text/html,<p>x")),
        FetchCause.BAD_REDIRECT,
    ),
    "redirect to script": (
        always(answer(b"", "302 Found", "Location: javascript:alert(1)")),
        FetchCause.BAD_REDIRECT,
    ),
    "redirect to gopher": (
        always(answer(b"", "302 Found", "Location: gopher://127.0.0.1:6379/_FLUSHALL")),
        FetchCause.BAD_REDIRECT,
    ),
    "redirect with a long target": (
        always(answer(b"", "302 Found", "Location: /" + "a" * 20_000)),
        FetchCause.BAD_REDIRECT,
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_server_ends_with_its_cause(name: str) -> None:
    handler, expected = HOSTILE[name]

    limits = QUICK if expected is FetchCause.TIMEOUT else PATIENT

    assert cause_of(handler, limits) is expected


def test_a_redirect_with_bytes_that_are_not_text_is_followed_as_sent() -> None:
    table = {"/": answer(b"", "302 Found", "Location: /\udcff"), "/%FF": answer(b"there")}

    async def run() -> bytes:
        async with serving(by_path(table)) as seen, open_gate() as gate:
            return (await gate.fetch(Request(seen.url(), obey_robots=False))).body

    assert asyncio.run(run()) == b"there"


def test_the_body_of_a_redirect_is_not_read() -> None:
    sent = 0

    async def handler(head: bytes, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        if b" /end " in head:
            writer.write(answer(b"there"))
            return
        writer.write(b"HTTP/1.1 302 Found\r\nLocation: /end\r\nContent-Encoding: gzip\r\n\r\n")
        bomb = gzip.compress(b"\x00" * 10_000_000)
        while True:
            writer.write(bomb)
            sent += len(bomb)
            await writer.drain()

    async def run() -> bytes:
        async with serving(handler) as seen, open_gate() as gate:
            return (await gate.fetch(Request(seen.url(), obey_robots=False))).body

    assert asyncio.run(run()) == b"there"
    assert sent < 16_000_000


def test_a_host_that_does_not_listen_is_a_connection_error() -> None:
    async def run() -> FetchCause:
        async with serving(always(b"")) as seen:
            url = seen.url()
        async with open_gate() as gate:
            with pytest.raises(FetchFailed) as caught:
                await gate.fetch(Request(url, obey_robots=False))
            return caught.value.cause

    assert asyncio.run(run()) is FetchCause.CONNECT


def test_other_pages_are_fetched_while_hosts_hang() -> None:
    async def hang(head: bytes, writer: asyncio.StreamWriter) -> None:
        del head, writer
        await asyncio.Event().wait()

    async def run() -> int:
        slow_names = {f"slow-{at}.example": ["127.0.0.1"] for at in range(30)}
        lookup = names(slow_names | {"good.example": ["127.0.0.1"]})
        async with (
            serving(hang) as slow,
            serving(always(answer())) as good,
            open_gate(lookup) as gate,
        ):
            waiting = [
                asyncio.create_task(gate.fetch(Request(slow.url("/", host), obey_robots=False)))
                for host in slow_names
            ]
            while len(slow.heads) < len(waiting):  # noqa: ASYNC110 - the server has no event for it
                await asyncio.sleep(0.01)
            for _ in range(20):
                await gate.fetch(Request(good.url("/", "good.example"), obey_robots=False))
            unfinished = sum(not task.done() for task in waiting)
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
            return unfinished

    assert asyncio.run(run()) == 30


MEGABYTE = 1_000_000


def bombs() -> dict[str, tuple[str, bytes]]:
    """Make bombs of at most a megabyte, each of which decodes to a gigabyte or more."""
    zeros = b"\x00" * (100 * MEGABYTE)
    gzipped = gzip.compress(zeros, 9) * 10
    packer = zstandard.ZstdCompressor(level=3)
    return {
        "gzip": ("gzip", gzipped),
        "gzip in gzip": ("gzip, gzip", gzip.compress(gzipped)),
        "br": ("br", brotli.compress(zeros, quality=5, lgwin=24)),
        "br in gzip": ("br, gzip", gzip.compress(brotli.compress(zeros, quality=5))),
        "zstd": ("zstd", packer.compress(zeros) * 10),
        "gzip in zstd": ("gzip, zstd", packer.compress(gzipped)),
    }


CHILD = """
import asyncio, re, sys
sys.path.insert(0, ".")
from quire.errors import FetchFailed
from quire.sources.gate import Request
from tests.sources.gate.servers import open_gate
from quire.sources.gate import Limits

def peak():  # ru_maxrss would count the process that started this one
    with open("/proc/self/status") as status:
        return int(re.search(r"VmHWM:\\s+(\\d+) kB", status.read())[1])

async def main(url, robots):
    async with open_gate(limits=Limits(whole_s=60)) as gate:
        await gate.fetch(Request(url + "ok", obey_robots=False))
        before = peak()

        async def fetch(path):
            try:
                await gate.fetch(Request(url + path, obey_robots=robots))
                result = "fetched"
            except FetchFailed as error:
                result = error.limit or error.cause.value
            grown = peak() - before
            print(path, result, grown, flush=True)

        for paths in sys.argv[3:]:  # those with a comma between them are fetched at once
            await asyncio.gather(*(fetch(path) for path in paths.split(",")))

asyncio.run(main(sys.argv[1], sys.argv[2] == "robots"))
"""


async def measured(handler: Handler, robots: str, *paths: str) -> list[list[str]]:
    """Fetch paths in a child process; return the outcome of each, and its growth in KiB."""
    async with serving(handler) as seen:
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-c", CHILD, seen.url(), robots, *paths,
            stdout=subprocess.PIPE, cwd=ROOT,
        )  # fmt: skip
        out, _ = await child.communicate()
        assert child.returncode == 0
        return [line.split() for line in out.decode().splitlines()]


def test_bombs_and_floods_take_at_most_64_megabytes() -> None:
    table = {"/ok": answer(gzip.compress(b"<p>Open"), "200 OK", "Content-Encoding: gzip")}
    for at, (coding, data) in enumerate(bombs().values()):
        assert len(data) < 1_100_000
        table[f"/bomb-{at}"] = answer(data, "200 OK", f"Content-Encoding: {coding}")
        table[f"/error-{at}"] = answer(data, "500 Error", f"Content-Encoding: {coding}")
    fixed = by_path(table)

    async def handler(head: bytes, writer: asyncio.StreamWriter) -> None:
        if b" /endless " in head:
            await endless(OK + b"\r\n", b"a" * 65536)(head, writer)
        if b" /header " in head:
            await endless(OK, b"X: " + b"a" * 1000 + b"\r\n")(head, writer)
        await fixed(head, writer)

    paths = [path[1:] for path in table if path != "/ok"]
    rows = asyncio.run(measured(handler, "no-robots", *paths, "endless", "header"))

    results = {path: result for path, result, _ in rows}
    assert set(results) == {*paths, "endless", "header"}
    assert all(results[path] in {"ratio", "decoded_bytes"} for path in paths)
    assert (results["endless"], results["header"]) == ("wire_bytes", "bad-http")
    assert max(int(grown) for _, _, grown in rows) <= 64 * 1024


def test_many_floods_at_once_take_at_most_64_megabytes() -> None:
    """Ten bodies without an end and ten bombs, and a good page that does not wait for them."""
    coding, data = bombs()["gzip"]
    bomb = answer(data, "200 OK", f"Content-Encoding: {coding}")
    table = {f"/bomb-{at}": bomb for at in range(10)} | {"/ok": answer(), "/good": answer()}
    fixed = by_path(table)

    async def handler(head: bytes, writer: asyncio.StreamWriter) -> None:
        if b" /endless" in head:
            await endless(OK + b"\r\n", b"a" * 65536)(head, writer)
        await fixed(head, writer)

    floods = [f"endless-{at}" for at in range(10)]
    bad = [path[1:] for path in table if "bomb" in path]
    rows = asyncio.run(measured(handler, "no-robots", ",".join([*floods, *bad, "good"])))

    results = {path: result for path, result, _ in rows}
    assert {results[path] for path in floods} == {"wire_bytes"}
    assert {results[path] for path in bad} <= {"ratio", "decoded_bytes"}
    assert results["good"] == "fetched"
    assert max(int(grown) for _, _, grown in rows) <= 64 * 1024


def test_an_error_holds_nothing_of_the_bomb_that_it_is_about() -> None:
    coding, data = bombs()["gzip"]

    found = undo_or_tell([coding], data, 1_000_000)

    assert isinstance(found, TooLong)
    assert (found.__traceback__, found.__context__, found.__cause__) == (None, None, None)


def test_a_bomb_in_robots_txt_counts_as_no_rules_and_takes_no_memory() -> None:
    coding, data = bombs()["gzip"]
    table = {
        "/ok": answer(),
        "/page": answer(b"<p>Open"),
        "/robots.txt": answer(data, "200 OK", f"Content-Encoding: {coding}"),
    }

    rows = asyncio.run(measured(by_path(table), "robots", "page"))

    assert rows[0][1] == "fetched"
    assert int(rows[0][2]) <= 64 * 1024
