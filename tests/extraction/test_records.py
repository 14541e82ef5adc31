"""``quire.records``: regions, records, columns, and what they are written as."""

from __future__ import annotations

import csv
import io
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

import quire
from benchmarks.records.scores import judge, leaves_of_runs
from quire import Region, RegionSource, ValueType
from quire.errors import MissingExtra, RecordsNotFound
from tests.extraction import labelled
from tests.extraction.labelled import Half, Labelled

FIT = labelled.written(Half.FIT)


def first(source: str, base: str | None = None) -> Region:
    return quire.records(quire.encode(source.encode()), base=base)[0]


def visible(page: Labelled) -> list[Region]:
    found = quire.records(page.page)
    return [region for region in found if region.source is RegionSource.VISIBLE]


@pytest.mark.parametrize("page", FIT, ids=lambda page: page.name)
def test_regions_and_records_are_those_a_reader_would_find(page: Labelled) -> None:
    found = [leaves_of_runs(page.page, region.records) for region in visible(page)]

    regions, records = judge(page, found)

    assert (regions.right, regions.found) == (regions.labelled, regions.labelled)
    assert (records.right, records.found) == (records.labelled, records.labelled)


@pytest.mark.parametrize("page", [page for page in FIT if page.regions], ids=lambda page: page.name)
def test_each_field_of_a_reader_is_one_column(page: Labelled) -> None:
    regions = visible(page)
    for label in page.regions:
        region = next(each for each in regions if {r[0] for r in each.records} & set(label.starts))
        for name, values in label.fields.items():
            expected = [_shown(page, leaves) for leaves in values]
            columns = [[_flat(row[at]) for row in region.rows] for at in range(len(region.columns))]
            assert expected in columns, (name, expected[:3], region.names)


def _shown(page: Labelled, leaves: frozenset[int]) -> str:
    return _flat(" ".join(page.page.text(leaf) for leaf in sorted(leaves)))


def _flat(text: str | None) -> str:
    return "".join((text or "").split())


def test_a_table_has_the_names_of_its_header_and_types() -> None:
    rows = "".join(f"<tr><td>Town {n}<td>{n},400<td>{n} May 2024<td>{n}.50 €" for n in range(1, 6))
    region = first(f"<table><tr><th>Town<th>People<th>Counted<th>Fee{rows}</table>")

    assert region.names == ("Town", "People", "Counted", "Fee")
    assert [column.type for column in region.columns] == [
        ValueType.TEXT,
        ValueType.NUMBER,
        ValueType.DATE,
        ValueType.PRICE,
    ]


def test_an_empty_cell_does_not_shift_the_others() -> None:
    rows = "".join(f"<tr><td>Town {n}<td>{n if n != 2 else ''}<td>x{n}" for n in range(1, 6))
    region = first(f"<table><tr><th>A<th>B<th>C{rows}</table>")

    assert region.rows[1] == ("Town 2", None, "x2")


def test_facts_that_some_records_lack_stay_in_their_columns() -> None:
    items = "".join(
        f"<li><h3>Flat {n}</h3><p><span>{n} rooms</span>"
        + (f"<span>{n}0 m²</span>" if n % 2 else "")
        + f"<span>{n}00 €</span></p>"
        for n in range(1, 7)
    )
    region = first(f"<ul>{items}</ul>")
    by_type = {column.type: at for at, column in enumerate(region.columns)}

    prices = [row[by_type[ValueType.PRICE]] for row in region.rows]
    assert prices == [f"{n}00 €" for n in range(1, 7)]


def test_labels_name_columns_and_are_not_values() -> None:
    items = "".join(
        f"<div class=x><h4>Thing {n}</h4><p>Weight: {n} kg</p><b>Maker</b> <i>Firm {n}</i></div>"
        for n in range(1, 6)
    )
    region = first(f"<main>{items}</main>")

    assert region.column("Weight")[0] == "1 kg"
    assert region.column("Maker")[4] == "Firm 5"


def test_links_and_images_are_resolved_against_the_address_of_the_page() -> None:
    items = "".join(
        f"<li><img src=i{n}.png><a href=/t/{n}>Thing {n}</a> text {n}" for n in range(1, 5)
    )
    region = first(f"<ul>{items}</ul>", base="https://example.org/shop/")

    assert region.column("image")[0] == "https://example.org/shop/i1.png"
    assert region.column("link")[0] == "https://example.org/t/1"


