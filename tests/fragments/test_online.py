"""A composition online: a static server with its files, and a real Varnish with its VCL before it."""

from __future__ import annotations

import http.client
import os
import re
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.fragments import Manifest, PlanRules, SourcePage, plan_fragments, verify
from quire.fragments.esi import vcl_map
from quire.fragments.esi.addresses import MOST_BYTES, Place, address_of, places_of
from quire.fragments.esi.varnish import running_varnish
from quire.fragments.esi.vcl import varnish_vcl
from quire.fragments.esi.vcl_map import AddressMap
from quire.fragments.esi.write import write_composition
from quire.fragments.site.collection import Collection
from quire.sources.capture import Capture
from tests.conftest import require
from tests.fragments.hostile import FOOT, MENU

Address = tuple[str, int]


def body(number: int) -> bytes:
    return b"<html><h1>Day %d</h1>" % number + MENU + b"<p>%d mm" % (7 * number) + FOOT


def online(urls: list[str], folder: Path, prefix: str = "/q") -> Manifest:
    """Write a composition of pages at these addresses."""
    pages = [SourcePage(f"page {n}", url, body(n)) for n, url in enumerate(urls)]
    with plan_fragments(pages, rules=PlanRules(prefix=prefix)) as plan:
        return write_composition(plan, folder)


@dataclass(frozen=True)
class Answer:
    """What a server answered."""

    status: int
    headers: dict[str, str]
    data: bytes


def ask(address: Address, method: str, path: str, **headers: str) -> Answer:
    connection = http.client.HTTPConnection(*address, timeout=240)
    try:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, headers=sent)
        answer = connection.getresponse()
        told = {name.lower(): value for name, value in answer.getheaders()}
        return Answer(answer.status, told, answer.read())
    finally:
        connection.close()


@contextmanager
def serving(folder: Path, prefix: str = "/q") -> Iterator[tuple[Counter[str], Address]]:
    """Serve a folder by a static server behind a Varnish; count the requests of the server."""
    asked: Counter[str] = Counter()
    root = folder.parent / "root"
    root.mkdir()
    (root / prefix.strip("/")).symlink_to(folder)

    class Files(SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            asked[self.path] += 1
            super().do_GET()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - inherited
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Files, directory=os.fspath(root)))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        with running_varnish(Manifest.load(folder), server.server_address[1]) as address:
            yield asked, address
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://a.example", "//a.example/"),
        ("HTTPS://A.Example:443/B?C=%c3#d", "//a.example/B?C=%c3"),
        ("http://a.example:8080/a?", "//a.example:8080/a?"),
        ("http://[::1]:80/", "//[::1]/"),
        ("http://mary:secret@a.example/x", "//a.example/x"),
        ("http://bücher.example/ü", "//xn--bcher-kva.example/%C3%BC"),
        ("https://a.example?q", "//a.example/?q"),
        ("/news/", "/news/"),
        ("news.html", "/news.html"),
        ('/a"}\r\nC{ \\<b>', "/a%22}%0D%0AC{%20%5C%3Cb%3E"),
        ("/caf\udce9", "/caf%E9"),
    ],
)
def test_an_address_is_what_a_browser_asks_for(url: str, expected: str) -> None:
    assert address_of(url) == Place(expected)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("ftp://a.example/", "form"),
        ("https:///x", "form"),
        ("https://a.example:99999999/", "form"),
        ('https://a"b/', "form"),
        ("/" + "a" * MOST_BYTES, "long"),
        ("/" + "ü" * (MOST_BYTES // 5), "long"),
    ],
)
def test_what_cannot_be_asked_for_has_no_address(url: str, reason: str) -> None:
    assert address_of(url) == Place("", reason)  # type: ignore[arg-type]


def capture(url: str, body: bytes, day: int = 1, status: int = 200) -> Capture:
    head = b"HTTP/1.1 %d X\r\n\r\n" % status
    return Capture(f"{url} {day}", url, datetime(2026, 5, day, tzinfo=UTC), head, body)


