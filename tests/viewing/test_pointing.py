"""Pages to point at: safe like all documents, with links of ours and nothing else to click."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quire
from quire.viewing import Layout, Use, safe_page
from quire.viewing.pointing import HERE, Paint, Pointing, pointing_page, renamed_types
from tests.viewing.judge import PLACED, faults
from tests.viewing.payloads import payloads

URL = "https://site.example/a/page.html"
ALL = list(payloads())
LINK = re.compile(
    rb'<a class="quire-pick"(?: id="quire-here")? href="/pick/([0-9]+)" target="_top">'
)


def place(url: str, use: Use) -> str | None:
    return f"{PLACED}{use.value}?{url}" if "evil" not in url else None


def pointed(source: str | bytes, layout: Layout = Layout.PAGE, **more: object) -> bytes:
    data = source.encode("utf-8", "surrogatepass") if isinstance(source, str) else source
    page = quire.encode(data, kind="html", encoding="utf-8")
    pointing = Pointing(lambda node: f"/pick/{node}", **more)  # type: ignore[arg-type]
    return pointing_page(page, pointing, url=URL, place=place, layout=layout)


def without_ours(made: bytes) -> bytes:
    """Take our links and our style away: the judge knows nothing of them."""
    rest = LINK.sub(b"<b>", made).replace(b"</a>", b"</b>")
    assert rest.count(b"<style>") >= 1
    return rest.rpartition(b"<style>")[0]


@pytest.mark.parametrize("layout", list(Layout))
def test_nothing_of_a_hostile_page_gets_through(layout: Layout) -> None:
    for name, source in ALL:
        made = pointed(source, layout)
        assert faults(without_ours(made)) == [], name
        # A page can neither make a link nor look like one of ours.
        assert made.count(b"<a ") == len(LINK.findall(made)), name


@given(st.text(alphabet="<>/ab\"'=&;! \n-p{}", max_size=80))
def test_a_browser_finds_as_many_links_as_were_written(text: str) -> None:
    made = pointed(f"<div>{text}</div><table><tr><td>x<select><option>y</table>")
    again = quire.encode(made, kind="html", encoding="utf-8")
    assert len(again.select("a.quire-pick")) == len(LINK.findall(made)) == len(again.select("a"))


def test_every_text_and_image_is_a_link_that_names_its_element() -> None:
    source = b"<p>Cod <a href=/x><b>8.40</b></a></p><img src=a.png><button>Buy</button><svg><path/></svg>"
    page = quire.encode(source)
    found = [int(number) for number in LINK.findall(pointed(source))]
    names = [str(page.tags[page.tag[node]]) for node in found]
    assert names == ["p", "b", "img", "button", "svg:svg"]


def test_chosen_and_ignored_parts_are_painted_and_the_place_is_marked() -> None:
    source = b"<p class=a>1</p><p>2</p>"
    made = pointed(source, painted={4: Paint.CHOSEN, 6: Paint.IGNORED}, here=6)
    assert b'<p class="quire-chosen a">' in made
    assert b'<p class="quire-ignored">' in made
    assert made.count(f'id="{HERE}"'.encode()) == 1
    assert made.index(HERE.encode()) > made.index(b">1<")


def test_a_page_without_links_is_painted_all_the_same() -> None:
    page = quire.encode(b"<p>1</p><a href=/x>2</a>")
    made = pointing_page(page, Pointing(None, {4: Paint.CHOSEN}), url=URL, place=place)
    assert b'<p class="quire-chosen">1</p>' in made
    assert b"<a" not in made.partition(b"<body>")[2].partition(b"<style>")[0]
    scrolled = pointing_page(page, Pointing(None, {}, here=4), url=URL, place=place)
    assert b'<p><a id="quire-here">1</a></p>' in scrolled
    assert b"href" not in scrolled


def test_rules_for_links_and_buttons_follow_their_new_names() -> None:
    css = "a{color:red}nav>a:hover,a.b,#a,.a,[a],b a::before{c:a}@media screen{label+button{x:y}}"
    assert renamed_types(css) == (
        "quire-a{color:red}nav>quire-a:hover,quire-a.b,#a,.a,[a],b quire-a::before{c:a}"
        "@media screen{quire-label+quire-button{x:y}}"
    )


def test_the_title_of_a_page_is_not_a_text_in_it() -> None:
    page = quire.encode(b"<title>Fish &amp; chips</title><p>x")
    made = safe_page(page, url=URL, place=place)
    assert b"<title>Fish &amp; chips</title>" in made
    assert b"<span>" not in made
