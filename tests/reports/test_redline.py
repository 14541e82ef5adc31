"""The redline shows what changed, and is safe whatever the pages hold."""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from lxml import etree
from lxml import html as lxml_html

import quire
from quire.reports.changes import safe_markup as safe
from quire.reports.changes.marks import SCRIPT
from tests.conftest import require
from tests.strategies import html


def draw(before: bytes, after: bytes, *, base: str | None = None, images: bool = False) -> str:
    old, new = quire.encode(before, kind="html"), quire.encode(after, kind="html")
    return quire.redline(quire.annotate(old, new), base=base, images=images)


def body(drawn: str) -> str:
    """What is drawn below the bar, without the numbers of changes and the classes of holders."""
    drawn = drawn.partition("<quire-html")[2].partition("<script")[0]
    drawn = re.sub(r' id="quire-change-\d+"', "", drawn)
    return re.sub(r' class="quire-holds"', "", drawn).replace(" quire-holds", "")


def test_words_are_marked_in_place() -> None:
    drawn = body(draw(b"<p>Open 9 to <b>5</b>", b"<p>Open 9 to <b>6</b>"))

    assert '<b><del class="quire-del">5</del><wbr><ins class="quire-ins">6</ins></b>' in drawn


def test_what_is_new_is_marked_and_what_is_gone_is_put_back_where_it_was() -> None:
    drawn = body(draw(b"<ul><li>a<li>gone<li>c</ul>", b"<ul><li>a<li>c</ul>"))
    gone = '<li class="quire-lost"><del class="quire-del">gone</del></li>'
    assert f"<li>a</li>{gone}<li>c</li>" in drawn

    drawn = body(draw(b"<ul><li>a<li>c</ul>", b"<ul><li>a<li>new <i>x</i><li>c</ul>"))
    fresh = '<ins class="quire-ins">new </ins><i><ins class="quire-ins">x</ins></i>'
    assert f'<li class="quire-fresh">{fresh}</li>' in drawn


def test_other_attributes_are_said_in_a_title() -> None:
    drawn = body(draw(b"<p class=a>x", b"<p class=b id=c>x"))

    assert 'class="b quire-attr"' in drawn
    assert "class: “a” → “b”; id: none → “c”" in drawn


def test_rows_of_tables_stay_in_tables() -> None:
    drawn = draw(
        b"<table><tr><td>a<td>1<tr><td>b<td>2<tr><td>c<td>3</table>",
        b"<table><tr><td>a<td>1<tr><td>c<td>3</table>",
    )
    page = quire.encode(drawn.encode())

    assert page.select("table > tbody > tr.quire-lost > td > del.quire-del").size == 2
    assert page.text(page.select("table")[0]) == "a\t1\nb\t2\nc\t3"


def test_a_title_that_changed_is_told_in_the_bar() -> None:
    drawn = draw(b"<title>Old news</title>", b"<title>New news</title>")

    assert 'class="quire-del">Old</del><wbr><ins class="quire-ins">New</ins> news' in drawn


def test_texts_that_can_hold_no_marks_are_marked_as_a_whole() -> None:
    drawn = body(draw(b"<textarea>a</textarea>", b"<textarea>b</textarea>"))

    assert re.search(
        r'<textarea[^>]*class="quire-atom quire-del"[^>]*>\na</textarea>'
        r'<textarea[^>]*class="quire-atom quire-ins"[^>]*>\nb</textarea>',
        drawn,
    )


def test_the_bar_counts_and_lists_changes_and_leads_to_them() -> None:
    drawn = draw(b"<p>a 1<p>same<p>b", b"<p>a 2<p>same<p>b c")
    page = quire.encode(drawn.encode())

    assert page.text(int(page.select("#quire-count")[0])) == "2 changes"
    links = [page.attributes(int(node))["href"] for node in page.select(".quire-bar li a")]
    assert links == ["#quire-change-1", "#quire-change-2"]
    assert page.select("quire-html #quire-change-1, quire-html #quire-change-2").size == 2
    assert "no change in the text" in draw(b"<p>a", b"<p>a")


def test_changes_outside_the_text_are_one_click_away() -> None:
    drawn = draw(b"<p nonce=a class=x>a", b"<p nonce=b class=y>a")
    page = quire.encode(drawn.encode())

    assert page.select(".quire-bar input#quire-others:not([checked])").size == 1
    assert page.text(int(page.select(".quire-bar label")[0])) == "show 1 element with other changes"
    assert page.text(int(page.select("#quire-count")[0])) == "no change in the text"


