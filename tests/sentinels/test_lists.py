"""One watch over many pages: sitemaps, feeds and links, read from sites that mean no good."""

from __future__ import annotations

import asyncio
import gzip
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from quire.sentinels.checking.answers import Fetched, FetchProblem
from quire.sentinels.checking.fetching import GateFetcher
from quire.sentinels.checking.worker import Worker
from quire.sentinels.form.watch import FINDERS, Finder, Pages
from quire.sentinels.listings import Listing, NotAListing, read_listing, sort_addresses
from quire.sentinels.notices.event import Event
from quire.sentinels.service import Service
from quire.sentinels.store import Database, edit_watch
from quire.sentinels.store.listed_pages import MOST_LISTS
from quire.sentinels.store.tables import event, page, version, visit
from tests.sentinels.test_worker import Web, install, rows
from tests.sources.gate.servers import Seen, answer, by_path, names, open_gate, serving
from tests.sources.gate.test_browser import html

SITE = "https://example.org"
MAP = f"{SITE}/sitemap.xml"
GOOD = b"<p>Fish</p></html>"


def sitemap(*paths: str, top: str = "urlset", each: str = "url") -> bytes:
    inside = "".join(
        f"<{each}><loc>{path if '://' in path else SITE + path}</loc></{each}>" for path in paths
    )
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    return f'<?xml version="1.0"?><{top} xmlns="{space}">{inside}</{top}>'.encode()


def index(*paths: str) -> bytes:
    return sitemap(*paths, top="sitemapindex", each="sitemap")


class Site(Web):
    """A site whose pages are all good, apart from those that a test names."""

    async def fetch(self, claimed: Any) -> Any:  # noqa: ANN401 - as the worker calls it
        """Answer as the test says, or with a good page."""
        self.pages.setdefault(claimed.url, GOOD)
        return await super().fetch(claimed)

    def check(self, database: Database, **lists: bytes | Fetched | FetchProblem) -> None:
        """Change lists and check everything that is due, an hour later."""
        for name, body in lists.items():
            address = f"{SITE}/{name.replace('_', '.')}"
            kind = "text/xml" if name.endswith("_xml") else "text/html"
            self.pages[address] = Fetched(200, body, kind) if isinstance(body, bytes) else body
        worker = self.worker(database)
        asyncio.run(worker.run_due())
        worker.close()
        self.now += 3600


def watched(database: Database, name: str = "w") -> list[str]:
    """Return the paths of the pages that a watch has."""
    statuses = Service(database).pages(name)
    return [each.url.removeprefix(SITE) for each in statuses if not each.is_list]


def told(database: Database) -> list[tuple[list[str], list[str]]]:
    """Return the events about lists: new and gone pages."""
    found = sorted(rows(database, event), key=lambda each: each.time)
    events = [Event.from_dict(each.body) for each in found if each.kind == "change"]
    return [(list(each.added), list(each.removed)) for each in events if each.reason]


def form(finder: Finder = "sitemap", **options: object) -> dict[str, Any]:
    return {"name": "w", "url": MAP, "find": {"in": finder, **options}}


# ------------------------------------------------------------ reading lists

