"""Selectors find what lxml finds, and paths lead back to their node."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree, html

import quire
from tests import strategies
from tests.strategies import Tree

Shape: TypeAlias = tuple[str, str, list["Shape"]]

# Each pair asks the same question in both languages; lxml answers the second.
PAIRS = [
    ("div", "//div"),
    ("div > span", "//div/span"),
    ("section div", "//section//div"),
    ("#a", "//*[@id='a']"),
    (".a", "//*[contains(concat(' ', @class, ' '), ' a ')]"),
    ("[title]", "//*[@title]"),
    ('[title="it\'s"]', '//*[@title="it\'s"]'),
    ("div + em", "//div/following-sibling::*[1][self::em]"),
    ("div ~ em", "//em[preceding-sibling::div]"),
    ("span:first-child", "//span[not(preceding-sibling::*)]"),
    ("span:nth-of-type(2)", "//span[count(preceding-sibling::span) = 1]"),
    ("div:not(.a)", "//div[not(contains(concat(' ', @class, ' '), ' a '))]"),
    ("article:has(em)", "//article[.//em]"),
    ("em, span", "//em | //span"),
    ("div:empty", "//div[not(node())]"),
]
EXPRESSIONS = [
    *(xpath for _, xpath in PAIRS),
    "//div[1]",
    "//div[last()]",
    "//div[position() > 1]/span",
    "//em/parent::div",
    "//span[contains(., 'fish')]",
    "//span[starts-with(normalize-space(.), 'chips')]",
    "//section[count(*) = 2]",
    "//*[@id and not(@class)]",
    "/html/body//em",
]


def pages(tree: Tree) -> tuple[quire.Digest, html.HtmlElement]:
    """Give a page as we and as lxml see it; the two agree about these."""
    source = f"<!doctype html><html><head></head><body>{strategies.written(tree)}</body></html>"
    return quire.encode(source.encode()), html.document_fromstring(source)


def numbers(page: quire.Digest, found: list[etree._Element], root: etree._Element) -> list[int]:
    """Number the elements lxml found as the digest does."""
    order = {element: place for place, element in enumerate(root.iter())}
    elements = [node for node in range(page.n) if page.tag_namespaces[page.tag[node]]]
    return [elements[order[element]] for element in found]


@given(strategies.plain_trees(), st.sampled_from(PAIRS))
def test_css_finds_what_the_same_question_finds_in_lxml(tree: Tree, pair: tuple[str, str]) -> None:
    page, root = pages(tree)

    assert page.select(pair[0]).tolist() == numbers(page, root.xpath(pair[1]), root)


@given(strategies.plain_trees(), st.sampled_from(EXPRESSIONS))
def test_xpath_finds_what_lxml_finds(tree: Tree, expression: str) -> None:
    page, root = pages(tree)
    found = page.xpath(expression)

    assert isinstance(found, np.ndarray)
    assert found.tolist() == numbers(page, root.xpath(expression), root)


@given(strategies.plain_trees())
def test_xpath_values_are_those_of_lxml(tree: Tree) -> None:
    page, root = pages(tree)
    for expression in ("count(//span)", "string(//div)", "boolean(//em)", "string(//@title)"):
        assert page.xpath(expression) == root.xpath(expression)
    assert list(page.xpath("//@title")) == root.xpath("//@title")  # type: ignore[arg-type] # a list, or nothing found


@given(strategies.html)
def test_every_path_leads_back_to_its_node_alone(source: bytes) -> None:
    page = quire.encode(source, kind="html")
    for node in range(1, page.n):
        name = page.tags[page.tag[node]]
        if name in {"#doctype", "#fragment"}:
            continue  # no path language sees these
        found = page.xpath(page.path(node, "xpath"))
        assert isinstance(found, np.ndarray)
        assert found.tolist() == [node]
        inert = "#fragment" in {page.tags[page.tag[above]] for above in ancestors(page, node)}
        if not name.startswith("#") and not inert:
            assert page.select(page.path(node)).tolist() == [node]


# Ids and names that repeat, need escapes or are too long for a path, at every depth of an XML page.
_NAMES = st.sampled_from(["a", "b", "p:a", "q:a", "é", "long" * 80])
_SHAPES: st.SearchStrategy[Shape] = st.recursive(
    st.tuples(_NAMES, st.sampled_from(["", "x", "1 y", "z" * 300]), st.just([])),
    lambda below: st.tuples(
        _NAMES, st.sampled_from(["", "x", "w"]), st.lists(below, min_size=1, max_size=4)
    ),
    max_leaves=20,
)


@given(_SHAPES, st.integers(0, 2000))
@settings(max_examples=50)
def test_paths_of_deep_and_odd_xml_lead_back(shape: Shape, depth: int) -> None:
    source = "<r>" + "<long-name>" * depth + written(shape) + "</long-name>" * depth + "</r>"
    page = quire.encode(source.encode(), kind="xml")
    elements = page.select("*").tolist()
    chosen = sorted({*elements[:20], *elements[-20:]})

    for node, path in zip(chosen, page._native.css_paths(chosen), strict=True):
        assert path == page.path(node)
        assert page.select(page.path(node)).tolist() == [node]
        found = page.xpath(page.path(node, "xpath"))
        assert isinstance(found, np.ndarray)
        assert found.tolist() == [node]


def written(shape: Shape) -> str:
    name, identity, below = shape
    given_id = f' id="{identity}"' if identity else ""
    return f"<{name}{given_id}>{''.join(map(written, below))}</{name}>"


def test_no_path_is_longer_than_a_selector_may_be() -> None:
    depth = 20_000
    source = "".join(f"<n{i}><a>" for i in range(depth)) + "x"
    page = quire.encode(
        (source + "".join(f"</a></n{i}>" for i in reversed(range(depth)))).encode(), kind="xml"
    )

    for node in (1, depth, page.n - 2):
        assert page.select(page.path(node)).tolist() == [node]
        found = page.xpath(page.path(node, "xpath"))
        assert isinstance(found, np.ndarray)
        assert found.tolist() == [node]


def ancestors(page: quire.Digest, node: int) -> list[int]:
    found = []
    while node >= 0:
        found.append(node)
        node = int(page.parent[node])
    return found


def test_a_search_stays_within_its_node() -> None:
    page = quire.encode(b"<ul><li>a<li>b</ul><ul><li>c</ul>")
    first, second = page.select("ul").tolist()

    assert [page.text(node) for node in page.select("li", within=first)] == ["a", "b"]
    assert [page.text(node) for node in page.select(":scope > li", within=second)] == ["c"]
    assert page.xpath("count(li)", first) == 2.0


def test_found_nodes_are_an_array_that_indexes_columns() -> None:
    page = quire.encode(b"<ul><li>a<li>b</ul>")
    found = page.select("li")

    assert found.dtype == np.int32
    assert page.depth[found].tolist() == [4, 4]
    assert page.select("nav").shape == (0,)


@pytest.mark.parametrize("selector", ["p >", "", "p:nope", "a[", "::before"])
def test_a_selector_that_cannot_be_read_is_shown(selector: str) -> None:
    with pytest.raises(quire.SelectorError) as caught:
        quire.encode(b"<p>").select(selector)

    assert caught.value.selector == selector
    assert caught.value.offset is not None


@pytest.mark.parametrize("expression", ["//p[", "id('x')", "$x", "following::p", ""])
def test_an_xpath_that_cannot_be_read_is_shown(expression: str) -> None:
    with pytest.raises(quire.SelectorError) as caught:
        quire.encode(b"<p>").xpath(expression)

    assert caught.value.selector == expression


def test_a_selector_that_asks_too_much_is_stopped() -> None:
    page = quire.encode(b"<div><p>x</p></div>" * 20_000, kind="html")
    with pytest.raises(quire.SelectorBudgetExceeded) as caught:
        page.select(" ".join(["div:has(p ~ p)"] * 200))

    assert caught.value.steps > 0


def test_an_unknown_style_of_path_is_refused() -> None:
    with pytest.raises(ValueError, match="expected css or xpath"):
        quire.encode(b"<p>").path(4, "jq")  # type: ignore[arg-type] # that is the point
