"""Comparing pages and crawls on the web: who may, what they may give, and how long it is kept."""

from __future__ import annotations

import asyncio
import gzip
import io
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from html import unescape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TypeAlias
from uuid import uuid4

import pytest

from quire.sentinels.service import Service
from quire.sentinels.store import Database
from quire.sources.gate.addresses import parse_networks
from quire.sources.gate.one_page import fetch_good
from quire.web import Settings, create_app
from quire.web.held import Held
from tests.web.client import Client, Reply
from tests.web.conftest import CHEAP, Site
from tests.web.test_one_watch import HOSTILE, VIEWS, Tags, words

Files: TypeAlias = dict[str, tuple[str, bytes]]
BOUNDARY = "----quire-test"
HERE = "127.0.0.1"
OLD, NEW = "<h1>Menu</h1><p>Cod 8.40</p>", "<h1>Menu</h1><p>Cod 8.60</p><p>Tea</p>"


def post(
    client: Client, files: Files | None = None, /, path: str = "/compare", **given: str
) -> Reply:
    """Send a form with files, as a browser does."""
    parts = [
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name.replace("_", "-")}"\r\n\r\n'
        f"{text}\r\n".encode()
        for name, text in given.items()
    ]
    parts += [
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"; filename="{file}"\r\n'
        "Content-Type: application/octet-stream\r\n\r\n".encode()
        + data
        + b"\r\n"
        for name, (file, data) in (files or {}).items()
    ]
    body = b"".join([*parts, f"--{BOUNDARY}--\r\n".encode()])
    kind = {"content-type": f"multipart/form-data; boundary={BOUNDARY}"}
    return client.post(path, body=body, headers=kind)


def compared(client: Client, **given: str) -> str:
    """Compare two things, and return the path of the result."""
    reply = post(client, None, **given)
    assert reply.status == 303, words(reply)
    return reply.headers["location"]