RSS = b"""<rss version="2.0"><channel><link>https://example.org/</link>
<item><title>Fish</title><link>https://example.org/fish</link><guid isPermaLink="false">1</guid></item>
<item><title>Chips</title><guid>https://example.org/chips</guid></item>
</channel></rss>"""
ATOM = b"""<feed xmlns="http://www.w3.org/2005/Atom"><link href="/"/>
<entry><title>Fish</title><link rel="self" href="/x"/><link href="/fish"/><id>tag:1</id></entry>
<entry><title>Chips</title><link rel="alternate" href="/chips"/><id>tag:2</id></entry></feed>"""
JSON_FEED = b"""{"version": "https://jsonfeed.org/version/1.1", "items": [
{"id": "1", "title": "Fish", "url": "/fish"}, {"id": "2", "url": "/chips"}]}"""
RDF = b"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">
<channel/><item><title>Fish</title><link>/fish</link></item><item><link>/chips</link></item></rdf:RDF>"""
LINKS = b"<nav><a href=/fish>Fish</a><link rel=stylesheet href=/x.css></nav><map><area href=/chips>"
PREFIXED = b"""<s:urlset xmlns:s="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="i">
<s:url><s:loc>/fish</s:loc><image:image><image:loc>/fish.png</image:loc></image:image></s:url>
<s:url><s:loc> /chips
</s:loc></s:url></s:urlset>"""


@pytest.mark.parametrize(
    ("finder", "body"),
    [
        ("sitemap", sitemap("/fish", "/chips", "/fish")),
        ("sitemap", gzip.compress(sitemap("/fish", "/chips"))),
        ("sitemap", gzip.compress(sitemap("/fish", "/chips")[:90]) + gzip.compress(sitemap("/fish", "/chips")[90:])),
        ("sitemap", PREFIXED),
        ("sitemap", f"{SITE}/fish\n\n{SITE}/chips\r\n".encode()),
        ("sitemap", b"<!DOCTYPE x [<!ENTITY a 'b'>]>" + sitemap("/fish", "/chips").partition(b"?>")[2]),
        ("sitemap", sitemap("/fish", "/chips").removesuffix(b"</urlset>")),
        ("feed", RSS),
        ("feed", ATOM),
        ("feed", JSON_FEED),
        ("feed", RDF),
        ("links", LINKS),
        ("links", b"<base href=https://example.org/x/y><a href=../fish>Fish</a><a href='/chips'>"),
    ],
)  # fmt: skip
def test_a_list_is_read(finder: Finder, body: bytes) -> None:
    listing = read_listing(finder, body)

    found = sort_addresses(listing, f"{SITE}/news/list", Pages(()))
    assert found.own == (f"{SITE}/fish", f"{SITE}/chips")


def test_an_index_names_lists() -> None:
    listing = read_listing("sitemap", index("/a.xml", "https://evil.example/b.xml"))

    found = sort_addresses(listing, MAP, Pages(()))
    assert (found.own, found.lists) == ((), (f"{SITE}/a.xml",))


@pytest.mark.parametrize(
    ("finder", "body", "message"),
    [
        ("sitemap", GOOD, "not a sitemap"),
        ("sitemap", b"not a list", "not a sitemap"),
        ("sitemap", b"", "not a sitemap"),
        ("sitemap", RSS, "not a sitemap"),
        ("sitemap", gzip.compress(sitemap("/a"))[:-9] + b"x" * 9, "gzipped, and"),
        ("sitemap", gzip.compress(bytes(30_000_000)), "more than 20"),
        ("feed", GOOD, "not a feed"),
        ("feed", sitemap("/a"), "not a feed"),
        ("feed", b'{"items": [1, 2]}', "not a feed"),
        ("feed", b"[[[[", "not a feed"),
    ],
)
def test_something_else_is_not_a_list(finder: Finder, body: bytes, message: str) -> None:
    with pytest.raises(NotAListing, match=message):
        read_listing(finder, body)


@pytest.mark.parametrize("finder", FINDERS)
@pytest.mark.parametrize(
    "body",
    [
        b"<a>" * 50_000,
        b"<url><loc>x" * 20_000,
        b"<urlset>" + b"<url><loc>" * 20_000,
        b"<!DOCTYPE lolz [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;'>]><urlset><url><loc>&b;",
        b"<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><rss><item><link>&e;</link></item></rss>",
        b'{"version":"","items":' + b"[" * 40_000,
        bytes(range(256)) * 100,
    ],
)  # fmt: skip
def test_a_hostile_list_is_read_or_refused(finder: Finder, body: bytes) -> None:
    try:
        listing = read_listing(finder, body)
    except NotAListing:
        return
    found = sort_addresses(listing, MAP, Pages((), elsewhere=True))
    assert all(address.startswith("http") and "root:" not in address for address in found.own)


HOSTILE = [
    "file:///etc/passwd",
    "javascript:alert(1)",
    "https://user:pw@example.org/in",
    "http://example.org/plain",
    "https://example.org:8443/port",
    "https://example.org.evil.example/",
    "https://evil.example/?https://example.org/",
    "//evil.example/",
    "https://example.org@evil.example/",
    "http://[::1]/",
    "https://127.1/",
    "\x00",
    "https://" + "a" * 9000,
    "gopher://example.org/",
]


def test_a_list_speaks_for_its_own_site_only() -> None:
    found = sort_addresses(Listing(tuple(HOSTILE)), MAP, Pages(()))

    assert found.own == (f"{SITE}/in",)  # without the credentials of a stranger
    everywhere = sort_addresses(Listing(tuple(HOSTILE)), MAP, Pages((), elsewhere=True))
    assert everywhere.own == (f"{SITE}/in",)
    assert all("@" not in address for address in everywhere.foreign)
    assert (found.left_out, len(everywhere.foreign)) == (7, 6)  # one of them twice


def test_only_pages_that_match_are_found() -> None:
    listing = Listing(("/news/1", "/about", "/news/2"))

    found = sort_addresses(listing, MAP, Pages((), pattern="/news/"))
    assert found.own == (f"{SITE}/news/1", f"{SITE}/news/2")


# ------------------------------------------------------------ through the store


def test_pages_of_a_sitemap_are_watched_and_new_ones_found(database: Database) -> None:
    site = Site()
    install(database, site.now, form(tell=["new", "gone"]))

    site.check(database, sitemap_xml=sitemap("/a", "/b"))
    assert watched(database) == ["/a", "/b"]
    assert site.requests == [MAP, f"{SITE}/a", f"{SITE}/b"]
    assert told(database) == []  # nothing is new at the first reading
    site.check(database, sitemap_xml=sitemap("/a", "/b", "/c"))
    assert watched(database) == ["/a", "/b", "/c"]
    assert told(database) == [([f"{SITE}/c"], [])]
    assert {row.page for row in rows(database, version)} == {
        row.id for row in rows(database, page) if row.url != MAP
    }  # the list itself leaves no versions

    site.pages[f"{SITE}/c"] = b"<p>Chips</p></html>"
    site.check(database)
    events = [Event.from_dict(row.body) for row in rows(database, event)]
    changes = [(each.url, each.added) for each in events if not each.reason]
    assert changes == [(f"{SITE}/c", ("Chips",))]


def test_pages_that_vanish_are_told_once_and_stay_until_their_place_is_needed(
    database: Database,
) -> None:
    site = Site()
    install(database, site.now, form(most=3))
    site.check(database, sitemap_xml=sitemap("/a", "/b", "/c"))

    site.check(database, sitemap_xml=sitemap("/b", "/c"))
    assert told(database) == []  # it may be on its way to another list
    site.check(database)
    site.check(database)
    assert told(database) == [([], [f"{SITE}/a"])]
    assert watched(database) == ["/a", "/b", "/c"]
    site.check(database, sitemap_xml=sitemap("/b", "/c", "/d", "/e"))
    assert watched(database) == ["/b", "/c", "/d"]
    details = [row.detail for row in rows(database, visit) if row.outcome == "list"]
    assert details[-1] == "4 pages, 1 more than the limit of 3"


def test_a_page_that_comes_back_is_not_told(database: Database) -> None:
    site = Site()
    install(database, site.now, form(tell=["new", "gone"]))
    for paths in (["/a", "/b"], ["/b"], ["/a", "/b"]):
        site.check(database, sitemap_xml=sitemap(*paths))

    site.check(database)
    assert told(database) == []
    assert watched(database) == ["/a", "/b"]


def test_lists_in_lists_are_read_and_pages_move_between_them(database: Database) -> None:
    site = Site()
    install(database, site.now, form(tell=["new", "gone"]))

    site.check(
        database,
        sitemap_xml=index("/1.xml", "/2.xml"),
        **{"1_xml": sitemap("/a", "/b"), "2_xml": sitemap("/c")},
    )
    assert watched(database) == ["/a", "/b", "/c"]
    site.check(database, **{"1_xml": sitemap("/b"), "2_xml": sitemap("/a", "/c")})
    site.check(database)
    site.check(database)
    assert told(database) == []
    site.check(
        database, sitemap_xml=index("/1.xml", "/2.xml", "/3.xml"), **{"3_xml": sitemap("/d")}
    )
    assert told(database) == [([f"{SITE}/d"], [])]
    assert watched(database) == ["/a", "/b", "/c", "/d"]


def test_lists_without_end_are_bounded(database: Database) -> None:
    site = Site()
    install(database, site.now, form(most=5))
    many = [f"/{number}.xml" for number in range(MOST_LISTS + 50)]
    site.pages |= {
        f"{SITE}{path}": Fetched(200, index(*(f"/x{path}", *many)), "text/xml") for path in many
    }

    site.check(database, sitemap_xml=index(*many))
    statuses = Service(database).pages("w")
    assert sum(each.is_list for each in statuses) == MOST_LISTS


def test_a_list_that_cannot_be_read_changes_nothing(database: Database) -> None:
    site = Site()
    install(database, site.now, form())
    site.check(database, sitemap_xml=sitemap("/a", "/b"))
    for bad in (
        FetchProblem("timeout", "no answer in 30 s"),
        Fetched(404, b"", "text/html"),
        Fetched(200, b"<h1>Are you a robot?</h1>", "text/html"),
        Fetched(200, sitemap(), "text/xml"),
        Fetched(200, sitemap("https://evil.example/"), "text/xml"),
        Fetched(200, sitemap("/a"), "text/xml", was_cut=True),
    ):
        site.check(database, sitemap_xml=bad)
        (status,) = [each for each in Service(database).pages("w") if each.is_list]
        assert status.error
        assert watched(database) == ["/a", "/b"]
    site.check(database, sitemap_xml=sitemap("/a", "/b"))
    site.check(database)

    assert told(database) == []
    kinds = [row.kind for row in rows(database, event)]
    assert kinds == ["error"]  # told once, however long it lasts
    (status,) = [each for each in Service(database).pages("w") if each.is_list]
    assert (status.error, status.state) == ("", "fine")


def test_entries_that_leave_a_feed_are_not_told(database: Database) -> None:
    site = Site()
    install(database, site.now, form("feed", most=2, tell=["new", "gone"]))
    for paths in (["/b", "/a"], ["/c", "/b"], ["/d", "/c"]):
        items = "".join(f"<item><link>{SITE}{path}</link></item>" for path in paths)
        site.check(database, sitemap_xml=f"<rss><channel>{items}</channel></rss>".encode())

    # An entry that left makes room at the next reading: first it has to be missing for good.
    assert [gone for _, gone in told(database)] == [[]] * len(told(database))
    assert watched(database) == ["/c", "/d"]


def test_pages_of_other_sites_never_get_credentials(database: Database) -> None:
    site = Site()
    secret = {
        "headers": {"X-Key": "s", "Accept-Language": "de"},
        "cookies": {"a": "s"},
        "user": "me",
        "password": "s",
    }
    install(database, site.now, {**form(elsewhere=True), "fetch": secret})

    site.check(database, sitemap_xml=sitemap("/a", "https://evil.example/b"))
    found = {row.url: row.fetching for row in rows(database, page)}
    assert found["https://evil.example/b"] == {"headers": {"Accept-Language": "de"}}
    assert found[f"{SITE}/a"]["password"] == "s"  # noqa: S105 - of a test


def test_a_page_can_be_a_list_for_one_watch_and_watched_by_another(database: Database) -> None:
    site = Site()
    install(
        database,
        site.now,
        {**form("links", matching="/news/"), "url": f"{SITE}/start"},
        {"name": "start", "url": f"{SITE}/start"},
    )

    site.check(database, start=b"<a href=/news/1>One</a> <a href=/start>Start</a></html>")
    assert watched(database) == ["/news/1"]
    site.check(database, start=b"<a href=/news/1>One</a> <a href=/news/2>Two</a></html>")
    assert watched(database) == ["/news/1", "/news/2"]
    assert [row.body["name"] for row in rows(database, event)] == ["start"]


def test_a_list_that_is_watched_and_cannot_be_read_is_not_asked_again_at_once(
    database: Database,
) -> None:
    site = Site()
    install(database, site.now, form(), {"name": "text", "url": MAP})

    site.check(database, sitemap_xml=b"<urlset><url>")
    assert site.requests == [MAP]
    assert {row.body["name"] for row in rows(database, event)} == {"text", "w"}


def test_an_edited_watch_keeps_the_pages_that_still_match(database: Database) -> None:
    site = Site()
    install(database, site.now, form())
    site.check(database, sitemap_xml=sitemap("/news/1", "/about"))
    service = Service(database)

    def edit(changed: dict[str, Any]) -> None:
        with database.write() as connection:
            edit_watch(connection, service.find("w").id, changed, site.now)

    edit(form(matching="/news/"))
    assert watched(database) == ["/news/1"]
    edit(form())
    site.check(database)
    assert watched(database) == ["/about", "/news/1"]
    edit({"name": "w", "url": f"{SITE}/about"})
    assert [each.url for each in service.pages("w")] == [f"{SITE}/about"]
    edit({**form("links"), "url": f"{SITE}/about"})
    (status,) = service.pages("w")
    assert status.is_list


def test_a_list_has_its_own_interval(database: Database) -> None:
    site = Site()
    install(database, site.now, form(every="3 h"))
    for _ in range(4):
        site.check(database, sitemap_xml=sitemap("/a"))

    assert site.requests.count(MAP) == 2
    assert site.requests.count(f"{SITE}/a") == 4


def test_lists_and_their_pages_go_through_the_gate(tmp_path: Path) -> None:
    database = Database.open(tmp_path / "quire.db")
    table: dict[str, bytes] = {"/a": html("<p>A</p>"), "/b": html("<p>B</p>")}
    known = {"site.example": ["127.0.0.1"], "inside.example": ["10.0.0.1"]}

    async def work() -> Seen:
        async with (
            serving(by_path(table)) as seen,
            open_gate(names(known)) as gate,
            GateFetcher(gate) as fetch,
        ):
            here = seen.url("", "site.example")
            body = sitemap(f"{here}/a", f"{here}/b", "http://inside.example/admin")
            moved = f"Location: {here}/maps/sitemap.xml.gz"
            table["/sitemap.xml"] = answer(b"", "301 Moved Permanently", moved)
            table["/maps/sitemap.xml.gz"] = answer(
                gzip.compress(body), "200 OK", "Content-Type: application/x-gzip"
            )
            find = {"in": "sitemap", "elsewhere": True}
            form = {"name": "w", "url": f"{here}/sitemap.xml", "find": find}
            install(database, 1_000_000.0, {**form, "fetch": {"robots": False}})
            worker = Worker(database, fetch, clock=lambda: 1_000_000.0)
            await worker.run_due()
            worker.close()
            return seen

    seen = asyncio.run(work())
    asked = [head.split(b" ", 2)[1] for head in seen.heads]
    assert sorted(asked) == [b"/a", b"/b", b"/maps/sitemap.xml.gz", b"/sitemap.xml"]
    errors = {each.url: each.error for each in Service(database).pages("w") if each.error}
    assert list(errors) == ["http://inside.example/admin"]
    assert "10.0.0.1 is not a public address" in errors["http://inside.example/admin"]
    database.close()


def test_a_database_without_lists_is_brought_up_to_date(tmp_path: Path) -> None:
    old = Database.open(tmp_path / "old.db")
    install(old, 1.0, {"name": "w", "url": f"{SITE}/a"})
    old.close()
    engine = create_engine(f"sqlite:///{tmp_path / 'old.db'}")
    with engine.begin() as connection:
        for column in ("checked", "heard", "list_level", "list", "unlisted"):
            connection.execute(text(f'ALTER TABLE member DROP COLUMN "{column}"'))
        for later in ("tag", "draft", "address", "resource"):
            connection.execute(text(f"DROP TABLE {later}"))
        connection.execute(text("ALTER TABLE account DROP COLUMN disabled"))
        connection.execute(text("UPDATE alembic_version SET version_num = '0003'"))
    engine.dispose()

    site = Site()
    database = Database.open(tmp_path / "old.db")
    site.check(database)
    assert watched(database) == ["/a"]
    assert site.requests == [f"{SITE}/a"]
    database.close()
