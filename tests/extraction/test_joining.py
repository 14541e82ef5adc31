"""Joining: records of several sites meet under common columns, and every row has its source."""

from __future__ import annotations

import quire
from quire import Region
from quire.extraction.joining import common_name, join


def site(names: tuple[str, str, str], count: int = 3) -> Region:
    rows = "".join(f"<tr><td>Book {n}<td>Writer {n}<td>{n}.50 €" for n in range(count))
    head = "".join(f"<th>{name}" for name in names)
    return quire.records(quire.encode(f"<table><tr>{head}{rows}</table>".encode()))[0]


def test_columns_that_mean_the_same_are_joined() -> None:
    found = join(
        [
            ("a", site(("Title", "Author", "Price"))),
            ("b", site(("Name", "Written by", "Our price"))),
        ],
        common=True,
    )

    assert found.names == ("page", "title", "author", "price")
    assert [row[0] for row in found.rows] == ["a"] * 3 + ["b"] * 3
    assert all(None not in row for row in found.rows)


def test_without_asking_only_equal_names_are_joined() -> None:
    found = join(
        [("a", site(("Title", "Author", "Price"))), ("b", site(("Name", "Author", "Cost")))]
    )

    assert found.names == ("page", "Title", "Author", "Price", "Name", "Cost")
    assert found.rows[3] == ("b", None, "Writer 0", None, "Book 0", "0.50 €")


def test_two_columns_of_one_page_never_meet() -> None:
    found = join([("a", site(("Title", "Name", "Price")))], common=True)

    assert found.names == ("page", "title", "Name", "price")


def test_every_cell_keeps_its_node() -> None:
    region = site(("Title", "Author", "Price"))

    found = join([("a", region)])

    assert [row[1:] for row in found.nodes] == list(region.nodes)


def test_links_and_texts_of_one_name_stay_apart() -> None:
    assert common_name("Name link") == "title link"
    assert common_name("job title") == common_name("Headline") == "title"
