"""Captures with hostile addresses, types and heads: no page of the browser repeats them as markup."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from urllib.parse import quote

import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode

from quire.archive import Archive
from quire.archive.browsing import Library
from quire.web.archives.alone import create_archive_app
from tests.viewing.payloads import payloads
from tests.web.client import Client

TRICKS = [html for _, html in payloads()][::3]
TIME = datetime(2026, 5, 17, 11, 2, 33, tzinfo=UTC)


def hostile_url(trick: str) -> str:
    return f"http://evil.test/?{trick}"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    path = tmp_path_factory.mktemp("hostile") / "a.quire"
    with Archive.create(path) as archive:
        for trick in TRICKS:
            url = hostile_url(trick)
            head = f"HTTP/1.1 200 {trick}\r\nContent-Type: text/html{trick}\r\n\r\n"
            archive.add(
                url, TIME, trick.encode("utf-8", "replace"), head.encode("utf-8", "replace")
            )
            archive.add(url, TIME.replace(year=2027), b"<p>New", {"Content-Type": "text/html"})
    with Archive.open(path) as archive, asyncio.Runner() as runner:
        yield Client(create_archive_app(Library([archive])), runner)


def is_our_script(node: LexborNode) -> bool:
    """Tell whether a script is a file of ours."""
    source = node.attributes.get("src") or ""
    return source.startswith("/static/") and not node.text()


def is_our_map(node: LexborNode) -> bool:
    """Tell whether an element holds the map of changes, and nothing else is drawn in it."""
    drawn = {each.tag for each in node.css("svg *")}
    return node.attributes.get("class") == "map" and drawn <= {"a", "rect", "title"}


def wrong(html: str) -> list[str]:
    """List what a page of ours must never have: code, handlers, and addresses of others."""
    found = []
    for node in LexborHTMLParser(html).css("*"):
        if node.tag in {"script", "object", "embed", "base", "svg", "img", "style"}:
            is_ours = node.tag == "script" and is_our_script(node)
            is_map = node.tag == "svg" and node.parent is not None and is_our_map(node.parent)
            if not is_ours and not is_map:
                found.append(f"<{node.tag}>")
        for key, value in node.attributes.items():
            is_address = key in {"href", "src", "action", "formaction", "srcset", "data"}
            leads_out = not (value or "").startswith(("/", "#", "data:,")) or (
                value or ""
            ).startswith("//")
            if key.startswith("on") or key == "style" or (is_address and leads_out):
                found.append(f"{node.tag} {key}={value!r}")
    return found


def test_no_page_repeats_an_address_as_markup(client: Client) -> None:
    assert len(TRICKS) >= 300
    for trick in TRICKS:
        url = quote(hostile_url(trick).encode("utf-8", "replace"), safe="")
        for path in (
            f"/archives?q={url}",
            f"/archives/address?url={url}",
            f"/archives/compare?url={url}",
            f"/archives/address?url=gone.{url}",
            f"/web/*/gone.{url}",
            f"/cdx?url={url}",
        ):
            reply = client.get(path)
            assert reply.status in {200, 404}, (path, reply.text)
            if reply.headers["content-type"].startswith("text/html"):
                assert wrong(reply.text) == [], path


def test_every_list_of_addresses_is_free_of_markup(client: Client) -> None:
    path = "/archives"
    pages = 0
    while path:
        reply = client.get(path)
        assert wrong(reply.text) == []
        after = LexborHTMLParser(reply.text).css(".pages a")
        last = after[-1] if after and (after[-1].text() or "").startswith("More") else None
        path = str(last.attributes["href"]) if last is not None else ""
        pages += 1
    assert pages == -(-len(TRICKS) // 50)


def test_no_capture_gets_headers_or_types_of_its_own(client: Client) -> None:
    shown = 0
    for trick in TRICKS:
        url = quote(hostile_url(trick).encode("utf-8", "replace"), safe="")
        for mark in ("", "id_", "im_", "cs_", "oe_", "if_"):
            reply = client.get(f"/web/20260517110233{mark}/{url}")
            assert reply.status in {200, 404}, (trick, mark)
            if reply.status == 200:
                shown += 1
                policy = reply.headers["content-security-policy"]
                assert policy.startswith("sandbox; default-src 'none'")
                assert reply.headers["content-type"].partition(";")[0] in {
                    "text/html",
                    "text/css",
                    "text/plain",
                    "application/octet-stream",
                }
    assert shown > 5 * len(TRICKS)
