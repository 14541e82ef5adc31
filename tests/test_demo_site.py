"""The newspaper of the demo: what changes by the clock, and what in every response."""

from __future__ import annotations

from http.client import HTTPConnection
from urllib.parse import urlsplit

import quire
from quire.demo.changing import DemoSite, answer, demo_watches
from quire.demo.changing.paper import HEADLINE_S, PRICES_S, REDESIGN_S, prices
from quire.sentinels.form import read_watch


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
