"""Pages for frames: numbers and places of changes, each version by itself, and outlines."""

from __future__ import annotations

import re

import quire
from quire.reports.changes.framed import (
    FramedPage,
    Shown,
    framed_changes,
    framed_page,
    same_changes,
)

LINES = [f"<p>Line {number} of the timetable" for number in range(40)]


def framed(old: str, new: str, shown: Shown = Shown.BOTH) -> FramedPage:
    before, after = (quire.encode(f"<body>{page}".encode(), kind="html") for page in (old, new))
    return framed_changes(quire.annotate(before, after), shown=shown)


def visible(drawn: FramedPage) -> str:
    """Return the words of the page in a frame."""
    body = drawn.document.partition("<body>")[2]
    return " ".join(re.sub(r"<[^>]+>", " ", body).split())


def test_every_change_has_its_fragment_once_and_in_order() -> None:
    new = [line.replace("Line", "Row") if n % 7 == 0 else line for n, line in enumerate(LINES)]
    drawn = framed("".join(LINES), "".join(new))

    assert [mark.number for mark in drawn.marks] == [1, 2, 3, 4, 5, 6]
    for mark in drawn.marks:
        assert drawn.document.count(f'id="{mark.fragment[1:]}"') == 1
    places = [mark.place for mark in drawn.marks]
    assert places == sorted(places)
    assert 0 <= places[0] < 0.1
    assert 0.8 < places[-1] < 1


def test_a_frame_has_no_script_and_no_bar() -> None:
    drawn = framed("<p>1<script>x</script>", "<p>2<script>y</script>")

    assert "<script" not in drawn.document
    assert 'class="quire-bar"' not in drawn.document
    assert "script-src" not in drawn.document


def test_each_version_by_itself_has_only_its_own_texts() -> None:
    old = "<h1>Menu</h1><p>Cod 8.40</p><ul><li>Peas<li>Gravy</ul>"
    new = "<h1>Menu</h1><p>Cod 8.60</p><ul><li>Peas</ul><p>Tea</p>"

    assert visible(framed(old, new, Shown.OLD)) == "Menu Cod 8.40 Peas Gravy"
    assert visible(framed(old, new, Shown.NEW)) == "Menu Cod 8.60 Peas Tea"


def test_marks_of_the_old_version_are_deletions() -> None:
    drawn = framed("<p>Cod<p>Hake<p>Eel", "<p>Cod<p>Eel", Shown.OLD)

    assert [mark.kinds for mark in drawn.marks] == [{"deleted"}]
    assert drawn.marks[0].texts == (("deleted", "Hake"),)


def test_the_same_change_is_found_on_both_sides_though_parts_moved() -> None:
    moved = "<section><h2>Tides</h2><p>High water at nine in the evening</p></section>"
    prices = "<section><h2>Prices</h2><p>Cod costs {} a kilo today</p></section>"
    filler = "".join(LINES[:10])
    old, new = moved + filler + prices.format(8), filler + prices.format(9) + moved
    sides = [framed(old, new, shown) for shown in (Shown.OLD, Shown.NEW)]
    found = same_changes(*sides)

    for mark in sides[1].marks:
        partner = sides[0].marks[found[mark.number] - 1]
        assert {text for _, text in partner.texts} == {text for _, text in mark.texts}
    assert any(number != partner for number, partner in found.items())


def test_a_change_without_an_equal_has_a_partner_that_exists() -> None:
    empty = framed("<p>a", "<p>a", Shown.OLD)
    many = framed("".join(LINES), "<p>other", Shown.NEW)

    assert set(same_changes(empty, many).values()) <= {1}
    assert same_changes(many, empty) == {}


def test_outlined_elements_are_seen_whatever_the_page_does() -> None:
    page = quire.encode(b"<style>.ad{display:none}</style><div hidden><p class=ad>Offer</div>")
    node = page.select(".ad")[0].item()
    drawn = framed_page(page, outlined={node: 'left out: "text" <b>'}).document

    assert 'class="ad quire-outlined quire-holds"' in drawn
    assert 'title="left out: &quot;text&quot; &lt;b&gt;"' in drawn
    assert " hidden" not in drawn.partition("<body>")[2]


def test_a_page_cannot_take_the_fragment_of_a_change() -> None:
    drawn = framed("<p id=quire-change-1>top<p>1", "<p id=QUIRE-change-1>top<p>2")

    assert len(re.findall(r'id="quire-change-1"', drawn.document, re.IGNORECASE)) == 1


def test_pages_that_are_not_html_are_lines() -> None:
    old, new = (quire.encode(text, kind="text") for text in (b"one\ntwo", b"one\n2"))
    drawn = framed_changes(quire.annotate(old, new))

    assert len(drawn.marks) == 1
    assert 'class="quire-lines"' in drawn.document