def test_microdata_names_columns_even_where_readers_do_not_see_it() -> None:
    items = "".join(
        f"<div itemscope><b itemprop=name>Thing {n}</b><meta itemprop=sku content=s{n}>"
        f"<span itemprop=price>{n}.00</span></div>"
        for n in range(1, 5)
    )
    region = first(f"<section>{items}</section>")

    assert set(region.names) == {"name", "sku", "price"}


def test_json_ld_is_a_region_and_names_the_columns_of_the_visible_one() -> None:
    things = [
        {"@type": "Product", "name": f"Thing {n}", "offers": {"@type": "Offer", "price": f"{n}.5"}}
        for n in range(1, 5)
    ]
    script = json.dumps({"@context": "https://schema.org", "@graph": things})
    items = "".join(f"<li><b>Thing {n}</b> <i>{n}.5</i> and more {n}" for n in range(1, 5))
    found = quire.records(
        quire.encode(
            f'<script type="application/ld+json">{script}</script><ul>{items}</ul>'.encode()
        )
    )

    assert [region.source for region in found] == [RegionSource.VISIBLE, RegionSource.JSON_LD]
    assert found[1].names == ("name", "offers.price")
    assert found[1].rows[0] == ("Thing 1", "1.5")
    assert found[0].names[:2] == ("name", "offers.price")


@pytest.mark.parametrize("script", ["", "{", "[" * 100_000, "null", '[{"@type": ["A"]}]', "3"])
def test_scripts_that_are_not_json_ld_are_skipped(script: str) -> None:
    page = quire.encode(f'<script type="application/ld+json">{script}</script>'.encode())

    assert len(quire.records(page)) == 0


def test_odd_and_even_rows_of_siblings_are_records_of_one_kind() -> None:
    rows = "".join(
        f'<div class="name {"odd" if n % 2 else "even"}-row group group-{n % 3}"><a href=/{n}>Pack {n}</a></div>'
        f'<div class="text {"odd" if n % 2 else "even"}-row group group-{n % 3}">All about pack {n}, and more</div>'
        for n in range(20)
    )

    region = first(f"<main><h1>Packs</h1><div class=table>{rows}</div></main>")

    assert len(region) == 20
    assert "Pack 7" in region.rows[7]
    assert "All about pack 7, and more" in region.rows[7]


@pytest.mark.parametrize("blank", [3, 7])
def test_a_record_without_its_second_part_does_not_shift_the_others(blank: int) -> None:
    rows = "".join(
        f"<div class=name><a href=/{n}>Pack {n}</a></div><div class=text>"
        + (f"<p>All about pack {n}, and more</p>" if n % blank else "&nbsp;")
        + "</div>"
        for n in range(20)
    )

    region = first(f"<main><h1>Packs</h1><div class=table>{rows}</div></main>")

    assert len(region) == 20
    for n, row in enumerate(region.rows):
        assert f"Pack {n}" in row
        assert (f"All about pack {n}, and more" in row) == bool(n % blank)


def test_csv_json_and_parquet_have_the_same_records(tmp_path: Path) -> None:
    rows = "".join(f'<tr><td>"Town", {n}<td>{n or ""}<td>é{n}' for n in range(4))
    found = quire.records(quire.encode(f"<table><tr><th>A<th>B<th>C{rows}</table>".encode()))
    found.to_parquet(tmp_path / "a.parquet")

    dicts = found.to_dicts()
    blank = [{name: value or "" for name, value in each.items()} for each in dicts]
    assert json.loads(found.to_json()) == dicts
    assert list(csv.DictReader(io.StringIO(found.to_csv()))) == blank
    table = pyarrow.parquet.read_table(tmp_path / "a.parquet")
    assert table.to_pylist() == dicts


def test_formulas_are_escaped_if_asked() -> None:
    rows = "".join(f"<tr><td>=HYPERLINK({n})<td>Town {n}" for n in range(4))
    region = first(f"<table>{rows}</table>")

    assert "\n=HYPERLINK(0)" in region.to_csv()
    assert "\n'=HYPERLINK(0)" in region.to_csv(escape_formulas=True)


# The fourth column is blank in all records that are left.
_BLANKS = "".join(
    f"<tr><td>Town {n}<td>{n or ''}<td>é{n}<td>{'x' if n > 3 else ''}" for n in range(6)
)


def with_blanks() -> Region:
    """A region with blanks, and a column of nothing else."""
    whole = first(f"<table><tr><th>A<th>B<th>C<th>D{_BLANKS}</table>")
    return replace(whole, rows=whole.rows[:4], nodes=whole.nodes[:4], records=whole.records[:4])


