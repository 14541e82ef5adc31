"""Pages whose next change waits until the notice of the last one has arrived.

Each page shows a number. When the webhook gets the notice of a number, the page shows the next one.
So every change is seen by some check, and a single notice that is lost stops its page for good:
the test then finds a page that did not reach its last number.

The webhook is a bad one: it fails, closes connections after it has understood a notice, and answers
late.
"""

from __future__ import annotations

import json
import random
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


class Town:
    """Pages and a webhook on loopback.

    Args:
        pages: how many pages there are.
        changes: how often each of them changes.
        chance: decides how the webhook fails.

    Attributes:
        numbers: what each page shows.
        received: ids of the events that the webhook got, by page and number.
        repeats: how many notices came again with a known id.
    """

    def __init__(self, pages: int, changes: int, chance: random.Random) -> None:
        self.numbers = [0] * pages
        self.changes = changes
        self.received: dict[tuple[int, int], set[str]] = {}
        self.repeats = 0
        self._chance = chance
        self._lock = threading.Lock()
        self._server = self._listen()
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        port = self._server.server_address[1]
        self.hook = f"http://127.0.0.1:{port}/hook"
        self.urls = [f"http://127.0.0.1:{port}/page/{page}" for page in range(pages)]

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

    def begin(self) -> None:
        """Change all pages for the first time."""
        self.numbers = [1] * len(self.numbers)

    @property
    def is_done(self) -> bool:
        """Whether the notices of all changes have arrived."""
        return min(self.numbers) > self.changes

    def _page(self, number: int) -> bytes:
        shown = min(self.numbers[number], self.changes)
        return f"<!doctype html><title>Page {number}</title><p id=n>Number {shown}</p>".encode()

    def _notice(self, message: dict[str, Any]) -> None:
        """Take a notice: it may have several events."""
        with self._lock:
            for event in message["events"]:
                if event["kind"] != "change":
                    continue
                page = int(event["url"].rsplit("/", 1)[1])
                (number,) = {int(each) for each in re.findall(r"Number (\d+)", added(event))}
                known = self.received.setdefault((page, number), set())
                self.repeats += event["id"] in known
                known.add(event["id"])
                if self.numbers[page] == number:
                    self.numbers[page] = number + 1

    def _mood(self) -> float:
        with self._lock:
            return self._chance.random()

    def _listen(self) -> ThreadingHTTPServer:
        town = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                found = re.fullmatch(r"/page/(\d+)", self.path)
                body = town._page(int(found[1])) if found else b""
                self.send_response(200 if found else 404)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                mood = town._mood()
                if mood < 0.1:
                    self.send_response(503)
                    self.end_headers()
                    return
                town._notice(json.loads(body))
                if mood < 0.2:  # understood, but the sender never learns of it
                    self.connection.close()
                    return
                if mood < 0.25:
                    time.sleep(0.5)
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        return ThreadingHTTPServer(("127.0.0.1", 0), Handler)


def added(event: dict[str, Any]) -> str:
    """Return the added text of an event."""
    return json.dumps([each["after"] for each in event["differences"]["entries"]])
