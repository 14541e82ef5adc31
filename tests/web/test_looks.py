"""Frames with changes show pages with their own styles and images, and load nothing."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from quire.errors import FetchCause, FetchFailed
from quire.sources.gate import Request, Response
from tests.web.conftest import Site
from tests.web.live import visiting
from tests.web.test_one_watch import add

URL = "https://shop.example/fish"
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
CSS = (
    b"@import 'more.css'; p{color:rgb(1,2,3);background:url(//pictures.example/x.png)}"
    b"@font-face{font-family:Fish;font-weight:700;src:url(/f.eot),url(/f.woff2) format('woff2')}"
    b"h1{background:url('/sea.png') no-repeat, red;font-family:Fish}"
)
PAGE = (
    "<title>Fish</title><link rel=stylesheet href=/a.css><style>h2{{background:url(net.png)}}</style>"
    "<h1>Sea</h1><h2>Net</h2><h3 style='background:url(/sea.png)'>Sand</h3>"
    "<img src=/b.png alt=cod><p>Cod {}</p></html>"
)


@dataclass
class FakeGate:
    """A gate to a site that exists only here."""

    asked: list[str] = field(default_factory=list)
    pages: dict[str, tuple[str, bytes]] = field(
        default_factory=lambda: {
            "https://shop.example/a.css": ("text/css", CSS),
            "https://shop.example/more.css": ("text/css", b"p{margin-left:77px}"),
            "https://shop.example/b.png": ("image/png", PNG),
            "https://shop.example/sea.png": ("image/png", PNG + b"sea"),
            "https://shop.example/net.png": ("image/png", PNG + b"net"),
            "https://shop.example/f.woff2": ("font/woff2", b"wOF2 of a test"),
            URL: ("text/html", PAGE.format(9).encode()),
            f"{URL}?old": ("text/html", PAGE.format(8).encode()),
        }
    )

    async def fetch(self, request: Request) -> Response:
        """Answer, or fail as the gate does."""
        return await self.get(request.url)

    async def get(self, url: str) -> Response:
        """Answer the request for an address."""
        self.asked.append(url)
        if url not in self.pages:
            raise FetchFailed("no", url=url, cause=FetchCause.DNS)
        kind, body = self.pages[url]
        return Response(url, 200, [(b"Content-Type", kind.encode())], body)


@pytest.fixture
def gate(site: Site) -> FakeGate:
    found = FakeGate()

    @asynccontextmanager
    async def opened() -> AsyncIterator[FakeGate]:
        yield found

    site.app.state.quire.open_pages = opened
    site.app.state.quire.fetch_page = found.get
    return found


def looks(document: str) -> tuple[bool, bool, bool]:
    """Tell whether a document has the style sheet, the one that it imports, and the image."""
    css = document.replace(" ", "")
    return "color:rgb(1,2,3)" in css, "77px" in css, "data:image/png;base64," in document


def backgrounds(document: str) -> tuple[bool, bool, bool]:
    """Tell whether a document has the images of both style sheets, and the font."""
    sea, net = (base64.b64encode(PNG + each).decode() for each in (b"sea", b"net"))
    font = base64.b64encode(b"wOF2 of a test").decode()
    face = f"""@font-face{{font-family:"Fish";font-weight:700;src:url("data:font/woff2;base64,{font}")}}"""
    return sea in document, net in document, face in document


def shop(site: Site) -> int:
    return add(site, {"url": URL, "name": "fish"}, *(PAGE.format(n).encode() for n in (8, 9)))


def test_every_frame_of_a_watch_has_the_styles_and_images_of_the_page(
    site: Site, gate: FakeGate
) -> None:
    watch = shop(site)
    browser = site.browser("viewer")
    for name in ("both", "old", "new", "noise"):
        reply = browser.get(f"/watches/{watch}/frame/{name}")
        assert looks(reply.text) == (True, True, True), name
        assert "pictures.example" not in reply.text
        assert backgrounds(reply.text) == (True, True, True), name
        policy = reply.headers["content-security-policy"]
        assert policy.startswith(
            "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; base-uri"
        )
    names = ("a.css", "b.png", "f.eot", "f.woff2", "more.css", "net.png", "sea.png")
    assert sorted(gate.asked) == [
        "https://pictures.example/x.png",
        *(f"https://shop.example/{name}" for name in names),
    ]


def test_marks_lead_to_the_same_changes_before_and_after_styles_are_stored(
    site: Site, gate: FakeGate
) -> None:
    watch = shop(site)
    browser = site.browser("viewer")
    before = browser.get(f"/watches/{watch}/diff").text.partition('id="diff"')[2]
    assert gate.asked == [], "only the frame waits for styles"
    frame = browser.get(f"/watches/{watch}/frame/both").text
    after = browser.get(f"/watches/{watch}/diff").text.partition('id="diff"')[2]

    assert before
    assert before == after
    assert 'id="quire-change-1"' in frame


def test_a_page_whose_styles_are_gone_has_the_layout_for_reading(
    site: Site, gate: FakeGate
) -> None:
    gate.pages.clear()
    bodies = [
        f"<link rel=stylesheet href=/a.css><div style='height:900px'><p>Cod {n}</p></div></html>"
        for n in (8, 9)
    ]
    watch = add(site, {"url": URL, "name": "bare"}, *(each.encode() for each in bodies))
    drawn = site.browser("viewer").get(f"/watches/{watch}/frame/both").text

    assert "900px" not in drawn
    assert '<ins class="quire-ins">9</ins>' in drawn


def test_compared_addresses_have_their_looks_and_texts_make_no_requests(
    site: Site, gate: FakeGate
) -> None:
    browser = site.browser("viewer")
    reply = browser.post("/compare", form={"old-address": f"{URL}?old", "new-address": URL})
    for name in ("both", "old", "new"):
        drawn = browser.get(f"{reply.headers['location']}/frame/{name}").text
        assert looks(drawn) == (True, True, True), name
    asked = len(gate.asked)
    text = "<link rel=stylesheet href=https://shop.example/c.css><img src=https://shop.example/d>"
    reply = browser.post("/compare", form={"old-text": f"{text}8", "new-text": f"{text}9"})
    assert ">9</ins>" in browser.get(f"{reply.headers['location']}/frame/both").text
    assert len(gate.asked) == asked


def test_a_browser_shows_styles_and_images_and_asks_for_nothing_else(
    site: Site, gate: FakeGate
) -> None:
    watch = shop(site)
    with visiting(site.app) as visitor:
        visitor.log_in("viewer")
        for tab, name in (
            ("diff", "changed-page"),
            ("diff?view=side", "old-page"),
            ("noise", "noise-page"),
        ):
            visitor.open(f"/watches/{watch}/{tab}")
            visitor.page.wait_for_load_state("load")
            visitor.page.frame_locator(f"iframe[name={name}]").locator("img[alt=cod]").wait_for()
            frame = visitor.page.frame(name)
            assert frame is not None
            words = frame.locator("p").first
            assert words.evaluate("node => getComputedStyle(node).color") == "rgb(1, 2, 3)", tab
            assert words.evaluate("node => getComputedStyle(node).marginLeft") == "77px"
            for heading in ("h1", "h2", "h3"):
                drawn = frame.locator(heading).first
                seen = drawn.evaluate("node => getComputedStyle(node).backgroundImage")
                assert seen.startswith('url("data:image/png;base64,'), (tab, heading)
            fonts = frame.evaluate("[...document.fonts].map((each) => each.family)")
            assert [each.strip('"') for each in fonts] == ["Fish"]
            image = frame.locator("img[alt=cod]")
            assert image.evaluate("node => [node.complete, node.naturalWidth]") == [True, 1]
        visitor.seen.check()
    assert gate.asked
