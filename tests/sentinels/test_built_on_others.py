"""Conditions that need more than two versions: other watches, time, and the history of a page."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from quire.sentinels.checking.answers import Fetched, FetchProblem
from quire.sentinels.notices.event import Event
from quire.sentinels.store import Database
from quire.sentinels.store.tables import event
from tests.sentinels.test_worker import URL, Web, install, rows

OTHER = "https://example.org/stock"


def fired(database: Database) -> list[str]:
    """Return the names of the watches that fired, in order."""
    found = sorted(rows(database, event), key=lambda each: (each.time, each.body["name"]))
    return [each.body["name"] for each in found if each.kind == "change"]


def play(database: Database, web: Web, *answers: dict[str, Any]) -> list[list[str]]:
    """Check pages once an hour, each time with other answers; return what fired at each check."""
    worker = web.worker(database)
    told: list[list[str]] = []
    for answer in answers:
        web.pages |= answer
        asyncio.run(worker.run_due())
        so_far = sum(map(len, told))
        told.append(fired(database)[so_far:])
        web.now += 3600
    worker.close()
    return told


def page(text: str) -> bytes:
    return f"<p>{text}</p></html>".encode()


@pytest.mark.parametrize("where", [URL, OTHER])
def test_a_watch_fires_when_another_one_did_on_this_page_or_another(
    database: Database, where: str
) -> None:
    web = Web()
    install(
        database,
        web.now,
        # Names are such that the order of the members is not the order of the questions.
        {"url": where, "name": "a", "when": {"fired": "b"}},
        {"url": URL, "name": "b", "when": {"text": {"has": "Fish", "in": "added"}}},
    )

    told = play(
        database,
        web,
        {URL: page("Chips"), OTHER: page("same")},
        {URL: page("Fish")},
        {},
        {URL: page("Chips")},
        {URL: page("Fish and chips")},
        {},
    )

    # On another page, the order of two checks of the same time is open: now, or at the next check.
    assert told[0] == told[3] == []
    assert "b" in told[1]
    assert "b" in told[4]
    if where == URL:
        assert told == [[], ["a", "b"], [], [], ["a", "b"], []]
    else:
        assert sorted(told[1] + told[2]) == sorted(told[4] + told[5]) == ["a", "b"]


def test_a_watch_that_fired_not_long_ago_is_asked_through_the_store(database: Database) -> None:
    web = Web()
    install(
        database,
        web.now,
        {"url": URL, "name": "b", "every": "1 h"},
        {
            "url": OTHER,
            "name": "a",
            "when": {"all": ["changed", {"fired": {"sentinel": "b", "within": "90 min"}}]},
        },
    )

    told = play(
        database,
        web,
        {URL: page("1"), OTHER: page("x")},
        {OTHER: page("y")},
        {URL: page("2")},
        {OTHER: page("z")},
        {},
        {OTHER: page("w")},
    )

    assert told == [[], [], ["b"], ["a"], [], []]


def test_watches_in_a_circle_are_judged(database: Database) -> None:
    web = Web()
    install(
        database,
        web.now,
        {"url": URL, "name": "a", "when": {"any": ["changed", {"fired": "b"}]}},
        {"url": URL, "name": "b", "when": {"any": ["changed", {"fired": "a"}]}},
    )

    assert play(database, web, {URL: page("1")}, {URL: page("2")})[1] == ["a", "b"]


def test_a_quiet_page_is_told_once_and_again_after_a_change(database: Database) -> None:
    web = Web()
    install(database, web.now, {"url": URL, "name": "quiet", "when": {"unchanged": "2 h"}})
    same: dict[str, Any] = {}

    told = play(
        database,
        web,
        {URL: page("1")}, same, same, same, same, {URL: page("2")}, same, same, same,
    )  # fmt: skip

    assert told == [[], [], ["quiet"], [], [], [], [], ["quiet"], []]


def test_only_lines_that_no_version_had_are_new(database: Database) -> None:
    web = Web()
    install(database, web.now, {"url": URL, "name": "new", "preset": "new item"})
    lists = ["a b", "a b c", "b", "a b", "d a b", "c", "c"]
    answers = [{URL: page("</p><p>".join(each.split()))} for each in lists]

    assert play(database, web, *answers) == [[], ["new"], [], [], ["new"], [], []]


def test_the_history_is_read_again_by_another_worker(database: Database) -> None:
    web = Web()
    install(database, web.now, {"url": URL, "name": "new", "preset": "new item"})
    counts = []
    for text in ("a b", "c", "a", "e"):
        play(database, web, {URL: page("</p><p>".join(text.split()))})
        counts.append(len(fired(database)))
    assert counts == [0, 1, 1, 2]


@pytest.mark.parametrize(
    ("content_type", "where", "before", "after"),
    [
        ("application/json", "/items/0/price", '{"items": [{"price": 9}]}', '{"items": [{"price": 8}]}'),
        ("application/json", "items price", '{"items": [{"price": 9}]}', '{"items": [{"price": 8}]}'),
        ("application/xml", "item > price", "<a><item><price>9</price></item></a>",
         "<a><item><price>8</price></item></a>"),
        ("application/xml", "//item/@price", "<a><item price='9'/>x</a>", "<a><item price='8'/>x</a>"),
        ("text/csv", "xpath:string(.)", "9", "8"),
    ],
)  # fmt: skip
def test_json_and_xml_are_watched_by_their_parts(
    database: Database, content_type: str, where: str, before: str, after: str
) -> None:
    web = Web()
    install(database, web.now, {"url": URL, "name": "price", "where": where})

    def served(text: str) -> dict[str, Any]:
        return {URL: Fetched(200, text.encode(), content_type)}

    assert play(database, web, served(before), served(after)) == [[], ["price"]]
    (found,) = rows(database, event)
    told = Event.from_dict(found.body)
    assert [line[-1] for line in told.removed] == ["9"]
    assert [line[-1] for line in told.added] == ["8"]


def test_json_that_is_not_well_formed_is_an_error_and_not_a_change(database: Database) -> None:
    web = Web()
    install(database, web.now, {"url": URL, "name": "price", "where": "/price"})
    bad = Fetched(200, b'{"price": 9, ', "application/json")
    good = Fetched(200, b'{"price": 9}', "application/json")

    assert play(database, web, {URL: good}, {URL: bad}, {URL: good}) == [[], [], []]
    error, back = rows(database, event)
    assert (error.kind, "not well-formed json" in error.body["reason"]) == ("error", True)
    assert back.kind == "recovered"


def test_a_failed_fetch_asks_nothing(database: Database) -> None:
    web = Web()
    install(database, web.now, {"url": URL, "name": "a", "when": {"fired": "b"}})

    assert play(database, web, {URL: FetchProblem("timeout", "no answer")}) == [[]]
