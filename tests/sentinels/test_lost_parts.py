"""Parts that are lost or moved: the watch asks, and nothing is lost or wrong in silence."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from time import time
from typing import Any

import pytest

import quire
from quire.errors import StoreError
from quire.sentinels.service import Service
from quire.sentinels.store import Database
from tests.sentinels.redesigns import DESIGNS, PARTS, Product
from tests.sentinels.test_following import AFTER, is_right, place_of
from tests.sentinels.test_noise import Pages, Watched

LATER = Product(price="€ 91.00", stock="Sold out", delivery="Delivered on Monday, 25 May")


SHOP = "https://example.org/menu"


def selector_of(design: str, part: str) -> str:
    page = quire.encode(DESIGNS[design](Product()).encode())
    return page.path(place_of(page, part))


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """Open a database; there is nothing here that only PostgreSQL does."""
    found = Database.open(tmp_path / "quire.db")
    yield found
    found.close()


def redesigned(database: Database, old: str, new: str, *forms: dict[str, Any]) -> Watched:
    """Watch a page with one design, then give it another one with other content."""
    site = Pages(DESIGNS[old](Product()).encode())
    watched = Watched(database, site, *forms)
    watched.check()
    site.pages = [DESIGNS[new](AFTER).encode()]
    return watched


@pytest.mark.parametrize(("old", "new"), list(permutations(DESIGNS, 2)))
def test_after_a_redesign_a_part_is_found_again_or_asked_about(
    database: Database, old: str, new: str
) -> None:
    selectors = {part: selector_of(old, part) for part in PARTS}
    forms = [{"name": part, "where": selector} for part, selector in selectors.items()]
    watched = redesigned(database, old, new, *forms)
    after = quire.encode(DESIGNS[new](AFTER).encode())

    told = {each["watch"]: each for each in watched.check()}

    for part, selector in selectors.items():
        asked = told.get(part, {}).get("where")
        now = after.select(selector).tolist()
        if asked == "moved":
            (found,) = after.select(told[part]["path"]).tolist()
            assert is_right(after, found, part), (part, told[part]["path"], after.text(found))
        elif asked is None:  # the selector still finds the part
            assert len(now) == 1, part
            assert is_right(after, now[0], part), part
    # Later notices are about the right part, or the watch waits for an answer.
    watched.site = Pages(DESIGNS[new](LATER).encode())
    truth = quire.encode(DESIGNS[new](LATER).encode())
    for each in watched.check():
        assert "where" not in each, "the same question again"
        text = truth.text(place_of(truth, each["watch"])).split("\n")
        assert set(each["added"]) <= {line.strip() for line in text}


def test_a_part_that_moved_is_asked_about_and_accepted(database: Database) -> None:
    watched = redesigned(database, "first", "components", {"name": "price", "where": "#price"})
    service = Service(database)

    (told,) = watched.check()

    assert (told["where"], told["used"]) == ("moved", True)
    assert (told["before"], told["after"]) == ("€ 79.90", "€ 84.50")
    assert told["message"].startswith("the part that #price found is at ")
    (asked,) = service.proposals("price")
    assert (asked.url, asked.path, asked.after) == (SHOP, told["path"], "€ 84.50")
    service.accept("price")
    assert service.proposals("price") == []
    assert service.find("price").form["where"] == told["path"]
    watched.now = int(time()) + 5.0  # the service made the watch due now
    assert watched.check() == []
    watched.site = Pages(DESIGNS["components"](LATER).encode())
    assert [each["added"] for each in watched.check()] == [["€ 91.00"]]


def test_until_the_user_decides_a_part_is_watched_where_it_was_found(database: Database) -> None:
    form = {"name": "price", "where": "#price", "when": {"number": {"above": 90}}}
    watched = redesigned(database, "first", "components", form)
    watched.check()
    watched.worker._groups.clear()  # as after a restart
    watched.site = Pages(DESIGNS["components"](LATER).encode())

    assert [each["added"] for each in watched.check()] == [["€ 91.00"]]


def test_a_place_that_was_rejected_is_not_proposed_again(database: Database) -> None:
    watched = redesigned(database, "first", "components", {"name": "price", "where": "#price"})
    service = Service(database)
    watched.check()
    service.reject("price")

    assert [each.where for each in service.proposals("price")] == ["lost"]
    with pytest.raises(StoreError, match="nothing is proposed"):
        service.accept("price")
    watched.site = Pages(DESIGNS["components"](LATER).encode())
    assert watched.check() == []
    watched.site = Pages(DESIGNS["first"](LATER).encode())  # back to the old design
    assert [each["added"] for each in watched.check()] == [["€ 91.00"]]
    assert service.proposals("price") == []
    with pytest.raises(StoreError, match="no question"):
        service.reject("price")


def page_with(body: str) -> bytes:
    return f"<html><h1>Shop</h1><p>Open every day of the week</p>{body}</html>".encode()


def test_a_part_that_is_lost_is_told_once_and_compared_when_it_is_back(
    database: Database,
) -> None:
    site = Pages(page_with("<b id=price>9.50</b>"))
    watched = Watched(database, site, {"where": "#price"})
    watched.check()
    site.pages = [page_with("")]

    (told,) = watched.check()
    assert (told["where"], told["before"]) == ("lost", "9.50")
    site.pages = [page_with("<i>New</i>")]
    assert watched.check(3) == []
    site.pages = [page_with("<b id=price>9.50</b>")]
    assert watched.check() == []
    site.pages = [page_with("<b id=price>8.50</b>")]
    assert [each["added"] for each in watched.check()] == [["8.50"]]


def test_a_list_that_is_empty_is_told_once(database: Database) -> None:
    site = Pages(page_with("<ul><li>a<li>b</ul>"))
    watched = Watched(database, site, {"where": "li"})
    watched.check()
    site.pages = [page_with("<ul></ul>")]

    assert [each["where"] for each in watched.check(4)] == ["lost"]


def test_a_part_that_is_missing_for_a_moment_is_not_lost(database: Database) -> None:
    whole, half = page_with("<b id=price>9.50</b>"), page_with("")
    watched = Watched(database, Pages(whole, half, whole), {"where": "#price"})

    assert watched.check(6) == []


def test_a_selector_that_finds_another_part_is_noticed(database: Database) -> None:
    old = page_with("<p>Price: <b class=price>79.90</b></p><aside>Tea pot <i>24.00</i></aside>")
    new = page_with(
        "<div>Price: <b class=amount>79.90</b></div><aside>Tea pot <i class=price>24.00</i></aside>"
    )
    site = Pages(old)
    watched = Watched(database, site, {"where": ".price"})
    watched.check()
    site.pages = [new]

    told = watched.check()

    assert [(each["where"], each["after"]) for each in told] == [("moved", "79.90")]


def test_a_condition_about_a_part_that_goes_away_is_a_change(database: Database) -> None:
    site = Pages(page_with("<b id=full>Sold out</b>"))
    when = {"text": {"has": "sold out", "in": "removed"}}
    watched = Watched(database, site, {"where": "#full", "when": when})
    watched.check()
    site.pages = [page_with("")]

    assert [(each["removed"], each.get("where")) for each in watched.check(2)] == [
        (["Sold out"], None)
    ]


def test_a_watch_that_does_not_follow_tells_that_its_part_is_gone(database: Database) -> None:
    site = Pages(page_with("<b id=price>9.50</b>"))
    watched = Watched(database, site, {"where": "#price", "follow": False})
    watched.check()
    site.pages = [page_with("")]

    assert [each["removed"] for each in watched.check(3)] == [["9.50"]]


@pytest.mark.parametrize("where", ["li:first-child", "ul > li:first-of-type a", "//li[1]"])
def test_a_new_item_at_the_top_of_a_list_is_a_change(database: Database, where: str) -> None:
    def news(first: int) -> bytes:
        items = (f"<li><a href=/{n}>Story {n}</a>" for n in range(first, first - 6, -1))
        return page_with(f"<ul>{''.join(items)}</ul>")

    site = Pages(news(9))
    watched = Watched(database, site, {"where": where})
    watched.check()
    site.pages = [news(10)]

    assert [each.get("added") for each in watched.check()] == [["Story 10"]]


def test_a_paragraph_that_comes_before_the_part_is_not_the_part(database: Database) -> None:
    stock, delivery = "<p>In stock, 14 left</p>", "<p>Delivered on Tuesday</p>"
    site = Pages(page_with(f"<main><p>A kettle</p>{stock}{delivery}</main>"))
    watched = Watched(database, site, {"where": "main > p:nth-of-type(2)"})
    watched.check()
    site.pages = [page_with(f"<main><p>A kettle</p><p>Of copper</p>{stock}{delivery}</main>")]

    (told,) = watched.check()

    assert (told["where"], told["after"]) == ("moved", "In stock, 14 left")


def test_another_item_in_the_middle_of_a_list_is_not_the_part(database: Database) -> None:
    def menu(*items: str) -> bytes:
        return page_with(f"<ul>{''.join(f'<li><a href=/{each}>{each}</a>' for each in items)}</ul>")

    site = Pages(menu("Sport", "Culture", "Weather", "Jobs"))
    watched = Watched(database, site, {"where": "ul > li:nth-of-type(3) > a"})
    watched.check()
    site.pages = [menu("Sport", "Culture", "Money", "Weather", "Jobs")]

    assert [(each["where"], each["after"]) for each in watched.check()] == [("moved", "Weather")]