def zipped(pages: dict[str, str | bytes]) -> bytes:
    """Return a zip file."""
    found = io.BytesIO()
    with zipfile.ZipFile(found, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, text in pages.items():
            opened.writestr(name, text)
    return found.getvalue()


@contextmanager
def page_server(pages: dict[str, bytes]) -> Iterator[str]:
    """Serve pages on this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = pages.get(self.path)
            self.send_response(404 if found is None else 200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(found or b"")

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer((HERE, 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://{HERE}:{server.server_port}"
    server.shutdown()
    server.server_close()


# ------------------------------------------------------------ pages


@pytest.mark.parametrize("view", VIEWS)
def test_two_pasted_pages_are_compared_in_every_view(shared_site: Site, view: str) -> None:
    viewer = shared_site.browser("viewer")
    path = compared(viewer, old_text=OLD, new_text=NEW)
    reply = viewer.get(f"{path}?view={view}")

    assert reply.status == 200
    assert "unsafe" not in reply.headers["content-security-policy"]
    for frame in re.findall(r'<iframe [^>]*? src="([^"]+)"', reply.text):
        drawn = viewer.get(unescape(frame).partition("#")[0])
        assert drawn.status == 200
        assert drawn.headers["x-frame-options"] == "SAMEORIGIN"
        assert drawn.headers["content-security-policy"].endswith("sandbox")
        assert "Cod" in drawn.text
    if view in ("text", "source"):
        assert "<del>8.40</del>" in reply.text


def test_two_uploaded_files_are_compared(shared_site: Site) -> None:
    viewer = shared_site.browser("viewer")
    files = {"old-file": ("may.html", OLD.encode()), "new-file": ("june.html", NEW.encode())}
    reply = post(viewer, files)
    shown = viewer.get(reply.headers["location"])

    assert "may.html → june.html" in words(shown)
    assert "1 of 1 change" in words(shown)


@pytest.fixture
def fetching_site(shared_site: Site, monkeypatch: pytest.MonkeyPatch) -> Site:
    """An application that fetches pages as ``quire serve`` does."""
    fetch = partial(fetch_good, allow_networks=())
    monkeypatch.setattr(shared_site.app.state.quire, "fetch_page", fetch)
    return shared_site


def test_a_service_that_fetches_nothing_says_so(shared_site: Site) -> None:
    reply = post(shared_site.browser("viewer"), old_address="https://a.example/", new_text=NEW)

    assert reply.status == 422
    assert "this service fetches no pages" in words(reply)


def test_two_addresses_are_fetched_through_the_gate(
    fetching_site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    viewer = fetching_site.browser("viewer")
    with page_server({"/old": OLD.encode(), "/new": NEW.encode()}) as address:
        given = {"old_address": f"{address}/old", "new_address": f"{address}/new"}
        refused = post(viewer, None, **given)
        allowed = partial(fetch_good, allow_networks=parse_networks("127.0.0.0/8"))
        monkeypatch.setattr(fetching_site.app.state.quire, "fetch_page", allowed)
        path = compared(viewer, **given)
        missing = post(viewer, old_address=f"{address}/none", new_text=NEW)

    assert refused.status == 422
    assert "127.0.0.1" in words(refused)
    assert f"{address}/old → {address}/new" in words(viewer.get(path))
    assert missing.status == 422
    assert "404" in words(missing)


@pytest.mark.parametrize(
    "address",
    ["file:///etc/passwd", "ftp://example.org/", "http://169.254.169.254/latest", "http://[::1]/",
     "javascript:alert(1)", "http://localhost/", "gopher://x", "http://0x7f.1/", "x" * 5000],
)  # fmt: skip
def test_addresses_that_the_gate_refuses_are_an_error_beside_the_field(
    fetching_site: Site, address: str
) -> None:
    reply = post(fetching_site.browser("viewer"), old_address=address, new_text=NEW)

    assert reply.status == 422
    assert 'role="alert" id="old-wrong"' in reply.text
    assert NEW in unescape(reply.text), "nothing that was typed is lost"


def test_what_is_missing_or_too_much_is_told(shared_site: Site) -> None:
    viewer = shared_site.browser("viewer")
    for reply, side, said in (
        (post(viewer, old_text=OLD), "new", "nothing was given"),
        (post(viewer, new_text=NEW), "old", "nothing was given"),
        (post(viewer, old_text=OLD, old_address="https://a.example/", new_text=NEW), "old",
         "more than one"),
        (post(viewer, {"old-file": ("a.html", b"<p>" + b"x" * 5_000_000)}, new_text=NEW), "old",
         "5.0 MB; expected at most 5.0 MB"),
    ):  # fmt: skip
        assert reply.status == 422
        assert f'id="{side}-wrong"' in reply.text
        assert said in words(reply)
    chunks = [b"x" * 1_000_000] * 21
    kind = {"content-type": f"multipart/form-data; boundary={BOUNDARY}"}
    assert viewer.post("/compare", chunks=chunks, headers=kind).status == 413


@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        ("multipart/form-data", b"--x", 415),
        ("multipart/form-data; boundary=x", b"", 400),
        ("multipart/form-data; boundary=x", b"--x\r\n\r\n\r\n--x--", 400),
        ("multipart/form-data; boundary=x", b"--x\r\nno name\r\n\r\na\r\n--x--", 400),
        ("multipart/form-data; boundary=x", b"--x\r\n" * 5000 + b"--x--", 400),
        ("multipart/form-data; boundary=\x00", b"", 415),
        ("application/json", b"{}", 415),
        ("application/x-www-form-urlencoded", b"a=b&" * 1000, 400),
    ],
)
def test_bodies_that_are_not_forms_are_refused(
    shared_site: Site, kind: str, body: bytes, status: int
) -> None:
    viewer = shared_site.browser("viewer")
    assert viewer.post("/compare", body=body, headers={"content-type": kind}).status == status


def test_hostile_names_and_pages_stay_text_or_in_the_frame(shared_site: Site) -> None:
    viewer = shared_site.browser("viewer")
    name = HOSTILE.replace('"', "").replace("\u202e", "x")
    files = {
        "old-file": (name, f"<title>{HOSTILE}</title><p>{HOSTILE}<p>1".encode()),
        "new-file": (name, f"<title>{HOSTILE}!</title><p>{HOSTILE}<p>2".encode()),
    }
    path = post(viewer, files).headers["location"]
    for view in VIEWS:
        reply = viewer.get(f"{path}?view={view}")
        assert "<script>alert" not in reply.text
        assert "<img" not in reply.text
    for side in ("both", "old", "new"):
        tags = Tags()
        tags.feed(viewer.get(f"{path}/frame/{side}").text)
        assert "script" not in tags.names
        assert not {each for each in tags.attributes if each.startswith("on")}


# ------------------------------------------------------------ crawls


def test_two_zipped_folders_are_compared_page_by_page(shared_site: Site) -> None:
    viewer = shared_site.browser("viewer")
    old = zipped({"site-may/a.html": OLD, "site-may/b.html": OLD, "site-may/same.html": "<p>x"})
    new = zipped({"site-june/a.html": NEW, "site-june/c.html": OLD, "site-june/same.html": "<p>x"})
    path = post(viewer, {"old-file": ("may.zip", old), "new-file": ("june.zip", new)}).headers[
        "location"
    ]
    shown = viewer.get(path)
    link = re.search(r'<a href="([^"]+\?page=\d+)">a.html</a>', shown.text)

    assert "1 changed 1 new 1 gone 1 same" in words(shown)
    assert link
    for view in VIEWS:
        assert viewer.get(f"{link[1]}&view={view}").status == 200
    drawn = viewer.get(link[1].replace("?", "/frame/both?"))
    assert '<ins class="quire-ins">8.60</ins>' in drawn.text
    assert viewer.get(f"{path}?page=77").status == 404


def warc(text: str, path: str = "/menu", kind: str = "text/html") -> bytes:
    """Write a record of a WARC file."""
    body = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n{text}".encode()
    head = (
        f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: https://a.example{path}\r\n"
        "WARC-Date: 2026-05-01T00:00:00Z\r\n"
        f"WARC-Record-ID: <urn:uuid:{uuid4()}>\r\n"
        f"Content-Type: application/http;msgtype=response\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body + b"\r\n\r\n"


def test_two_warc_files_are_compared_by_address(shared_site: Site) -> None:
    viewer = shared_site.browser("viewer")
    files = {"old-file": ("a.warc", warc(OLD)), "new-file": ("b.warc", warc(NEW))}
    shown = viewer.get(post(viewer, files).headers["location"])

    assert "1 changed" in words(shown)
    assert ">https://a.example/menu</a>" in shown.text


def test_pages_of_crawls_look_as_they_did_in_each(shared_site: Site) -> None:
    def crawl(text: str, colour: str) -> bytes:
        sheet = f"h1{{color:{colour}}}p{{background:url(dot.svg)}}"
        link = "<link rel=stylesheet href=/look/a.css>"
        image = "<svg xmlns='http://www.w3.org/2000/svg'/>"
        return (
            warc(f"{link}{text}")
            + warc(sheet, "/look/a.css", "text/css")
            + warc(image, "/look/dot.svg", "image/svg+xml")
        )

    viewer = shared_site.browser("viewer")
    files = {
        "old-file": ("a.warc", crawl(OLD, "rgb(1,2,3)")),
        "new-file": ("b.warc", crawl(NEW, "rgb(4,5,6)")),
    }
    shown = viewer.get(post(viewer, files).headers["location"])
    link = re.search(r'<a href="([^"]+\?page=\d+)">https://a.example/menu</a>', shown.text)
    assert link
    for name, colour in (("both", "4,5,6"), ("new", "4,5,6"), ("old", "1,2,3")):
        drawn = viewer.get(link[1].replace("?", f"/frame/{name}?")).text
        assert f"color:rgb({colour})" in drawn, name
        assert 'url("data:image/svg+xml;base64,' in drawn


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (zipped({"a.html": OLD})[:-30], "cannot be read"),
        (b"PK\x03\x04" + b"\x00" * 100, "cannot be read"),
        (zipped({f"{number}.html": "x" for number in range(5001)}), "5,001 pages"),
        (zipped({f"{number}.html": b"\x00" * 4_999_999 for number in range(21)}), "more than"),
        (zipped({"readme.exe": "x"}), "no"),
        (b"\x1f\x8b" + b"\x00" * 50, "no"),
        (b"WARC/1.1\r\n", "no"),
    ],
    ids=["cut", "not a zip", "many", "bomb", "no pages", "not gzip", "empty WARC"],
)  # fmt: skip
def test_files_that_are_not_crawls_are_refused(shared_site: Site, data: bytes, said: str) -> None:
    viewer = shared_site.browser("viewer")
    reply = post(viewer, {"old-file": ("a.zip", data), "new-file": ("b.zip", data)})

    assert reply.status == 422
    assert said in words(reply)
    assert "quire-compare-" not in reply.text, "no path of ours"


def test_a_zip_file_cannot_write_outside_of_its_folder(shared_site: Site, tmp_path: Path) -> None:
    viewer = shared_site.browser("viewer")
    names = ["../../evil.html", str(tmp_path / "evil.html"), "..\\..\\evil.html", "a/../../e.html"]
    files = {
        side: ("a.zip", zipped(dict.fromkeys(names, f"<p>{side}")))
        for side in ("old-file", "new-file")
    }
    reply = post(viewer, files)

    assert reply.status == 303
    assert not list(tmp_path.iterdir())


def test_a_crawl_and_a_page_are_not_compared(shared_site: Site) -> None:
    files = {"old-file": ("a.zip", zipped({"a.html": OLD}))}
    reply = post(shared_site.browser("viewer"), files, new_text=NEW)

    assert reply.status == 422
    assert "expected a crawl here too" in words(reply)


# ------------------------------------------------------------ who may


def test_people_on_this_machine_need_no_account(shared_site: Site) -> None:
    here = shared_site.anonymous(HERE)
    assert here.get("/compare").status == 200
    path = compared(here, old_text=OLD, new_text=NEW)

    assert here.get(path).status == 200
    assert here.get(f"{path}/frame/both").status == 200
    assert here.get("/").headers["location"].startswith("/login")


@pytest.mark.parametrize(
    "headers",
    [
        {"x-forwarded-for": "192.0.2.1"},
        {"forwarded": "for=192.0.2.1"},
        {"via": "1.1 proxy"},
        {"authorization": "Bearer quire_" + "x" * 43},
    ],
    ids=str,
)
def test_people_behind_a_proxy_on_this_machine_need_one(
    shared_site: Site, headers: dict[str, str]
) -> None:
    reply = shared_site.anonymous(HERE).get("/compare", headers=headers)

    assert (reply.status, reply.headers["location"]) == (303, "/login?to=/compare")


def test_a_service_for_others_needs_an_account_for_everyone(shared_site: Site) -> None:
    for settings in (
        Settings(base_url="https://watch.example.org"),
        Settings(base_url="http://127.0.0.1"),
    ):
        app = create_app(shared_site.service, settings, hasher=CHEAP)
        here = Client(app, shared_site.runner, client=HERE)
        assert here.get("/compare").headers["location"].startswith("/login")
    named = create_app(shared_site.service, Settings(hosts=("quire.local",)), hasher=CHEAP)
    here = Client(named, shared_site.runner, client=HERE)
    assert here.get("/compare", host="quire.local").headers["location"].startswith("/login")


@pytest.mark.parametrize(
    ("origin", "headers"),
    [
        (None, {}),
        ("https://evil.example", {}),
        ("null", {}),
        ("http://127.0.0.1:8000", {}),
        ("http://127.0.0.1", {"sec-fetch-site": "cross-site"}),
        ("http://127.0.0.1", {"sec-fetch-site": "same-site"}),
        (None, {"sec-fetch-site": "none"}),
    ],
)
def test_a_page_elsewhere_cannot_compare_through_a_browser_here(
    shared_site: Site, origin: str | None, headers: dict[str, str]
) -> None:
    here = shared_site.anonymous(HERE)
    form = {"old-text": OLD, "new-text": NEW}

    assert here.post("/compare", form=form, origin=origin, headers=headers).status == 403
    assert here.post("/compare", form=form).status == 303


# ------------------------------------------------------------ how long


def test_keys_cannot_be_guessed_and_results_are_gone_after_a_while(shared_site: Site) -> None:
    viewer = shared_site.browser("viewer")
    paths = {compared(viewer, old_text=OLD, new_text=NEW) for _ in range(3)}

    assert len(paths) == 3
    assert viewer.get("/compare/" + "A" * 32).status == 404
    assert viewer.get("/compare/short").status == 422
    now, gone = 0.0, list[int]()
    held = Held(most=3, most_bytes=100, seconds=60, now=lambda: now)
    keys = [held.put(number, 10, partial(gone.append, number)) for number in range(4)]
    assert [held.get(key) for key in keys] == [None, 1, 2, 3]
    large = held.put("large", 95)
    assert [held.get(key) for key in (*keys, large)] == [None, None, None, None, "large"]
    assert gone == [0, 1, 2, 3]
    now = 61.0
    assert held.get(large) is None


def test_files_of_a_crawl_are_deleted_with_its_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "files"))
    (tmp_path / "files").mkdir()
    database = Database.open(tmp_path / "quire.db")
    app = create_app(Service(database), hasher=CHEAP)
    app.state.quire.held = Held(most=1)
    with asyncio.Runner() as runner:
        here = Client(app, runner, client=HERE)
        files = {
            "old-file": ("a.zip", zipped({"a.html": OLD})),
            "new-file": ("b.zip", zipped({"a.html": NEW})),
        }
        assert post(here, files).status == 303
        assert len(list((tmp_path / "files").iterdir())) == 1
        compared(here, old_text=OLD, new_text=NEW)
    assert not list((tmp_path / "files").iterdir())
    database.close()


def bomb() -> bytes:
    """A small file with a crawl of 150 MB: the same record over and over."""
    record = b"WARC/1.1\r\nWARC-Type: response\r\nContent-Length: 1000\r\n\r\n" + b" " * 1000
    return gzip.compress(record * 150_000, 9)


@pytest.mark.parametrize("name", ["a.warc.gz", "a.wacz"])
def test_a_small_file_with_an_endless_crawl_is_refused(site: Site, name: str) -> None:
    data = bomb()
    if name.endswith(".wacz"):
        data = zipped({"archive/data.warc.gz": data})
    assert len(data) < 2_000_000
    small = gzip.compress(b"WARC/1.1\r\n\r\n")

    files: Files = {"old-file": (name, data), "new-file": ("b.warc.gz", small)}
    reply = post(site.browser("viewer"), files)

    assert reply.status == 422
    assert "more than 100.0 MB when unpacked" in words(reply)
