"""The archive browser in a real Chromium: captures look as they did, and nothing leaves the archive."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, sync_playwright

from quire.archive.browsing import Library
from quire.web.archives.context import Browsing
from tests.conftest import require
from tests.patience import PATIENCE_MS
from tests.web.archives.conftest import serving
from tests.web.archives.site import SITE
from tests.web.browsing import becomes
from tests.web.conftest import PASSWORD, Site


class Window:
    """A window of Chromium, and every address that it asked for."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.asked: list[str] = []
        self.broken: list[str] = []
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("requestfailed", lambda request: self.broken.append(request.url))


@pytest.fixture
def window() -> Iterator[Window]:
    path = require("chromium", "replay an archive in a browser")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=path, chromium_sandbox=os.geteuid() != 0
        )
        found = Window(chromium.new_page())
        found.page.set_default_timeout(PATIENCE_MS)
        yield found
        chromium.close()


_LOOK = """() => {
  const style = (which) => getComputedStyle(document.querySelector(which));
  return {
    title: document.title,
    heading: document.querySelector('h1').textContent,
    colour: style('h1').color,
    lead: style('.lead').marginLeft,
    leadImage: style('.lead').backgroundImage.includes('/img/red.png'),
    box: style('.box').backgroundImage.includes('/img/box.png'),
    evil: style('.evil').backgroundImage,
    body: style('body').backgroundImage,
    plain: document.querySelector('#plain').naturalWidth,
    set: document.querySelector('#set').naturalWidth,
    pic: document.querySelector('#pic').naturalWidth,
    gone: document.querySelector('#gone').naturalWidth,
    frames: document.querySelectorAll('iframe').length,
    origin: self.origin,
  };
}"""


def test_a_capture_looks_as_it_did_and_asks_nobody_else(window: Window, server: str) -> None:
    window.page.goto(f"{server}/web/20240301100000/{SITE}/", wait_until="networkidle")

    assert window.page.evaluate(_LOOK) == {
        "title": "The Paper",
        "heading": "Fees of 2024",
        "colour": "rgb(10, 20, 30)",
        "lead": "33px",
        "leadImage": True,
        "box": True,
        "evil": "none",
        "body": "none",
        "plain": 16,
        "set": 17,
        "pic": 18,
        "gone": 0,
        "frames": 1,
        "origin": "null",
    }
    frame = next(each for each in window.page.frames if "/frame.html" in each.url)
    assert "In a frame" in frame.locator("#framed").inner_text()
    assert [url for url in window.asked if not url.startswith(server)] == []
    assert any("/f.woff2" in url for url in window.asked)


def test_links_stay_inside_and_redirects_are_followed(window: Window, server: str) -> None:
    page = window.page
    page.goto(f"{server}/web/20240301100000/{SITE}/")
    page.click("#inside")
    page.wait_for_url(f"{server}/web/20240301100000/{SITE}/about.html?a=1&b=2#team")
    assert page.title() == "About"

    page.go_back()
    page.click("#moved")
    page.wait_for_url(f"{server}/web/20240301100000/{SITE}/about.html?a=1&b=2")

    page.go_back()
    page.click("#away")
    page.wait_for_selector("text=Not in this archive")
    assert page.url.startswith(f"{server}/web/")

    page.go_back()
    assert page.get_attribute("#bad", "href") is None
    assert [url for url in window.asked if not url.startswith(server)] == []


@pytest.mark.parametrize(
    ("stamp", "heading", "colour"),
    [
        ("2023", "Fees of 2024", "rgb(10, 20, 30)"),
        ("20250101", "Fees of 2024", "rgb(10, 20, 30)"),
        ("20260101000000", "Fees of 2026", "rgb(40, 50, 60)"),
        ("*", "Fees of 2026", "rgb(40, 50, 60)"),
    ],
)
def test_the_capture_nearest_to_the_time_is_shown(
    window: Window, server: str, stamp: str, heading: str, colour: str
) -> None:
    window.page.goto(f"{server}/web/{stamp}/{SITE}/", wait_until="networkidle")

    found = window.page.evaluate(_LOOK)
    assert (found["heading"], found["colour"]) == (heading, colour)
    assert found["plain"] == 16


