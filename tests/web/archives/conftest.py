"""The site in an archive, and a server that shows it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from fastapi import FastAPI

from quire.archive import Archive
from quire.archive.browsing import Library
from quire.web.archives.alone import create_archive_app
from quire.web.server import address_of, listen, serve_app
from tests.patience import PATIENCE_S
from tests.web.archives import site


@pytest.fixture(scope="session")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return site.pack(tmp_path_factory.mktemp("archives"))


@pytest.fixture
def library(packed: Path) -> Iterator[Library]:
    with Archive.open(packed) as archive:
        yield Library([archive])


@contextmanager
def serving(app: FastAPI) -> Iterator[str]:
    """Serve an application in a thread, and give its address."""
    with listen("127.0.0.1", 0) as bound:
        loop = asyncio.new_event_loop()
        stop = asyncio.Event()
        work = serve_app(app, bound, stop)
        thread = threading.Thread(target=loop.run_until_complete, args=(work,))
        thread.start()
        try:
            yield address_of(bound).rstrip("/")
        finally:
            loop.call_soon_threadsafe(stop.set)
            thread.join(PATIENCE_S)
            loop.close()


@pytest.fixture
def server(library: Library) -> Iterator[str]:
    """Serve the archive, and give the address."""
    with serving(create_archive_app(library)) as address:
        yield address
