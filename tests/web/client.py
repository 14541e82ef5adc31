"""A client that calls the application in this process, with any header and any body."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlencode

from fastapi import FastAPI

HOST = "127.0.0.1"
ORIGIN = "http://127.0.0.1"


@dataclass(frozen=True)
class Reply:
    """An answer of the application."""

    status: int
    headers: dict[str, str]
    cookies: list[str]
    body: bytes

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode()

    def json(self) -> Any:  # noqa: ANN401 - any value of JSON
        """Read the body as JSON."""
        return json.loads(self.body)


class Client:
    """A browser or a program, with a cookie or a token.

    Args:
        app: the application.
        runner: the loop that runs it.
        token: a token to send.
        client: the address of the client.
    """

    def __init__(
        self, app: FastAPI, runner: asyncio.Runner, token: str = "", client: str = "192.0.2.7"
    ) -> None:
        self.app = app
        self.runner = runner
        self.token = token
        self.client = client
        self.cookie = ""

    def with_token(self, token: str) -> Client:
        """Return another client that sends a token."""
        return Client(self.app, self.runner, token, self.client)

    def get(self, path: str, **options: Any) -> Reply:  # noqa: ANN401 - as for call
        """Send a GET request."""
        return self.call("GET", path, **options)

    def post(self, path: str, **options: Any) -> Reply:  # noqa: ANN401 - as for call
        """Send a POST request."""
        return self.call("POST", path, **options)

    def call(
        self,
        method: str,
        path: str,
        *,
        data: object = None,
        body: bytes | None = None,
        form: dict[str, str] | None = None,
        chunks: list[bytes] | None = None,
        headers: dict[str, str] | list[tuple[str, str]] | None = None,
        origin: str | None = ORIGIN,
        host: str | None = HOST,
        stalls: bool = False,
    ) -> Reply:
        """Send a request.

        Args:
            method: its method.
            path: the path, with a query.
            data: a value to send as JSON.
            body: a body to send as it is.
            form: fields to send as a form.
            chunks: a body in pieces, without its length.
            headers: further headers.
            origin: the page that a browser sends it from.
            host: the Host header.
            stalls: whether the end of the body never comes.
        """
        given: list[tuple[str, str]] = [("host", host)] if host is not None else []
        if origin is not None:
            given.append(("origin", origin))
        if self.token:
            given.append(("authorization", f"Bearer {self.token}"))
        if self.cookie:
            given.append(("cookie", self.cookie))
        if data is not None:
            body, kind = json.dumps(data).encode(), "application/json"
            given.append(("content-type", kind))
        if form is not None:
            body = urlencode(form).encode()
            given.append(("content-type", "application/x-www-form-urlencoded"))
        if body is not None:
            given.append(("content-length", str(len(body))))
        given += list(headers.items()) if isinstance(headers, dict) else headers or []
        reply = self.runner.run(
            self._send(method, path, given, chunks or [body or b""], stalls=stalls)
        )
        for each in reply.cookies:
            pair, _, rest = each.partition(";")
            self.cookie = "" if "max-age=0" in rest.lower() else pair
        return reply

    def log_in(self, name: str, password: str) -> Reply:
        """Log in as a browser does."""
        return self.post("/login", form={"name": name, "password": password, "to": "/"})

    async def _send(
        self,
        method: str,
        path: str,
        headers: list[tuple[str, str]],
        chunks: list[bytes],
        *,
        stalls: bool,
    ) -> Reply:
        bare, _, query = path.partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(bare),
            "raw_path": bare.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [
                (name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers
            ],
            "client": (self.client, 12345),
            "server": ("127.0.0.1", 80),
        }
        left = list(chunks)
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            if not left:
                await asyncio.sleep(3600)
            part = left.pop(0)
            return {"type": "http.request", "body": part, "more_body": bool(left) or stalls}

        async def send(message: Any) -> None:  # noqa: ANN401 - ASGI
            sent.append(message)

        await asyncio.wait_for(self.app(scope, receive, send), 60)
        start = sent[0]
        pairs = [
            (name.decode("latin-1"), value.decode("latin-1")) for name, value in start["headers"]
        ]
        return Reply(
            start["status"],
            dict(pairs),
            [value for name, value in pairs if name == "set-cookie"],
            b"".join(message.get("body", b"") for message in sent[1:]),
        )
