"""Documents of strangers' pages: safe by a judge of their own, and they look like the page."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quire
from quire.viewing import Layout, Use, lacks_styles, safe_page
from tests import corpus
from tests.viewing.judge import PLACED, faults
from tests.viewing.payloads import payloads

URL = "https://site.example/a/page.html"
ALL = list(payloads())


def place(url: str, use: Use) -> str | None:
    """Place addresses of the site, and no others."""
    return f"{PLACED}{use.value}?{url}" if "evil" not in url else None


def shown(html: str | bytes, layout: Layout = Layout.PAGE) -> str:
    source = html.encode("utf-8", "surrogatepass") if isinstance(html, str) else html
    page = quire.encode(source, kind="html", encoding="utf-8")
    return safe_page(page, url=URL, place=place, layout=layout).decode()


def body(html: str) -> str:
    return shown(html).partition("<body>")[2].removesuffix("</body></html>")


def test_the_payloads_are_many_and_different() -> None:
    assert len(ALL) > 1000
    assert len({page for _, page in ALL}) == len(ALL)


@pytest.mark.parametrize("layout", Layout)
def test_no_payload_leaves_anything_that_acts(layout: Layout) -> None:
    wrong = {name: faults(shown(page, layout).encode()) for name, page in ALL}

    assert {name: found for name, found in wrong.items() if found} == {}


def test_a_document_shown_again_is_the_same_document() -> None:
    def keep(url: str, _use: Use) -> str | None:
        return url if "evil" not in url else None

    for name, page in ALL:
        once = safe_page(quire.encode(page.encode("utf-8", "replace")), url=URL, place=keep)
        twice = safe_page(quire.encode(once), url=URL, place=keep)
        # Tags that parsers add or move are there after the first time.
        again = safe_page(quire.encode(twice), url=URL, place=keep)
        assert _without_head(again) == _without_head(twice), name


def _without_head(document: bytes) -> bytes:
    return re.sub(rb'<meta (?:charset|http-equiv|name="referrer")[^>]*>', b"", document)


@given(st.text(alphabet="<>/=\"'ab &;#\n-!svgtylemx[]\\(){}u:r", max_size=120))
def test_no_mix_of_signs_leaves_anything_that_acts(text: str) -> None:
    assert faults(shown(text).encode()) == []


def test_addresses_are_resolved_and_placed_by_their_use() -> None:
    html = (
        '<a href="../b?c=1&amp;d#e">x</a><img src="i.png" srcset="i.png 1x, /j.png 2x">'
        '<iframe src="f.html"></iframe><video src=v poster=p></video>'
    )

    assert body(html) == (
        '<a href="/placed/link?https://site.example/b?c=1&amp;d#e">x</a>'
        '<img src="/placed/image?https://site.example/a/i.png" '
        'srcset="/placed/image?https://site.example/a/i.png 1x, '
        '/placed/image?https://site.example/j.png 2x">'
        '<iframe sandbox="" src="/placed/frame?https://site.example/a/f.html"></iframe>'
        '<video controls="" preload="metadata" src="/placed/media?https://site.example/a/v" '
        'poster="/placed/image?https://site.example/a/p"></video>'
    )


def test_the_base_element_counts_and_is_left_out() -> None:
    assert body('<base href="/z/"><body><img src=i.png><a href="#top">x</a>') == (
        '<img src="/placed/image?https://site.example/z/i.png">'
        '<a href="/placed/link?https://site.example/z/#top">x</a>'
    )


def test_links_inside_the_page_stay_there() -> None:
    assert body('<a href="#top">x</a><a href="page.html#end">y</a>') == (
        '<a href="#top">x</a><a href="#end">y</a>'
    )


def test_style_sheets_and_styles_are_kept() -> None:
    found = shown(
        "<link rel=stylesheet href=a.css media=screen><style>p>a{color:red}</style>"
        '<p class=x id=y style="color:blue;background:url(b.png)">x'
    )

    assert (
        '<link rel="stylesheet" href="/placed/style?https://site.example/a/a.css" media="screen">'
        in found
    )
    assert "<style>p>a{color:red}</style>" in found
    assert (
        'style="color:blue;background:url(&quot;/placed/image?https://site.example/a/b.png' in found
    )


def test_style_sheets_that_a_script_would_switch_on_are_on() -> None:
    found = shown(
        "<link rel=preload as=style href=a.css onload=\"this.rel='stylesheet'\">"
        "<link rel=stylesheet media=print href=b.css onload=\"this.media='all'\">"
    )

    assert '<link rel="stylesheet" href="/placed/style?https://site.example/a/a.css">' in found
    assert '<link rel="stylesheet" href="/placed/style?https://site.example/a/b.css">' in found


def test_images_that_a_script_would_load_are_loaded() -> None:
    html = '<img src="data:image/gif;base64,R0" data-src="i.png"><noscript><img src="j.png"></noscript>'

    assert body(html) == (
        '<img src="/placed/image?https://site.example/a/i.png" data-src="i.png">'
        '<img src="/placed/image?https://site.example/a/j.png">'
    )


def test_a_form_sends_nothing() -> None:
    assert body("<form action=/x method=post><input name=q><button formaction=/y>Go") == (
        '<form method="dialog"><input name="q"><button>Go</button></form>'
    )


def test_svg_and_mathml_are_drawn() -> None:
    html = '<svg viewBox="0 0 9 9"><path d="M0 0"/><use href="#a"/></svg><math><mi>x</mi></math>'

    assert body(html) == (
        '<svg viewBox="0 0 9 9"><path d="M0 0"></path><use href="#a"></use></svg>'
        "<math><mi>x</mi></math>"
    )


@pytest.mark.parametrize(
    ("doctype", "written"),
    [
        ("<!doctype html>", "<!DOCTYPE html>"),
        ("", ""),
        ('<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">', ""),
        ('<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 3.2 Final//EN">', ""),
        (
            '<!DOCTYPE html PUBLIC "-//W3C//DTD HTML 4.01//EN" "http://www.w3.org/TR/html4/strict.dtd">',
            "<!DOCTYPE html>",
        ),
    ],
)
def test_browsers_lay_the_document_out_in_the_mode_of_the_page(doctype: str, written: str) -> None:
    assert shown(f"{doctype}<p>x").partition("<html>")[0] == written


def test_pages_that_are_not_html_are_shown_as_text() -> None:
    made = safe_page(quire.encode(b'{"a": "<script>"}'), url=URL, place=place)

    assert b"&lt;script&gt;" in made
    assert faults(made) == []


def test_the_reading_layout_has_no_sizes_and_positions() -> None:
    html = (
        "<style>p{position:fixed}</style><link rel=stylesheet href=a.css><body width=9>"
        '<div style="position:absolute;top:9px;height:900px;color:red" height=900>x</div>'
    )

    found = shown(html, Layout.READING).partition("<body>")[2]
    assert found == '<div style="color:red">x</div></body></html>'
    assert "stylesheet" not in shown(html, Layout.READING)


def test_a_page_lacks_styles_if_none_of_its_sheets_is_placed() -> None:
    def lacks(html: bytes) -> bool:
        return lacks_styles(quire.encode(html), url=URL, place=place)

    assert lacks(b"<link rel=stylesheet href=//evil.test/a.css><p>x")
    assert not lacks(
        b"<link rel=stylesheet href=//evil.test/a.css><link rel=stylesheet href=b.css>"
    )
    assert not lacks(b"<p>x")


def test_deep_pages_and_many_attributes_are_written_in_one_pass() -> None:
    deep = shown("<div>" * 20_000 + "x")
    wide = shown("<p " + " ".join(f"data-a{n}=1" for n in range(20_000)) + ">x")

    assert deep.count("<div>") == 20_000
    assert wide.count("data-a") == 20_000


@pytest.mark.skipif(not corpus.available(), reason=corpus.ABSENT)
@pytest.mark.parametrize("name", ["pages-readability", "versions-news", "templates-types"])
def test_real_pages_are_safe_and_keep_their_words(name: str) -> None:
    files = [path for path in corpus.files(name) if path.suffix in {".html", ".htm"}][::23][:60]
    for path in files:
        page = quire.encode(path.read_bytes(), kind="html")
        made = safe_page(page, url=URL, place=place)
        assert [fault for fault in faults(made) if not fault.startswith("markup")] == [], path
        before, after = page.text().split(), quire.encode(made).text().split()
        assert len(after) >= 0.9 * len(before), path