def test_every_address_is_one_page_and_errors_have_none() -> None:
    captures = [
        capture("http://a.example/", b"<p>plain, later", 2),
        capture("https://a.example/", b"<p>secure", 1),
        capture("https://a.example/?", b"<p>empty query", 1),
        capture("https://a.example/gone", b"<p>Not here", 1, status=404),
        capture("https://a.example/again", b"<p>Here", 1, status=404),
        capture("https://a.example/again", b"<p>Here", 2, status=200),
        Capture("x/a.html", "x/a.html", None, b"", b"<p>file"),
    ]
    with Collection(captures) as site:
        one_host = places_of(site.pages)
    with Collection([*captures, capture("https://b.example/", b"<p>b")]) as site:
        two_hosts = places_of(site.pages)

    assert one_host == [
        Place("", "taken"),
        Place("//a.example/"),
        Place("//a.example/?"),
        Place("", "status"),
        Place("//a.example/again"),
        Place("/x/a.html"),
    ]
    assert two_hosts == [*one_host[:-1], Place("", "host"), Place("//b.example/")]


NAME = "0123456789abcdef" * 2
#: Addresses that could be mistaken for each other, for a file, or for VCL.
AWKWARD = [
    "/",
    "/?",
    "/?q=1",
    "/?q=1&r=2",
    "/News",
    "/news",
    "/news/",
    "/news//",
    "/news/index.html",
    "/news%2F",
    "/news%2f",
    "/a b",
    "/a%2520b",
    "/a+b",
    '/quote"}',
    '/"; } C{ system("id"); }C ',
    "/line\r\nbreak",
    "/x{y}|[z]^`'$&*()~",
    "/%",
    "/%zz",
    "/\\1",
    "/ü",
    "/..%2F..%2Fetc/passwd",
    "/q/fragments/",
    f"/q/fragments/{NAME}.html",
    f"/q/templates/{NAME}.html",
    f"/q/whole/{NAME}.html?x",
    "/q/manifest.json",
    "/text/html",
    "/long?" + "x" * (MOST_BYTES - 6),
]


@pytest.mark.timeout(900)
@pytest.mark.parametrize("prefix", ["", "/q"])
def test_every_page_is_served_at_its_own_address(prefix: str, tmp_path: Path) -> None:
    require("varnishd", "serve pages at their addresses")
    manifest = online(AWKWARD, tmp_path / "esi", prefix)
    found = verify(tmp_path / "esi", composer="varnish")

    assert found.faults == ()
    assert found.equal == len(AWKWARD)
    assert not found.is_vcl_changed
    assert len({page.address for page in manifest.pages}) == len(AWKWARD)


@pytest.mark.timeout(900)
def test_hosts_are_told_apart_if_there_are_several(tmp_path: Path) -> None:
    require("varnishd", "serve pages at their addresses")
    hosts = ["https://a.example/", "https://b.example/", "http://b.example:8080/", "http://[::1]/"]
    online([*hosts, "https://a.example/only"], tmp_path / "esi")

    assert verify(tmp_path / "esi", composer="varnish").faults == ()
    with serving(tmp_path / "esi") as (asked, address):
        assert ask(address, "GET", "/", Host="A.example:80").data == body(0)
        assert ask(address, "GET", "/", Host="b.example").data == body(1)
        before = asked.total()
        for host, path in [("c.example", "/"), ("b.example", "/only"), ("a.example:81", "/")]:
            assert ask(address, "GET", path, Host=host).status == 404
        # Fragments are the same on all hosts.
        assert asked.total() == before == 4


@pytest.mark.timeout(900)
def test_a_large_site_is_served_whatever_its_addresses_begin_with(tmp_path: Path) -> None:
    require("varnishd", "serve pages at their addresses")
    urls = [f"/news/{n}" for n in range(1, 400)]
    urls += ["/" + "a" * n for n in range(1, 350)]  # each begins like the one before
    urls += [f"/{'long/' * 700}{n}" for n in range(20)]
    urls += [f"/{chr(33 + n % 90)}/{n}?x={n}" for n in range(300)]
    pages = {address_of(url).address: url for url in urls}
    online(list(pages.values()), tmp_path / "esi")
    found = verify(tmp_path / "esi", composer="varnish")

    assert found.faults == ()
    assert found.equal == len(pages) > 1000
    vcl = (tmp_path / "esi" / "varnish.vcl").read_text()
    assert max(map(len, vcl.splitlines())) < 20_000


