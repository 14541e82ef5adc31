"""Documents of hostile pages in a real Chromium, with scripts allowed: nothing runs, nothing leaves.

Every document is opened twice: as written, and without the policy that it carries, so that only the
writer stands between the page and the browser.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Dialog, Page, sync_playwright

import quire
from quire.viewing import Use, safe_css, safe_page
from tests.conftest import require
from tests.patience import PATIENCE_MS
from tests.viewing.judge import PLACED
from tests.viewing.payloads import payloads

GIF = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"
HTML = "text/html; charset=utf-8"
# Documents in one page: fewer pages take less time.
TOGETHER = 30
_POLICY = re.compile(rb'<meta http-equiv="Content-Security-Policy"[^>]*>')


def place(url: str, use: Use) -> str | None:
    return f"{PLACED}{use.value}?{url}" if "evil" not in url else None


class _Server(ThreadingHTTPServer):
    """Serves the documents of a test; everything else is a small image or an empty style sheet."""

    documents: dict[str, tuple[str, bytes]]
    daemon_threads = True


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        kind, data = self.server.documents.get(self.path, ("image/gif", GIF))
        if "/style?" in self.path and self.path not in self.server.documents:
            kind, data = "text/css", b""
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "max-age=60" if PLACED in self.path else "no-store")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Log nothing."""


class Browser:
    """A page of Chromium, the documents it finds, and everything it did."""

    def __init__(self, page: Page, server: _Server) -> None:
        self.page = page
        self.site = f"http://127.0.0.1:{server.server_address[1]}"
        self.documents = server.documents
        self.asked: list[str] = []
        self.dialogs: list[str] = []
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("dialog", self._dismiss)

    def _dismiss(self, dialog: Dialog) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def show(self, *documents: bytes) -> None:
        """Open a document, or several in frames of one page."""
        document = documents[0]
        if len(documents) > 1:
            for number, each in enumerate(documents):
                self.documents[f"/{number}"] = (HTML, each)
            frames = "".join(f"<iframe src=/{number}></iframe>" for number in range(len(documents)))
            document = f"<!doctype html><link rel=icon href=data:,>{frames}".encode()
        self.documents["/shown"] = (HTML, document)
        self.asked.clear()
        self.page.goto(f"{self.site}/shown", wait_until="load")

    def outside(self) -> list[str]:
        """List the requests for anything but documents and what was placed."""
        ours = re.compile(rf"{re.escape(self.site)}(?:/\d+|/shown|{PLACED}.*|/favicon.ico)|data:.*")
        return [url for url in self.asked if not ours.fullmatch(url)]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = require("chromium", "open documents of hostile pages")
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.documents = {}
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            with sync_playwright() as playwright:
                chromium = playwright.chromium.launch(
                    executable_path=path, chromium_sandbox=os.geteuid() != 0
                )
                page = chromium.new_page()
                page.set_default_timeout(PATIENCE_MS)
                yield Browser(page, server)
                chromium.close()
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize("keeps_policy", [True, False])
def test_no_payload_runs_or_asks_for_anything(browser: Browser, *, keeps_policy: bool) -> None:
    tricks = list(payloads())
    for at in range(0, len(tricks), TOGETHER):
        some = tricks[at : at + TOGETHER]
        pages = [quire.encode(html.encode("utf-8", "replace"), kind="html") for _, html in some]
        documents = [safe_page(page, url=f"{browser.site}/page", place=place) for page in pages]
        browser.show(*[each if keeps_policy else _POLICY.sub(b"", each) for each in documents])

        assert (browser.dialogs, browser.outside()) == ([], []), some


def test_a_payload_runs_where_it_is_not_made_safe(browser: Browser) -> None:
    browser.show(b"<img src=//evil.test/x onerror=alert(1)><script>alert(2)</script>")

    assert "2" in browser.dialogs
    assert browser.outside() == ["http://evil.test/x"]
    browser.dialogs.clear()


def test_a_page_looks_like_the_page(browser: Browser) -> None:
    site = browser.site
    css = "@font-face{font-family:f;src:url(f.woff2)}h1{color:rgb(1,2,3);background:url(b.png)}"
    html = (
        b"<!doctype html><link rel=stylesheet href=/a.css><style>p{margin-left:7px}</style>"
        b'<h1>Hi</h1><p style="padding-top:5px">x<img src=i.png><img srcset="j.png 1x">'
    )
    browser.documents[f"{PLACED}style?{site}/a.css"] = (
        "text/css",
        safe_css(css, url=f"{site}/a.css", place=place).encode(),
    )

    browser.show(safe_page(quire.encode(html), url=f"{site}/page", place=place))

    look = browser.page.evaluate(
        "() => { const h = getComputedStyle(document.querySelector('h1'));"
        "const p = getComputedStyle(document.querySelector('p'));"
        "return [h.color, h.backgroundImage, p.marginLeft, p.paddingTop, document.compatMode,"
        " [...document.images].every(i => i.naturalWidth === 1)] }"
    )
    assert look == [
        "rgb(1, 2, 3)",
        f'url("{site}{PLACED}image?{site}/b.png")',
        "7px",
        "5px",
        "CSS1Compat",
        True,
    ]
