"""Adding a watch in a real Chromium: by mouse, by keyboard alone, and on pages that attack."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Dialog, FrameLocator, Page, sync_playwright

from quire.demo.changing import DemoSite
from tests.conftest import require
from tests.patience import PATIENCE_MS
from tests.viewing.payloads import payloads
from tests.web.accessibility import findings
from tests.web.adding.running import Running, running, serving_site
from tests.web.browsing import becomes
from tests.web.conftest import PASSWORD

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
#: Hostile pages that are put together in one.
TOGETHER = 60


@dataclass
class Visitor:
    """A person with a browser, and everything that the browser did.

    Attributes:
        page: the page of the browser.
        run: the service.
        asked: the addresses that it asked for.
        dialogs: dialogs that opened.
    """

    page: Page
    run: Running
    asked: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def log_in(self) -> None:
        """Log in."""
        self.page.goto(f"{self.run.url}/login")
        self.page.fill("[name=name]", "admin")
        self.page.fill("[name=password]", PASSWORD)
        self.page.click("button")
        self.page.wait_for_url(lambda url: "/login" not in url)

    def dismiss(self, dialog: Dialog) -> None:
        """Write a dialog down."""
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def open(self, url: str) -> FrameLocator:
        """Paste an address, and wait for the picker."""
        self.page.goto(f"{self.run.url}/watches/new")
        self.page.fill("#url", url)
        self.page.click("button.main")
        self.page.wait_for_selector(".picker")
        frame = self.page.frame_locator(".stage iframe")
        frame.locator("body").wait_for()
        self.page.wait_for_load_state("load")
        return frame

    def ignore_the_introduction(self, frame: FrameLocator) -> None:
        """Switch to ignoring, and click the first text of the page."""
        self.page.click("text=Ignore")
        # Until then the frame is the one in which a click chooses.
        self.page.wait_for_selector(".modes a[aria-current]:has-text('Ignore')")
        self.page.wait_for_load_state("load")
        frame.locator("main > p a").click()
        self.page.wait_for_selector(".parts.ignored")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    path = require("chromium", "add a watch by clicking")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, chromium_sandbox=os.geteuid() != 0)
        yield found
        found.close()


@pytest.fixture
def visitor(chromium: Browser, tmp_path: Path) -> Iterator[Visitor]:
    with running(tmp_path / "quire.db") as run:
        context = chromium.new_context()
        context.set_default_timeout(PATIENCE_MS)
        found = Visitor(context.new_page(), run)
        found.page.on("request", lambda request: found.asked.append(request.url))
        found.page.on("dialog", found.dismiss)
        found.log_in()
        yield found
        context.close()


def test_a_watch_is_added_by_clicking_a_price(visitor: Visitor) -> None:
    page = visitor.page
    with DemoSite() as site:
        frame = visitor.open(f"{site.url}market.html")
        frame.locator("#cod td.price a").click()
        page.wait_for_selector(".chosen")
        assert page.inner_text(".says").strip() in {"8.40", "7.90"}
        becomes(page, frame.locator("#cod td.quire-chosen").count, 1)
        visitor.ignore_the_introduction(frame)
        page.click("text=Next")
        assert page.is_checked("[value=price]")
        page.click("[name=add]")
        page.wait_for_url(lambda url: "/rules" not in url)
        (stored,) = visitor.run.service.watches()
    assert stored.form == {
        "url": f"{site.url}market.html",
        "name": "Fish market",
        "preset": "price",
        "every": "1 h",
        "where": "#cod td.price",
        "without": "p",
    }
    elsewhere = [url for url in visitor.asked if not url.startswith((visitor.run.url, "data:"))]
    assert elsewhere == []


def test_a_watch_is_added_with_the_keyboard_alone(visitor: Visitor) -> None:
    page = visitor.page

    def tab_to(script: str) -> None:
        page.wait_for_load_state("load")
        for _ in range(60):
            page.keyboard.press("Tab")
            if any(frame.evaluate(script) for frame in page.frames if frame.url != "about:blank"):
                return
        raise AssertionError(script)

    with DemoSite() as site:
        page.goto(f"{visitor.run.url}/watches/new")
        page.locator("#url:focus").wait_for()  # the page puts it there once it is drawn
        page.keyboard.type(f"{site.url}market.html")
        page.keyboard.press("Enter")
        page.wait_for_selector(".picker")
        page.frame_locator(".stage iframe").locator("#cod").wait_for()
        tab_to("document.activeElement.parentElement.matches('#cod td.price')")
        page.keyboard.press("Enter")
        page.wait_for_selector(".chosen")
        tab_to("document.activeElement.textContent === 'Next'")
        page.keyboard.press("Enter")
        page.wait_for_selector(".rules")
        tab_to("document.activeElement.name === 'add'")
        page.keyboard.press("Enter")
        page.wait_for_url(lambda url: "/rules" not in url)
    (stored,) = visitor.run.service.watches()
    assert (stored.form["where"], stored.form["preset"]) == ("#cod td.price", "price")


def test_a_page_looks_like_itself_and_everything_comes_from_the_store(visitor: Visitor) -> None:
    page = (
        b"<link rel=stylesheet href=/css/a.css><style>h2{color:rgb(0, 128, 0)}</style>"
        b"<h1>Cod</h1><h2 style='letter-spacing: 3px'>8.40</h2><img src=cod.png width=40>"
        b"<a href=/elsewhere>More</a><script>document.title = 'run'</script>"
    )
    sheet = (
        b"@import 'b.css'; @font-face{font-family:f;src:url(../f.woff2)} h1{font-family:f;"
        b"background:url(../bg.png)} a{color:rgb(1, 2, 3)}"
    )
    pages = {
        "/": ("text/html", page),
        "/css/a.css": ("text/css", sheet),
        "/css/b.css": ("text/css", b"h1{color:rgb(9, 8, 7)}"),
        "/f.woff2": ("font/woff2", b"wOF2" + bytes(60)),
        "/bg.png": ("image/png", PNG),
        "/cod.png": ("image/png", PNG),
    }
    with serving_site(pages) as site:
        frame = visitor.open(f"{site.url}/")
        style = "element => { const s = getComputedStyle(element); return [s.color, s.backgroundImage] }"
        becomes(visitor.page, lambda: frame.locator("h1").evaluate(style)[0], "rgb(9, 8, 7)")
        background = frame.locator("h1").evaluate(style)[1]
        assert background.startswith(f'url("{visitor.run.url}/resources/')
        assert frame.locator("h2").evaluate(style)[0] == "rgb(0, 128, 0)"
        assert frame.locator("h2").evaluate("e => getComputedStyle(e).letterSpacing") == "3px"
        assert frame.locator("quire-a").evaluate(style)[0] == "rgb(1, 2, 3)"
        width = "e => e.complete && e.naturalWidth"
        becomes(visitor.page, lambda: frame.locator("img").evaluate(width), 1)
        first = sorted(site.seen)
        assert first == [
            "/",
            "/bg.png",
            "/cod.png",
            "/css/a.css",
            "/css/b.css",
            "/f.woff2",
            "/robots.txt",
        ]
        assert any("/resources/" in url for url in visitor.asked)
        # A second look fetches the page, and nothing that is stored.
        visitor.open(f"{site.url}/")
        assert sorted(site.seen) == sorted([*first, "/", "/robots.txt"])
        assert not [url for url in visitor.asked if url.startswith(site.url)]


def test_hostile_pages_do_nothing_in_the_picker(visitor: Visitor) -> None:
    sources = [source for _, source in payloads()]
    with serving_site({}) as site:
        for at in range(0, len(sources), TOGETHER):
            whole = b"".join(
                b"<div>%s</div>" % each.encode("utf-8", "replace")
                for each in sources[at : at + TOGETHER]
            )
            site.pages["/"] = ("text/html; charset=utf-8", whole + b"<h1 id=end>End</h1>")
            frame = visitor.open(f"{site.url}/")
            frame.locator("html").wait_for()
            visitor.page.wait_for_load_state("networkidle")
            # In SVG, a link to a place in the same document may stay.
            links = frame.locator("a[href]:not([href^='#'])")
            others = links.evaluate_all(
                "all => all.filter(a => a.target !== '_top' || !a.pathname.endsWith('/at'))"
                ".map(a => a.outerHTML)"
            )
            assert others == []
    assert visitor.dialogs == []
    assert [url for url in visitor.asked if not url.startswith((visitor.run.url, "data:"))] == []
    assert visitor.page.evaluate("window.frames[0].length") == 0


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_step_can_be_used_by_everyone(visitor: Visitor, width: int, scheme: str) -> None:
    page = visitor.page
    page.set_viewport_size({"width": width, "height": 850})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    wrong: dict[str, list[str]] = {}

    def look(name: str) -> None:
        if found := findings(page):
            wrong[name] = found

    with DemoSite() as site:
        page.goto(f"{visitor.run.url}/watches/new")
        page.click("summary")
        look("start")
        page.fill("#url", "https://nowhere.invalid/")
        page.click("button.main")
        page.wait_for_selector(".note.bad")
        look("failed")
        frame = visitor.open(f"{site.url}market.html")
        look("picker")
        frame.locator("#cod td.price a").click()
        page.wait_for_selector(".chosen")
        visitor.ignore_the_introduction(frame)
        page.click("summary")
        page.fill("#find", "Haddock")
        page.click("text=Find >> nth=-1")
        page.wait_for_selector(".hits")
        look("chosen")
        page.click("text=Next")
        page.wait_for_selector(".rules")
        with page.expect_navigation():
            page.click("[name=preview]")
        look("rules")
    assert wrong == {}
