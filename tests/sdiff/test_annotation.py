"""What became of every node: arrays, and the questions they answer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import quire
from quire import ALL_FACETS, Annotation, Rules, Status, text_rows
from quire.sdiff import Delete, Insert, Move, Update
from tests.strategies import html


def pages(before: bytes, after: bytes) -> tuple[quire.Digest, quire.Digest]:
    return quire.encode(before, kind="html"), quire.encode(after, kind="html")


@given(html, html)
def test_partners_are_one_to_one_and_statuses_of_partners_are_equal(
    before: bytes, after: bytes
) -> None:
    annotation = quire.annotate(*pages(before, after))
    for node, partner in enumerate(annotation.to_old.tolist()):
        if partner >= 0:
            assert annotation.to_new[partner] == node
            assert annotation.old_status[partner] == annotation.new_status[node]
    assert np.count_nonzero(annotation.to_old >= 0) == np.count_nonzero(annotation.to_new >= 0)


@given(html, html)
def test_counts_of_subtrees_are_sums_over_their_nodes(before: bytes, after: bytes) -> None:
    annotation = quire.annotate(*pages(before, after))
    page = annotation.new
    by_node = {change.node: change for change in annotation.changes() if change.page == "new"}
    for node in range(page.n):
        below = range(node, node + int(page.size[node]))
        for facet in ALL_FACETS:
            expected = sum(each in by_node and facet in by_node[each].facets for each in below)
            assert annotation.count(node, facet) == expected
            if expected:
                assert annotation.changed_below(node, facet)


@given(html, html)
def test_changes_are_listed_once_and_in_document_order(before: bytes, after: bytes) -> None:
    annotation = quire.annotate(*pages(before, after))
    changes = list(annotation.changes())
    fresh = [change.node for change in changes if change.page == "new"]
    gone = [change.node for change in changes if change.page == "old"]

    assert fresh == sorted(set(fresh))
    assert len(gone) == len(set(gone))
    assert all(annotation.to_new[node] < 0 for node in gone)
    assert all(change.facets for change in changes)


def test_kinds_of_change_are_told_apart() -> None:
    old, new = pages(
        b"<h1>a</h1><p id=x>b</p><p>c</p><p>gone</p>",
        b"<h2>a</h2><p id=y>b</p><p>d</p>",
    )
    annotation = quire.annotate(old, new)
    found = [(change.kind, sorted(change.facets)) for change in annotation.changes()]

    assert found == [
        ("renamed", ["tags"]),
        ("updated", ["attributes"]),
        ("updated", ["content"]),
        ("deleted", ["structure", "tags"]),
        ("deleted", ["content", "structure", "tags"]),
    ]
    summary = annotation.summary()
    assert (summary.renamed, summary.attributes, summary.content) == (1, 1, 1)
    assert (summary.deletions, summary.deleted, summary.insertions) == (1, 2, 0)


def test_what_is_gone_counts_for_the_part_it_is_gone_from() -> None:
    old, new = pages(b"<ul><li>a<li>b</ul><p>c", b"<ul><li>a</ul><p>c")
    annotation = quire.annotate(old, new)
    items, paragraph = int(new.select("ul")[0]), int(new.select("p")[0])

    assert annotation.changed_below(items, "structure")
    assert not annotation.changed_below(paragraph)
    assert annotation.count(items, "structure") == 0  # on the new page nothing is new
    assert annotation.count(int(old.select("ul")[0]), "structure", "old") == 2


def test_white_space_between_elements_is_layout_and_counts_as_content() -> None:
    old, new = pages(b"<div><p>a</p><p>b</p></div>", b"<div>\n <p>a</p>\n <p>b</p>\n</div>")
    annotation = quire.annotate(old, new)

    assert {change.kind for change in annotation.changes()} == {"layout"}
    assert annotation.summary().layout == 3
    assert annotation.differs("content")
    assert not quire.annotate(old, new, Rules(ignore_space=True))


def test_links_and_images_that_come_and_go_are_seen_in_their_facets() -> None:
    old, new = pages(b"<p>a</p><img src=p>", b"<p>a</p><a href=x>b</a>")
    annotation = quire.annotate(old, new)

    assert annotation.differs("links")
    assert annotation.differs("images")
    summary = annotation.summary()
    assert (summary.links, summary.images) == (1, 1)


def moved(rules: Rules) -> Annotation:
    """Two items that changed places, as the kernel says it."""
    old, new = pages(b"<ul><li>a<li>b</ul>", b"<ul><li>b<li>a</ul>")
    places = np.array([0, 1, 2, 3, 4, 7, 8, 5, 6], np.int32)
    status = np.zeros(9, np.uint16)
    status[5] = Status.MOVED
    was = np.zeros(9, np.uint16)
    was[7] = Status.MOVED
    return Annotation(old, new, rules, places, places, was, status, ())


def test_a_part_that_moved_changed_in_structure_and_counts_for_what_is_in_it() -> None:
    annotation = moved(Rules())

    assert [(c.kind, c.node, c.partner, c.facets) for c in annotation.changes()] == [
        ("moved", 5, 7, frozenset({"structure"}))
    ]
    assert annotation.differs("content")  # the texts are in another order
    assert not annotation.differs("attributes")
    assert annotation.summary().moved == 1


def test_a_line_that_moved_is_shown_where_it_was_and_where_it_is() -> None:
    rows = [(row.kind, row.new and row.new.text) for row in quire.text_rows(moved(Rules()))]
    assert sorted(kind for kind, _ in rows) == ["moved_away", "moved_here", "same"]

    rows = [
        (row.kind, row.new and row.new.text)
        for row in quire.text_rows(moved(Rules(ignore_order=True)))
    ]
    assert rows == [("same", "b"), ("same", "a")]


def test_attributes_that_changed_are_named_with_their_values() -> None:
    old, new = pages(b"<p id=a class=x data-n=1>", b"<p class=X title=t data-n=2>")

    names = [each.name for each in quire.annotate(old, new).attribute_changes(4)]
    assert names == ["class", "data-n", "id", "title"]
    rules = Rules(ignore_case=True, ignore_attributes=("data-*",))
    names = [each.name for each in quire.annotate(old, new, rules).attribute_changes(4)]
    assert names == ["id", "title"]


def test_a_node_that_is_not_there_is_an_error() -> None:
    page = quire.encode(b"<p>a")
    annotation = quire.annotate(page, page)
    for ask in (annotation.partner, annotation.status, annotation.changed_below):
        for node in (-1, page.n):
            with pytest.raises(quire.NodeNotFound):
                ask(node)


def test_a_granularity_that_is_not_known_is_an_error() -> None:
    page = quire.encode(b"<p>a")
    with pytest.raises(ValueError, match="expected brief, normal or fine"):
        quire.annotate(page, page, granularity="coarse")  # type: ignore[arg-type]


CLAUSES = {
    "law": "These terms are governed by the law of the country in which we have our seat.",
    "fees": "You pay the fees of the month in advance, and we send an invoice by mail to you.",
    "data": "Partners may combine personal data with profiles bought from brokers elsewhere.",
}


def clauses(*names: str) -> bytes:
    return "".join(f"<p>{CLAUSES[name]}</p>" for name in names).encode()


def moving(before: str, after: str) -> tuple[quire.Digest, quire.Digest]:
    """A clause in another section under its old id, before and after."""
    fees = clauses("fees").decode() + "<h2>Our harbour</h2>"
    return pages(
        f"<div><p id=x>{before}</p>{fees}</div><section><hr></section>".encode(),
        f"<div>{fees}</div><section><hr><p id=x>{after}</p></section>".encode(),
    )


def test_a_new_clause_never_passes_for_an_old_one_that_moved() -> None:
    old, new = moving(CLAUSES["law"], CLAUSES["data"])
    annotation = quire.annotate(old, new)

    assert sorted(row.kind for row in text_rows(annotation)) == [
        "deleted",
        "inserted",
        "same",
        "same",
    ]
    (clause,) = new.select("#x").tolist()
    assert annotation.status(clause) & Status.ALONE
    assert annotation.status(clause + 1) & Status.ALONE
    assert {type(action) for action in quire.edit_script(old, new)} == {Insert, Delete}


def test_a_clause_that_moved_and_was_edited_keeps_its_partner_and_shows_its_words() -> None:
    old, new = moving(CLAUSES["law"], CLAUSES["law"].replace("our seat", "our office"))
    (row,) = (row for row in text_rows(quire.annotate(old, new)) if row.kind == "moved_here")

    assert row.old
    assert row.old.text == CLAUSES["law"]
    assert {type(action) for action in quire.edit_script(old, new)} == {Move, Update}


def test_what_is_in_its_place_may_say_something_else() -> None:
    old, new = pages(b"<table><tr><td>Cod<td>7.95", b"<table><tr><td>Cod<td>8.10")
    assert [change.kind for change in quire.annotate(old, new).changes()] == ["updated"]


def test_a_price_stays_with_its_row_when_the_row_moves() -> None:
    row = "<tr><td>{} from the harbour of the town<td>{}"
    names = ["Cod", "Haddock", "Plaice", "Sole"]
    old = "<table>" + "".join(row.format(name, "7.95") for name in names)
    moved = [row.format("Sole", "8.10")] + [row.format(name, "7.95") for name in names[:3]]
    annotation = quire.annotate(*pages(old.encode(), ("<table>" + "".join(moved)).encode()))

    assert sorted(change.kind for change in annotation.changes()) == ["moved", "updated"]


def test_a_line_that_moved_shares_more_than_one_node_with_the_old_one() -> None:
    link = "<a href=/terms-of-the-harbour>the terms of the harbour of this town</a>"
    old = f"<p>See {link}.</p><p>{CLAUSES['law']}</p>"
    new = f"<p>{CLAUSES['law']}</p><p>{CLAUSES['data']} {CLAUSES['fees']} {link}</p>"
    rows = text_rows(quire.annotate(*pages(old.encode(), new.encode())))

    assert not [
        row
        for row in rows
        if row.kind in {"moved_here", "moved_away"}
        and row.old
        and row.new
        and row.old.text != row.new.text
    ]