def test_styles_of_the_page_stay_in_a_layer_below_the_marks() -> None:
    style = b"<style>body{color:red!important;background:url(x)}</style><style media=print>p{color:blue}</style>"
    drawn = draw(b"<p>a", style + b"<p>b")

    assert "@layer quire-page {\nquire-body{color:red}\n@media print{p{color:blue}\n}\n}" in drawn
    ours = (
        drawn.partition("@layer quire-page {")[2].partition("<style>")[2].partition("</style>")[0]
    )
    declarations = re.findall(r"[a-z-]+: [^;{}]+;", re.sub(r"@media[^{]*", "", ours))
    assert declarations
    assert all("!important" in each for each in declarations)


def test_sizes_are_dropped_where_style_sheets_are_missing() -> None:
    page = b"<div style='height:900px;color:red;position:absolute;padding-bottom:56%'>a</div>"
    assert 'style="height:900px;color:red;' in body(draw(page, page))

    bare = b"<link rel=stylesheet href=x.css>" + page
    assert 'style="color:red"' in body(draw(bare, bare))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (
            b'{"a": 1}',
            b'{"a": 2}',
            'class="quire-del">1</del><wbr><ins class="quire-ins">2</ins>',
        ),
        (b"one\ntwo", b"one\ntwo\n<b>three", 'class="quire-ins">&lt;b&gt;three</ins></div>'),
        (
            b"<?xml version='1.0'?><a><b>x</b><c>y</c></a>",
            b"<?xml version='1.0'?><a><b>x</b></a>",
            'class="quire-del">y</del></div>',
        ),
    ],
    ids=["json", "text", "xml"],
)
def test_pages_that_do_not_render_show_their_lines(
    before: bytes, after: bytes, expected: str
) -> None:
    assert expected in quire.redline(quire.annotate(quire.encode(before), quire.encode(after)))


# ------------------------------------------------------------------ safety

# Each would run, load or send something, or take the reader elsewhere.
ATTACKS = [
    "<script>alert(1)</script>",
    "<SCRIPT SRC=//evil.example/x.js></SCRIPT>",
    "<img src=x onerror=alert(1)>",
    "<img src='data:image/svg+xml,<svg onload=alert(1)>'>",
    "<svg><script>alert(1)</script><a xlink:href='javascript:alert(1)'>x</a></svg>",
    "<svg><style><img src=x onerror=alert(1)></style></svg>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>",
    "<a href='javascript:alert(1)'>x</a>",
    "<a href=' \tjava\nscript:alert(1)'>x</a>",
    "<a href='data:text/html,<script>alert(1)</script>'>x</a>",
    "<a href='vbscript:x' onclick='alert(1)' style='background:url(//evil.example)'>x</a>",
    "<iframe src=//evil.example></iframe><object data=//evil.example></object><embed src=//evil.example>",
    "<form action=//evil.example><input autofocus onfocus=alert(1)><button formaction='javascript:alert(1)'>x</button></form>",
    "<meta http-equiv=refresh content='0;url=//evil.example'><base href=//evil.example>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<style>@import '//evil.example'; p{background:url(//evil.example)} q{b:image-set('//evil.example' 1x)}</style>",
    "<style>p{background:\\75 rl(//evil.example)}</style>",
    "<style></sty</style></style><script>alert(1)</script>",
    "<style>p{background:u\x01rl(//evil.example)} @im\x0eport '//evil.example';</style>",
    "<p style='background:u\x1frl(//evil.example)'>x</p>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>",
    "<template><script>alert(1)</script></template><textarea></textarea><script>alert(1)</script>",
    "<title></title><script>alert(1)</script>",
    "<p title='\"><script>alert(1)</script>' class='quire-del quire-ins' id='quire-bar'>x",
    "<xmp><script>alert(1)</script></xmp><plaintext><script>alert(1)</script>",
    "<x-card onclick=alert(1)><video src=//evil.example onerror=alert(1)><audio src=//evil.example>",
    "<details open ontoggle=alert(1)>x</details><body onload=alert(1) background=//evil.example>",
    "<input type=image src=//evil.example><img srcset='//evil.example 1x'><img src=//evil.example>",
]
ALLOWED = safe.KEPT | {"html", "head", "body", "meta", "title", "style", "div", "span", "pre"}
ALLOWED |= {"quire-html", "quire-body", "script"}


