"""Servers for the tests of the gate: scripted ones that may be hostile, and canaries."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ssl import SSLContext

from quire.sources.gate import Gate, Limits, Politeness, Proxy, parse_networks
from quire.sources.gate.resolver import Lookup

LOOPBACK = parse_networks("127.0.0.1/32")
IMPOLITE = Politeness(connections=10, pause_s=0.0)
# For servers that answer: no machine is so busy that these limits end a fetch.
PATIENT = Limits(whole_s=240.0, idle_s=240.0, connect_s=240.0, dns_s=240.0, wait_s=240.0)
# For servers that hang, whose fetches can only end by a limit.
QUICK = Limits(whole_s=5.0, idle_s=2.0, connect_s=3.0, dns_s=3.0, wait_s=5.0)

Handler = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Seen:
    """A running server and the heads of the requests that it got."""

    port: int
    heads: list[bytes] = field(default_factory=list)
    connections: int = 0

    def url(self, path: str = "/", host: str = "127.0.0.1", scheme: str = "http") -> str:
        """Return the address of a page on this server."""
        return f"{scheme}://{host}:{self.port}{path}"

    def paths(self) -> list[str]:
        """Return the paths that were asked for."""
        return [head.split(b" ", 2)[1].decode() for head in self.heads]


@asynccontextmanager
async def serving(
    handler: Handler, *, host: str = "127.0.0.1", tls: SSLContext | None = None
) -> AsyncIterator[Seen]:
    """Run a server that calls the handler for each request with its head."""
    seen = Seen(0)
    tasks: set[asyncio.Task[None]] = set()

    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        seen.connections += 1
        try:
            while not writer.is_closing():
                head = await reader.readuntil(b"\r\n\r\n")
                seen.heads.append(head)
                await handler(head, writer)
                await writer.drain()
        except (OSError, EOFError, asyncio.CancelledError):
            pass
        finally:
            tasks.discard(task)
            writer.close()

    server = await asyncio.start_server(one, host, 0, ssl=tls)
    seen.port = server.sockets[0].getsockname()[1]
    try:
        yield seen
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()


def answer(
    body: bytes = b"<p>Open", status: str = "200 OK", *fields: str, length: int | None = None
) -> bytes:
    """Return an answer as bytes."""
    lines = [
        f"HTTP/1.1 {status}",
        *fields,
        f"Content-Length: {len(body) if length is None else length}",
    ]
    return "\r\n".join(lines).encode("utf-8", "surrogateescape") + b"\r\n\r\n" + body


def always(data: bytes) -> Handler:
    """Return a handler that gives the same answer to every request."""

    async def handler(head: bytes, writer: asyncio.StreamWriter) -> None:
        del head
        writer.write(data)

    return handler


def by_path(table: dict[str, bytes]) -> Handler:
    """Return a handler that answers by path, and with 404 otherwise."""

    async def handler(head: bytes, writer: asyncio.StreamWriter) -> None:
        path = head.split(b" ", 2)[1].decode("latin-1")
        writer.write(table.get(path, answer(b"", "404 Not Found")))

    return handler


def names(table: dict[str, list[str]]) -> Lookup:
    """Return a resolver that knows these names only."""

    async def lookup(host: str) -> list[str]:
        if host not in table:
            raise OSError(-2, "Name or service not known")
        return table[host]

    return lookup


def open_gate(
    lookup: Lookup | None = None,
    limits: Limits = PATIENT,
    politeness: Politeness = IMPOLITE,
    proxy: Proxy | None = None,
    trust: SSLContext | None = None,
) -> Gate:
    """Open a gate that may reach 127.0.0.1 and no other address of this machine."""
    return Gate(
        allow_networks=LOOPBACK,
        lookup=lookup,
        limits=limits,
        politeness=politeness,
        proxy=proxy,
        trust=trust,
    )
