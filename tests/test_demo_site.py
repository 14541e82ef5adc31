"""The newspaper of the demo: what changes by the clock, and what in every response."""

from __future__ import annotations

import asyncio
from collections import Counter
from http.client import HTTPConnection
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

import quire
from quire.demo.changing import DemoSite, answer, demo_watches
from quire.demo.changing.paper import (
    ADVERTISEMENTS,
    BOATS_S,
    HEADLINE_S,
    HEADLINES,
    PRICES_S,
    REDESIGN_S,
    boats,
    prices,
)
from quire.sentinels.checking.answers import Fetched
from quire.sentinels.checking.worker import Worker
from quire.sentinels.form import read_watch
from quire.sentinels.notices import Event
from quire.sentinels.store import ClaimedPage, Database, add_watch


def texts(body: bytes, selector: str) -> list[str]:
    page = quire.encode(body)
    return [" ".join(page.text(node).split()) for node in page.select(selector)]


def test_responses_at_the_same_time_differ_only_in_noise() -> None:
    one, other = (answer("/", 3, number).body for number in (1, 2))

    assert one != other
    assert texts(one, "#headline") == texts(other, "#headline")
    assert texts(one, ".stories li") == texts(other, ".stories li")
    assert texts(one, ".ad") != texts(other, ".ad")
    assert texts(one, ".visitors") != texts(other, ".visitors")


def test_headlines_and_prices_change_with_the_time() -> None:
    front = [answer("/", seconds, 1).body for seconds in (0, HEADLINE_S - 1, HEADLINE_S)]
    headlines = [texts(body, "#headline") for body in front]

    assert headlines[0] == headlines[1] != headlines[2]
    assert texts(front[2], ".stories li")[0] == headlines[0][0]
    cod = [float(prices(seconds)["Cod"]) for seconds in range(0, 60, PRICES_S)]
    assert cod[0] >= 8 > cod[1]  # "Cod below 8" fires within a minute


def test_another_boat_is_for_sale_within_half_a_minute() -> None:
    pages = [answer("/boats.html", seconds, 1).body for seconds in (0, BOATS_S - 1, BOATS_S)]
    names = [texts(body, ".boat h3") for body in pages]

    assert BOATS_S < 30
    assert len(names[0]) >= 4  # a list from the beginning
    assert names[0] == names[1] == names[2][1:]
    offers = [boats(number * BOATS_S)[0][1] for number in range(1000)]
    assert len(set(offers)) == 1000  # a record is known by its title
    assert len(boats(10_000)) == 8


def test_the_new_design_has_the_same_prices() -> None:
    old = answer("/market.html", REDESIGN_S - 1, 1).body
    new = answer("/market.html", REDESIGN_S + PRICES_S * 6 - 1, 1).body  # prices repeat

    assert texts(old, "td.price") == texts(new, ".cost") == list(prices(REDESIGN_S - 1).values())
    assert texts(new, "td.price") == []


def test_watches_of_the_demo_are_valid_and_find_their_parts() -> None:
    site = "http://127.0.0.2:1/"
    for form in demo_watches(site):
        watch = read_watch(form)
        (url,) = watch.pages.urls
        body = answer("/" + url.removeprefix(site), 0, 1).body
        assert form.get("where") is None or texts(body, form["where"]), form["name"]


def test_the_site_is_served_on_loopback() -> None:
    with DemoSite() as site:
        assert site.host.startswith("127.")
        address = urlsplit(site.url)
        connection = HTTPConnection(address.netloc)
        connection.request("GET", "/tides.html")
        assert b"High water" in connection.getresponse().read()
        connection.close()


def test_changes_are_announced_and_the_noise_is_not(tmp_path: Path) -> None:
    """Two minutes of the demo, on a clock of the test."""
    start = now = 1_000_000.0
    responses = 0
    told: list[Event] = []

    async def fetch(page: ClaimedPage) -> Fetched:
        nonlocal responses
        responses += 1
        found = answer(urlsplit(page.url).path, now - start, responses)
        return Fetched(found.status, found.body, found.content_type)

    database = Database.open(tmp_path / "quire.db")
    with database.write() as connection:
        for form in demo_watches("http://127.0.0.2:1/"):
            add_watch(connection, form, now)
    worker = Worker(database, fetch, clock=lambda: now, on_event=told.append)
    while now < start + 120:
        asyncio.run(worker.run_due())
        now += 5
    worker.close()
    database.close()

    lines = " ".join(line for event in told for line in (*event.added, *event.removed))
    assert not any(slogan in lines for _, slogan in ADVERTISEMENTS)
    by_name = Counter((event.name, event.kind) for event in told)
    changes = 120 // HEADLINE_S - 1
    assert by_name["Headline", "change"] == by_name["Front page", "change"] == changes
    # The old headline is further down on the page now, but it left the watched part.
    shown = [(event.removed, event.added) for event in told if event.name == "Headline"]
    titles = [title for title, _ in HEADLINES]
    assert shown == [((old,), (new,)) for old, new in pairwise(titles)]
    assert by_name["Cod below 8", "change"] == 2
    asked = {event.name for event in told if event.kind in {"moved", "lost"}}
    assert asked == {"Cod below 8", "Fish prices"}  # after the new design
    # One notice for each new boat, with that boat alone.
    offers = [event for event in told if event.name == "Boats for sale"]
    assert [event.kind for event in offers] == ["change"] * ((120 - 5) // BOATS_S)
    for number, event in enumerate(offers, start=1):
        newest = boats(number * BOATS_S)[0]
        assert len(event.added) == 1
        assert newest[1] in event.added[0]
        assert newest[3] in event.added[0]
    named = {"Headline", "Front page", "Boats for sale", *asked}
    assert {event.name for event in told} == named  # not the tides
