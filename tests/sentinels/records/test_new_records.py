"""A watch for new records in a list: what it tells, and what it leaves out."""

from __future__ import annotations

import pytest

import quire
from quire.sentinels.conditions import Circumstances, Comparison, NewRecord
from quire.sentinels.form import read_watch, watch_to_dict
from quire.sentinels.parts import Location, PageReader, Part
from tests.extraction.labelled import PAGES, Labelled, written
from tests.sentinels.records.shops import (
    CHIPS,
    COD,
    HAKE,
    PEAS,
    PLAICE,
    START,
    Fish,
    kinds,
    shop,
    told,
)


def test_a_new_record_is_told_with_its_fields() -> None:
    (_, (found,)) = told(shop(COD, CHIPS, PEAS), shop(PLAICE, COD, CHIPS, PEAS))

    assert found.kind == "change"
    assert found.event.added == ("Plaice, name link: /p/4, price: 12.00 €",)
    assert found.event.removed == ()
    assert found.event.finding is not None
    assert found.event.finding.reason == "'Plaice' is new"


def test_only_records_that_are_new_are_listed_in_the_notice() -> None:
    (_, _, (found,)) = told(
        shop(HAKE, COD, CHIPS, PEAS),
        shop(COD, CHIPS, PEAS),
        shop(HAKE, PLAICE, COD, CHIPS),  # Hake came back, Peas are gone
    )

    assert [line.partition(",")[0] for line in found.event.added] == ["Plaice"]
    assert found.event.removed == ()


NOT_NEW: dict[str, list[list[Fish]]] = {
    "another order": [[COD, CHIPS, PEAS], [PEAS, COD, CHIPS]],
    "another price": [[COD, CHIPS, PEAS], [COD.costs("8.00 €"), CHIPS, PEAS]],
    "another name": [[COD, CHIPS, PEAS], [Fish("/p/1", "Cod, fresh"), CHIPS, PEAS]],
    "a record is gone": [[COD, CHIPS, PEAS, HAKE], [COD, CHIPS, PEAS]],
    "a record comes back": [[COD, CHIPS, PEAS, HAKE], [COD, CHIPS, PEAS], [COD, HAKE, CHIPS, PEAS]],
    "tracking in links": [
        [COD, CHIPS, PEAS],
        [Fish("/p/1?utm_source=list", "Cod"), Fish("/p/2?utm_source=list", "Chips"), PEAS],
    ],
    "all addresses are others": [
        [COD, CHIPS, PEAS],
        [Fish("/fish/cod", "Cod"), Fish("/fish/chips", "Chips"), Fish("/fish/peas", "Peas")],
    ],
}


@pytest.mark.parametrize("name", NOT_NEW)
def test_a_list_that_changes_without_a_new_record_is_not_told(name: str) -> None:
    assert not any(kinds(*(shop(*products) for products in NOT_NEW[name])))


def test_a_record_that_is_new_while_all_addresses_change_is_told_alone() -> None:
    moved = [Fish(f"/fish/{each.name}", each.name) for each in (COD, CHIPS, PEAS, HAKE)]

    (_, (found,)) = told(shop(COD, CHIPS, PEAS), shop(*moved))

    assert [line.partition(",")[0] for line in found.event.added] == ["Hake"]


def test_records_without_links_are_known_by_their_titles() -> None:
    pages = [[COD, CHIPS, PEAS], [PEAS, COD.costs("1 €"), CHIPS], [PEAS, COD, CHIPS, HAKE]]

    (first, second, third) = told(*(shop(*each, linked=False) for each in pages))

    assert not first
    assert not second
    assert [each.event.added for each in third] == [("Hake, price: 11.00 €",)]


def test_the_rest_of_the_page_does_not_count() -> None:
    news = "<ul class=news>" + "".join(f"<li><a href=/n/{n}>News {n}</a></li>" for n in range(9))
    pages = [shop(COD, CHIPS, PEAS), shop(COD, CHIPS, PEAS, above=f"{news}</ul>")]

    assert kinds(*pages) == [[], []]


def test_all_records_are_new_when_a_list_turns_over() -> None:
    (_, (found,)) = told(
        shop(COD, CHIPS, PEAS), shop(*(Fish(f"/q/{n}", f"Ray {n}") for n in range(3)))
    )

    assert found.kind == "change"
    assert len(found.event.added) == 3


@pytest.mark.parametrize("where", ["ul.products > li", "main", None, "main ul"])
def test_the_place_can_be_the_records_or_anything_around_the_list(where: str | None) -> None:
    many = [Fish(f"/m/{n}", f"Ray {n}") for n in range(12)]

    assert kinds(shop(*many), shop(*many, HAKE), shop(HAKE, *many), where=where) == [
        [],
        ["change"],
        [],
    ]


def test_a_short_list_is_still_a_list() -> None:
    assert kinds(shop(COD), shop(COD, CHIPS), shop(CHIPS), shop(CHIPS, COD)) == [
        *([], ["change"]),
        *([], []),
    ]


def test_without_a_history_it_cannot_be_told() -> None:
    part = Part(Location(("ul.products",)))
    old, new = (PageReader(quire.encode(shop(*each))) for each in ([COD, CHIPS], [COD, PEAS]))
    seen = Comparison(lambda: old, new, Circumstances(START, START))

    assert NewRecord(part).judge(seen).holds is None


def test_the_preset_is_written_as_plain_fields_and_read_again() -> None:
    watch = read_watch({"url": "https://example.org/", "preset": "new record", "where": "ul"})

    plain = watch_to_dict(watch)

    assert plain["watch"] == "records"
    assert plain["when"] == {"new_record": True}
    assert read_watch(plain) == watch


def test_a_watch_of_records_without_a_condition_tells_what_came_and_what_went() -> None:
    form = {"preset": None, "watch": "records"}

    (_, (found,)) = told(shop(COD, CHIPS, PEAS), shop(COD, CHIPS, HAKE), **form)

    assert [line.partition(",")[0] for line in found.event.added] == ["Hake"]
    assert [line.partition(",")[0] for line in found.event.removed] == ["Peas"]


# ------------------------------------------------------------ generated pages

CASES = [
    each
    for each in written()
    if len(each.regions) == 1
    and len(each.regions[0].records) >= 5
    # Records of one element that can be taken out of the page.
    and "members" not in (PAGES / each.name / "expect.toml").read_text("utf-8")
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_one_record_more_on_a_generated_page_is_told_once(case: Labelled) -> None:
    source = (PAGES / case.name / "page.html").read_bytes()
    spans = [case.page.span(node) for node in case.regions[0].starts]

    def without(*places: int) -> bytes:
        page = source
        for start, end in sorted((spans[place] for place in places), reverse=True):
            page = page[:start] + page[end:]
        return page

    last = len(spans) - 1
    pages = [without(1), without(1, last), without(), without(0), without(), without(1)]

    assert kinds(*pages, where=case.page.path(case.regions[0].at)) == [
        [],
        [],
        ["change"],
        [],
        [],
        [],
    ]
