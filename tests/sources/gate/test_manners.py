"""Manners: robots.txt, one request at a time, pauses, and Retry-After."""

from __future__ import annotations

import asyncio
import itertools
import time
from dataclasses import replace
from email.utils import formatdate

import pytest

from quire.errors import FetchCause, FetchFailed
from quire.sources.gate import Politeness, Request, parse
from quire.sources.gate.answers import retry_after_s
from quire.sources.gate.manners import turns
from quire.sources.gate.manners.robots import read_rules
from quire.sources.gate.manners.turns import Turns
from tests.sources.gate.servers import (
    PATIENT,
    Handler,
    Seen,
    always,
    answer,
    by_path,
    names,
    open_gate,
    serving,
)

RULES = answer(b"User-agent: *\nDisallow: /private\nUser-agent: quire\nDisallow: /secret\n")


def outcome(handler: Handler, *paths: str) -> tuple[list[str], Seen]:
    async def run() -> tuple[list[str], Seen]:
        found = []
        async with serving(handler) as seen, open_gate() as gate:
            for path in paths:
                try:
                    response = await gate.fetch(Request(seen.url(path)))
                    found.append(str(response.status))
                except FetchFailed as error:
                    found.append(error.cause.value)
            return found, seen

    return asyncio.run(run())


def test_rules_for_us_are_obeyed_and_fetched_once() -> None:
    table = {"/robots.txt": RULES} | {path: answer() for path in ("/", "/private", "/secret")}

    found, seen = outcome(by_path(table), "/", "/secret", "/secret/x", "/private", "/")

    assert found == ["200", "robots", "robots", "200", "200"]
    assert seen.paths() == ["/robots.txt", "/", "/private", "/"]


def test_a_request_can_ignore_robots() -> None:
    async def run() -> list[str]:
        async with serving(by_path({"/secret": answer()})) as seen, open_gate() as gate:
            await gate.fetch(Request(seen.url("/secret"), obey_robots=False))
            return seen.paths()

    assert asyncio.run(run()) == ["/secret"]


@pytest.mark.parametrize(
    ("robots", "expected"),
    [
        (answer(b"", "404 Not Found"), "200"),
        (answer(b"", "403 Forbidden"), "200"),
        (answer(b"", "500 Error"), "robots"),
        (answer(b"", "429 Slow down"), "robots"),
        (answer(b"", "302 Found", "Location: /robots.txt"), "200"),
        (answer(b"", "302 Found", "Location: file:///etc/passwd"), "200"),
        (answer(b"", "302 Found", "Location: http://127.0.0.2:8009/"), "200"),
        (answer(b"\xff\xfe\x00<html>not rules"), "200"),
        (answer(b"\xef\xbb\xbfUser-agent: *\nDisallow: /"), "robots"),
        (answer(b"\x1f\x8bbroken", "200 OK", "Content-Encoding: gzip"), "200"),
        (answer(b"#" * 600_000), "200"),
    ],
)
def test_a_robots_txt_that_is_missing_or_broken(robots: bytes, expected: str) -> None:
    found, _ = outcome(by_path({"/robots.txt": robots, "/": answer()}), "/")

    assert found == [expected]


def test_robots_txt_of_a_site_that_is_down_has_the_cause_of_the_site() -> None:
    async def run() -> FetchCause:
        async with serving(always(b"")) as seen:
            url = seen.url()
        async with open_gate() as gate:
            with pytest.raises(FetchFailed) as caught:
                await gate.fetch(Request(url))
            return caught.value.cause

    assert asyncio.run(run()) is FetchCause.CONNECT


def test_every_site_on_the_way_is_asked_for_its_rules() -> None:
    async def run() -> FetchCause:
        lookup = names({"a.example": ["127.0.0.1"], "b.example": ["127.0.0.1"]})
        closed = by_path({"/robots.txt": answer(b"User-agent: *\nDisallow: /"), "/": answer()})
        async with serving(closed) as end, open_gate(lookup) as gate:
            away = answer(b"", "302 Found", f"Location: {end.url('/', 'b.example')}")
            async with serving(by_path({"/": away})) as start:
                with pytest.raises(FetchFailed) as caught:
                    await gate.fetch(Request(start.url("/", "a.example")))
            assert end.paths() == ["/robots.txt"]
            return caught.value.cause

    assert asyncio.run(run()) is FetchCause.ROBOTS


def test_one_robots_txt_is_fetched_for_many_requests_at_once() -> None:
    async def run() -> list[str]:
        async with serving(by_path({"/": answer()})) as seen, open_gate() as gate:
            await asyncio.gather(*(gate.fetch(Request(seen.url())) for _ in range(20)))
            return seen.paths()

    assert asyncio.run(run()).count("/robots.txt") == 1


def test_a_hostile_robots_txt_costs_no_more_than_its_length() -> None:
    """Agents times rules would be 400 million entries, which take minutes and gigabytes."""
    agents = "".join(f"User-agent: a{at}\n" for at in range(20_000))
    rules = "".join(f"Disallow: /*a*b*{at}*c$\n" for at in range(20_000))

    read = read_rules(agents + "User-agent: *\n" + rules, "quire")

    assert read.allow(parse("http://a.example/" + "ab" * 4000))
    assert read._parsed is not None
    assert len(read._parsed._user_agents) == 2


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("User-agent: quire\nDisallow: /", False),
        ("USER-AGENT : Quire # us\nDisallow: /", False),
        ("user agent: *\ndisallow: /", False),
        ("User-agent: quire*\nDisallow: /", False),
        ("User-agent: other\nDisallow: /", True),
        ("User-agent: quirebot\nDisallow: /", True),
        ("User-agent: other\nUser-agent: quire\nDisallow: /", False),
        ("User-agent: *\nDisallow: /\nUser-agent: quire\nAllow: /", True),
        ("User-agent: *\nDisallow:", True),
        ("Disallow: /", True),
        ("", True),
    ],
)
def test_rules_apply_to_our_name(text: str, allowed: bool) -> None:  # noqa: FBT001 - a case
    assert read_rules(text, "quire").allow(parse("http://a.example/x")) is allowed


