"""Receivers for the tests of notices: webhooks and a mail server, well-behaved and not."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Got:
    """A request that a webhook got."""

    path: str
    fields: dict[str, str]
    body: bytes

    @property
    def events(self) -> list[str]:
        """The ids of its events."""
        return [each["id"] for each in json.loads(self.body)["events"]]


@dataclass
class Webhook:
    """A webhook and its requests."""

    port: int = 0
    got: list[Got] = field(default_factory=list)

    def url(self, path: str = "/hook") -> str:
        """Return its address."""
        return f"http://127.0.0.1:{self.port}{path}"


#: The reaction of a webhook to a request: the bytes of an answer, "hang", "reset" or "drip".
Behaviour = Callable[[Got, int], bytes | str]


def answer(status: str = "200 OK", *fields: str, body: bytes = b"") -> bytes:
    """Return the bytes of an answer."""
    lines = [f"HTTP/1.1 {status}", *fields, f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(lines).encode("ascii") + body


def accept(got: Got, number: int) -> bytes:
    """Accept everything."""
    del got, number
    return answer()


@asynccontextmanager
async def webhook(behave: Behaviour = accept) -> AsyncIterator[Webhook]:
    """Run a webhook; ``behave`` gets each request and how many came before it."""
    seen = Webhook()
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                first, *lines = head.rstrip().split("\r\n")
                fields = {
                    name.lower(): value.strip()
                    for name, _, value in (line.partition(":") for line in lines)
                }
                body = await reader.readexactly(int(fields.get("content-length", "0")))
                got = Got(first.split(" ")[1], fields, body)
                number = len(seen.got)
                seen.got.append(got)
                does = behave(got, number)
                if isinstance(does, bytes):
                    writer.write(does)
                    await writer.drain()
                elif does == "reset":
                    writer.transport.abort()
                    return
                else:
                    if does == "drip":
                        writer.write(b"HTTP/1.1 200 OK\r\nSlow: ")
                    while does == "drip":
                        writer.write(b"x")
                        await asyncio.sleep(0.1)
                    await asyncio.Event().wait()
        except (OSError, EOFError, asyncio.CancelledError):
            pass
        finally:
            tasks.discard(task)
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    seen.port = server.sockets[0].getsockname()[1]
    try:
        yield seen
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()


@dataclass
class MailHost:
    """A mail server, its commands and its mails."""

    port: int = 0
    recipients: list[str] = field(default_factory=list)
    mails: list[bytes] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)


@asynccontextmanager
async def mail_host(answers: dict[str, str] | None = None) -> AsyncIterator[MailHost]:
    """Run a mail server; ``answers`` replaces its answers to some commands."""
    seen = MailHost()
    usual: dict[str, Any] = {
        "EHLO": "250-here\r\n250 8BITMIME", "HELO": "250 here", "MAIL": "250 ok", "RCPT": "250 ok",
        "DATA": "354 go on", ".": "250 kept", "QUIT": "221 bye", "RSET": "250 ok",
    }  # fmt: skip
    usual |= answers or {}

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            writer.write(b"220 here\r\n")
            while line := await reader.readline():
                text = line.decode("latin-1").strip()
                seen.commands.append(text)
                verb = text[:4].upper()
                said = usual.get(verb, "502 what?")
                if verb == "RCPT":
                    seen.recipients += re.findall("<(.*)>", text)
                if verb == "DATA" and said.startswith("354"):
                    writer.write(said.encode() + b"\r\n")
                    mail = await reader.readuntil(b"\r\n.\r\n")
                    said = usual["."]
                    if said.startswith("250"):
                        seen.mails.append(mail[:-3])
                writer.write(said.encode() + b"\r\n")
                await writer.drain()
                if verb == "QUIT":
                    break
        except (OSError, EOFError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    seen.port = server.sockets[0].getsockname()[1]
    try:
        yield seen
    finally:
        server.close()
        await server.wait_closed()