def looked_up(vcl: str, address: str) -> tuple[str | None, int]:
    """Read the map as Varnish does: the entry of an address, and how deep the calls were."""
    subs = dict(re.findall(r"^sub (quire_\w+) \{\n(.*?)^\}\n", vcl, re.DOTALL | re.MULTILINE))
    string, deepest = "", 0

    def run(name: str, depth: int) -> None:
        nonlocal string, deepest
        deepest = max(deepest, depth)
        found = re.findall(r'^    if \(req\.\S+ ~ "(.*)"\) \{\n(.*)\n', subs[name], re.MULTILINE)
        for pattern, command in found or [("", subs[name])]:
            if re.search(pattern, address):
                text = re.search(r'req\.http\.quire-address \+ "(.*)";', command)
                call = re.search(r"call (\w+);", command)
                if text is not None:
                    string = address + text[1]
                elif call is not None:
                    run(call[1], depth + 1)

    run("quire_page", 0)
    pattern = re.findall(r'~ "(.*)"\) \{', subs["quire_find"])[0]
    entry = re.match(pattern + r"(\S++ \S++) ", string)
    return (None if entry is None else entry[2]), deepest


@given(
    st.sets(st.text("a/%?.", max_size=6) | st.integers(0, 40).map("a".__mul__), max_size=60),
    st.text("a/%?.", max_size=7),
)
def test_the_map_has_every_address_and_no_other(targets: set[str], other: str) -> None:
    entries = {f"/{target}": f"whole/{n} text/html" for n, target in enumerate(sorted(targets))}
    with pytest.MonkeyPatch.context() as patch:
        # Small strings, so that a few addresses need a deep tree.
        patch.setattr(vcl_map, "_MOST_ENTRIES", 2)
        vcl = AddressMap(dict(sorted(entries.items())), has_hosts=False).vcl()

    for address in {*entries, f"/{other}"}:
        found, depth = looked_up(vcl, address)
        assert found == entries.get(address)
        assert depth <= len(entries).bit_length()


def test_the_vcl_that_is_verified_is_the_one_in_the_folder(tmp_path: Path) -> None:
    manifest = online(AWKWARD, tmp_path / "esi")
    written = (tmp_path / "esi" / "varnish.vcl").read_text()

    assert varnish_vcl(manifest, port=4711).replace('"4711"', '"8080"') == written
    # Without its strings, it is the same for all sites of one table: no address is code.
    other = online(["/b", "/a"], tmp_path / "other")
    without = [re.sub(r'"[^"\n]*"', '""', varnish_vcl(one)) for one in (manifest, other)]
    assert without[0] == without[1]


def test_an_address_that_is_none_does_not_get_into_vcl(tmp_path: Path) -> None:
    manifest = online(["/a", "/b"], tmp_path / "esi")
    for broken in ('/"', "/a b", "/a\nb", "a", "//A/", "/\\", "//a b/"):
        pages = (replace(manifest.pages[0], address=broken), *manifest.pages[1:])
        with pytest.raises(ValueError, match="expected an address"):
            varnish_vcl(replace(manifest, pages=pages))
    pages = (replace(manifest.pages[0], content_type='text/html"'), *manifest.pages[1:])
    with pytest.raises(ValueError, match="not a page in VCL"):
        AddressMap.of(replace(manifest, pages=pages))


