"""Databases for tests: SQLite in a file, and a real PostgreSQL on loopback.

PostgreSQL is started once for all tests. Each test gets a database of its own.
"""

from __future__ import annotations

import atexit
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Self

from sqlalchemy import create_engine, text

from tests.conftest import require

#: How long the server may take to start, on a machine with much else to do.
PATIENCE_S = 120
_FOLDERS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)


class Postgres:
    """A PostgreSQL server on loopback, with its files in a folder.

    Attributes:
        newest: the address of the database that was made last.
    """

    def __init__(self, folder: Path) -> None:
        require("psql", "PostgreSQL")
        self._folder = folder / "postgres"
        self._folder.mkdir()
        self.newest = ""
        self.port = 0
        # PostgreSQL refuses to run as root.
        self._user = "postgres" if os.geteuid() == 0 else ""
        if self._user:
            shutil.chown(self._folder, self._user)
            for parent in self._folder.parents:  # pytest's folders are closed to others
                if parent.owner() == "root" and parent.stat().st_mode & 0o777 == 0o700:
                    parent.chmod(0o711)
        data = ("-D", self._folder / "data")
        _run(self._user, _FOLDERS[0] / "initdb", *data, "-U", "postgres", "-A", "trust", "-N")

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(subprocess.CalledProcessError):  # a test may have killed it
            self._control("-m", "immediate", "stop")

    def start(self) -> None:
        """Start the server and wait until it answers; on the same port as before."""
        end = time.monotonic() + PATIENCE_S
        port = self.port
        while True:
            # Another program may take a port that was free a moment ago.
            self.port = port or _free_port()
            options = f"-h 127.0.0.1 -p {self.port} -k {self._folder} -c fsync=off"
            options += " -c max_connections=200"
            log = self._folder / "log"
            try:
                self._control("-w", "-t", f"{PATIENCE_S}", "-o", options, "-l", log, "start")
            except subprocess.CalledProcessError:
                # Processes of a server that was killed may hold its memory for a while.
                if time.monotonic() > end:
                    raise AssertionError(log.read_text().splitlines()[-5:]) from None
                time.sleep(0.2)
            else:
                return

    def kill(self) -> None:
        """Kill the server as a power cut would, except for the cache of the system."""
        lock = self._folder / "data" / "postmaster.pid"
        server = int(lock.read_text().splitlines()[0])
        os.kill(server, signal.SIGSTOP)  # so that it starts no more processes
        children = _children(server)
        for process in (server, *children):
            with suppress(ProcessLookupError):  # it ended by itself
                os.kill(process, signal.SIGKILL)
        lock.unlink()  # until the system has cleaned up the process, its number seems to be in use

    def new_database(self) -> str:
        """Return the address of a new, empty database."""
        server = f"postgresql+psycopg://postgres@127.0.0.1:{self.port}"
        name = f"quire_{uuid.uuid4().hex}"
        engine = create_engine(f"{server}/postgres", isolation_level="AUTOCOMMIT")
        try:
            with engine.connect() as connection:
                connection.execute(text(f"CREATE DATABASE {name}"))
        finally:
            engine.dispose()
        self.newest = f"{server}/{name}"
        return self.newest

    def _control(self, *words: str | Path) -> None:
        _run(self._user, _FOLDERS[0] / "pg_ctl", "-D", self._folder / "data", *words)


def _children(process: int) -> list[int]:
    """Return the processes that a process has started."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it ended meanwhile
            fields = path.read_text().rpartition(") ")[2].split()
            if int(fields[1]) == process:
                found.append(int(path.parent.name))
    return found


def _free_port() -> int:
    """Return a free port below those that the system gives to clients.

    A client that dials a port with no listener may get the same number for its own end, and is then
    connected to itself: a server that was killed could not come back.
    """
    while True:
        port = random.randrange(15_000, 32_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def new_postgres() -> str:
    """Return the address of a new, empty database on a server for all tests."""
    return _server().new_database()


@cache
def _server() -> Postgres:
    """Start a server, and stop it when the tests end."""
    folder = Path(tempfile.mkdtemp(prefix="quire-postgres-"))
    folder.chmod(0o711)
    server = Postgres(folder)
    server.start()

    def stop() -> None:
        server.__exit__()
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(stop)
    return server


def _run(user: str, *command: str | Path) -> None:
    whole = [str(each) for each in command]
    if user:
        whole = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *whole]
    subprocess.run(whole, check=True, capture_output=True, cwd="/")
