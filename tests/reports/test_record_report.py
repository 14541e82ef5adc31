"""The report about the records of a page: true, explained, and readable on every screen."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

import quire
from quire.extraction.region import RegionSource
from quire.reports.records.report import report
from tests.web.browsing import chromium

BOATS = "".join(
    f"<li><a href=https://example.org/boats/{n}>Boat number {n}</a><p>A boat with a mast and oars, seen "
    f"at the quay and sold as it floats, {n} m</p><b>{n}00 €</b></li>"
    for n in range(1, 9)
)
OFFERS = json.dumps(
    {
        "@context": "https://schema.org",
        "@type": "ItemList",
        "itemListElement": [
            {"@type": "Product", "name": f"Lantern {n}", "sku": f"L{n}", "color": "red"}
            for n in range(1, 20)
        ],
    }
)


def drawn(text: str) -> str:
    page = quire.encode(text.encode())
    return report(page, quire.records(page), name="boats.html")


def test_numbers_on_the_page_are_those_of_the_tables() -> None:
    text = f"<script type=application/ld+json>{OFFERS}</script><ul>{BOATS}</ul>"
    found = quire.records(quire.encode(text.encode()))
    sources = [region.source for region in found]
    assert set(sources) == {RegionSource.VISIBLE, RegionSource.JSON_LD}
    document = drawn(text)
    boats = sources.index(RegionSource.VISIBLE) + 1

    assert re.search(rf"<h2>Region {boats} <small>8 records", document)
    assert f"<b>{boats}.1</b>Boat number 1" in document
    assert "from JSON-LD, which readers of the page do not see" in document


def test_a_page_without_records_says_so_and_outlines_nothing() -> None:
    document = drawn("<p>Only a text about boats.")

    assert "found no list of records on this page" in document
    assert "records outlined" not in document


def test_regions_confidence_and_shortened_texts_are_explained() -> None:
    document = drawn(f"<ul>{BOATS}</ul>")

    for words in ("A region is one list", "from 0 to 1", "Dim text belongs to no record"):
        assert words in document


def test_rows_and_columns_that_are_left_out_are_counted() -> None:
    row = "".join(f"<td>{{0}}{n}</td>" for n in range(30))
    rows = "".join(f"<tr>{row.format(f'cell {n} ')}</tr>" for n in range(60))
    head = "".join(f"<th>c{n}</th>" for n in range(30))

    assert "10 more records and 6 more columns, not shown here" in drawn(
        f"<table><tr>{head}</tr>{rows}</table>"
    )


@pytest.mark.parametrize("width", [1280, 390])
def test_words_in_tables_are_not_cut_into_letters(width: int) -> None:
    document = drawn(f"<ul>{BOATS}</ul>")
    with chromium() as browser:
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.set_content(document)
        expect(page.locator("td").first).to_be_visible()
        narrowest = page.evaluate(
            "Math.min(...[...document.querySelectorAll('td, th')].map((cell) => cell.offsetWidth))"
        )
        assert narrowest >= 100
        assert page.evaluate("document.documentElement.scrollWidth") <= width
