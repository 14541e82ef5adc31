"""Lists of watches and events: chosen, sorted and counted by the database, and changed in bulk."""

from __future__ import annotations

import asyncio
from time import time
from typing import Any

import pytest
from sqlalchemy import event as sql_event
from sqlalchemy import select, update

from quire.errors import NotStored, WatchError
from quire.sentinels.checking.answers import Fetched, FetchProblem
from quire.sentinels.service import BulkAction, Service
from quire.sentinels.store import ClaimedPage, Database
from quire.sentinels.store.overview.event_rows import WantedEvents
from quire.sentinels.store.overview.watch_rows import DAYS, Order, RowState, Show, Wanted
from quire.sentinels.store.tables import event, member, tag


def add(service: Service, name: str, path: str = "", **more: Any) -> int:  # noqa: ANN401 - a form
    form = {"name": name, "url": f"https://{path or name}.example/", **more}
    return service.add(form).id


def check(service: Service, bodies: dict[str, str | int]) -> None:
    """Check everything once; a number is the status of an error page, -1 a failure."""

    async def fetch(claimed: ClaimedPage) -> Fetched | FetchProblem:
        found = next((body for name, body in bodies.items() if name in claimed.url), "<p>x</p>")
        if found == -1:
            return FetchProblem("connect", "the host does not answer")
        if isinstance(found, int):
            return Fetched(found, b"<p>none</p>", "text/html")
        return Fetched(200, found.encode(), "text/html")

    for each in service.watches():
        service.make_due(each.id)
    asyncio.run(service.run_due(fetch))


def names(service: Service, **wanted: Any) -> list[str]:  # noqa: ANN401 - fields of Wanted
    return [row.name for row in service.watch_rows(Wanted(**wanted)).rows]


@pytest.fixture
def service(database: Database) -> Service:
    """Five watches in different states."""
    found = Service(database)
    add(found, "price", where="#price", tags=["shop", "home"])
    add(found, "gone", tags="shop")
    add(found, "down")
    add(found, "part", where="#nothing")
    add(found, "resting", paused=True)
    price = '<p id="price">{}</p></html>'
    check(found, {"price": price.format(1), "down": "<p>up</p>", "part": '<p id="nothing">a</p>'})
    check(found, {"price": price.format(2), "gone": 404, "down": -1, "part": "<p>b</p>"})
    add(found, "fresh", tags=["Shop"])
    return found


def test_a_row_says_how_a_watch_is_doing(service: Service) -> None:
    rows = {row.name: row for row in service.watch_rows(Wanted()).rows}

    assert {name: row.state for name, row in rows.items()} == {
        "price": RowState.FINE,
        "gone": RowState.GONE,
        "down": RowState.FAILING,
        "part": RowState.MISSING,
        "resting": RowState.PAUSED,
        "fresh": RowState.NEW,
    }
    price = rows["price"]
    assert (price.url, price.tags, price.pages) == ("https://price.example/", ("home", "shop"), 1)
    assert price.fired is not None
    assert price.checked is not None
    assert price.due is not None
    assert price.due > price.checked
    assert (len(price.changes), price.changes[-1], sum(price.changes)) == (DAYS, 1, 1)
    assert (rows["down"].error, price.error) == ("the host does not answer", "")
    assert rows["resting"].due is None
    assert rows["gone"].tags == ("shop",)


def test_a_list_has_the_wanted_watches_and_counts_the_others(service: Service) -> None:
    found = service.watch_rows(Wanted(show=Show.TROUBLE, order=Order.NAME))

    assert [row.name for row in found.rows] == ["down", "gone", "part"]
    assert found.total == 3
    assert found.counts == {
        Show.ALL: 6,
        Show.CHANGED: 1,
        Show.ASKING: found.counts[Show.ASKING],
        Show.TROUBLE: 3,
        Show.PAUSED: 1,
        Show.NEW: 1,
        Show.FINE: 1,
    }
    assert names(service, show=Show.CHANGED) == ["price"]
    assert names(service, show=Show.PAUSED) == ["resting"]
    assert names(service, show=Show.NEW) == ["fresh"]
    assert names(service, show=Show.FINE) == ["price"]
    assert names(service, tag="shop", order=Order.NAME) == ["gone", "price"]
    assert names(service, tag="sho") == []
    assert names(service, text="RICE") == ["price"]
    assert names(service, text="https://down.") == ["down"]
    assert names(service, text="%") == []


def test_questions_are_found_and_answered_ones_are_not(service: Service) -> None:
    (part,) = service.watch_rows(Wanted(text="part")).rows
    with service.database.write() as connection:
        of_part = update(member).where(member.c.watch == part.id)
        connection.execute(of_part.values(proposal={"where": "lost"}))
    assert names(service, show=Show.ASKING) == ["part"]

    with service.database.write() as connection:
        connection.execute(of_part.values(proposal=None))  # as an answer does
    assert names(service, show=Show.ASKING) == []


def test_a_list_is_sorted_and_paged(service: Service) -> None:
    by_name = ["down", "fresh", "gone", "part", "price", "resting"]
    assert names(service, order=Order.NAME) == by_name
    assert names(service, order=Order.ADDED)[0] == "fresh"
    assert names(service, order=Order.CHANGED)[0] == "price"
    assert names(service, order=Order.CHECKED)[-2:] == ["fresh", "resting"]
    assert names(service, order=Order.DUE)[-1] == "resting"

    page = service.watch_rows(Wanted(order=Order.NAME), offset=2, most=2)
    assert [row.name for row in page.rows] == by_name[2:4]
    assert page.total == 6
    assert service.watch_rows(Wanted(), offset=99).rows == []


