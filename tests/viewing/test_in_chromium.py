"""Documents of hostile pages in a real Chromium, with scripts allowed: nothing runs, nothing leaves.

Every document is opened twice: as written, and without the policy that it carries, so that only the
writer stands between the page and the browser.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Dialog, Page, Route, sync_playwright

import quire
from quire.viewing import Use, safe_css, safe_page
from tests.conftest import require
from tests.viewing.judge import PLACED
from tests.viewing.payloads import payloads

SITE = "http://site.test"
GIF = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"
# Documents in one page: fewer pages take less time.
TOGETHER = 30
_POLICY = re.compile(rb'<meta http-equiv="Content-Security-Policy"[^>]*>')


def place(url: str, use: Use) -> str | None:
    return f"{PLACED}{use.value}?{url}" if "evil" not in url else None


class Browser:
    """A page of Chromium, the documents it finds, and everything it did."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.documents: dict[str, tuple[str, bytes]] = {}
        self.asked: list[str] = []
        self.dialogs: list[str] = []
        page.route("**/*", self._answer)
        page.on("dialog", self._dismiss)

    def _dismiss(self, dialog: Dialog) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def _answer(self, route: Route) -> None:
        url = route.request.url
        found = self.documents.get(url)
        if found is not None:
            route.fulfill(body=found[1], content_type=found[0])
            return
        self.asked.append(url)
        kind = "text/css" if "/style?" in url else "image/gif"
        route.fulfill(body=b"" if kind == "text/css" else GIF, content_type=kind)

    def show(self, *documents: bytes) -> None:
        """Open a document, or several in frames of one page."""
        if len(documents) > 1:
            for number, each in enumerate(documents):
                self.documents[f"{SITE}/{number}"] = ("text/html; charset=utf-8", each)
            frames = "".join(f"<iframe src=/{number}></iframe>" for number in range(len(documents)))
            document = f"<!doctype html><link rel=icon href=data:,>{frames}".encode()
        else:
            document = documents[0]
        self.documents[f"{SITE}/shown"] = ("text/html; charset=utf-8", document)
        self.asked.clear()
        self.page.goto(f"{SITE}/shown", wait_until="load")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = require("chromium", "open documents of hostile pages")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=path, chromium_sandbox=os.geteuid() != 0
        )
        yield Browser(chromium.new_page())
        chromium.close()


@pytest.mark.parametrize("keeps_policy", [True, False])
def test_no_payload_runs_or_asks_for_anything(browser: Browser, *, keeps_policy: bool) -> None:
    tricks = list(payloads())
    for at in range(0, len(tricks), TOGETHER):
        some = tricks[at : at + TOGETHER]
        pages = [quire.encode(html.encode("utf-8", "replace"), kind="html") for _, html in some]
        documents = [safe_page(page, url=f"{SITE}/page", place=place) for page in pages]
        browser.show(*[each if keeps_policy else _POLICY.sub(b"", each) for each in documents])
        outside = [url for url in browser.asked if not url.startswith(f"{SITE}{PLACED}")]

        assert (browser.dialogs, outside) == ([], []), some


def test_a_payload_runs_where_it_is_not_made_safe(browser: Browser) -> None:
    browser.show(b"<img src=//evil.test/x onerror=alert(1)><script>alert(2)</script>")

    assert browser.dialogs == ["2"]
    assert "http://evil.test/x" in browser.asked
    browser.dialogs.clear()


def test_a_page_looks_like_the_page(browser: Browser) -> None:
    css = "@font-face{font-family:f;src:url(f.woff2)}h1{color:rgb(1,2,3);background:url(b.png)}"
    html = (
        b"<!doctype html><link rel=stylesheet href=/a.css><style>p{margin-left:7px}</style>"
        b'<h1>Hi</h1><p style="padding-top:5px">x<img src=i.png><img srcset="j.png 1x">'
    )
    browser.documents[f"{SITE}{PLACED}style?{SITE}/a.css"] = (
        "text/css",
        safe_css(css, url=f"{SITE}/a.css", place=place).encode(),
    )

    browser.show(safe_page(quire.encode(html), url=f"{SITE}/page", place=place))

    look = browser.page.evaluate(
        "() => { const h = getComputedStyle(document.querySelector('h1'));"
        "const p = getComputedStyle(document.querySelector('p'));"
        "return [h.color, h.backgroundImage, p.marginLeft, p.paddingTop, document.compatMode,"
        " [...document.images].every(i => i.naturalWidth === 1)] }"
    )
    assert look == [
        "rgb(1, 2, 3)",
        f'url("{SITE}{PLACED}image?{SITE}/b.png")',
        "7px",
        "5px",
        "CSS1Compat",
        True,
    ]
