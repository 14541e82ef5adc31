"""Requests forged to reach the inside: canaries on loopback count connections, and see none.

Every vector goes through every way in: as the page itself, as the target of a redirect, as a page
whose robots.txt is asked first, through a proxy, as a webhook, as a check, and as the argument of a
command. The canaries listen on addresses that the gate of these tests may not reach.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import cycle

import pytest

from quire.errors import FetchCause, FetchFailed
from quire.sources.gate import Gate, Proxy, Request, resolver
from quire.sources.gate.resolver import Policy
from tests.sources.gate import vectors
from tests.sources.gate.servers import (
    Seen,
    always,
    answer,
    names,
    open_gate,
    serving,
)

PUBLIC = "93.184.216.34"


@asynccontextmanager
async def canaries() -> AsyncIterator[tuple[int, list[int]]]:
    """Listen on every canary address at one port; return the port and a list that counts hits."""
    hits: list[int] = []

    async def hit(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        del reader
        hits.append(1)
        writer.write(answer(b"the inside"))
        writer.close()

    async def listen(stack: AsyncExitStack) -> int:
        with socket.socket() as probe:
            probe.bind(("127.0.0.2", 0))
            port: int = probe.getsockname()[1]
        for address in vectors.CANARIES:
            server = await asyncio.start_server(hit, address, port)
            stack.push_async_callback(server.wait_closed)
            stack.callback(server.close)
        return port

    while True:
        async with AsyncExitStack() as stack:
            try:
                port = await listen(stack)
            except OSError:  # another process has this port at one of the addresses
                continue
            yield port, hits
            return


async def hits_a_canary(url: str) -> None:
    """Prove that a canary works: dial it past the gate."""
    host, port = url.removeprefix("http://").rstrip("/").rsplit(":", 1)
    reader, writer = await asyncio.open_connection(host, int(port))
    assert b"the inside" in await reader.read()
    writer.close()


Try = Callable[[Gate, Seen, str], Awaitable[object]]


async def as_page(gate: Gate, seen: Seen, url: str) -> object:
    del seen
    return await gate.fetch(Request(url, obey_robots=False))


async def with_robots(gate: Gate, seen: Seen, url: str) -> object:
    del seen
    return await gate.fetch(Request(url))


async def as_redirect(gate: Gate, seen: Seen, url: str) -> object:
    target = url.encode("utf-8", "surrogateescape").hex()
    return await gate.fetch(Request(seen.url(f"/to/{target}"), obey_robots=False))


async def as_webhook(gate: Gate, seen: Seen, url: str) -> object:
    del seen
    return await gate.fetch(Request(url, method="POST", body=b"{}", obey_robots=False))


async def through_proxy(gate: Gate, seen: Seen, url: str) -> object:
    proxy = Proxy(seen.url())
    return await gate.fetch(Request(url, proxy=proxy, obey_robots=False))


async def as_check(gate: Gate, seen: Seen, url: str) -> object:
    del seen
    return await gate.check(url)


WAYS: list[Try] = [as_page, with_robots, as_redirect, as_webhook, through_proxy, as_check]


async def outside(head: bytes, writer: asyncio.StreamWriter) -> None:
    """A server on the outside: it redirects to whatever its path says."""
    path = head.split(b" ", 2)[1].decode()
    if path.startswith("/to/"):
        target = bytes.fromhex(path.removeprefix("/to/"))
        # A line break would end the field; hostile servers can send all other bytes.
        target = target.replace(b"\n", b"").replace(b"\r", b"")
        writer.write(
            b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + target + b"\r\n\r\n"
        )
    else:
        writer.write(answer(b"the outside"))


REFUSALS = {FetchCause.BAD_URL, FetchCause.BAD_REDIRECT, FetchCause.REFUSED_ADDRESS}


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_no_vector_reaches_a_canary(way: Try) -> None:
    async def run() -> tuple[int, list[int], list[str]]:
        reached: list[str] = []
        tried = 0
        async with canaries() as (port, hits), serving(outside) as seen:
            lookup = names(vectors.HOSTILE_NAMES | {"public.example": [PUBLIC]})
            async with open_gate(lookup) as gate:
                hostile = [f"http://{name}:{port}/" for name in vectors.HOSTILE_NAMES]
                for url in vectors.urls(port) + hostile:
                    tried += 1
                    before = len(seen.heads)
                    try:
                        await way(gate, seen, url)
                    except FetchFailed as error:
                        # A redirect whose bytes are not valid HTTP is refused by the parser.
                        if error.cause not in REFUSALS | {FetchCause.BAD_HTTP}:
                            reached.append(f"{url!r}: {error}")
                    else:
                        # A relative redirect stays on the outside, which is fine.
                        if way is not as_redirect or len(seen.heads) != before + 2:
                            reached.append(repr(url))
            assert hits == []
            await hits_a_canary(f"http://127.0.0.2:{port}/")
            return tried, hits, reached

    tried, hits, reached = asyncio.run(run())
    assert reached == []
    assert tried >= 300
    assert hits == [1]


@pytest.mark.parametrize("way", [as_page, with_robots, as_redirect, as_webhook, as_check])
def test_rebinding_never_reaches_a_canary(way: Try) -> None:
    """The name resolves to a public address for one question and to the inside for the next."""

    async def run() -> list[int]:
        async with canaries() as (port, hits), serving(outside) as seen:
            answers = cycle(
                [[PUBLIC], ["127.0.0.2"], [PUBLIC, "127.0.0.2"], ["127.0.0.2", PUBLIC],
                 ["::1", PUBLIC], [PUBLIC], ["127.0.0.3"], ["::ffff:127.0.0.2", PUBLIC]]
            )  # fmt: skip
            dialled: list[str] = []

            async def lookup(host: str) -> list[str]:
                del host
                return next(answers)

            async with open_gate(lookup) as gate:
                _record_and_refuse_public(gate, dialled)
                for at in range(2000):
                    with contextlib.suppress(FetchFailed):
                        await way(gate, seen, f"http://r{at}.example:{port}/")
            assert all(address in {PUBLIC, "127.0.0.1"} for address in dialled)
            assert PUBLIC in dialled or way is as_check
            return hits

    assert asyncio.run(run()) == []


def _record_and_refuse_public(gate: Gate, dialled: list[str]) -> None:
    """Record the dialled addresses. Public ones fail: a test must not leave this machine."""
    connector = gate._direct.connector  # type: ignore[union-attr]
    original = connector._socket_factory  # type: ignore[union-attr]

    def record(info: tuple[int, int, int, str, tuple[str, int]]) -> socket.socket:
        made: socket.socket = original(info)
        dialled.append(info[4][0])
        if info[4][0] == PUBLIC:
            made.close()
            raise OSError("a test does not dial the internet")
        return made

    connector._socket_factory = record  # type: ignore[union-attr]


def test_the_last_check_is_at_the_socket() -> None:
    """Even if the resolver were bypassed, the socket is not opened."""

    async def run() -> list[int]:
        async with canaries() as (port, hits), open_gate() as gate:
            connector = gate._direct.connector  # type: ignore[union-attr]

            async def leaky(host: str, port: int = 0, **_: object) -> list[dict[str, object]]:
                return [
                    {"hostname": host, "host": "127.0.0.2", "port": port, "family": socket.AF_INET,
                     "proto": 0, "flags": 0}
                ]  # fmt: skip

            connector._resolver.resolve = leaky  # type: ignore[union-attr]
            with pytest.raises(FetchFailed) as caught:
                await gate.fetch(Request(f"http://a.example:{port}/", obey_robots=False))
            assert caught.value.cause is FetchCause.REFUSED_ADDRESS
            return hits

    assert asyncio.run(run()) == []


def test_a_mixed_answer_is_dialled_at_its_public_address_only() -> None:
    async def run() -> list[str]:
        lookup = names({"a.example": ["10.0.0.1", PUBLIC, "::1", "fd00::1", "127.0.0.2"]})
        async with open_gate(lookup) as gate:
            return [str(one) for one in await gate.resolver.addresses("a.example", timeout_s=240)]

    assert asyncio.run(run()) == [PUBLIC]


def test_addresses_of_this_machine_are_refused_even_if_they_look_public(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address = ipaddress.ip_address(PUBLIC)
    assert Policy().refusal(address) is None
    monkeypatch.setattr(resolver, "_can_bind", lambda text: text == PUBLIC)
    assert Policy().refusal(address) == f"{PUBLIC} is an address of this machine"
    # If a system can bind to any address, binding does not show which are its own.
    monkeypatch.setattr(resolver, "_can_bind", lambda _: True)
    assert Policy().refusal(address) is None
    assert resolver._can_bind("127.0.0.1")


def test_operators_can_allow_a_network() -> None:
    async def run() -> bytes:
        async with serving(always(answer(b"inside"))) as seen, open_gate() as gate:
            return (await gate.fetch(Request(seen.url(), obey_robots=False))).body

    assert asyncio.run(run()) == b"inside"


def test_names_without_addresses_and_odd_answers_are_dns_errors() -> None:
    async def run() -> list[FetchCause]:
        causes = []
        lookup = names(
            {"none.example": [], "odd.example": ["not an address"], "z.example": ["fe80::1%lo"]}
        )
        async with open_gate(lookup) as gate:
            for name in ("none", "odd", "z", "unknown"):
                with pytest.raises(FetchFailed) as caught:
                    await gate.check(f"http://{name}.example/")
                causes.append(caught.value.cause)
        return causes

    assert asyncio.run(run()) == [FetchCause.DNS] * 4


def test_the_system_resolver_is_used_by_default() -> None:
    async def run() -> FetchCause:
        async with Gate() as gate:
            with pytest.raises(FetchFailed) as caught:
                await gate.check("http://localhost/")
            return caught.value.cause

    assert asyncio.run(run()) is FetchCause.REFUSED_ADDRESS