@pytest.mark.timeout(900)
def test_status_type_and_methods_are_those_of_a_web_server(tmp_path: Path) -> None:
    require("varnishd", "serve pages at their addresses")
    pages = [
        SourcePage("0", "/shop/index.html", body(0), "text/html; charset=ISO-8859-1"),
        SourcePage("1", "/1.html", body(1)),
        SourcePage("2", "/data", b'{"fish": 8}', "application/json"),
        SourcePage("3", "/readme.txt", b"Fish, chips and peas"),
    ]
    with plan_fragments(pages, rules=PlanRules(prefix="/q")) as plan:
        write_composition(plan, tmp_path / "esi")
    with serving(tmp_path / "esi") as (_, address):
        expected = {
            "/shop/index.html": "text/html;charset=iso-8859-1",
            "/shop/": "text/html;charset=iso-8859-1",
            "/1.html": "text/html",
            "/data": "application/json",
            "/readme.txt": "text/plain",
        }
        for path, kind in expected.items():
            whole, head = ask(address, "GET", path), ask(address, "HEAD", path)
            assert (whole.status, whole.headers["content-type"]) == (200, kind)
            assert (head.status, head.data, head.headers["content-type"]) == (200, b"", kind)
            assert whole.headers["cache-control"] == "no-cache"
            assert re.fullmatch("(templates|whole) [0-9a-f]{32}", whole.headers["surrogate-key"])
        assert ask(address, "GET", "/shop/").data == body(0)
        for path in ("/shop", "/", "/Data", "/data/", "/data?", "/1.html?utm_source=x"):
            assert ask(address, "GET", path).status == 404
            assert ask(address, "HEAD", path).status == 404
        refused = ask(address, "POST", "/data")
        assert (refused.status, refused.headers["allow"]) == (405, "GET, HEAD")


@pytest.mark.timeout(900)
def test_a_page_is_never_said_to_be_unchanged_because_its_template_is(tmp_path: Path) -> None:
    require("varnishd", "serve pages at their addresses")
    manifest = online(["/1", "/2"], tmp_path / "esi")
    with plan_fragments([SourcePage("w", "/w", b"<p>whole")]) as plan:
        write_composition(plan, tmp_path / "whole")
    for path in (tmp_path / "esi").rglob("*.html"):
        os.utime(path, (10**9, 10**9))
    since = "Sun, 09 Sep 2001 01:46:40 GMT"
    with serving(tmp_path / "esi") as (_, address):
        first = ask(address, "GET", "/1")
        again = ask(address, "GET", "/1", If_Modified_Since=since, If_None_Match="*")
        part = ask(address, "GET", "/1", Range="bytes=0-3")

        assert (again.status, again.data) == (part.status, part.data) == (200, first.data)
        assert not {"etag", "last-modified"} & first.headers.keys()
        # A fragment is one file, so it may be unchanged.
        name = manifest.fragments[0].file
        fragment = f"/q/fragments/{name}.html"
        assert ask(address, "GET", fragment, If_Modified_Since=since).status == 304
        assert ask(address, "GET", fragment).headers["surrogate-key"] == f"fragments {name}"


@pytest.mark.timeout(900)
def test_purging_a_key_fetches_that_file_again_and_no_other(tmp_path: Path) -> None:
    require("varnishd", "purge what a real cache holds")
    manifest = online(["/1", "/2", "/3"], tmp_path / "esi")
    with serving(tmp_path / "esi") as (asked, address):

        def pages() -> list[bytes]:
            return [ask(address, "GET", path).data for path in ("/1", "/2", "/3")]

        assert pages() == [body(0), body(1), body(2)]
        once = Counter(asked)
        assert len(once) == 5
        assert set(once.values()) == {1}

        menu = next(one.file for one in manifest.fragments if one.length == len(MENU))
        path = f"/q/fragments/{menu}.html"
        (tmp_path / "esi" / "fragments" / f"{menu}.html").write_bytes(b"<nav>New</nav>")
        assert pages() == [body(0), body(1), body(2)]
        # A part of a key, or another one, purges nothing.
        for key in (menu[:-1], menu[1:], "f" * 32, "fragment"):
            assert ask(address, "PURGE", "/", Surrogate_Key=key).status == 200
        assert pages() == [body(0), body(1), body(2)]
        assert asked == once

        assert ask(address, "PURGE", "/", Surrogate_Key=f"{'f' * 32} {menu}").status == 200
        new = [body(n).replace(MENU, b"<nav>New</nav>") for n in range(3)]
        assert pages() == pages() == new
        assert asked == once + Counter([path])

        # A page is purged by its address, and its fragments are not.
        template = tmp_path / "esi" / "templates" / f"{manifest.pages[1].file}.html"
        template.write_bytes(template.read_bytes().replace(b"Day 1", b"Day X"))
        assert ask(address, "PURGE", "/2").status == 200
        assert pages() == [new[0], new[1].replace(b"Day 1", b"Day X"), new[2]]
        assert asked == once + Counter([path, f"/q/templates/{template.name}"])

        # A folder is a key too.
        assert ask(address, "PURGE", "/", Surrogate_Key="fragments").status == 200
        pages()
        assert asked.total() == once.total() + 2 + len(manifest.fragments)


