"""Fixtures: an application with a watch that has seen changes, and one account of each role."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from quire.sentinels.accounts import Hasher
from quire.sentinels.checking.answers import Fetched
from quire.sentinels.service import Service
from quire.sentinels.store import ClaimedPage, Database
from quire.web import Settings, create_app
from tests.web.client import Client

PASSWORD = "correct horse battery"  # noqa: S105 - of a test
URL = "https://example.org/menu"
FORM: dict[str, Any] = {
    "url": URL,
    "name": "price",
    "where": "#price",
    "tags": ["shop"],
    "notify": ["https://hooks.example/planted-target-secret"],
    "fetch": {"headers": {"Authorization": "Bearer planted-header-secret"}},
}
CHEAP = Hasher(memory_kib=8, passes=1)
#: Secrets of the watch that no answer may have.
PLANTED = ("planted-target-secret", "planted-header-secret")


@dataclass
class FakeNotices:
    """Notices that are only written down."""

    calls: list[tuple[object, ...]] = field(default_factory=list)

    def dead_letters(self, most: int) -> list[dict[str, object]]:
        """Return one letter, with its target."""
        self.calls.append(("dead_letters", most))
        target, error = FORM["notify"][0], "https://me:pw@hooks.example failed"
        return [{"id": "1a", "target": target, "reason": error}]

    def resend(self, ids: Sequence[str]) -> int:
        """Write it down."""
        self.calls.append(("resend", ids))
        return 1

    async def send_test(self, name: object, gate: object) -> list[dict[str, object]]:
        """Write it down."""
        self.calls.append(("send_test", name, gate))
        return [{"target": FORM["notify"][0], "error": "", "key": "whsec_planted-target-secret"}]

    def feed(self, watch: object = None, tag: str | None = None) -> bytes:
        """Return something like a feed."""
        self.calls.append(("feed", watch, tag))
        return b"<feed xmlns='http://www.w3.org/2005/Atom'/>"


@asynccontextmanager
async def open_gate() -> AsyncIterator[str]:
    """Stand in for the gate of test messages."""
    yield "an open gate"


@dataclass
class Site:
    """An application and everything around it."""

    app: FastAPI
    service: Service
    notices: FakeNotices
    runner: asyncio.Runner
    watch: int
    accounts: dict[str, int]
    tokens: dict[str, str]

    def anonymous(self, client: str = "192.0.2.7") -> Client:
        """Return a client without a token."""
        return Client(self.app, self.runner, client=client)

    def program(self, scope: str) -> Client:
        """Return a client with a token of the administrator that has this scope."""
        return Client(self.app, self.runner, self.tokens[scope])

    def browser(self, role: str) -> Client:
        """Return a client that logged in with an account of this role."""
        found = self.anonymous()
        assert found.log_in(role, PASSWORD).status == 303
        return found

    def check(self, body: bytes) -> None:
        """Let the watch see a page."""

        async def fetch(_: ClaimedPage) -> Fetched:
            return Fetched(200, body, "text/html")

        self.service.make_due(self.watch)
        self.runner.run(self.service.run_due(fetch))


@dataclass(frozen=True)
class Stored:
    """A database with a watch that has seen two changes, and an account of each role."""

    path: Path
    watch: int
    accounts: dict[str, int]
    tokens: dict[str, str]


def make_site(database: Database, settings: Settings | None = None) -> Site:
    """Make an application with a watch that has seen two changes."""
    service, notices = Service(database), FakeNotices()
    app = create_app(service, settings, hasher=CHEAP, notices=notices, open_gate=open_gate)
    state = app.state.quire
    accounts = {
        role: state.accounts.add(role, PASSWORD, role).id for role in ("viewer", "editor", "admin")
    }
    tokens = {
        scope: state.tokens.add(accounts["admin"], scope, [scope])[1]
        for scope in ("feed", "read", "write", "admin")
    }
    watch = service.add(FORM).id
    site = Site(app, service, notices, asyncio.Runner(), watch, accounts, tokens)
    for price in (9.5, 8.5, 7.5):
        site.check(b"<p id=price>%.2f</p><p>Fish</p></html>" % price)
    return site


@pytest.fixture(scope="session")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    """Make the database that applications of tests start with, once."""
    path = tmp_path_factory.mktemp("stored") / "quire.db"
    database = Database.open(path)
    site = make_site(database)
    site.runner.close()
    database.close()
    return Stored(path, site.watch, site.accounts, site.tokens)


@contextmanager
def copied_site(stored: Stored, path: Path) -> Iterator[Site]:
    """Make an application on a copy of a database."""
    shutil.copy(stored.path, path)
    database = Database.open(path)
    service, notices = Service(database), FakeNotices()
    app = create_app(service, hasher=CHEAP, notices=notices, open_gate=open_gate)
    with asyncio.Runner() as runner:
        yield Site(app, service, notices, runner, stored.watch, stored.accounts, stored.tokens)
    database.close()


@pytest.fixture(scope="module")
def shared_site(stored: Stored, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """An application for all tests of a module, which must not change it for each other."""
    with copied_site(stored, tmp_path_factory.mktemp("shared") / "quire.db") as found:
        yield found


@pytest.fixture
def site(stored: Stored, tmp_path: Path) -> Iterator[Site]:
    """An application on SQLite."""
    with copied_site(stored, tmp_path / "quire.db") as found:
        yield found
