"""Rows of texts and sources in which only noise differs, against their definition."""

from __future__ import annotations

import re
from random import Random
from typing import Literal, Protocol

import pytest

from quire.digest import encode
from quire.digest.page import Digest
from quire.reports.changes.marks import LOUD, Quiet
from quire.sentinels.pages.gaps import gaps_between
from quire.sentinels.pages.noise import Noise, PageNoise
from quire.sentinels.pages.places import Map, place_of
from quire.sentinels.pages.quiet import quiet_nodes
from quire.web.pages.diff.rows import Rows, ShownRow, source_rows, text_rows_of
from tests.web.conftest import Site
from tests.web.noisy import noisy_watch
from tests.web.test_one_watch import words

NOISE = re.compile(r"n\d+")
Part = tuple[str, int, str]


class Compare(Protocol):
    """Compares two pages row by row."""

    def __call__(
        self, old: Digest, new: Digest, quiet: Quiet = LOUD, *, hides_noise: bool = False
    ) -> Rows:
        """Return the rows."""


def page(parts: list[Part], glue: str) -> Digest:
    """A page with a line for each part: its label, a number in it and another in an attribute."""
    lines = (
        f"<p data-t='{token}'>{label} <b>n{number}</b> ashore</p>" for label, number, token in parts
    )
    return encode(f"<title>Harbour</title><main>{glue}{glue.join(lines)}</main>".encode())


def edited(random: Random) -> tuple[list[Part], list[Part]]:
    """Two lists of parts: some with other labels, some with other noise, some gone, some new."""
    before = [(f"ship{place}", random.randrange(10**6), f"n{place}") for place in range(30)]
    after: list[Part] = []
    for label, number, token in before:
        if random.random() < 0.1:
            continue
        if random.random() < 0.1:
            after.append((f"barge{len(after)}", random.randrange(10**6), "n7"))
        if random.random() < 0.2:
            label += "x"  # noqa: PLW2901
        if random.random() < 0.5:
            number = random.randrange(10**6)  # noqa: PLW2901
        if random.random() < 0.3:
            token = f"n{random.randrange(10**6)}"  # noqa: PLW2901
        after.append((label, number, token))
    return before, after


def known(old: Digest, new: Digest) -> Quiet:
    """The numbers and the attributes are noise."""
    texts = [frozenset((each.select("b") + 1).tolist()) for each in (old, new)]
    tags = [frozenset(each.select("p").tolist()) for each in (old, new)]
    return Quiet(texts[0], texts[1], old_tags=tags[0], new_tags=tags[1])


def side(row: ShownRow, which: Literal["old", "new"]) -> str | None:
    cell = row.old if which == "old" else row.new
    return None if cell is None else "".join(each.text for each in cell.segments)


def changed_rows(rows: Rows) -> list[ShownRow]:
    return [row for group in rows.groups for row in group if row.kind != "same"]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("glue", ["\n", ""], ids=["lines", "one line"])
@pytest.mark.parametrize("compare", [text_rows_of, source_rows], ids=["text", "source"])
def test_rows_of_noise_are_those_that_are_equal_without_it(
    seed: int, glue: str, compare: Compare
) -> None:
    before, after = edited(Random(seed))
    old, new = page(before, glue), page(after, glue)
    rows = compare(old, new, known(old, new))
    found = changed_rows(rows)

    for row in found:
        was, now = side(row, "old"), side(row, "new")
        is_noise = was is not None and now is not None and NOISE.sub("", was) == NOISE.sub("", now)
        assert row.is_noise == is_noise, (was, now)
        assert not (row.is_noise and row.change)
    assert rows.quiet == sum(row.is_noise for row in found)
    assert rows.quiet
    assert rows.count == len([row for row in found if row.change])
    without = compare(old, new)
    assert not any(row.is_noise for row in changed_rows(without))


@pytest.mark.parametrize("compare", [text_rows_of, source_rows], ids=["text", "source"])
def test_hidden_noise_changes_neither_the_count_nor_the_changes(
    compare: Compare,
) -> None:
    before, after = edited(Random(7))
    old, new = page(before, "\n"), page(after, "\n")
    shown = compare(old, new, known(old, new))
    hidden = compare(old, new, known(old, new), hides_noise=True)

    assert (hidden.count, hidden.places, hidden.quiet) == (shown.count, shown.places, shown.quiet)
    assert changed_rows(hidden) == [row for row in changed_rows(shown) if not row.is_noise]


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-16", "windows-1252", "shift_jis", "gb18030"], ids=str
)
def test_places_in_a_source_are_found_in_every_encoding(encoding: str) -> None:
    letter = {"shift_jis": "港", "gb18030": "港", "utf-8": "港", "utf-16": "港"}.get(encoding, "é")
    pages = [
        encode(
            f"<meta charset={encoding}><p>{letter * 20} {number}</p>\n<p>{letter} <b>n{number}</b></p>"
            f"\n<p>{letter} end</p>".encode(encoding),
            encoding=encoding if encoding != "utf-16" else None,
        )
        for number in (5, 6)
    ]
    rows = changed_rows(source_rows(pages[0], pages[1], known(pages[0], pages[1])))

    assert [row.is_noise for row in rows] == [False, True]


def test_attributes_are_noise_only_if_nothing_else_of_the_tag_changed() -> None:
    def quiet(old: Digest, new: Digest) -> list[bool]:
        entries = tuple(
            Noise(
                "attribute", place, 0.0, "probe", "data-t", gaps_between("q1", "q2", address=True)
            )
            for node in old.select("[data-t]").tolist()
            if (place := place_of(Map(old), node, Map(new), node)) is not None
        )
        found = quiet_nodes(PageNoise(entries), old, new)
        nodes = Quiet(
            found.old, found.new, found.old_moved, found.new_moved, found.old_tags, found.new_tags
        )
        return [row.is_noise for row in changed_rows(source_rows(old, new, nodes))]

    old = encode(b"<form id=f data-t=q1 class=a>\n<p>Cod</p>\n</form>")

    assert quiet(old, encode(b"<form id=f data-t=q2 class=a>\n<p>Cod</p>\n</form>")) == [True]
    assert quiet(old, encode(b"<form id=f data-t=q2 class=b>\n<p>Cod</p>\n</form>")) == [False]


def test_every_view_of_a_watch_marks_noise_and_does_not_count_it(site: Site) -> None:
    watch = noisy_watch(site)
    browser = site.browser("viewer")
    for view in ("redline", "side", "text", "source"):
        shown = browser.get(f"/watches/{watch}/diff?view={view}")
        hidden = browser.get(f"/watches/{watch}/diff?view={view}&noise=hide")

        assert "1 change" in words(shown)
        assert "1 change" in words(hidden)
        assert "noise, not counted" in words(shown)
        assert "noise, not counted" not in words(hidden)
        assert "Hide noise" in words(shown)
        assert "Show noise" in words(hidden)
        assert "only-noise" not in hidden.text
        if view in {"text", "source"}:
            assert shown.text.count("only-noise") == 1
        else:
            assert "noise=hide" in hidden.text.partition("<iframe")[2]
    frame = browser.get(f"/watches/{watch}/frame/both?noise=hide").text
    assert "del.quire-del.quire-quiet { display: none" in frame
    assert browser.get(f"/watches/{watch}/diff?noise=maybe").status == 422
