"""Detail pages: the slots that vary between pages of one template are the fields."""

from __future__ import annotations

import pytest

import quire
from quire import ValueType
from tests import corpus
from tests.extraction.detail_sites import in_one_column, sites
from tests.extraction.labelled import Half
from tests.extraction.list_pages.frames import Frame, framed
from tests.extraction.redesigns import Row, rows


def page(row: Row, *, with_maker: bool = True, offers: int = 0) -> quire.Digest:
    maker = f"<dt>Maker</dt><dd>{row['maker']}</dd>" if with_maker else ""
    more = "".join(f"<li><a href=/o/{n}>Offer {n}</a></li>" for n in range(offers))
    body = (
        f"<h2>{row['title']}</h2><dl>{maker}<dt>Price</dt><dd>{row['price']}</dd>"
        f"<dt>Since</dt><dd>{row['date']}</dd></dl><p>{row['text']}</p><ul>{more}</ul>"
    )
    return quire.encode(framed(Frame.DIVS, "Shop", body).encode())


def test_every_field_is_a_column_and_the_template_is_not() -> None:
    data = rows(3)

    found = quire.details([page(row) for row in data])

    for name, field in (("Price", "price"), ("Maker", "maker"), ("Since", "date")):
        assert found.column(name) == [row[field] for row in data]
    assert [row["title"] for row in data] in [found.column(name) for name in found.names]
    assert "Imprint" not in found.to_csv()
    assert "Company" not in found.to_csv()
    types = {column.name: column.type for column in found.columns}
    assert (types["Price"], types["Since"]) == (ValueType.PRICE, ValueType.DATE)


def test_a_field_that_some_pages_lack_is_blank_and_shifts_nothing() -> None:
    data = rows(4)

    found = quire.details([page(row, with_maker=at % 3 != 0) for at, row in enumerate(data)])

    assert found.column("Price") == [row["price"] for row in data]
    expected = [row["maker"] if at % 3 else None for at, row in enumerate(data)]
    assert expected in [found.column(name) for name in found.names]


def test_lists_of_different_lengths_shift_nothing() -> None:
    data = rows(5)

    found = quire.details([page(row, offers=at % 4) for at, row in enumerate(data)])

    assert found.column("Since") == [row["date"] for row in data]


def test_pages_that_are_all_the_same_have_no_fields() -> None:
    found = quire.details([page(rows(6)[0]) for _ in range(4)])

    assert found.columns == ()
    assert len(found.rows) == 4


def job(*values: str) -> quire.Digest:
    """A page with the same labels on all pages, and values that are written like them."""
    labels = ("Pay", "Degree", "Years", "Travel")
    cells = "".join(
        f"<tr><td class=l>{label}:<td class=v>{value}"
        for label, value in zip(labels, values, strict=True)
    )
    return quire.encode(f"<h1>Job of {values[0]}</h1><table>{cells}</table><p>Apply now".encode())


def test_a_value_that_most_pages_have_somewhere_is_still_a_value() -> None:
    data = [
        ("10 €", "n/a", "n/a", "no"),
        ("12 €", "n/a", "3", "no"),
        ("n/a", "BSc", "5", "no"),
        ("14 €", "n/a", "2", "no"),
        ("n/a", "MSc", "n/a", "no"),
        ("9 €", "BA", "n/a", "often"),
    ]

    found = quire.details([job(*each) for each in data])

    for at, name in enumerate(("Pay", "Degree", "Years", "Travel")):
        assert found.column(name) == [each[at] for each in data], name


def test_a_label_in_the_text_of_a_value_is_its_name() -> None:
    pages = [
        quire.encode(f"<h1>Book {n}</h1><ul><li>Pub. Date: May 201{n}<li>{n}0 pages</ul>".encode())
        for n in range(5)
    ]

    assert quire.details(pages).column("Pub. Date") == [f"May 201{n}" for n in range(5)]


@pytest.mark.skipif(not corpus.available(), reason=corpus.ABSENT)
@pytest.mark.parametrize("half", Half)
def test_fields_that_a_reader_expects_on_real_sites_are_in_one_column(half: Half) -> None:
    found = of = 0
    for site in sites(half):
        table = quire.details(site.pages)
        for values in site.fields.values():
            found += in_one_column(table, values)
            of += sum(value is not None for value in values)

    assert of > 300, "the places find too few values"
    assert found >= 0.98 * of


def test_too_few_pages_are_refused() -> None:
    with pytest.raises(ValueError, match="2 pages; at least 3 of one template are needed"):
        quire.details([page(row) for row in rows(0)[:2]])
