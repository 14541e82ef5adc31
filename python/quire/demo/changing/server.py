"""Serves the changing newspaper on loopback.

On Linux it listens on 127.0.0.2, another address than the service: watches of the demo may reach
the newspaper, but not the service itself. Where there is only 127.0.0.1, it listens there.
"""

from __future__ import annotations

import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from quire.demo.changing.paper import answer

_HOSTS = ("127.0.0.2", "127.0.0.1")


class DemoSite:
    """The newspaper, served while the context manager is open.

    >>> with DemoSite() as site:
    ...     site.url.startswith("http://127.0.0.")
    True

    Attributes:
        host: the address it listens on.
        url: the address of the front page.
    """

    def __init__(self) -> None:
        self._server = _listen()
        self.host: str = str(self._server.server_address[0])
        self.url: str = f"http://{self.host}:{self._server.server_address[1]}/"
        self._thread = threading.Thread(
            target=self._server.serve_forever, name="quire-demo", daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _listen() -> ThreadingHTTPServer:
    begin = time.monotonic()
    responses = count(1)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            found = answer(path, time.monotonic() - begin, next(responses))
            self.send_response(found.status)
            self.send_header("Content-Type", found.content_type)
            self.send_header("Content-Length", str(len(found.body)))
            self.end_headers()
            self.wfile.write(found.body)

        def log_message(self, *_: object) -> None:
            """Log nothing: the terminal belongs to the service."""

    for host in _HOSTS[:-1]:
        try:
            return ThreadingHTTPServer((host, 0), Handler)
        except OSError:
            continue
    return ThreadingHTTPServer((_HOSTS[-1], 0), Handler)
