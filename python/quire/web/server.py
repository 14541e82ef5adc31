"""The web server: uvicorn on a socket that is bound first, stopped by an event.

The socket listens before anything else starts, so that a port in use is an error at once, and the
address that is printed is the one that answers.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI

#: How long connections get to end when the server stops, in seconds.
STOPPING_S = 5
#: Connections at the same time; more are answered with 503.
MOST_CONNECTIONS = 500


class _Server(uvicorn.Server):
    """A server that leaves signals to its caller."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def listen(host: str, port: int) -> socket.socket:
    """Bind a socket.

    Args:
        host: the address to listen on.
        port: the port; 0 picks a free one.

    Raises:
        OSError: the address is not one of this machine, or the port is in use.
    """
    family, kind, proto, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    found = socket.socket(family, kind, proto)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        found.listen()  # from now on, early visitors wait instead of being refused
    except OSError:
        found.close()
        raise
    return found


def address_of(bound: socket.socket) -> str:
    """Return the address of the web pages on a bound socket."""
    host, port = bound.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}/"


async def serve_app(app: FastAPI, bound: socket.socket, stop: asyncio.Event) -> None:
    """Answer requests until ``stop`` is set."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=STOPPING_S,
        lifespan="off",
    )
    server = _Server(config)

    async def end() -> None:
        await stop.wait()
        live = getattr(app.state, "live", None)
        if live is not None:
            live.close()  # open pages would keep the server waiting
        server.should_exit = True

    ending = asyncio.create_task(end())
    try:
        await server.serve(sockets=[bound])
    finally:
        ending.cancel()