def test_a_crawl_delay_is_obeyed_up_to_a_limit() -> None:
    rules = read_rules("User-agent: *\nCrawl-delay: 3.5", "quire")
    assert rules.crawl_delay_s == 3.5

    gate = open_gate(politeness=Politeness(pause_s=1, most_pause_s=10))
    assert gate._pause(rules) == 3.5
    assert gate._pause(read_rules("User-agent: *\nCrawl-delay: 9999", "quire")) == 10
    assert gate._pause(read_rules("User-agent: *\nCrawl-delay: 0", "quire")) == 1


def most_at_once(
    politeness: Politeness, hosts: int, requests: int, *, expected: int
) -> tuple[int, int]:
    """Return how many requests one host, and all hosts, got at the same time.

    No request is answered before as many as expected are there; later ones would be too many.
    """

    async def run() -> tuple[int, int]:
        running: dict[bytes, int] = {}
        most_one = most_all = 0
        full = asyncio.Event()

        async def handler(head: bytes, writer: asyncio.StreamWriter) -> None:
            nonlocal most_one, most_all
            host = head.split(b"Host: ")[1].split(b"\r")[0]
            running[host] = running.get(host, 0) + 1
            most_one = max(most_one, running[host])
            most_all = max(most_all, sum(running.values()))
            if most_all >= expected:
                full.set()
            await full.wait()
            await asyncio.sleep(0.01)
            running[host] -= 1
            writer.write(answer())

        known = {f"h{at}.example": ["127.0.0.1"] for at in range(hosts)}
        async with (
            serving(handler) as seen,
            open_gate(names(known), politeness=politeness) as gate,
        ):
            await asyncio.gather(
                *(
                    gate.fetch(Request(seen.url(f"/{at}", host), obey_robots=False))
                    for at in range(requests)
                    for host in known
                )
            )
        return most_one, most_all

    return asyncio.run(run())


def test_a_host_gets_one_request_at_a_time_and_others_go_on() -> None:
    assert most_at_once(Politeness(pause_s=0), hosts=5, requests=4, expected=5) == (1, 5)


def test_hosts_and_places_can_be_set() -> None:
    three = Politeness(connections=3, pause_s=0)
    assert most_at_once(three, hosts=1, requests=9, expected=3) == (3, 3)
    assert most_at_once(replace(three, places=2), 3, 3, expected=2)[1] == 2
    with pytest.raises(ValueError, match="1 or more"):
        Politeness(connections=0)


def test_a_pause_lies_between_requests_to_one_host() -> None:
    async def run() -> list[float]:
        times: list[float] = []

        async def handler(head: bytes, writer: asyncio.StreamWriter) -> None:
            del head
            times.append(time.monotonic())
            writer.write(answer())

        async with (
            serving(handler) as seen,
            open_gate(politeness=Politeness(pause_s=0.1)) as gate,
        ):
            for _ in range(4):
                await gate.fetch(Request(seen.url(), obey_robots=False))
        return times

    times = asyncio.run(run())
    assert min(after - before for before, after in itertools.pairwise(times)) >= 0.1


@pytest.mark.parametrize("status", ["429 Slow down", "503 Busy"])
def test_a_host_that_asks_to_wait_is_left_alone(status: str) -> None:
    async def run() -> FetchFailed:
        async with (
            serving(always(answer(b"", status, "Retry-After: 120"))) as seen,
            open_gate(limits=replace(PATIENT, wait_s=1)) as gate,
        ):
            response = await gate.fetch(Request(seen.url(), obey_robots=False))
            assert response.status in {429, 503}
            with pytest.raises(FetchFailed, match="asked clients to wait") as caught:
                await gate.fetch(Request(seen.url("/other"), obey_robots=False))
            assert seen.paths() == ["/"]
            return caught.value

    error = asyncio.run(run())
    assert error.cause is FetchCause.RETRY_LATER
    assert error.retry_after_s is not None
    assert 100 < error.retry_after_s <= 120


def test_a_short_wait_is_waited_for() -> None:
    async def run() -> list[int]:
        data = [answer(b"", "503 Busy", "Retry-After: 1"), answer()]

        async def handler(head: bytes, writer: asyncio.StreamWriter) -> None:
            del head
            writer.write(data.pop(0))

        async with serving(handler) as seen, open_gate() as gate:
            request = Request(seen.url(), obey_robots=False)
            return [(await gate.fetch(request)).status for _ in range(2)]

    assert asyncio.run(run()) == [503, 200]


def test_retry_after_is_read_as_seconds_or_date() -> None:
    assert retry_after_s(" 7 ") == 7
    assert 50 < (retry_after_s(formatdate(time.time() + 60, usegmt=True)) or 0) < 61
    for text in ("", "soon", "-1", "٣", "Mon, 99 Nov 2026 99:99:99 GMT", None):
        assert retry_after_s(text) is None
    assert retry_after_s("9" * 5000) == 999_999_999


def test_idle_hosts_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_MOST_HOSTS", 10)

    async def run() -> int:
        queue = Turns(Politeness(pause_s=0))
        for at in range(100):
            async with queue.turn(f"h{at}", url="", wait_s=1):
                pass
        queue.leave_alone("busy", 60)
        for at in range(100):
            async with queue.turn(f"i{at}", url="", wait_s=1):
                pass
        assert "busy" in queue._hosts
        return len(queue._hosts)

    assert asyncio.run(run()) <= 11
