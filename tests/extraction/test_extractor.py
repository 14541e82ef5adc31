"""Extractors: learned on one page, right on its siblings, and never silently wrong after a redesign."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import quire
from quire import Applied, Extractor
from quire.digest import Digest, encode
from quire.errors import ExtractorError, RecordsNotFound, TemplateDrift
from tests import corpus
from tests.extraction import labelled
from tests.extraction.labelled import Half, Labelled
from tests.extraction.redesigns import DESIGNS, FIELDS, Row, first, half_new, rows

LEARNED = Extractor.learn(encode(first(rows(0))))
# Designs on which refusing would be too careful, if half of the products are still there.
FOUND = {
    "the same",
    "list of divs",
    "new class of the list",
    "new class of the items",
    "deeper",
    "a grid",
    "a table",
    "another order",
    "more fields",
    "a definition list",
    "another list with the old selectors",
}


def check_is_right(applied: Applied, data: list[Row]) -> None:
    """Every value that is there is the right one, and every expected column is there."""
    for field in FIELDS:
        assert applied.region.column(field) == [row[field] for row in data], field


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_page_of_the_same_template_is_read_with_other_values(seed: int) -> None:
    applied = LEARNED.apply(encode(first(rows(seed, count=5))))

    assert applied.moved == ()
    check_is_right(applied, rows(seed, count=5))


DATA = {"same": rows(0), "half": half_new(7), "new": rows(8)}
# With other products on the page, nothing tells that two texts changed places: no extractor can know.
CASES = [
    (design, data)
    for design in DESIGNS
    for data in DATA
    if (design, data) != ("title and maker swapped", "new")
]


@pytest.mark.parametrize(("design", "kept"), CASES)
def test_after_a_redesign_records_are_found_again_or_refused(design: str, kept: str) -> None:
    data = DATA[kept]
    try:
        applied = LEARNED.apply(encode(DESIGNS[design](data)))
    except TemplateDrift:
        return  # refused

    for field in FIELDS:
        expected = [row[field] for row in data]
        if design == "other words in the prices" and field == "price":
            expected = [f"from {value}" for value in expected]
        assert applied.region.column(field) == expected, field
    assert applied.moved or design in {
        "the same",
        "more fields",
        "other words in the prices",
        "another order",
    }


@pytest.mark.parametrize("design", sorted(FOUND))
def test_a_redesign_with_known_products_is_found_again(design: str) -> None:
    data = half_new(7)

    check_is_right(LEARNED.apply(encode(DESIGNS[design](data))), data)


@pytest.mark.parametrize(
    "design", ["the list is gone", "an empty list", "only navigation", "a field is gone"]
)
def test_a_page_without_the_records_is_refused_with_a_reason(design: str) -> None:
    with pytest.raises(TemplateDrift, match=r"ul\.products > li\.product: "):
        LEARNED.apply(encode(DESIGNS[design](rows(0))))


def test_what_moved_is_said() -> None:
    applied = LEARNED.apply(encode(DESIGNS["list of divs"](rows(0))))

    assert applied.moved == ("records: ul.products > li.product -> div.list > div.card",)


def test_columns_that_moved_are_said() -> None:
    applied = LEARNED.apply(encode(DESIGNS["title and maker swapped"](rows(0))))

    check_is_right(applied, rows(0))
    assert "column maker: span.maker > #text -> a.title > #text" in applied.moved


def test_an_extractor_survives_its_file_and_has_no_values_in_it(tmp_path: Path) -> None:
    LEARNED.save(tmp_path / "shop.json")

    assert Extractor.load(tmp_path / "shop.json") == LEARNED
    text = (tmp_path / "shop.json").read_text("utf-8")
    assert not any(row["title"] in text for row in rows(0))


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "3", "{}", '{"quire_extractor": 9}', '{"quire_extractor": 1, "selector": 3}'],
)
def test_a_file_that_is_not_an_extractor_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text, "utf-8")

    with pytest.raises(ExtractorError, match=r"x\.json: "):
        Extractor.load(tmp_path / "x.json")


def test_a_wrong_selector_in_a_file_is_refused() -> None:
    value = json.loads(LEARNED.to_json())
    value["selector"]["starts"] = "li["

    with pytest.raises(ExtractorError, match="wrong selector"):
        Extractor.from_json(json.dumps(value)).apply(encode(first(rows(0))))


def tags(*counts: int, seed: int = 0) -> Digest:
    """A list whose records have some tags each."""
    items = "".join(
        f"<li class=q><h3>{row['title']}</h3><p>{row['text']}</p><div class=tags>"
        + "".join(f"<a class=tag href=/t/{n}>tag{n}</a>" for n in range(at, at + count))
        + "</div></li>"
        for at, (row, count) in enumerate(zip(rows(seed), counts, strict=False))
    )
    return encode(f"<ul class=qs>{items}</ul>".encode())


def test_lists_inside_records_may_have_other_lengths_on_other_pages() -> None:
    learned = Extractor.learn(tags(3, 3, 3, 3, 3))

    applied = learned.apply(tags(3, 1, 3, 3, 4, seed=1))

    assert applied.region.column("tag") == ["tag0", "tag1", "tag2", "tag3", "tag4"]
    assert applied.region.column("tag 3") == ["tag2", None, "tag4", "tag5", "tag6; tag7"]


def test_a_column_that_siblings_lack_is_not_expected() -> None:
    source = first(rows(3)).replace(b'<span class="maker">', b"<!--")
    bare = encode(source.replace(b"</span><time", b"--><time"))
    assert len(bare.select(".maker")) == 0

    with pytest.raises(TemplateDrift, match="without maker"):
        LEARNED.apply(bare)
    learned = Extractor.learn(encode(first(rows(0))), siblings=[encode(first(rows(2))), bare])
    assert learned.apply(bare).region.column("maker") == [None] * 12


@pytest.mark.skipif(not corpus.available(), reason=corpus.ABSENT)
@pytest.mark.parametrize("kind", ["Jobs", "Newest", "Tags", "Users"])
def test_real_pages_of_one_kind_are_read_and_those_of_others_refused(kind: str) -> None:
    files = [path for path in corpus.files("templates-types") if path.suffix == ".html"]
    mine = [encode(path.read_bytes()) for path in files if path.parent.name == kind]
    others = [encode(path.read_bytes()) for path in files if path.parent.name != kind][::6]
    learned = Extractor.learn(mine[0])

    found = [learned.apply(page) for page in mine[1::3]]

    assert {len(each.region.rows) for each in found} == {learned.records}
    assert not any(each.moved for each in found)
    for page in others:
        with pytest.raises(TemplateDrift):
            learned.apply(page)


def test_examples_choose_the_region() -> None:
    page = next(page for page in labelled.written(Half.FIT) if page.name == "06-two-regions").page
    regions = quire.records(page)
    last = regions[1]

    learned = Extractor.learn(page, examples=[last.rows[0][1] or "", last.rows[2][1] or ""])

    assert learned.records == len(last.rows)
    with pytest.raises(RecordsNotFound, match="no list of records has the values"):
        Extractor.learn(page, examples=["not on the page"])


@pytest.mark.parametrize(
    "page",
    [page for page in labelled.written(Half.FIT) if page.regions],
    ids=lambda page: page.name,
)
def test_an_extractor_finds_on_its_own_page_what_it_was_learned_from(page: Labelled) -> None:
    for number, region in enumerate(quire.records(page.page)):
        applied = Extractor.learn(page.page, region=number).apply(page.page)

        assert applied.region.records == region.records
        assert applied.region.rows == region.rows
        assert applied.moved == ()


@pytest.mark.skipif(not corpus.available(), reason=corpus.ABSENT)
def test_an_extractor_reads_the_page_that_it_was_learned_on() -> None:
    pages = [*labelled.written(Half.FIT), *labelled.corpus(Half.FIT), *labelled.more(Half.FIT)]
    for page in pages:
        visible = [each for each in quire.records(page.page) if each.records]
        for place, region in enumerate(visible):
            found = Extractor.learn(page.page, region=place).apply(page.page)

            assert found.region.records == region.records, (page.name, region.path)
            assert found.moved == (), page.name
