"""Parts: locations that give texts instead of elements, and JSON Pointers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quire
from quire.sentinels.conditions import Circumstances, Comparison, Count
from quire.sentinels.form import read_watch
from quire.sentinels.groups.oracle import evaluate_alone
from quire.sentinels.parts import Location, PageReader, Part, WrongLocation
from quire.sentinels.parts.location import gives_texts
from tests.sentinels.test_groups import ABOUT

LINKS = b"<nav><a href=/a title='  A  page '>one</a></nav><a href=/b?x=1>two</a><a>three</a>"


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("//a/@href", ("/a", "/b?x=1")),
        ("(//a/@href)[2]", ("/b?x=1",)),
        ("//a/@title", ("A page",)),
        ("//nav/a/attribute::*", ("/a", "A page")),
        ("//a/text()", ("one", "two", "three")),
        ("xpath:string((//a)[2])", ("two",)),
        ("xpath:count(//a)", ("3",)),
        ("xpath:count(//a) > 2", ("true",)),
        ("xpath:1 div 3", ("0.333333333333333",)),
        ("xpath:normalize-space(//b)", ()),
        ("//b/@href", ()),
    ],
)
def test_a_location_can_give_texts(where: str, found: tuple[str, ...]) -> None:
    reading = PageReader(quire.encode(LINKS)).read(Part(Location((where,))))

    assert reading.of("text") == found
    assert reading.found == len(found)


def test_texts_come_after_elements_in_the_order_of_the_selectors() -> None:
    part = Part(Location(("//a/@title", "(//a)[3]", "//nav/a/@href")))

    assert PageReader(quire.encode(LINKS)).read(part).text == "three\nA page\n/a"


def test_the_order_of_attributes_is_not_a_change() -> None:
    sentinel = read_watch({"url": "https://a.example/", "where": "//a/@*"}).sentinel
    old = quire.encode(b"<a href=/b title=a>x</a>")
    new = quire.encode(b"<a title=a href=/b>x</a>")

    assert evaluate_alone(sentinel, old, new, ABOUT).changed == ()


def test_what_is_left_out_must_be_elements() -> None:
    reader = PageReader(quire.encode(LINKS))

    with pytest.raises(WrongLocation, match="gives texts; expected a selector of elements"):
        reader.read(Part(Location(("nav",), ("//a/@href",))))


def test_values_of_attributes_are_counted() -> None:
    page = PageReader(quire.encode(LINKS))
    seen = Comparison(lambda: page, page, Circumstances(ABOUT.now, ABOUT.now))

    assert Count("//a/@href", "==", 2).judge(seen).holds


MENU = b'{"items": [{"price": 9.5}, {"price": 8}], "a/b": {"": "x"}}'


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("/items/1/price", "8"),
        ("json:/items/0/price", "9.5"),
        ("/items/7", ""),
        ("json:/a~1b/", "x"),
    ],
)
def test_a_json_pointer_can_name_the_items_of_an_array(where: str, text: str) -> None:
    watch = read_watch({"url": "https://a.example/menu.json", "where": where})

    part = watch.sentinel.parts[0]
    assert PageReader(quire.encode(MENU, kind="json")).read(part).text == text
    if "0" in where or "1" in where:
        assert PageReader(quire.encode(LINKS)).read(part).found == 0


steps = st.sampled_from(
    ["//a", "/@href", "/@*", "/parent::*", "[@href]", "[1]", "/b", "/text()", " | //b"]
)


@given(st.lists(steps, min_size=1, max_size=4).map(lambda each: "//a" + "".join(each)))
def test_expressions_that_end_in_attributes_are_known_without_a_page(where: str) -> None:
    page = quire.encode(b"<a href=/1>x<b>y</b></a><a href=/2><a href=/3></a></a><b id=i>z</b>")
    found = page.xpath(where)

    if len(found) and "|" not in where:  # type: ignore[arg-type]
        assert gives_texts(where) == isinstance(found, list)
