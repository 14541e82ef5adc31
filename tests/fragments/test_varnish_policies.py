"""A real Varnish does what policies say: what is past its time is fetched again, and nobody gets what is another reader's."""

from __future__ import annotations

import http.client
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from quire.fragments import ComposedPage, FragmentFile, Manifest, Policy, Volumes
from quire.fragments.cuts.includes import include, name_of
from quire.fragments.esi.varnish import running_varnish
from tests.conftest import require

PAGE = name_of(b"the page")
#: Fragments of that page, by what is said of each.
POLICIES = {
    "default": Policy(),
    "short": Policy(1, sharing="shared", source="measured", reason="10 % change within 1 s"),
    "shared": Policy(600, sharing="shared"),
    "private": Policy(0, ("Cookie",), "private"),
    "restless": Policy(0, source="measured", reason="100 % change between two captures"),
    "language": Policy(600, ("Accept-Language",), "shared"),
    "cookies": Policy(600, ("Cookie",)),
}
NAMES = {what: name_of(what.encode()) for what in POLICIES}


def manifest() -> Manifest:
    fragments = [
        FragmentFile(NAMES[what], "fragments", 1, 1, "0" * 64, 1, 1, 0, 0, policy)
        for what, policy in POLICIES.items()
    ]
    page = ComposedPage(
        name="page",
        url="/",
        folder="templates",
        file=PAGE,
        length=0,
        sha256="0" * 64,
        includes=len(fragments),
        is_refused=False,
        hazards=(),
        policy=Policy(600, sharing="shared"),
        is_personal=True,
        address="/news?day=1",
    )
    return Manifest(
        prefix="/q",
        max_depth=1,
        xml_check=True,
        pages=(page,),
        fragments=tuple(fragments),
        volumes=Volumes(0, 0, 0, 0),
    )