@pytest.mark.timeout(900)
def test_only_this_machine_purges_and_only_by_keys(tmp_path: Path) -> None:
    require("varnishd", "purge what a real cache holds")
    online(["/1", "/2"], tmp_path / "esi")
    with serving(tmp_path / "esi") as (asked, address):
        ask(address, "GET", "/1")
        once = Counter(asked)
        for key in (".*", "a|b", "a)(b", "a,b", 'a" || obj.ttl > 0s', "a\\s", "x" * 65, "a  b", ""):
            assert ask(address, "PURGE", "/1", Surrogate_Key=key).status == 400, key
        assert ask(address, "PURGE", "/1", Surrogate_Key="a " * 100 + "a").status == 400
        assert ask(address, "PURGE", "/unknown").status == 404
        through_proxy = ask(address, "PURGE", "/1", X_Forwarded_For="192.0.2.7")
        assert through_proxy.status == 403
        ask(address, "GET", "/1")
        assert asked == once
        assert ask(address, "PURGE", "/1").status == 200
        ask(address, "GET", "/1")
        assert asked.total() == once.total() + 1
    vcl = (tmp_path / "esi" / "varnish.vcl").read_text()
    assert re.findall(r"acl quire_purgers \{([^}]*)\}", vcl) == ['\n    "127.0.0.1";\n    "::1";\n']


@pytest.mark.timeout(900)
def test_a_wrong_page_is_named_with_its_address_and_first_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require("varnishd", "serve pages at their addresses")
    manifest = online(["https://a.example/1", "https://a.example/2"], tmp_path / "esi")

    def other(given: Manifest, *, host: str = "127.0.0.1", port: int = 8080) -> str:
        # A Varnish that does not compose.
        return varnish_vcl(given, host=host, port=port).replace("do_esi = true", "do_esi = false")

    monkeypatch.setattr("quire.fragments.esi.varnish.varnish_vcl", other)
    found = verify(tmp_path / "esi", composer="varnish")
    first = body(0).index(MENU) + 1  # the menu and the include both begin with <

    assert [fault.address for fault in found.faults] == ["//a.example/1", "//a.example/2"]
    assert f"differs at byte {first} (" in found.faults[0].reason
    assert f"expected {manifest.pages[0].length})" in found.faults[0].reason


def test_a_changed_file_is_named_with_its_place_in_the_page(tmp_path: Path) -> None:
    manifest = online(["/1", "/2"], tmp_path / "esi")
    name = next(one.file for one in manifest.fragments if one.length == len(FOOT))
    path = tmp_path / "esi" / "fragments" / f"{name}.html"
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    fault = verify(tmp_path / "esi").faults[0]

    assert (fault.page, fault.address) == ("page 0", "/1")
    start = body(0).index(FOOT)
    assert fault.reason.startswith(
        f"fragments/{name}.html has other content; it begins at byte {start} of the page"
    )
    path.write_bytes(FOOT)
    template = tmp_path / "esi" / "templates" / f"{manifest.pages[0].file}.html"
    template.write_bytes(template.read_bytes().replace(b"Day", b"DAY"))
    (fault,) = verify(tmp_path / "esi").faults
    assert fault.reason.startswith(f"templates/{template.name} has other content (")
