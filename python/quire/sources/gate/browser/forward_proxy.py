"""Forward proxy: the only route of the browser, which checks and dials on its behalf.

Chromium asks it for a tunnel (CONNECT, for https and WebSockets) or for a page (plain http). The
proxy parses the address, resolves the host, refuses addresses that the gate refuses, and dials the
address that it checked. It listens on loopback; each visit has its own random password, so other
programs on the machine cannot use it, and traffic is counted for each visit.

A plain request is sent on alone: the connection ends with its answer. Otherwise a second request
for another host could follow on a connection to the first.
"""

from __future__ import annotations

import asyncio
import base64
import hmac
import re
import secrets
import socket
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field

from quire.errors import FetchCause, FetchFailed
from quire.sources.gate.addresses import Address
from quire.sources.gate.resolver import AddressRefused, Dialler, Resolver
from quire.sources.gate.urls import WebAddress, parse

_MOST_HEAD_BYTES = 131_072
_HEAD_S = 30.0
_CONNECT_S = 15.0
# A tunnel may be quiet for a while (WebSockets), but ends with its visit in any case.
_PIECE_BYTES = 65_536
_REQUEST = re.compile(rb"([A-Z]{1,20}) ([!-~]+) HTTP/1\.[01]")
# Fields between the browser and the proxy, which servers must not see.
_PROXY_FIELDS = frozenset(
    {b"proxy-authorization", b"proxy-connection", b"connection", b"keep-alive"}
)
_UNAUTHORIZED = (
    b"HTTP/1.1 407 Proxy Authentication Required\r\n"
    b'Proxy-Authenticate: Basic realm="quire"\r\n'
    b"Content-Length: 0\r\nConnection: close\r\n\r\n"
)
_ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"
_FORBIDDEN = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@dataclass(slots=True)
class Visit:
    """The traffic of one page in the browser.

    Attributes:
        name: user name at the proxy.
        password: password at the proxy.
        most_bytes: how much may be transferred, both ways together.
        most_connections: how many connections may be open at the same time.
        used_bytes: how much was transferred.
        hosts: hosts that were dialled.
        failures: for hosts that were not, why.
        is_exhausted: whether the traffic was used up, and ended.
        when_exhausted: called when this happens.
        connections: the connections that are open.
    """

    name: str
    password: str
    most_bytes: int
    most_connections: int
    used_bytes: int = 0
    hosts: set[str] = field(default_factory=set)
    failures: dict[str, FetchFailed] = field(default_factory=dict)
    is_exhausted: bool = False
    when_exhausted: Callable[[], None] | None = None
    connections: set[asyncio.Task[None]] = field(default_factory=set)