class Origin:
    """A server that says who asked, and counts."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.broken: set[str] = set()
        names = {f"/q/fragments/{name}.html": what for what, name in NAMES.items()}
        includes = b" ".join(include("/q", "fragments", name) for name in NAMES.values())
        counts, broken = self.asked, self.broken

        class Answers(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                what = names.get(self.path, "page" if self.path.endswith(f"{PAGE}.html") else "")
                counts[what] += 1
                reader = self.headers.get("Cookie", "nobody")
                language = self.headers.get("Accept-Language", "en")
                data = f"<p>{what} {reader} {language} {counts[what]}</p>".encode()
                data = b"<div>" + includes + b"</div>" if what == "page" else data
                self.send_response(500 if what in broken else 200 if what else 404)
                self.send_header("Content-Type", "text/html")
                self.send_header("Cache-Control", "public, max-age=9999")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name it has above
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        self.server.daemon_threads = True


@contextmanager
def cache() -> Iterator[tuple[Origin, tuple[str, int]]]:
    origin = Origin()
    thread = threading.Thread(target=origin.server.serve_forever, daemon=True)
    thread.start()
    try:
        with running_varnish(manifest(), origin.server.server_address[1]) as address:
            yield origin, address
    finally:
        origin.server.shutdown()
        origin.server.server_close()
        thread.join()


def asked(address: tuple[str, int], path: str) -> tuple[str, str | None]:
    """What comes at an address, and what caches behind are told."""
    connection = http.client.HTTPConnection(*address, timeout=240)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.read().decode(), answer.getheader("Cache-Control")
    finally:
        connection.close()


def fetched(address: tuple[str, int], **headers: str) -> tuple[dict[str, str], str]:
    """Who was answered, by what was asked for; and what caches behind are told."""
    connection = http.client.HTTPConnection(*address, timeout=240)
    try:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("GET", "/news?day=1", headers=sent)
        answer = connection.getresponse()
        words = [part.split("</p>")[0] for part in answer.read().decode().split("<p>")[1:]]
        told = answer.getheader("Cache-Control", "")
    finally:
        connection.close()
    assert answer.status == 200
    return {one.split()[0]: one.split(maxsplit=1)[1] for one in words}, told


@pytest.mark.timeout(900)
def test_readers_get_their_own_and_what_is_for_all_is_fetched_once() -> None:
    require("varnishd", "compose pages with a real cache")
    with cache() as (origin, address):
        mary, told = fetched(address, Cookie="reader=mary")
        bob, _ = fetched(address, Cookie="reader=bob")
        again, _ = fetched(address, Cookie="reader=mary")
        french, _ = fetched(address, Cookie="reader=mary", Accept_Language="fr")

        assert set(mary) == set(POLICIES)
        # What is private is never another's, nor an old one.
        assert (mary["private"], bob["private"]) == ("reader=mary en 1", "reader=bob en 2")
        assert again["private"] == "reader=mary en 3"
        # What varies by a header is kept for each value of it.
        assert (mary["cookies"], bob["cookies"]) == ("reader=mary en 1", "reader=bob en 2")
        assert again["cookies"] == "reader=mary en 1"
        assert (mary["language"], french["language"]) == ("nobody en 1", "nobody fr 2")
        # What is the same for all was asked for by nobody in particular, once.
        assert mary["shared"] == bob["shared"] == french["shared"] == "nobody en 1"
        assert origin.asked["page"] == 1
        # What is not known is not kept for who has a cookie, and what changes all the time for nobody.
        assert (mary["default"], bob["default"]) == ("reader=mary en 1", "reader=bob en 2")
        assert origin.asked["restless"] == origin.asked["private"] == 4
        assert told == "private, no-store"


@pytest.mark.timeout(900)
def test_a_fragment_past_its_time_is_fetched_again_and_the_others_are_not() -> None:
    require("varnishd", "compose pages with a real cache")
    with cache() as (origin, address):
        first, _ = fetched(address)
        end = time.monotonic() + 240
        later = first
        while later["short"] == first["short"] and time.monotonic() < end:
            time.sleep(0.2)
            later, _ = fetched(address)

        assert (first["short"], later["short"]) == ("nobody en 1", "nobody en 2")
        assert first["shared"] == later["shared"] == "nobody en 1"
        assert first["default"] == later["default"] == "nobody en 1"
        assert first["restless"] != later["restless"]
        assert origin.asked["page"] == 1


@pytest.mark.timeout(900)
def test_what_went_wrong_at_the_origin_is_not_kept_in_the_place_of_a_fragment() -> None:
    require("varnishd", "compose pages with a real cache")
    with cache() as (origin, address):
        origin.broken |= {"shared", "default"}
        fetched(address)
        origin.broken.clear()
        mended, _ = fetched(address)
        again, _ = fetched(address)

        assert (mended["shared"], mended["default"]) == ("nobody en 2", "nobody en 2")
        assert again["shared"] == mended["shared"]
        assert origin.asked["shared"] == 2


@pytest.mark.timeout(900)
def test_nothing_behind_a_name_goes_around_its_policy() -> None:
    require("varnishd", "compose pages with a real cache")
    with cache() as (origin, address):
        for what in ("private", "restless"):
            for behind in ("", "?", "?x=1", "?x=/q/whole/"):
                asked(address, f"/q/fragments/{NAMES[what]}.html{behind}")
            assert origin.asked[what] == 4
        _, told = asked(address, f"/q/fragments/{NAMES['private']}.html?x=1")
        assert told == "private, no-store"
        for behind in ("", "?x=1", "?x=2"):
            asked(address, f"/q/fragments/{NAMES['shared']}.html{behind}")
        assert origin.asked["shared"] == 1
        # What is neither an address of a page nor a name is not asked for at all.
        for other in (f"fragments/./{NAMES['shared']}.html", f"pages/{PAGE}.html", "manifest.json"):
            said, told = asked(address, f"/q/{other}")
            assert "Not found" in said
            assert told is None
        assert origin.asked[""] == 0
        page, _ = asked(address, f"/q/templates/{PAGE}.html?x=1")
        assert "<esi:" not in page
