"""Omini: every heuristic equals its definition in plain Python, and the phases find simple lists."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.digest import Digest, encode
from quire.extraction import omini
from quire.extraction.omini import Ranked, Separator, Subtree
from quire.extraction.omini.subtrees import best
from quire.extraction.outline import outline
from tests.extraction.omini import plain_omini as plain

# Few names, so that they repeat among siblings and below each other; texts of different lengths,
# blank ones, and elements that are not visible are where sums and pairs go wrong.
_leaf = st.sampled_from(["", " ", "a", "long text", "<br>", "<script>x()</script>", "<!--c-->"])
_html = st.recursive(
    _leaf,
    lambda inner: st.builds(
        lambda tag, parts: f"<{tag}>{''.join(parts)}</{tag}>",
        st.sampled_from(["div", "b", "i", "x-y"]),
        st.lists(inner, max_size=5),
    ),
    max_leaves=40,
)
pages = st.lists(_html, min_size=1, max_size=8).map(
    lambda parts: encode("".join(parts).encode(), kind="html")
)


def scores(found: np.ndarray) -> dict[int, float]:
    return {int(node): float(found[node]) for node in np.flatnonzero(found)}


def kept(expected: dict[int, float]) -> dict[int, float]:
    return {node: score for node, score in expected.items() if score}


def by_tag(ranked: list[Ranked]) -> dict[str, float]:
    return {one.tag: one.score for one in ranked}


@given(pages)
def test_subtree_heuristics_equal_their_definitions(page: Digest) -> None:
    view, root = outline(page), plain.tree(page)

    assert scores(omini.highest_fan_out(view)) == kept(plain.fan_out(root))
    assert scores(omini.largest_size_increase(view)) == kept(plain.size_increase(root))
    assert best(view, Subtree.LTC) == plain.tag_count(root)


@given(pages)
def test_the_volume_is_the_product_of_three_shares(page: Digest) -> None:
    root = plain.tree(page)
    parts = (
        plain.fan_out(root),
        plain.size_increase(root),
        {each.node: each.tags for each in root.walk()[1:]},
    )
    found = omini.volume(outline(page))

    for each in root.walk()[1:]:
        expected = 1.0
        for part in parts:
            expected *= part[each.node] / max(1, *part.values())
        assert found[each.node] == pytest.approx(expected)


@given(pages)
def test_separator_heuristics_equal_their_definitions(page: Digest) -> None:
    view = outline(page)
    for parent in plain.tree(page).walk()[1:]:
        at = parent.node
        assert by_tag(omini.standard_deviation(view, at)) == pytest.approx(plain.deviation(parent))
        assert by_tag(omini.repeating_pattern(view, at)) == plain.pattern(parent)
        assert by_tag(omini.sibling_pairs(view, at)) == plain.neighbours(parent)
        assert by_tag(omini.partial_path(view, at)) == plain.paths(parent)


@given(pages)
def test_rankings_are_from_good_to_bad(page: Digest) -> None:
    view = outline(page)
    for node in range(1, page.n):
        for heuristic, rank in omini.SEPARATORS.items():
            found = [one.score for one in rank(view, node)]
            is_high_good = heuristic in {Separator.SB, Separator.PP}
            assert found == sorted(found, reverse=is_high_good)


def test_of_paths_that_are_equally_frequent_the_longer_wins() -> None:
    page = encode(b"<div><hr><p><a>x</a><hr><p><a>y</a></div>")

    ranked = omini.partial_path(outline(page), page.select_one("div") or 0)

    assert [one.tag for one in ranked] == ["p", "hr"]


def test_a_usual_separator_comes_first() -> None:
    page = encode(b"<table><tr><td>a<tr><td>b<tr><td>c</table>")

    ranked = omini.identifiable_path(outline(page), page.select_one("tbody") or 0)

    assert [one.tag for one in ranked] == ["tr"]


def test_heuristics_that_agree_make_a_tag_more_probable() -> None:
    page = encode(b"<ul><li>a<li>b<li>c</ul>")
    view, node = outline(page), page.select_one("ul") or 0
    given_shares = dict.fromkeys(Separator, (0.5,))

    one = omini.combined(view, node, [Separator.IPS], given_shares)
    two = omini.combined(view, node, [Separator.IPS, Separator.SB], given_shares)

    assert one == [Ranked("li", 0.5)]
    assert two == [Ranked("li", 0.75)]


@pytest.mark.parametrize("heuristic", list(Subtree))
def test_the_phases_find_a_simple_list(tmp_path: Path, heuristic: Subtree) -> None:
    items = "".join(f"<li><b>Item {n}</b> costs {n} euros" for n in range(9))
    file = tmp_path / "page.html"
    file.write_text(f"<h1>Shop</h1><ul>{items}</ul><p>Bye", "utf-8")

    page = omini.parse(omini.read_file(file))
    view, node = omini.identify_subtree(page, heuristic)
    first = omini.determine_delimiters(view, node)[0]

    assert page.node(node).tag == "ul"
    assert first.tag == "li"
    assert len(omini.objects(view, node, first.tag)) == 9


def test_a_deep_page_and_an_empty_page_have_answers() -> None:
    for source in (b"", b"x", b"<i>" * 5000, b"<p>" * 20_000):
        page = encode(source)
        for heuristic in Subtree:
            view, node = omini.identify_subtree(page, heuristic)
            omini.determine_delimiters(view, node)
