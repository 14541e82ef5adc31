"""Detail pages: the slots that vary between pages of one template are the fields."""

from __future__ import annotations

import pytest

import quire
from quire import ValueType
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


def test_too_few_pages_are_refused() -> None:
    with pytest.raises(ValueError, match="2 pages; at least 3 of one template are needed"):
        quire.details([page(row) for row in rows(0)[:2]])
