"""The proxy inside the gate that the browser goes through: only its own visits, only what the gate allows."""

from __future__ import annotations

import asyncio
import base64
import socket

import pytest

from quire.sources.gate.browser.forward_proxy import ForwardProxy
from tests.sources.gate import vectors
from tests.sources.gate.servers import names, open_gate, serving
from tests.sources.gate.test_browser import NAMES, pages
from tests.sources.gate.test_ssrf import canaries


async def _asked(port: int, data: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(data)
    got = await reader.read()
    writer.close()
    return got


def test_the_proxy_serves_its_visits_only_and_refuses_what_the_gate_refuses() -> None:
    async def run() -> None:
        async with canaries() as (inside, hits), open_gate(names(NAMES)) as gate:
            proxy = ForwardProxy(gate.resolver, dns_s=240)
            url = await proxy.start()
            port = int(url.rsplit(":", 1)[1])
            stranger = await _asked(port, b"GET http://site.example/ HTTP/1.1\r\n\r\n")
            assert stranger.startswith(b"HTTP/1.1 407 ")
            visit = proxy.open_visit(most_bytes=1000, most_connections=5)
            wrong = base64.b64encode(f"{visit.name}:x".encode())
            right = base64.b64encode(f"{visit.name}:{visit.password}".encode())
            for login in (b"Basic " + wrong, b"Basic \xff", b"Bearer x", b"Basic " + b"eDp5"):
                head = b"CONNECT site.example:443 HTTP/1.1\r\nProxy-Authorization: " + login
                assert (await _asked(port, head + b"\r\n\r\n")).startswith(b"HTTP/1.1 407 ")
            tried = 0
            for vector in vectors.urls(inside):
                target = vector.encode("utf-8", "replace").replace(b"\r", b"").replace(b"\n", b"")
                host = target.partition(b"//")[2].rstrip(b"/")
                for line in (b"GET " + target, b"POST " + target, b"CONNECT " + host):
                    head = line + b" HTTP/1.1\r\nProxy-Authorization: Basic " + right + b"\r\n\r\n"
                    got = await _asked(port, head)
                    assert b"200" not in got
                    tried += 1
            assert tried > 900
            assert hits == []
            head = b""
            for line in (b"CONNECT site.example:22", b"GET https://site.example/", b"GET /x"):
                head = line + b" HTTP/1.1\r\nProxy-Authorization: Basic " + right + b"\r\n\r\n"
                assert b"200" not in await _asked(port, head)
            proxy.close_visit(visit)
            assert (await _asked(port, head)).startswith(b"HTTP/1.1 407 ")
            await proxy.stop()
            await proxy.stop()
            with pytest.raises(OSError, match="refused"):
                socket.create_connection(("127.0.0.1", port), timeout=240)

    asyncio.run(run())


def test_one_connection_of_the_proxy_carries_one_plain_request() -> None:
    """A second request on the connection is not sent to the first host."""

    async def run() -> list[bytes]:
        async with serving(pages({"/": "<p>x"})) as seen, open_gate(names(NAMES)) as gate:
            proxy = ForwardProxy(gate.resolver, dns_s=240)
            port = int((await proxy.start()).rsplit(":", 1)[1])
            visit = proxy.open_visit(most_bytes=10_000, most_connections=5)
            code = base64.b64encode(f"{visit.name}:{visit.password}".encode())
            login = b"Proxy-Authorization: Basic " + code + b"\r\nProxy-Connection: keep-alive\r\n"
            url = seen.url("/", "site.example").encode()
            one = b"POST " + url + b" HTTP/1.1\r\n" + login + b"Content-Length: 2\r\n\r\nab"
            two = b"GET http://loop.example/second HTTP/1.1\r\n" + login + b"\r\n"
            got = await _asked(port, one + two)
            assert got.count(b"HTTP/1.1 ") == 1
            assert b"Connection: close\r\n" in got
            chunked = one.replace(b"Content-Length: 2", b"Transfer-Encoding: chunked")
            assert await _asked(port, chunked) == b""
            await proxy.stop()
            return seen.heads

    heads = asyncio.run(run())
    assert len(heads) == 1
    assert b"Proxy-" not in heads[0]
    assert heads[0].startswith(b"POST / HTTP/1.1\r\nHost: site.example:")
