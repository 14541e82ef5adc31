"""``quire records``: tables of pages, extractors, and what happens when pages do not fit."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pyarrow.parquet
import pytest

from tests.cli.conftest import Process, Quire
from tests.extraction.redesigns import DESIGNS, first, rows


@pytest.fixture
def shop(folder: Path) -> Path:
    """A folder with two pages of a shop, and one that is not like them."""
    (folder / "crawl").mkdir()
    for day in (1, 2):
        (folder / "crawl" / f"{day}.html").write_bytes(first(rows(day)))
    (folder / "shop.html").write_bytes(first(rows(0)))
    (folder / "gone.html").write_bytes(DESIGNS["the list is gone"]([]))
    return folder


def test_a_page_is_shown_as_a_table(quire: Quire, shop: Path) -> None:
    result = quire("records", "shop.html")

    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("Region 1: 12 records, confidence ")
    assert "title" in result.stdout
    assert rows(0)[11]["price"] in result.stdout
    assert shop.is_dir()


def test_csv_json_and_parquet_have_all_records(quire: Quire, shop: Path) -> None:
    table = list(
        csv.DictReader(io.StringIO(quire("records", "shop.html", "--format", "csv").stdout))
    )
    value = json.loads(quire("records", "shop.html", "--format", "json").stdout)
    written = quire("records", "shop.html", "--format", "parquet", "-o", "a.parquet")

    assert [row["maker"] for row in table] == [row["maker"] for row in rows(0)]
    assert value[0]["regions"][0]["records"] == table
    assert written.exit_code == 0, written.stderr
    assert pyarrow.parquet.read_table(shop / "a.parquet").to_pylist() == table


def test_standard_input_and_pipes_work(process: Process, shop: Path) -> None:
    result = process("records", "-", "--format", "csv", given=(shop / "shop.html").read_bytes())

    assert result.returncode == 0, result.stderr
    assert len(result.stdout.splitlines()) == 13


def test_the_pages_of_a_folder_are_one_table_with_their_names(quire: Quire, shop: Path) -> None:
    result = quire("records", "crawl", "--format", "csv")
    table = list(csv.DictReader(io.StringIO(result.stdout)))

    assert len(table) == 24
    assert {Path(row["page"]).name for row in table} == {"1.html", "2.html"}
    assert table[12]["title"] == rows(2)[0]["title"]
    assert shop.is_dir()


def test_a_crawl_gives_the_same_table_on_any_number_of_threads(quire: Quire, shop: Path) -> None:
    (shop / "crawl" / "empty.html").write_bytes(b"")
    (shop / "crawl" / "none.html").write_bytes(b"<p>no list")

    one = quire("records", "crawl", "--format", "json", "--threads", "1")
    three = quire("records", "crawl", "--format", "json", "--engine", "local:3")

    assert one.exit_code == three.exit_code == 0
    assert one.stdout == three.stdout
    assert [Path(page["page"]).name for page in json.loads(one.stdout)] == ["1.html", "2.html"]
    assert "empty.html: empty: 0 bytes" in one.stderr


def test_an_unknown_engine_is_refused(quire: Quire, shop: Path) -> None:
    result = quire("records", "crawl", "--engine", "fish")

    assert result.exit_code == 2
    assert "fish: not an engine" in result.stderr
    assert shop.is_dir()


def test_an_extractor_is_saved_and_applied(quire: Quire, shop: Path) -> None:
    saved = quire("records", "shop.html", "--save", "shop.json")
    applied = quire("records", "apply", "shop.json", "crawl/1.html")

    assert saved.exit_code == 0, saved.stderr
    table = list(csv.DictReader(io.StringIO(applied.stdout)))
    assert [row["title"] for row in table] == [row["title"] for row in rows(1)]
    assert (shop / "shop.json").is_file()


def test_a_page_that_does_not_fit_stops_or_is_left_out(quire: Quire, shop: Path) -> None:
    quire("records", "shop.html", "--save", "shop.json")

    stopped = quire("records", "apply", "shop.json", "crawl/1.html", "gone.html")
    skipped = quire("records", "apply", "shop.json", "crawl/1.html", "gone.html", "--skip")

    assert stopped.exit_code == 2
    assert stopped.stdout == ""
    assert "gone.html: ul.products > li.product: not found" in stopped.stderr
    assert skipped.exit_code == 0
    assert len(skipped.stdout.splitlines()) == 13
    assert shop.is_dir()


def test_what_moved_is_noted(quire: Quire, shop: Path) -> None:
    quire("records", "shop.html", "--save", "shop.json")
    (shop / "new.html").write_bytes(DESIGNS["list of divs"](rows(0)))

    result = quire("records", "apply", "shop.json", "new.html")

    assert result.exit_code == 0, result.stderr
    assert "moved: records: ul.products > li.product -> div.list > div.card" in result.stderr


def test_an_example_chooses_the_region_to_save(quire: Quire, shop: Path) -> None:
    wrong = quire("records", "shop.html", "--save", "x.json", "--example", "not there")

    assert wrong.exit_code == 2
    assert "no list of records has the values not there" in wrong.stderr
    assert not (shop / "x.json").exists()


def test_the_report_outlines_the_records_and_escapes_them(quire: Quire, shop: Path) -> None:
    items = "".join(f"<li><b>&lt;script&gt;{n}</b> costs {n}</li>" for n in range(5))
    (shop / "evil.html").write_text(f"<ul>{items}</ul><p>Other text", "utf-8")

    result = quire("records", "evil.html", "--explain", "report.html")

    assert result.exit_code == 0, result.stderr
    written = (shop / "report.html").read_text("utf-8")
    assert written.count('class="record frame0"') == 5
    assert "&lt;script&gt;4" in written
    assert "<script" not in written
    assert "<p class=other>Other text</p>" in written


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("gone.html",), "no list of records found"),
        (("crawl", "--save", "x.json"), "--explain and --save need a single page"),
        (("apply", "shop.html", "shop.html"), "shop.html: not an extractor"),
        (("absent.html",), "absent.html"),
        (("shop.html", "--region", "9"), "no list of records found"),
    ],
)
def test_a_request_that_cannot_be_met_is_refused(
    quire: Quire, shop: Path, arguments: tuple[str, ...], message: str
) -> None:
    result = quire("records", *arguments)

    assert result.exit_code == 2
    assert message in result.stderr
    assert shop.is_dir()


def test_control_characters_of_a_page_do_not_reach_the_table(quire: Quire, shop: Path) -> None:
    items = "".join(f"<li><b>\x1b[31m{n}</b> costs {n}</li>" for n in range(5))
    (shop / "evil.html").write_text(f"<ul>{items}</ul>", "utf-8")

    assert "\x1b" not in quire("records", "evil.html").stdout
