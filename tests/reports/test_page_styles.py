"""Images and fonts of style sheets in redlines: those at hand are shown, and nothing else loads."""

from __future__ import annotations

import base64

import pytest
from playwright.sync_api import Route, sync_playwright

import quire
from quire.reports.changes import page_styles
from quire.reports.changes.framed import framed_changes
from quire.reports.changes.page_styles import PageStyles
from quire.viewing import Embedded
from tests.conftest import require

HOME = "https://shop.example/a/"
IMAGE = "data:image/png;base64,AAAA"
FONT = "data:font/woff2;base64,BBBB"
LOOKS = Embedded(
    styles={f"{HOME}deep.css": "b{background:url(img/x.png)}", f"{HOME}loop.css": "@import 'loop.css';"},
    images={f"{HOME}x.png": IMAGE, f"{HOME}img/x.png": f"{IMAGE}CCCC"},
    fonts={f"{HOME}f.woff2": FONT},
)  # fmt: skip


def drawn(css: str, body: str = "<p>Cod {}</p>") -> str:
    """Draw the changes of a page with a style sheet."""
    source = f"<!doctype html><style>{css}</style>{body}"
    old, new = (quire.encode(source.replace("{}", price).encode()) for price in "89")
    return framed_changes(quire.annotate(old, new), base=HOME, embedded=LOOKS).document


def test_an_image_has_one_copy_for_all_its_uses() -> None:
    found = drawn("p{background:url(x.png)}b{background-image:url('x.png#top'),URL( \"x.png\" )}")

    assert found.count(IMAGE) == 1
    assert found.count("var(--quire-image-1)") == 3


def test_addresses_are_relative_to_their_style_sheet() -> None:
    found = drawn("@import 'deep.css';b{color:red}")

    assert f"{IMAGE}CCCC" in found
    assert found.index("background:var(--quire-image-1)") < found.index("color:red")


def test_an_image_that_only_has_a_set_of_sources_shows_the_first() -> None:
    found = drawn("", "<p>Cod {}</p><img srcset='x.png 1x, gone.png 2x'><img srcset=' '>")

    assert f'src="{IMAGE}"' in found
    assert "gone.png" not in found


def test_an_image_inside_a_style_sheet_is_shown() -> None:
    found = drawn("p{background:url('data:image/gif;base64,R0lG')}")

    assert '--quire-image-1:url("data:image/gif;base64,R0lG")' in found


@pytest.mark.parametrize(
    ("rule", "face"),
    [
        ("font-family:'A b';src:url(gone.eot),url(f.woff2) format('x')", f'"A b";src:url("{FONT}")'),
        ("src:url(f.woff2);font-family:A;font-style:italic", f'"A";font-style:italic;src:url("{FONT}")'),
        ("font-family:A;unicode-range:U+0-FF,U+131;src:url(f.woff2)", f'"A";unicode-range:U+0-FF,U+131;src:url("{FONT}")'),
        ("font-family:A;font-weight:1}}</style><b>;src:url(f.woff2)", None),
        ("font-family:A;font-weight:url(x.png);src:url(f.woff2)", f'"A";src:url("{FONT}")'),
        ("font-family:A;src:url(gone.woff2)", None),
        ("font-family:A;src:local(B)", None),
        ("font-family:A;src:url(//canary.example/f)", None),
        ('font-family:"A\\";x";src:url(f.woff2)', None),
        ("src:url(f.woff2)", None),
    ],
)  # fmt: skip
def test_a_rule_for_a_font_is_written_anew_if_its_font_is_at_hand(
    rule: str, face: str | None
) -> None:
    styles = PageStyles(LOOKS)
    styles.prepared(f"@font-face{{{rule}}}", HOME)

    assert styles.own == ("" if face is None else f"@font-face{{font-family:{face}}}\n")


HOSTILE = (
    "p{background:url(//canary.example/x.png)}",
    "p{background:url(x.png),url(//canary.example/x.png)}",
    "@import '//canary.example/a.css';@import 'loop.css';",
    "p{--a:url(//canary.example/)}b{background:var(--a)}",
    "p{background:image-set('//canary.example/x' 1x)}",
    "p{background:url(x.png)}</style><img src=//canary.example/y>",
    "p::after{content:'url(\"x.png\")</style>//canary.example'}",
    r"p{background:\75 rl(//canary.example)}",
    "@font-face{font-family:x;src:url(//canary.example/f)}",
    'p{background:url("x.png\\");x:url(//canary.example/)',
)


def test_nothing_else_can_load_even_without_a_policy() -> None:
    path = require("chromium", "look at a redline")
    asked: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_context(bypass_csp=True).new_page()

        def note(route: Route) -> None:
            asked.append(route.request.url)
            route.abort()

        page.route("**/*", note)
        for css in HOSTILE:
            page.set_content(drawn(css), wait_until="load")
            assert page.locator("ins.quire-ins").count() == 1, css
        browser.close()

    assert asked == []


def test_long_chains_and_large_images_end(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = {
        f"{HOME}{n}.css": "".join(f"@import '{m}.css';" for m in range(200)) for n in range(200)
    }
    styles = PageStyles(Embedded(styles=chain))
    assert len(styles.prepared("@import '0.css';", HOME)) < 1_000_000
    monkeypatch.setattr(page_styles, "MOST_IMAGES", len(IMAGE) + 10)
    styles = PageStyles(LOOKS)
    found = styles.prepared("a{background:url(x.png)}b{background:url(img/x.png)}", HOME)
    assert found.count("var(") == 1


@pytest.mark.parametrize(
    "piece",
    ["@font-face{a", "@font-face{a:b;", "a", 'url("', "@import'x';", "@font-face{src:url(x)}"],
)
def test_long_style_sheets_of_any_kind_are_read(piece: str) -> None:
    styles = PageStyles(LOOKS)
    styles.prepared("@font-face{" + piece * 100_000, HOME)

    assert len(styles.own) < 1_000_000


def test_an_image_cannot_take_the_place_of_a_mark() -> None:
    path = require("chromium", "look at a redline")
    dot = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
    image = f"data:image/gif;base64,{base64.b64encode(dot).decode()}"
    css = f"p,ins,div,*{{content:url({image})}}h1{{background:url({image})}}"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page()
        page.set_content(drawn(css, "<h1>Fish</h1><div><p>Cod {}</p></div>"))
        box = page.locator("ins.quire-ins").bounding_box()
        background = page.locator("h1").evaluate("node => getComputedStyle(node).backgroundImage")
        browser.close()

    assert box is not None
    assert box["height"] > 8
    assert background == f'url("{image}")'
