"""Lists that move, become others or go away: the watch finds them or asks, and is never silent."""

from __future__ import annotations

import pytest

import quire
from tests.extraction.redesigns import DESIGNS, first, half_new, rows
from tests.sentinels.records.shops import CHIPS, COD, HAKE, PEAS, kinds, shop, told

OLD = {row["title"] for row in rows(0)}
NEW = {row["title"] for row in half_new(1)} - OLD
LIST = {"where": "ul.products"}


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("where", ["ul.products", "ul.products > li", "main", None])
def test_after_a_redesign_new_records_are_told_or_it_is_asked(
    design: str, where: str | None
) -> None:
    after = DESIGNS[design](half_new(1)) + b"</html>"

    (_, found, again) = told(first(rows(0)) + b"</html>", after, after + b"<!-- x -->", where=where)

    assert len(found) == 1, "said nothing"
    assert not again, "said it twice"
    (event,) = found
    if event.kind == "change":
        named = {line.partition(",")[0] for line in event.event.added}
        # With its title gone from the link, a record is named by the text that is there.
        assert len(named & OLD) == 0
        assert len(named) == len(NEW)
        assert named == NEW or design == "title and maker swapped"
    elif event.kind == "moved":
        assert "6 of them new" in event.event.reason
        path = event.event.reason.partition(" is at ")[2].partition(" now (")[0]
        page = quire.encode(after)
        text = "\n".join(page.text(node) for node in page.select(path))
        assert all(title in text for title in NEW), "another list"
    else:
        assert event.kind == "lost"
        assert "no other list is like it" in event.event.reason


def test_a_list_that_is_gone_is_told_once_and_compared_when_it_is_back() -> None:
    nothing = shop(above="<p>No fish today</p>")

    found = kinds(
        shop(COD, CHIPS, PEAS),
        nothing,
        nothing.replace(b"today", b"this week"),
        shop(COD, CHIPS, PEAS),
        shop(COD, CHIPS, PEAS, HAKE),
    )

    assert found == [[], ["lost"], [], [], ["change"]]


def test_records_that_came_while_the_list_was_gone_are_told_when_it_is_back() -> None:
    (*_, (last,)) = told(shop(COD, CHIPS, PEAS), shop(), shop(COD, CHIPS, PEAS, HAKE))

    assert last.kind == "change"
    assert [line.partition(",")[0] for line in last.event.added] == ["Hake"]


def test_without_following_a_list_that_is_gone_is_a_change_that_is_not_told() -> None:
    pages = shop(COD, CHIPS, PEAS), shop(), shop(COD, CHIPS, PEAS)

    assert kinds(*pages, follow=False) == [[], [], []]


def test_a_watch_that_starts_without_a_list_tells_the_first_records() -> None:
    assert kinds(shop(), shop(COD, CHIPS, PEAS)) == [[], ["change"]]
