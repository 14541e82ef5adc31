"""The event loop of ``quire archive serve``, ended by signals."""

from __future__ import annotations

import asyncio
import signal
from socket import socket

from quire.archive.browsing import Library
from quire.web.archives.alone import create_archive_app
from quire.web.server import serve_app


def run_browser(library: Library, bound: socket) -> None:
    """Answer requests until a signal comes.

    Args:
        library: the archives.
        bound: the socket to answer on.
    """

    async def work() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop.set)
        await serve_app(create_archive_app(library), bound, stop)

    asyncio.run(work())
