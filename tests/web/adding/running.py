"""A running service, and a site of strangers for it to fetch, both on loopback."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from quire.sentinels.accounts import Accounts
from quire.sentinels.service import Service
from quire.sentinels.store import Database
from quire.sources.gate import Gate, Politeness, parse_networks
from quire.web import create_app
from quire.web.server import address_of, listen, serve_app
from tests.patience import PATIENCE_S
from tests.web.conftest import CHEAP, PASSWORD

POLITE = Politeness(connections=6, pause_s=0.0)


@dataclass
class Running:
    """A service that answers on loopback.

    Attributes:
        url: the address of its pages.
        service: its watches.
    """

    url: str
    service: Service


@contextmanager
def running(path: Path, *, allow: str = "127.0.0.2/32") -> Iterator[Running]:
    """Run a service with one account, ``admin``; its gate may reach some networks."""
    service = Service(Database.open(path))
    Accounts(service.database, CHEAP).add("admin", PASSWORD, "admin")
    networks = parse_networks(allow)

    def gate() -> Gate:
        return Gate(allow_networks=networks, politeness=POLITE)

    app = create_app(service, hasher=CHEAP, open_gate=gate, open_pages=gate)
    stop: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []
    with listen("127.0.0.1", 0) as bound:

        def serve() -> None:
            async def run() -> None:
                event = asyncio.Event()
                stop.append((asyncio.get_running_loop(), event))
                await serve_app(app, bound, event)

            asyncio.run(run())

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield Running(address_of(bound).rstrip("/"), service)
        finally:
            loop, event = stop[0]
            loop.call_soon_threadsafe(event.set)
            thread.join(PATIENCE_S)
            service.database.close()


@dataclass
class Site:
    """A site of strangers.

    Attributes:
        url: its address.
        pages: what it answers: the type and the body for each path.
        seen: the paths that were asked for.
    """

    url: str
    pages: dict[str, tuple[str, bytes]]
    seen: list[str] = field(default_factory=list)


@contextmanager
def serving_site(pages: dict[str, tuple[str, bytes]], host: str = "127.0.0.2") -> Iterator[Site]:
    """Serve pages on loopback."""
    site = Site("", pages)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            site.seen.append(self.path)
            kind, body = site.pages.get(path, ("text/plain", b"no such page"))
            self.send_response(200 if path in site.pages else 404)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer((host, 0), Handler)
    site.url = f"http://{host}:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
