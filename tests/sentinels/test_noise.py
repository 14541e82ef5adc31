"""Noise: what changes at every fetch is not announced, and every real change is."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest
from sqlalchemy import Row, select

from quire.sentinels.checking.answers import Fetched, FetchProblem
from quire.sentinels.checking.flow import Answer
from quire.sentinels.checking.worker import Worker
from quire.sentinels.notices.event import Event
from quire.sentinels.pages.noise import MOST_NOISE, PATIENCE, PageNoise
from quire.sentinels.store import ClaimedPage, Database, add_watch
from quire.sentinels.store.tables import event, member, page, version
from tests.sentinels.noisy_sites import KINDS, Site

URL = "https://example.org/menu"
HOUR = 3600.0


class Fetches(Protocol):
    """Something that can be fetched."""

    def fetch(self) -> bytes | Fetched | FetchProblem:
        """Return the page."""
        ...


class Watched:
    """A site that is watched: time passes, the site is fetched, events come out."""

    def __init__(self, database: Database, site: Fetches, *forms: dict[str, Any]) -> None:
        self.database = database
        self.site = site
        self.now = 1_000_000.0
        self.requests = 0
        with database.write() as connection:
            for number, form in enumerate(forms or ({},)):
                whole = {"url": URL, "name": f"w{number}", "every": "1 h", **form}
                add_watch(connection, whole, self.now)
        self.worker = Worker(database, self._fetch, clock=lambda: self.now)

    async def _fetch(self, _: ClaimedPage) -> Answer:
        self.requests += 1
        body = self.site.fetch()
        return body if isinstance(body, Fetched | FetchProblem) else Fetched(200, body, "text/html")

    def check(self, times: int = 1) -> list[dict[str, Any]]:
        """Check some times; return the new events, with the questions they ask."""
        before = len(self.events())
        for _ in range(times):
            asyncio.run(self.worker.run_due())
            self.now += HOUR
        return [self._shown(each) for each in self.events()[before:]]

    def _shown(self, row: Row[Any]) -> dict[str, Any]:
        found = Event.from_dict(row.body)
        shown: dict[str, Any] = {"watch": found.name, "message": found.reason}
        if found.kind == "change":
            return {**shown, "added": list(found.added), "removed": list(found.removed)}
        with self.database.read() as connection:
            query = select(member.c.proposal).where(member.c.watch == row.watch)
            return {**shown, **connection.execute(query).scalar_one()}

    def events(self) -> list[Any]:
        """Return all events, the oldest first."""
        with self.database.read() as connection:
            return list(connection.execute(select(event).order_by(event.c.time, event.c.id)))

    def noise(self) -> PageNoise:
        """Return the known noise of the page."""
        with self.database.read() as connection:
            return PageNoise.from_json(connection.execute(select(page.c.noise)).scalar_one())

    def versions(self) -> int:
        """Count the versions that are stored."""
        with self.database.read() as connection:
            return len(connection.execute(select(version.c.number)).all())


class Pages:
    """A site that the test writes: each fetch takes the next page, the last one stays."""

    def __init__(self, *pages: bytes) -> None:
        self.pages = list(pages)

    def fetch(self) -> bytes:
        """Return the next page."""
        return self.pages.pop(0) if len(self.pages) > 1 else self.pages[0]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """Open a database; there is nothing here that only PostgreSQL does."""
    found = Database.open(tmp_path / "quire.db")
    yield found
    found.close()


WATCHES: tuple[dict[str, Any], ...] = (
    {},
    {"watch": "content"},
    {"where": "body", "watch": ["text", "links", "images"]},
    {"where": "main"},
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_noise_is_not_announced_and_every_change_is(
    database: Database, kind: str, seed: int
) -> None:
    site = Site(seed, (kind,))
    watched = Watched(database, site, *WATCHES)
    watched.check(12)  # a box that is shown at half of the fetches takes some to be learned
    learned = len(watched.events())

    assert watched.check(12) == []
    for number in range(3):
        site.facts[2 * number] = f"Dish {2 * number} costs {number}.10 now"
        told = watched.check()
        assert sorted(each["watch"] for each in told) == ["w0", "w1", "w2", "w3"]
        assert all(f"Dish {2 * number} costs {number}.10 now" in each["added"] for each in told)
        assert watched.check(3) == []
    assert learned == 0 or kind in ("popup", "shuffle", "advertisement", "quote"), learned


@pytest.mark.parametrize("seed", range(6))
def test_all_noise_at_once(database: Database, seed: int) -> None:
    site = Site(seed, KINDS)
    watched = Watched(database, site, *WATCHES)
    watched.check(15)

    assert watched.check(15) == []
    site.facts.insert(3, "Soup of the day, 4.20")
    assert sorted(each["watch"] for each in watched.check()) == ["w0", "w1", "w2", "w3"]
    del site.facts[5]
    assert sorted(each["watch"] for each in watched.check()) == ["w0", "w1", "w2", "w3"]
    assert watched.check(5) == []


def test_a_part_that_was_chosen_is_never_left_out(database: Database) -> None:
    site = Site(1, ("clock", "shuffle"))
    forms = ({"where": ".now"}, {"where": ".menu"}, {"where": ".menu", "ignore": {"order": True}})
    watched = Watched(database, site, *forms, {"learn_noise": False})
    watched.check()

    for _ in range(3):
        assert sorted(each["watch"] for each in watched.check()) == ["w0", "w1", "w3"]


def test_a_word_of_a_noisy_text_that_really_changes_is_announced(database: Database) -> None:
    site = Site(1, ("views",))
    watched = Watched(database, site)
    watched.check(5)
    body = site.fetch

    def fetch() -> bytes:
        return body().replace(b"Owner: Mary", b"Owner: Tom")

    site.fetch = fetch  # type: ignore[method-assign]
    (told,) = watched.check()
    assert told["removed"] == ["Seen … times. Owner: Mary."]
    assert told["added"] == ["Seen … times. Owner: Tom."]
    assert watched.check(5) == []


def advertised(ad: str, rest: str = "Fish") -> bytes:
    return f"<html><p>{rest}</p><p>Chips and peas</p><div class=ad>{ad}</div></html>".encode()


def test_noise_that_stops_is_announced_once(database: Database) -> None:
    site = Pages(*(advertised(f"Offer {number}") for number in range(5)), advertised("Sold out"))
    watched = Watched(database, site)
    assert watched.check(4) == []
    assert [noise.kind for noise in watched.noise()] == ["text"]

    told = watched.check(2 * PATIENCE)

    # The words that changed were numbers, so another text is a change at once.
    assert [(each["added"], each["removed"]) for each in told] == [(["Sold out"], ["Offer …"])]


@pytest.mark.parametrize("modified", [True, False])
def test_noise_that_stays_the_same_is_forgotten_and_announced(
    database: Database, *, modified: bool
) -> None:
    ads = ["Sea", "A very long trip", "Tea and cake", "Cars", "Shoes"]
    site = Pages(*(advertised(f"<b>{ad}</b>") for ad in ads), advertised("<b>Sold out</b>"))
    watched = Watched(database, site)
    assert watched.check(4) == []
    if modified:
        last = site.pages[-1]

        def fetch() -> Fetched:
            return Fetched(200, last, "text/html")

        site.fetch = fetch  # type: ignore[method-assign, assignment]
    told = watched.check(PATIENCE + 3)

    assert [each["added"] for each in told] == [["Sold out"]]
    assert watched.noise().entries == ()
    assert watched.check(5) == []


def test_noise_that_stays_the_same_is_announced_although_the_server_says_not_modified(
    database: Database,
) -> None:
    ads = ["Sea", "A very long trip", "Tea and cake", "Cars", "Shoes"]
    site = Pages(*(advertised(f"<b>{ad}</b>") for ad in ads), advertised("<b>Sold out</b>"))
    watched = Watched(database, site)
    assert watched.check(4) == []
    last = Fetched(200, advertised("<b>Sold out</b>"), "text/html", etag="x")

    async def fetch(claimed: ClaimedPage) -> Answer:
        same = Fetched(304, b"", not_modified=True)
        return same if claimed.etag == "x" else last

    watched.worker.fetch = fetch

    assert [each["added"] for each in watched.check(PATIENCE + 3)] == [["Sold out"]]


def test_a_page_without_noise_is_not_fetched_twice_for_ever(database: Database) -> None:
    watched = Watched(database, Pages(*(advertised("", f"Fish {n // 2}") for n in range(200))))
    checks = 60

    told = watched.check(checks)

    assert len(told) >= checks // 2
    assert watched.requests < 1.5 * checks


def test_a_chosen_part_without_elements_needs_no_probe(database: Database) -> None:
    watched = Watched(
        database, Pages(*(b"<p id=a>%d</p></html>" % n for n in range(9))), {"where": "p"}
    )

    assert len(watched.check(5)) == 4
    assert watched.requests == 5


@pytest.mark.parametrize(
    "probe",
    [
        FetchProblem("timeout", "no answer"),
        Fetched(503, b"<h1>Busy</h1></html>", "text/html"),
        Fetched(200, b"<html><p>Verify you are human</p></html>", "text/html"),
        Fetched(200, b"", "text/html"),
    ],
    ids=["timeout", "busy", "wall", "empty"],
)
def test_a_change_is_announced_if_the_probe_fails(
    database: Database, probe: Fetched | FetchProblem
) -> None:
    class Flaky:
        def __init__(self) -> None:
            self.answers = [advertised("", "Fish"), advertised("", "Soup"), probe]

        def fetch(self) -> bytes | Fetched | FetchProblem:
            return self.answers.pop(0)

    watched = Watched(database, Flaky())

    assert [each["added"] for each in watched.check(2)] == [["Soup"]]
    assert watched.noise().entries == ()


def test_what_is_known_about_noise_is_bounded(database: Database) -> None:
    class Busy:
        def __init__(self) -> None:
            self.count = 0

        def fetch(self) -> bytes:
            self.count += 1
            cells = "".join(f"<p class=c{n}>{n}.{self.count}</p>" for n in range(3 * MOST_NOISE))
            return f"<html><body>{cells}</body></html>".encode()

    watched = Watched(database, Busy())
    watched.check(3)

    assert len(watched.noise().entries) == MOST_NOISE


def test_links_that_change_at_every_capture_are_left_out_without_a_probe(
    database: Database,
) -> None:
    class Daily:
        """A link with a new token for every check, but the same one for a probe."""

        def __init__(self) -> None:
            self.day = 0

        def fetch(self) -> bytes:
            return b"<html><p>Fish</p><p><a href='/a?t=%d'>Menu</a></p></html>" % self.day

    site = Daily()
    watched = Watched(database, site, {"watch": "links"})
    told = 0
    for _ in range(12):
        site.day += 1
        told += len(watched.check())

    assert told == 2  # two changes may be chance; the third shows that it is noise
    (noise,) = watched.noise()
    assert (noise.kind, noise.evidence, noise.samples[0][:5]) == ("links", "history", "/a?t=")


def test_text_that_changes_at_every_capture_is_always_announced(database: Database) -> None:
    class Daily:
        def __init__(self) -> None:
            self.day = 0

        def fetch(self) -> bytes:
            return b"<html><p>Fish</p><p>Menu of day %d</p></html>" % self.day

    site = Daily()
    watched = Watched(database, site)
    for _ in range(20):
        site.day += 1
        watched.check()

    assert len(watched.events()) == 19


class Feed:
    """Data for programs, with a time and a number of its own in every answer."""

    def __init__(self, form: str, kind: str) -> None:
        self.form, self.kind = form, kind
        self.price = "8.40"
        self.answers = 0

    def fetch(self) -> Fetched:
        """Return the data."""
        self.answers += 1
        time, number = (
            f"2026-11-16T10:{self.answers // 60:02}:{self.answers % 60:02}Z",
            7919 * self.answers,
        )
        body = self.form % {"time": time, "id": f"{number:08x}", "price": self.price}
        return Fetched(200, body.encode(), self.kind)


FEEDS = {
    "json": (
        (
            '{"meta": {"time": "%(time)s", "request": "%(id)s"}, "dishes": [{"name": "cod", "price": %(price)s},'
            ' {"name": "eel", "price": 9.10}]}'
        ),
        "application/json",
    ),
    "xml": (
        (
            "<?xml version='1.0'?><menu><made>%(time)s</made><request>%(id)s</request>"
            "<dish><name>cod</name><price>%(price)s</price></dish><dish><name>eel</name></dish></menu>"
        ),
        "application/xml",
    ),
}


@pytest.mark.parametrize("kind", FEEDS)
def test_noise_of_data_is_not_announced_and_every_change_is(database: Database, kind: str) -> None:
    site = Feed(*FEEDS[kind])
    watched = Watched(database, site)
    assert watched.check(6) == []
    site.price = "8.60"
    (told,) = watched.check(3)
    assert any("8.60" in line for line in told["added"])
    assert not any("T10:" in line for line in told["added"])
    assert {str(noise.kind) for noise in watched.noise()} == {"text"}
