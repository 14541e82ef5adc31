"""Archives in the service: people log in, replayed pages get by without cookies."""

from __future__ import annotations

import re

import pytest

from quire.archive.browsing import Library
from quire.errors import ArchiveError
from quire.web.archives.context import Browsing
from tests.web.archives.site import LOOPS, SITE
from tests.web.client import Client
from tests.web.conftest import Site

PAGE = f"/web/20240301100000/{SITE}/"


@pytest.fixture
def reader(site: Site, library: Library) -> Client:
    """Someone who may read, in a service with an archive."""
    site.app.state.browsing = Browsing(library)
    return site.browser("viewer")


def test_a_service_without_archives_says_how_to_add_them(site: Site) -> None:
    client = site.browser("viewer")

    assert "quire serve --archive" in client.get("/archives").text
    assert client.get(PAGE).status == 404


def test_one_host_is_not_called_hosts(reader: Client) -> None:
    assert "<b>1</b> host<" in reader.get("/archives").text


def test_strangers_see_no_capture(site: Site, reader: Client) -> None:
    stranger = site.anonymous()

    assert reader.get(PAGE).status == 200
    for path in (PAGE, "/archives", f"/archives/address?url={SITE}/"):
        assert stranger.get(path).status == 303
    assert stranger.get(f"/cdx?url={SITE}/").status == 401


def test_what_a_page_loads_needs_the_key_in_its_address_and_no_cookie(
    site: Site, reader: Client
) -> None:
    stranger = site.anonymous()
    found = re.findall(r'"(/replay/[^"]+)"', reader.get(PAGE).text)
    image = next(each for each in found if "/img/red.png" in each)

    assert stranger.get(image).headers["content-type"] == "image/png"
    forged = image.replace(image[30:34], "0000")
    assert stranger.get(forged).status == 403
    assert stranger.get(re.sub(r"/replay/\d+", "/replay/9999999999", image)).status == 403


def test_a_key_of_another_process_is_refused(site: Site, reader: Client, library: Library) -> None:
    image = re.findall(r'"(/replay/[^"]+red.png)"', reader.get(PAGE).text)[0]
    site.app.state.browsing = Browsing(library)

    assert reader.get(image).status == 403


def test_links_lead_over_a_page_that_gets_the_cookies_back(reader: Client) -> None:
    link = re.findall(r'id="inside"[^>]*|href="(/go/[^"]+about[^"]*)"', reader.get(PAGE).text)
    path = next(each for each in link if each.startswith("/go/")).replace("&amp;", "&")
    bounce = reader.get(path)

    to = f"/web/20240301100000/{SITE}/about.html?a=1&amp;b=2"
    assert "#" not in path, "browsers would not send it"
    assert f'content="0;url={to}#team"' in bounce.text
    assert reader.get(to.replace("&amp;", "&")).status == 200
    assert reader.get("/go//evil.example/").status == 404
    assert reader.get("/go/web//evil.example/").text.count("evil.example") == 2
    for path in ("/go/at/x//evil.example/", "/go/at/web/", "/go/at/x", "/go/at/%2Fweb%2F"):
        assert reader.get(path).status == 404, path
    hostile = reader.get("/go/at/%22%3E%3Cscript%3E/web/a").text
    assert "<script>" not in hostile
    assert 'url=/web//evil.example/"' in reader.get("/go/web//evil.example/").text


@pytest.mark.parametrize(
    ("mark", "path", "kind"),
    [
        ("", "/script.js", "text/plain; charset=utf-8"),
        ("im_", "/wrong.png", "application/octet-stream"),
        ("im_", "/script.js", "application/octet-stream"),
        ("oe_", "/script.js", "application/octet-stream"),
        ("cs_", "/wrong.png", "text/css; charset=utf-8"),
        ("id_", "/", "application/octet-stream"),
        ("im_", "/page.svg", "image/svg+xml"),
        ("js_", "/script.js", "text/plain; charset=utf-8"),
    ],
)
def test_an_answer_has_a_type_that_fits_its_use_and_stays_in_the_sandbox(
    reader: Client, mark: str, path: str, kind: str
) -> None:
    reply = reader.get(f"/web/20240301100000{mark}/{SITE}{path}")

    assert reply.headers["content-type"] == kind
    assert reply.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize("path", LOOPS)
def test_a_redirect_that_leads_nowhere_ends(reader: Client, path: str) -> None:
    reply = reader.get(f"/web/20240301100000/{SITE}{path}")
    if reply.status == 302:
        reply = reader.get(reply.headers["location"])

    assert reply.status == 404
    assert "Not in this archive" in reply.text


def test_a_damaged_capture_is_said_to_be_one_without_the_path_of_the_archive(
    reader: Client, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ArchiveError("/secret/folder/a.quire: damaged")

    image = re.findall(r'"(/replay/[^"]+red.png)"', reader.get(PAGE).text)[0]
    monkeypatch.setattr(type(library), "nearest", fail)

    for path, status in (
        (PAGE, 500),
        (image, 404),
        (f"/archives/frame/both?url={SITE}/&old=1&new=2", 422),
        (f"/archives/compare?url={SITE}/", 422),
    ):
        reply = reader.get(path)
        assert reply.status == status
        assert "secret" not in reply.text