def test_a_page_takes_as_many_queries_with_many_watches_as_with_few(service: Service) -> None:
    seen: list[str] = []

    def note(_: object, __: object, statement: str, *___: object) -> None:
        seen.append(statement)

    def queries() -> int:
        seen.clear()
        sql_event.listen(service.database.engine, "before_cursor_execute", note)
        service.watch_rows(Wanted())
        sql_event.remove(service.database.engine, "before_cursor_execute", note)
        return len(seen)

    few = queries()
    for number in range(30):
        add(service, f"more {number}", f"more{number}")

    assert queries() == few


def test_tags_follow_the_form(service: Service) -> None:
    assert service.tags() == [("Shop", 1), ("home", 1), ("shop", 2)]
    service.edit("gone", {"name": "gone", "url": "https://gone.example/", "tags": ["x", "x"]})
    assert service.tags() == [("Shop", 1), ("home", 1), ("shop", 1), ("x", 1)]
    service.remove("gone")
    assert ("x", 1) not in service.tags()
    with service.database.read() as connection:
        assert len(connection.execute(select(tag)).all()) == 3


def test_a_tag_can_be_longer_than_an_index_allows(service: Service) -> None:
    long = "tä" * 20_000
    add(service, "long", tags=[long, '"', "\\"])

    assert names(service, tag=long) == names(service, tag='"') == ["long"]
    assert service.watches(tag=long)[0].watch.name == "long"


@pytest.mark.parametrize(
    ("action", "done", "states"),
    [
        (BulkAction.PAUSE, 2, {"price": RowState.PAUSED, "down": RowState.PAUSED}),
        (BulkAction.RESUME, 1, {"price": RowState.FINE, "resting": RowState.NEW}),
        (BulkAction.CHECK, 3, {"price": RowState.FINE}),
        (BulkAction.DELETE, 3, {}),
    ],
)
def test_many_watches_are_changed_at_once(
    service: Service, action: BulkAction, done: int, states: dict[str, RowState]
) -> None:
    chosen = [service.find(name).id for name in ("price", "down", "resting")]

    assert service.act([*chosen, 987_654], action) == done

    rows = {row.name: row for row in service.rows_of(chosen)}
    assert {name: rows[name].state for name in states} == states
    assert len(rows) == (0 if action is BulkAction.DELETE else 3)
    assert len(service.watches()) == (3 if action is BulkAction.DELETE else 6)
    if action is BulkAction.CHECK:
        assert rows["price"].due is not None
        assert rows["price"].due <= time()


def test_tags_are_added_to_many_watches_and_removed(service: Service) -> None:
    chosen = [row.id for row in service.watch_rows(Wanted()).rows]

    assert service.act(chosen, BulkAction.TAG, " shop ") == 4
    assert len(names(service, tag="shop")) == 6
    assert service.find("gone").watch.tags == ("shop",)
    assert service.find("price").watch.tags == ("shop", "home")
    assert service.act(chosen, BulkAction.UNTAG, "shop") == 6
    assert names(service, tag="shop") == []
    assert service.find("price").watch.tags == ("home",)
    with pytest.raises(WatchError, match="tag: expected a tag"):
        service.act(chosen, BulkAction.TAG, " ")


def test_events_are_chosen_by_watch_tag_and_kind(service: Service) -> None:
    everything = service.changes(WantedEvents())
    kinds = {each.event.name: each.kind for each in everything}

    assert kinds["price"] == "change"
    assert [each.event.name for each in service.changes(WantedEvents(tag="shop"))] == [
        each.event.name for each in everything if each.event.name in ("price", "gone")
    ]
    assert {each.kind for each in service.changes(WantedEvents(kind="error"))} == {"error"}
    price = service.find("price").id
    assert {each.watch for each in service.changes(WantedEvents(watch=price))} == {price}
    first, *rest = everything
    assert service.changes(WantedEvents(), following=first.id) == rest
    with pytest.raises(NotStored, match="there is no event"):
        service.changes(WantedEvents(), following="abc")


def test_old_changes_are_not_counted_in_a_row(service: Service) -> None:
    with service.database.write() as connection:
        connection.execute(update(event).values(time=time() - 40 * 86_400))

    (price,) = service.watch_rows(Wanted(text="price")).rows

    assert sum(price.changes) == 0


def test_the_health_of_the_service_is_shown(service: Service) -> None:
    found = service.health()

    assert found.database_bytes > 10_000
    assert (found.workers, found.checking, found.waiting, found.dead) == (0, 0, 0, 0)
    assert found.checked is not None
    assert found.overdue is not None  # the watch that was just added


def test_targets_in_use_are_listed_without_their_secrets(service: Service) -> None:
    target = "https://hooks.example/planted-secret"
    for name in ("one", "two"):
        add(service, name, notify=[target])

    (found,) = service.targets()

    assert (found.watches, found.waiting, found.dead, found.sent) == (2, 0, 0, None)
    assert "planted" not in repr(found)