def test_the_banner_shows_the_time_whatever_the_page_does(window: Window, server: str) -> None:
    window.page.goto(f"{server}/web/20240301100000/{SITE}/", wait_until="networkidle")
    box = window.page.locator("quire-banner").bounding_box()

    assert box is not None
    assert box["height"] > 20
    assert box["width"] > 1000


def looks_of(page: Page, name: str) -> tuple[str, str, bool, bool, int] | None:
    """Return how the frame with the changes shows the front page; None until it has loaded."""
    frame = page.frame(name)
    if frame is None:
        return None

    def style(which: str, what: str) -> str:
        return str(frame.locator(which).evaluate(f"node => getComputedStyle(node).{what}"))

    return (
        style("h1", "color"),
        style(".lead", "marginLeft"),
        style(".lead", "backgroundImage").startswith('url("data:image/png'),
        style(".box", "backgroundImage").startswith('url("data:image/png'),
        frame.locator("img[alt=red]").evaluate("node => node.naturalWidth"),
    )


def test_a_person_finds_a_capture_and_compares_two(window: Window, server: str) -> None:
    page = window.page
    page.goto(server)
    page.fill("#q", "paper.example/")
    page.keyboard.press("Enter")
    page.click(f"text='{SITE}/'")
    becomes(page, page.locator(".month a").count, 1)
    page.click("text=2024")
    becomes(page, page.locator(".month caption").inner_text, "March 2024")
    page.click("text=changed")
    frame = page.frame_locator("iframe")
    assert frame.locator("h1 ins").inner_text() == "2026"
    assert frame.locator("h1 del").inner_text() == "2024"
    becomes(
        page, lambda: looks_of(page, "changed-page"), ("rgb(40, 50, 60)", "33px", True, True, 16)
    )
    page.click("text=Side by side")
    page.locator("iframe[name=old-page]").wait_for()
    becomes(
        page, lambda: looks_of(page, "changed-page"), ("rgb(40, 50, 60)", "33px", True, True, 16)
    )
    becomes(page, lambda: looks_of(page, "old-page"), ("rgb(10, 20, 30)", "33px", True, True, 16))
    page.keyboard.press("n")
    becomes(page, page.locator("#where").inner_text, "1 of 1 change")
    assert [url for url in window.asked if not url.startswith(server)] == []


def test_raw_bytes_and_wrong_types_are_never_shown(window: Window, server: str) -> None:
    for path in ("/script.js", "/page.svg", "/wrong.png"):
        window.page.goto(f"{server}/web/20240301100000/{SITE}{path}")
        assert window.page.title() != "ran"
    with window.page.expect_download() as download, pytest.raises(Exception, match="Download"):
        window.page.goto(f"{server}/web/20240301100000id_/{SITE}/")
    assert download.value.suggested_filename == "capture"


def test_in_the_service_links_and_images_work_with_strict_cookies(
    site: Site, library: Library, window: Window
) -> None:
    site.app.state.browsing = Browsing(library)
    with serving(site.app) as server:
        page = window.page
        page.goto(f"{server}/login?to=/archives")
        page.fill("input[name=name]", "viewer")
        page.fill("input[name=password]", PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_url(f"{server}/archives")
        page.click("text=paper.example/about.html")
        page.goto(f"{server}/web/20240301100000/{SITE}/", wait_until="networkidle")
        assert page.evaluate(_LOOK)["plain"] == 16
        page.click("#inside")
        page.wait_for_url(f"{server}/web/20240301100000/{SITE}/about.html?a=1&b=2#team")
        assert page.title() == "About"
        page.locator("quire-banner").click(position={"x": 1080, "y": 18})
        page.wait_for_url(f"{server}/archives/address?url=**")
        assert page.locator("nav[aria-label=Main]").is_visible()
    assert [url for url in window.asked if not url.startswith(server)] == []
