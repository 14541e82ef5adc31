"""Databases of older versions of quire are brought up to date, and keep everything."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import MetaData, create_engine, event, inspect, text
from sqlalchemy.engine import Engine

from quire.sentinels.notices import Parcel
from quire.sentinels.service import Service
from quire.sentinels.store import Database
from quire.sentinels.store.database import SCHEMA
from quire.sentinels.store.migrations import scripts, upgrade
from quire.sentinels.store.outbox import SqlOutbox
from quire.sentinels.store.plain import instant
from quire.sentinels.store.tables import metadata
from tests.sentinels.databases import new_postgres

HOOK = "https://hooks.example/a"
OTHER = "https://hooks.example/b"
NOW = 1_790_000_000.0

# As the version of quire with the first schema wrote them.
FORM = {"url": "https://shop.example/", "name": "Kettle", "tags": "shop", "notify": [HOOK, OTHER]}
FINDING = {"condition": "text changed", "holds": True, "reason": "yes", "parts": []}
ABOUT = {"watch": "Kettle", "url": "https://shop.example/"}
CHANGED = {"changed": ["text"], "finding": FINDING, "added": ["8.50"], "removed": ["9.50", "new"]}
PAGE = {"fence": 0, "revision": 0, "state": "fine", "latest": 1, "quiet_checks": 0}
VERSION = {"signatures": b"", "length": 0, "checksum": 0, "data": b"", "status": 200}
ROWS: list[tuple[str, dict[str, Any]]] = [
    ("watch", {"id": 7, "name": "Kettle", "form": FORM, "paused": False}),
    ("page", {"id": 3, "key": "k", "url": "https://shop.example/", "fetching": {}, **PAGE}),
    ("member", {"watch": 7, "page": 3, "due": NOW, "installed": NOW, "base": 1, "quiet_checks": 0}),
    ("version", {"page": 3, "number": 0, "time": NOW, **VERSION}),
    ("version", {"page": 3, "number": 1, "time": NOW + 1, **VERSION}),
    ("event", {"id": "e1", "kind": "change", "old": 0, "new": 1, "body": ABOUT | CHANGED}),
    ("event", {"id": "e2", "kind": "error", "time": NOW + 5, "body": ABOUT | {"message": "no"}}),
    ("notice", {"id": 4, "event": "e1", "target": HOOK, "state": "waiting"}),
    ("notice", {"id": 5, "event": "e1", "target": OTHER, "state": "sent"}),
    ("notice", {"id": 9, "event": "e2", "target": HOOK, "state": "waiting"}),
]
COMMON: dict[str, dict[str, Any]] = {
    "watch": {"created": NOW, "updated": NOW},
    "version": {"content_type": "", "headers": {}},
    "event": {"watch": 7, "page": 3, "time": NOW},
    "notice": {"tries": 0, "due": NOW},
}


@pytest.fixture(params=["sqlite", "postgresql"])
def first(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """A database with the first schema and a few rows."""
    where = f"sqlite:///{tmp_path / 'old.db'}" if request.param == "sqlite" else new_postgres()
    engine = Database(create_engine(where)).engine
    if request.param == "sqlite":

        @event.listens_for(engine, "connect")
        def prepare(connection: Any, _: object) -> None:  # noqa: ANN401 - of the driver
            connection.isolation_level = None

    upgrade(engine, "0001")
    tables = MetaData()
    tables.reflect(engine)
    with engine.connect() as connection:
        for name, row in ROWS:
            connection.execute(tables.tables[name].insert().values(COMMON.get(name, {}) | row))
        connection.commit()
    yield engine
    engine.dispose()


@pytest.fixture
def upgraded(first: Engine) -> Iterator[Database]:
    """The same database, brought up to date."""
    with closing(opened(first)) as database:
        yield database


def opened(engine: Engine) -> Database:
    return Database.open(engine.url.render_as_string(hide_password=False))


def test_events_and_waiting_notices_of_the_first_schema_are_kept(upgraded: Database) -> None:
    database = upgraded
    outbox = SqlOutbox(database)

    newest, oldest = Service(database).events("Kettle")
    assert (oldest.event.removed, oldest.event.added) == (("9.50", "new"), ("8.50",))
    assert oldest.event.old_time == instant(NOW)
    assert oldest.event.tags == ("shop",)
    assert oldest.event.finding is not None
    assert (newest.kind, newest.event.reason) == ("error", "no")
    (claim,) = asyncio.run(outbox.claim(instant(NOW), timedelta(minutes=5), 10))
    assert claim.target == HOOK
    assert [each.event.id for each in claim.waiting] == ["e1", "e2"]
    asyncio.run(outbox.sent(claim, Parcel("p", claim.waiting), instant(NOW)))
    with database.read() as connection:
        states = connection.execute(text("SELECT state FROM notice ORDER BY id")).scalars().all()
    assert states == ["sent", "sent", "sent"]
    outbox.close()


def test_tags_of_the_first_schema_can_be_searched(upgraded: Database) -> None:
    database = upgraded
    service = Service(database)

    assert service.tags() == [("shop", 1)]
    assert [each.watch.name for each in service.watches(tag="shop")] == ["Kettle"]


def test_an_upgrade_that_is_killed_leaves_the_old_schema_with_all_its_rows(first: Engine) -> None:
    with first.connect() as connection:
        before = connection.exec_driver_sql("SELECT * FROM notice ORDER BY id").all()

    def kill(_: object, __: object, statement: str, *___: object) -> None:
        if "DROP TABLE notice_0001" in statement:
            raise KeyboardInterrupt

    event.listen(first, "before_cursor_execute", kill)
    with pytest.raises(KeyboardInterrupt):
        upgrade(first)
    event.remove(first, "before_cursor_execute", kill)

    with first.connect() as connection:
        assert connection.exec_driver_sql("SELECT * FROM notice ORDER BY id").all() == before
    assert "queue" not in inspect(first).get_table_names()
    opened(first).close()


def test_the_upgraded_schema_is_that_of_the_tables(upgraded: Database) -> None:
    database = upgraded
    with database.read() as connection:
        found = compare_metadata(MigrationContext.configure(connection), metadata)

    assert found == []
    assert scripts()[1].get_current_head() == SCHEMA
