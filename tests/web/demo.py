"""The demo as people start it: ``quire serve --demo`` in a process, with its worker and its site."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from urllib.request import urlopen

from tests.patience import PATIENCE_S

#: The address of the newspaper; watches of the demo may reach nothing else.
HOST = "127.0.0.2"


@dataclass(frozen=True)
class Demo:
    """The demo, running.

    Attributes:
        url: the address of its pages, without a slash at the end.
        password: the password of ``admin``, which works once.
    """

    url: str
    password: str


@contextmanager
def running_demo(*options: str) -> Iterator[Demo]:
    """Run ``quire serve --demo`` on a free port until the context ends."""
    command = [sys.executable, "-m", "quire.cli", "serve", "--demo", "--port", "0", *options]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        try:
            printed = ""
            for line in process.stdout:
                printed += line
                if found := re.search(r"quire is at (\S+?)/?\n.* password (\S+)\n", printed):
                    break
            else:
                raise AssertionError(f"the demo did not start:\n{printed}")
            # Events are printed as they come; read them, so that the pipe does not fill up.
            reader = threading.Thread(target=process.stdout.read, daemon=True)
            reader.start()
            yield Demo(found[1], found[2])
        finally:
            process.terminate()
            process.wait(PATIENCE_S)


@dataclass
class Hook:
    """A webhook that keeps the messages that arrive.

    Attributes:
        url: its address.
        arrived: the bodies of messages, in the order in which they came.
    """

    url: str = ""
    arrived: Queue[bytes] = field(default_factory=Queue)


@contextmanager
def listening_hook() -> Iterator[Hook]:
    """Listen for messages on the address of the newspaper."""
    hook = Hook()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            hook.arrived.put(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer((HOST, 0), Handler)
    hook.url = f"http://{HOST}:{server.server_address[1]}/hook"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hook
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def read(url: str) -> str:
    """Read a page of the newspaper."""
    with urlopen(url, timeout=PATIENCE_S) as reply:  # noqa: S310 - an address of this machine
        return str(reply.read().decode())
