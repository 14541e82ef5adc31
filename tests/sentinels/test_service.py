"""What people do with watches, on both databases."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import event

from quire.errors import StoreError, WatchError
from quire.sentinels.checking.answers import Fetched
from quire.sentinels.service import Service
from quire.sentinels.store import ClaimedPage, Database

URL = "https://example.org/menu"
FORM = {"url": URL, "name": "price", "where": "#price"}


def check(service: Service, body: bytes) -> None:
    async def fetch(_: ClaimedPage) -> Fetched:
        return Fetched(200, body, "text/html")

    service.make_due("price")
    asyncio.run(service.run_due(fetch))


def prices(service: Service) -> list[str]:
    return [state.readings[""].text for state in service.history("price")]


def test_a_watch_is_added_found_edited_and_removed(database: Database) -> None:
    service = Service(database)
    number = service.add(FORM).id

    assert service.find("price").id == service.find(str(number)).id == number
    with pytest.raises(StoreError, match="already a watch 'price'"):
        service.add(FORM)
    with pytest.raises(StoreError, match="there are 'price'"):
        service.find("pric")
    with pytest.raises(WatchError, match="url"):
        service.edit("price", {"name": "price"})
    service.edit("price", {**FORM, "name": "Price", "urls": [URL, URL + "2"], "url": None})
    assert [each.url for each in service.pages("Price")] == [URL, URL + "2"]
    service.remove("Price")
    assert service.watches() == []


# The page is the same to the byte, or only in all that people see.
@pytest.mark.parametrize("unseen", [b"", b"<!-- another token -->"], ids=["bytes", "sight"])
def test_a_watch_of_a_page_that_is_known_already_tells_of_the_next_change(
    database: Database, unseen: bytes
) -> None:
    service = Service(database)
    service.add(FORM)
    check(service, b"<p id=price>9.50</p><p>Fish</p></html>")

    service.add({"url": URL, "name": "second", "where": "#price"})
    check(service, b"<p id=price>9.50</p><p>Fish</p></html>" + unseen)
    service.make_due("second")
    check(service, b"<p id=price>8.50</p><p>Fish</p></html>")

    assert [event.event.added for event in service.events("second")] == [("8.50",)]
    assert prices(service) == ["9.50", "8.50"]


def test_an_edited_watch_is_judged_on_old_versions(database: Database) -> None:
    service = Service(database)
    service.add(FORM)
    for price in (9.5, 9.5, 8.5, 7.5):
        check(service, b"<p id=price>%.2f</p><p>Fish</p></html>" % price)

    assert prices(service) == ["9.50", "8.50", "7.50"]
    assert len(service.events("price")) == 2
    assert len(service.replay("price").firings) == 2
    below = {**FORM, "when": {"number": {"below": 8}}}
    assert [each.event.added for each in service.replay(below).firings] == [("7.50",)]
    assert service.explain("price").holds is True
    old, new = service.versions("price", None, 0, 2)
    assert (old.text(), new.text()) == ("9.50\nFish", "7.50\nFish")
    with pytest.raises(StoreError, match="no version 9; its versions are 0 to 2"):
        service.versions("price", None, 0, 9)


def test_a_backup_is_everything(database: Database, tmp_path: Path) -> None:
    service = Service(database)
    service.add(FORM)
    for price in (9.5, 8.5):
        check(service, b"<p id=price>%.2f</p></html>" % price)

    rows = service.backup(tmp_path / "backup.db")
    with pytest.raises(StoreError, match="exists"):
        service.backup(tmp_path / "backup.db")
    with pytest.raises(StoreError, match="has watches already"):
        service.restore(tmp_path / "backup.db")

    fresh = Service(Database.open(tmp_path / "fresh.db"))
    assert fresh.restore(tmp_path / "backup.db") == rows
    assert prices(fresh) == prices(service)
    assert fresh.events() == service.events()
    fresh.add({**FORM, "name": "another"})
    check(fresh, b"<p id=price>7.50</p></html>")
    assert prices(fresh)[-1] == "7.50"


def test_a_database_that_cannot_be_used_is_a_clear_error(tmp_path: Path) -> None:
    broken, foreign = tmp_path / "broken.db", tmp_path / "foreign.db"
    broken.write_bytes(b"not a database" * 300)
    with contextlib.closing(sqlite3.connect(foreign)) as other:
        other.execute("CREATE TABLE bookmarks (url TEXT)")
    before = foreign.read_bytes()

    with pytest.raises(StoreError, match=r"broken\.db: file is not a database"):
        Database.open(broken)
    with pytest.raises(StoreError, match="tables of another program"):
        Database.open(foreign)
    with pytest.raises(StoreError, match="Connection refused"):
        Database.open("postgresql://quire:secret@127.0.0.1:1/quire")
    empty = Service(Database.open(tmp_path / "empty.db"))
    with pytest.raises(StoreError, match="tables of another program"):
        empty.restore(foreign)
    assert foreign.read_bytes() == before
    (tmp_path / "link.db").symlink_to(tmp_path / "elsewhere.db")
    with pytest.raises(StoreError, match="exists"):
        empty.backup(tmp_path / "link.db")
    assert not (tmp_path / "elsewhere.db").exists()


def test_a_full_disk_is_an_error_and_loses_nothing(tmp_path: Path) -> None:
    service = Service(Database.open(tmp_path / "small.db"))
    service.add(FORM)
    with service.database.engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()

    @event.listens_for(service.database.engine, "connect")
    def limit(connection: sqlite3.Connection, _: object) -> None:
        connection.execute(f"PRAGMA max_page_count={pages}")

    service.database.engine.dispose()
    with pytest.raises(StoreError, match=r"small\.db: database or disk is full"):
        service.add({**FORM, "name": "x" * 400, "where": ["#" + "y" * 60_000]})
    assert [each.watch.name for each in service.watches()] == ["price"]