def policy_hash(script: str) -> str:
    """How the policy of a document names a script."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def check_is_safe(drawn: str) -> None:
    """See that a browser would find nothing in it that runs, loads or leads astray."""
    page = quire.encode(drawn.encode("utf-8", "replace"), kind="html", scripting=True)
    assert set(page.tag_namespaces) <= {"html", ""}
    metas = page.select("meta[http-equiv]").tolist()
    assert [page.attributes(node)["http-equiv"] for node in metas] == ["Content-Security-Policy"]
    for node in range(page.n):
        name = page.tags[int(page.tag[node])]
        if name.startswith("#"):
            assert name in {"#document", "#text", "#doctype"}
            continue
        assert name in ALLOWED, name
        found = page.attributes(node)
        for key, value in found.items():
            assert not key.startswith("on"), key
            assert key not in {"srcset", "action", "formaction", "background", "srcdoc", "data"}
            if key == "href":
                assert value.startswith(("#", "http://", "https://", "mailto:"))
            if key == "src":
                assert value.startswith("data:image/")
                assert "svg" not in value
            if key == "style":
                assert "url" not in value.lower()
        if name == "script":  # the one of ours, and the policy allows no other
            assert page.text(node + 1) == SCRIPT
            assert not found
        if name == "style":
            css = page.text(node)
            assert "<" not in css
            assert not re.search(r"@import|image-set\s*\(", css, re.IGNORECASE)
            # Images and fonts that the page holds itself; an image in SVG runs and loads nothing.
            for address in re.findall(r"url\s*\(\s*(.{20})", css, re.IGNORECASE):
                assert re.match(r'"data:(image|font)/', address), address
    assert [page.tags[int(page.tag[node])] for node in page.select("script")] == ["script"]
    assert policy_hash(SCRIPT) in drawn


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_that_runs_or_loads_gets_through(attack: str) -> None:
    page = f"<div>{attack}<p>after".encode()
    for before, after in [(b"<div><p>after", page), (page, b"<div><p>after"), (page, page)]:
        drawn = draw(before, after)
        check_is_safe(drawn)
        # What stays of an address is text in a title.
        said = r'title="[^"]*"'
        assert "evil.example" not in re.sub(said, "", drawn)


@given(html, html)
def test_the_redline_of_any_pages_is_safe(before: bytes, after: bytes) -> None:
    check_is_safe(draw(before, after))


def test_the_policy_forbids_all_loading_unless_images_are_asked_for() -> None:
    page = b"<a href=b>x</a><img src=/a.png alt=Map><img src=https://other.example/b.png>"
    drawn = draw(page, page, base="https://example.org/x/")
    assert "default-src &#39;none&#39;; img-src data:;" in drawn
    assert "a.png" not in drawn
    assert 'href="https://example.org/x/b" rel="noopener noreferrer nofollow"' in drawn

    drawn = draw(page, page, base="https://example.org/x/", images=True)
    assert "img-src data: https: http:;" in drawn
    assert 'src="https://example.org/a.png"' in drawn
    assert 'href="/' not in draw(page, page)


@pytest.mark.timeout(900)  # quadratic, it would take hours
def test_hostile_pages_are_drawn_in_linear_time() -> None:
    deep = b"<div>" * 100_000
    script = b"".join(
        b"<p onclick='x' title='\"&gt;&lt;script&gt;' style='a:url(x)'>%d" % i
        for i in range(20_000)
    )
    for page in (deep, script, b"<b>" * 20_000 + b"x", b"<table>" * 5_000):
        check = draw(b"<p>x", page)
        assert check.startswith("<!doctype html>")
        draw(page, b"<p>x")


def test_what_is_drawn_is_well_formed_for_other_parsers_too() -> None:
    drawn = draw(b"<p>a<table><tr><td>b</table>", b"<p>c<table><tr><td>d</table>")

    assert isinstance(lxml_html.document_fromstring(drawn), etree._Element)


def test_a_browser_runs_nothing_of_it(tmp_path: Path) -> None:
    """What a browser makes of it has the marks, and no trace of a script that ran."""
    browser = require("chromium", "see that no script of a page runs in its redline")
    attack = (
        "".join(ATTACKS)
        + "<img src=x onerror='document.title=\"ran\"'><script>document.title='ran'</script>"
    )
    (tmp_path / "redline.html").write_text(draw(b"<p>a", f"<p>b{attack}".encode()), "utf-8")
    result = subprocess.run(
        [
            browser,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            f"--user-data-dir={tmp_path / 'profile'}",
            "--dump-dom",
            (tmp_path / "redline.html").as_uri(),
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )

    assert "<title>Changes</title>" in result.stdout
    assert 'class="quire-ins">b</ins>' in result.stdout
    check_is_safe(result.stdout)