class ForwardProxy:
    """A proxy on loopback for the visits of a browser."""

    def __init__(self, resolver: Resolver, *, dns_s: float) -> None:
        self._resolver = resolver
        self._dialler = Dialler(resolver, timeout_s=dns_s)
        self._dns_s = dns_s
        self._visits: dict[str, Visit] = {}
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.refused_clients: int = 0

    async def start(self) -> str:
        """Listen, and return the address of the proxy."""
        self._server = await asyncio.start_server(
            self._serve, "127.0.0.1", 0, limit=_MOST_HEAD_BYTES
        )
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def stop(self) -> None:
        """End all connections and stop listening."""
        if self._server is None:
            return
        self._server.close()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._server.wait_closed()
        self._server = None

    def open_visit(self, *, most_bytes: int, most_connections: int) -> Visit:
        """Let one page use the proxy."""
        visit = Visit(secrets.token_hex(8), secrets.token_hex(16), most_bytes, most_connections)
        self._visits[visit.name] = visit
        return visit

    def close_visit(self, visit: Visit) -> None:
        """End the connections of a page."""
        self._visits.pop(visit.name, None)
        for task in list(visit.connections):
            task.cancel()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a server runs each connection in a task
        self._tasks.add(task)
        try:
            await self._answer(reader, writer, task)
        except (OSError, EOFError, TimeoutError, asyncio.LimitOverrunError, asyncio.CancelledError):
            pass  # either side went away, or the visit ended
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _answer(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        task: asyncio.Task[None],
    ) -> None:
        async with asyncio.timeout(_HEAD_S):
            head = await reader.readuntil(b"\r\n\r\n")
        line, _, rest = head[:-4].partition(b"\r\n")
        request = _REQUEST.fullmatch(line)
        fields = [(name.strip(), value.strip()) for name, _, value in
                  (row.partition(b":") for row in rest.split(b"\r\n") if row)]  # fmt: skip
        visit = self._visit_of(fields)
        if visit is None or request is None:
            self.refused_clients += 1
            writer.write(_UNAUTHORIZED if visit is None else _FORBIDDEN)
            await writer.drain()
            return
        visit.connections.add(task)
        try:
            await self._forward(visit, request, fields, reader, writer)
        finally:
            visit.connections.discard(task)

    def _visit_of(self, fields: list[tuple[bytes, bytes]]) -> Visit | None:
        given = next((v for n, v in fields if n.lower() == b"proxy-authorization"), b"")
        kind, _, code = given.partition(b" ")
        if kind.lower() != b"basic":
            return None
        try:
            name, _, password = base64.b64decode(code, validate=True).decode("ascii").partition(":")
        except ValueError:
            return None
        visit = self._visits.get(name)
        if visit is None or not hmac.compare_digest(visit.password, password):
            return None
        return visit

    async def _forward(
        self,
        visit: Visit,
        request: re.Match[bytes],
        fields: list[tuple[bytes, bytes]],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        target = request[2].decode("ascii")
        is_tunnel = request[1] == b"CONNECT"
        host = target
        try:
            address = parse(f"https://{target}/" if is_tunnel else target)
            host = address.host
            if not is_tunnel and address.scheme != "http":
                return
            if visit.is_exhausted or len(visit.connections) > visit.most_connections:
                return
            upstream = await self._dial(visit, address)
        except FetchFailed as error:
            visit.failures.setdefault(host, error)
            # A tunnel is refused by name. A plain request gets no answer at all: an answer would be
            # taken for the page.
            if is_tunnel:
                writer.write(_FORBIDDEN)
                await writer.drain()
            return
        from_server, to_server = upstream
        try:
            if is_tunnel:
                writer.write(_ESTABLISHED)
                await self._relay_both(visit, reader, writer, from_server, to_server)
            else:
                head, length = _plain_head(request, address, fields)
                to_server.write(head)
                await self._relay_body(visit, length, reader, to_server)
                await self._relay_answer(visit, from_server, reader, writer)
        finally:
            to_server.close()

    async def _dial(
        self, visit: Visit, address: WebAddress
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        try:
            found = await self._resolver.addresses(address.host, timeout_s=self._dns_s)
        except AddressRefused as error:
            raise FetchFailed(
                f"{address.key}: {error}", url=address.key, cause=FetchCause.REFUSED_ADDRESS
            ) from None
        except FetchFailed as error:  # the resolver does not know the page
            raise FetchFailed(
                f"{address.key}: {error}", url=address.key, cause=error.cause, limit=error.limit
            ) from None
        visit.hosts.add(address.host)
        for one in found:
            try:
                async with asyncio.timeout(_CONNECT_S):
                    return await self._connect(one, address.port)
            except (OSError, TimeoutError):
                continue
        raise FetchFailed(
            f"{address.key}: no connection to the host", url=address.key, cause=FetchCause.CONNECT
        )

    async def _connect(
        self, address: Address, port: int
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        family = socket.AF_INET6 if ":" in str(address) else socket.AF_INET
        to = (str(address), port)
        # The same last check as for plain fetches.
        made = self._dialler.open_socket((family, socket.SOCK_STREAM, 0, "", to))
        try:
            made.setblocking(False)  # noqa: FBT003 - the name of the method says it
            await asyncio.get_running_loop().sock_connect(made, to)
            return await asyncio.open_connection(sock=made, limit=_MOST_HEAD_BYTES)
        except BaseException:
            made.close()
            raise

    async def _relay_body(
        self,
        visit: Visit,
        length: int,
        reader: asyncio.StreamReader,
        to_server: asyncio.StreamWriter,
    ) -> None:
        """Send the body of a plain request on, and nothing that follows it."""
        while length:
            piece = await reader.read(min(length, _PIECE_BYTES))
            if not piece:
                raise ConnectionError("the body ends early")
            length -= len(piece)
            await self._send(visit, piece, to_server)
        await to_server.drain()

    async def _relay_answer(
        self,
        visit: Visit,
        from_server: asyncio.StreamReader,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        """Send the answer to a plain request back, and say that the connection ends with it."""
        head = await from_server.readuntil(b"\r\n\r\n")
        lines = [
            line
            for line in head[:-4].split(b"\r\n")
            if line.partition(b":")[0].strip().lower() not in _PROXY_FIELDS
        ]
        await self._send(visit, b"\r\n".join([*lines, b"Connection: close", b"", b""]), writer)
        # The browser closes the connection when it has the whole answer; some servers never do.
        await _first(self._relay(visit, from_server, writer), reader.read(1))

    async def _relay_both(
        self,
        visit: Visit,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        from_server: asyncio.StreamReader,
        to_server: asyncio.StreamWriter,
    ) -> None:
        """Relay a tunnel until one side ends it."""
        await _first(self._relay(visit, reader, to_server), self._relay(visit, from_server, writer))

    async def _relay(
        self, visit: Visit, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        while piece := await reader.read(_PIECE_BYTES):
            await self._send(visit, piece, writer)

    async def _send(self, visit: Visit, piece: bytes, writer: asyncio.StreamWriter) -> None:
        visit.used_bytes += len(piece)
        if visit.used_bytes > visit.most_bytes:
            if not visit.is_exhausted and visit.when_exhausted is not None:
                visit.when_exhausted()
            visit.is_exhausted = True
            raise ConnectionError("the visit has used up its traffic")
        writer.write(piece)
        await writer.drain()


async def _first(*work: Coroutine[object, object, object]) -> None:
    """Run several things until one is done, and stop the others."""
    tasks = [asyncio.create_task(each) for each in work]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _plain_head(
    request: re.Match[bytes], address: WebAddress, fields: list[tuple[bytes, bytes]]
) -> tuple[bytes, int]:
    """Return the head of a plain request as the server gets it, and the length of its body."""
    kept = [(n, v) for n, v in fields if n.lower() not in _PROXY_FIELDS and n.lower() != b"host"]
    length = next((v for n, v in kept if n.lower() == b"content-length"), b"0")
    if any(n.lower() == b"transfer-encoding" for n, _ in kept) or not length.isdigit():
        raise ConnectionError("a body of unknown length")
    lines = [
        b"%s %s HTTP/1.1" % (request[1], address.target.encode("ascii")),
        b"Host: " + address.authority.encode("ascii"),
        *(name + b": " + value for name, value in kept),
        b"Connection: close",
    ]
    return b"\r\n".join(lines) + b"\r\n\r\n", int(length[:18])
