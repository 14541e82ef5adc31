"""No page links to an address that fails: all pages are visited, and every link is followed once."""

from __future__ import annotations

from collections import Counter, deque
from html.parser import HTMLParser
from urllib.parse import urldefrag, urljoin, urlsplit

import pytest

from tests.sentinels.redesigns import DESIGNS, Product
from tests.web.client import ORIGIN, Client
from tests.web.conftest import Site
from tests.web.test_one_watch import add

#: Addresses of one path that are visited. The picker has an address for every choice.
MOST_OF_A_PATH = 25
MOST = 3_000
_NAMES = {"a": "href", "link": "href", "iframe": "src", "script": "src", "img": "src"}


class Links(HTMLParser):
    """Collects the addresses that a page leads to or loads."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the address of an element."""
        values = dict(attrs)
        address = values.get(_NAMES.get(tag, ""))
        if tag == "form" and (values.get("method") or "get").lower() == "get":
            address = values.get("action")
        if address:
            self.found.append(address)


def links(path: str, text: str) -> list[str]:
    """Return the addresses of ours that a page leads to, without fragments."""
    parser = Links()
    parser.feed(text)
    whole = [urldefrag(urljoin(f"{ORIGIN}{path}", each))[0] for each in parser.found]
    return [each.removeprefix(ORIGIN) for each in whole if each.startswith(f"{ORIGIN}/")]


def crawl(client: Client, starts: list[str]) -> dict[str, tuple[int, str]]:
    """Visit everything that pages lead to; return the status of each, and where its link was."""
    seen: dict[str, tuple[int, str]] = {}
    of_path: Counter[str] = Counter()
    left = deque((each, "") for each in starts)
    while left:
        path, origin = left.popleft()
        bare = urlsplit(path).path
        if path in seen or of_path[bare] >= MOST_OF_A_PATH:
            continue
        of_path[bare] += 1
        reply = client.get(path)
        seen[path] = reply.status, origin
        assert len(seen) < MOST, "the pages lead to more and more addresses"
        if reply.status in {303, 307}:
            left.append((reply.headers["location"].removeprefix(ORIGIN), path))
        is_html = reply.headers.get("content-type", "").startswith("text/html")
        # The links in frames are those of strangers: only the address of the frame is checked.
        if is_html and "/frame/" not in bare and not bare.endswith("/frame"):
            left.extend((each, path) for each in links(path, reply.text))
    return seen


@pytest.fixture
def full_site(site: Site) -> Site:
    """A service with a watch of every kind."""
    old, new = (DESIGNS[name](Product()).encode() for name in ("first", "components"))
    shop = "https://example.org/shop"
    add(site, {"url": shop, "name": "moved", "where": "#price", "tags": ["a b&c"]}, old, new)
    parts = {"one": {"where": "h1"}, "two": {"where": "p"}}
    pages = b"<h1>A</h1><p>1</p></html>", b"<h1>A</h1><p>2</p></html>"
    add(site, {"url": "https://example.org/parts", "name": "parts", "parts": parts}, *pages)
    urls = ["https://example.org/a?x=1&y=2", "https://example.org/b"]
    add(site, {"urls": urls, "name": "several"}, b"<p>One</p></html>", b"<p>Two</p></html>")
    add(site, {"url": "https://example.org/data", "name": "json"}, b'{"a": 1}', b'{"a": 2}',
        kind="application/json")  # fmt: skip
    site.service.add({"url": "https://example.org/new", "name": "new"})
    site.service.add({"url": "https://example.org/off", "name": "off", "paused": True})
    return site


@pytest.mark.parametrize("role", ["admin", "editor", "viewer"])
def test_no_page_links_to_an_address_that_fails(full_site: Site, role: str) -> None:
    browser = full_site.browser(role)
    texts = {"old-text": "<p>a</p>", "new-text": "<p>b</p>"}
    compared = browser.post("/compare", form=texts).headers["location"]
    seen = crawl(browser, ["/", compared])

    failed = {path: found for path, found in seen.items() if found[0] >= 400}
    assert failed == {}
    visited = {urlsplit(path).path for path in seen}
    watch = full_site.watch
    tabs = ("", "/diff", "/why", "/history", "/noise", "/replay", "/notices", "/form")
    assert {f"/watches/{watch}{tab}" for tab in tabs} <= visited
    assert {"/changes", "/settings", "/compare", "/archives", "/api/docs"} <= visited
    if role != "viewer":
        assert f"/watches/{watch}/edit" in visited
        assert f"/watches/new/watch-{watch}-2/rules" in visited
    moved = next(each.id for each in full_site.service.watches() if each.watch.name == "moved")
    assert {f"/watches/{moved}/question", f"/watches/{moved}/question/new"} <= visited
    events = [each.id for each in full_site.service.events(most=50)]
    assert {f"/events/{each}" for each in events} <= visited