def dicts_of(frame: Any) -> Any:  # noqa: ANN401 - a frame of pandas
    """The rows of a frame, with None for missing values."""
    return frame.astype(object).where(frame.notna(), None).to_dict("records")


def test_a_pandas_frame_has_the_values_and_blanks_of_the_records() -> None:
    pandas = pytest.importorskip("pandas")
    region = with_blanks()

    frame = region.to_pandas()

    assert isinstance(frame, pandas.DataFrame)
    assert tuple(frame.columns) == region.names == ("A", "B", "C", "D")
    assert frame.shape == (4, 4)
    assert frame["B"].isna().tolist() == [True, False, False, False]
    assert frame["D"].isna().all()
    assert dicts_of(frame) == region.to_dicts()
    # Text stays text: a frame must not turn `01` into 1.
    assert all(pandas.api.types.is_string_dtype(frame[name]) for name in frame.columns)


def test_a_polars_frame_has_the_values_and_blanks_of_the_records() -> None:
    polars = pytest.importorskip("polars")
    region = with_blanks()

    frame = region.to_polars()

    assert isinstance(frame, polars.DataFrame)
    assert frame.to_dicts() == region.to_dicts()
    assert set(frame.schema.values()) == {polars.String}


def test_parquet_is_read_back_by_pyarrow_pandas_and_polars(tmp_path: Path) -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    region, file = with_blanks(), tmp_path / "records.parquet"
    region.to_parquet(file)

    table = pyarrow.parquet.read_table(file)

    assert table.to_pylist() == region.to_dicts()
    assert {str(kind) for kind in table.schema.types} == {"string"}
    assert [(field.metadata or {})[b"type"].decode() for field in table.schema] == [
        column.type.value for column in region.columns
    ]
    assert polars.read_parquet(file).to_dicts() == region.to_dicts()
    assert polars.from_arrow(region.to_arrow()).equals(region.to_polars())
    assert dicts_of(pandas.read_parquet(file)) == region.to_dicts()


def test_a_page_without_columns_gives_an_empty_frame() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    nothing = replace(with_blanks(), rows=(), nodes=(), records=())

    assert isinstance(nothing.to_pandas(), pandas.DataFrame)
    assert nothing.to_pandas().shape == nothing.to_polars().shape == (0, 4)
    assert set(nothing.to_polars().schema.values()) == {polars.String}


def test_a_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    region = first("<ul><li><b>a</b> 1<li><b>b</b> 2<li><b>c</b> 3</ul>")
    monkeypatch.setitem(sys.modules, "pandas", None)

    with pytest.raises(
        MissingExtra, match=r"pandas is not installed; run: pip install 'quire\[pandas"
    ):
        region.to_pandas()


def test_a_page_without_records_has_no_regions_and_says_so() -> None:
    found = quire.records(quire.encode(b"<p>Only one text."))

    assert len(found) == 0
    with pytest.raises(RecordsNotFound, match="no list of records"):
        found.to_csv()


def test_records_with_a_few_tags_each_are_not_navigation() -> None:
    links = "".join(f"<a href=/{n}>tag {n}</a>" for n in range(3))
    items = "".join(f"<li><h3>Title {n}</h3><p>Some text {n}</p>{links}</li>" for n in range(5))

    assert first(f"<ul>{items}</ul>").column("title") == [f"Title {n}" for n in range(5)]


def test_navigation_is_found_only_if_a_low_confidence_is_enough() -> None:
    page = quire.encode(
        b"<nav><ul>"
        + b"".join(b"<li><a href=/%d>Page %d</a>" % (n, n) for n in range(9))
        + b"</ul>"
    )

    assert len(quire.records(page)) == 0
    assert len(quire.records(page, least_confidence=0)) == 1


@pytest.mark.parametrize(
    "source",
    [
        b"",
        b"plain text",
        b"<div>" * 600,
        b"<div><b>x</b>" * 2000,
        b"<table>" * 300 + b"<tr><td>x<td>y" * 300,
        b"<ul>" + b"<li><b>a</b> b" * 5000 + b"</ul>",
        b"<p>" + b"x<br>" * 5000,
        b"<tr>" + b"<td>x</td>" * 3000,
        b"<ul><li>a<b>b</b>" * 200,
        b'{"a": [1, 2, 3]}',
        b"<a><b>1</b><b>2</b><b>3</b></a>",
    ],
    ids=range(11),
)
def test_hostile_and_strange_pages_have_an_answer(source: bytes) -> None:
    for region in quire.records(quire.encode(source), least_confidence=0):
        assert len(region.rows) == len(region.records)
        assert all(len(row) == len(region.columns) for row in region.rows)
