"""Databases for tests: SQLite in a file, and a real PostgreSQL on loopback.

PostgreSQL is started once for all tests. Each test gets a database of its own.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import uuid
from functools import cache
from pathlib import Path

from sqlalchemy import create_engine, text

from tests.conftest import require

_FOLDERS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)


def new_postgres() -> str:
    """Return the address of a new, empty database."""
    server = _server()
    name = f"quire_{uuid.uuid4().hex}"
    engine = create_engine(f"{server}/postgres", isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return f"{server}/{name}"


@cache
def _server() -> str:
    """Start a server, and stop it when the tests end."""
    require("psql", "PostgreSQL")
    folder = Path(tempfile.mkdtemp(prefix="quire-postgres-"))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    user = "postgres" if os.geteuid() == 0 else ""  # PostgreSQL refuses to run as root
    if user:
        shutil.chown(folder, user)
    commands = _FOLDERS[0]
    _run(user, commands / "initdb", "-D", folder / "data", "-U", "postgres", "-A", "trust", "-N")
    options = f"-h 127.0.0.1 -p {port} -k {folder} -c fsync=off -c max_connections=200"
    _run(
        user,
        commands / "pg_ctl",
        "-D",
        folder / "data",
        "-w",
        "-o",
        options,
        "-l",
        folder / "log",
        "start",
    )

    import atexit  # noqa: PLC0415 - only here

    def stop() -> None:
        _run(user, commands / "pg_ctl", "-D", folder / "data", "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(stop)
    return f"postgresql+psycopg://postgres@127.0.0.1:{port}"


def _run(user: str, *command: str | Path) -> None:
    whole = [str(each) for each in command]
    if user:
        whole = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *whole]
    subprocess.run(whole, check=True, capture_output=True, cwd="/")
