"""Selectors for parts that people point at: exact, lasting and short."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quire
from quire.digest.page import Digest
from quire.sdiff.annotation import annotate
from quire.sentinels.parts.location import matches
from quire.sentinels.picking import SelectorMaker, alike, crumbs, element_of, find_text
from quire.sentinels.picking.names import is_lasting
from tests import corpus

# Equal names, nested equal tags, rows with equal labels, quotes in texts: where selectors go wrong.
TAGS = st.sampled_from(
    ["p", "div", "b", "ul", "li", "h2", "section", "table", "tr", "td", "dl", "dt", "dd"]
)
NAMES = st.sampled_from(
    ["", "price", "css-1a2b3c", "mt-4", "item", "a'b", '"', "x.y", "#", "é", "a b"]
)
TEXTS = st.sampled_from(["", "Cod", 'say "hi"', "it's", "8.40", "Cod ", "]", "\\", "&amp;"])


@st.composite
def markup(draw: st.DrawFn) -> bytes:
    """Write a page of nested elements with awkward names."""
    parts = []
    for _ in range(draw(st.integers(1, 14))):
        tag, ident, name, text = draw(TAGS), draw(NAMES), draw(NAMES), draw(TEXTS)
        quoted = [each.replace('"', "&quot;") for each in (ident, name)]
        parts.append(f'<{tag} id="{quoted[0]}" class="{quoted[1]}">{text}')
        parts.append(draw(st.sampled_from(["", f"</{tag}>", "</table>", "</div>"])))
    return "".join(parts).encode()


def elements(page: Digest) -> list[int]:
    """Return all elements of a page."""
    return [node for node in range(1, page.n) if element_of(page, node) == node]


@given(markup())
def test_a_selector_finds_exactly_the_chosen_element(source: bytes) -> None:
    page = quire.encode(source)
    make = SelectorMaker(page)
    for node in elements(page):
        assert matches(page, make.selector(node)).tolist() == [node]


@given(markup())
def test_elements_that_are_alike_include_the_chosen_one(source: bytes) -> None:
    page = quire.encode(source)
    make = SelectorMaker(page)
    for node in elements(page):
        found = alike(make, node)
        if found is not None:
            nodes = matches(page, found.selector).tolist()
            assert node in nodes
            assert found.count == len(nodes) >= 3


@pytest.mark.parametrize(
    ("source", "chosen", "selector"),
    [
        (b"<p id=price>9", "p", "#price"),
        (b"<p id=a8f3c2d1 class='css-1q2w3e price'>9", "p", "p.price"),
        (b"<b class=x1>8</b><b itemprop=price>9", "b + b", 'b[itemprop="price"]'),
        (b"<div id=cod><b class=p>8</b></div><b class=p>9", "#cod b", "#cod b"),
        (b"<h1>Cod</h1><p>9", "h1", "h1"),
        (
            b"<table><tr><td>Cod<td>8<tr><td>Lemon sole<td>9",
            "tr + tr td + td",
            '//tr[td[normalize-space()="Lemon sole"]]/td[2]',
        ),
        (
            b"<dl><dt>Weight<dd>1 kg<dt>Price<dd>9</dl>",
            "dd:last-child",
            '//dt[normalize-space()="Price"]/following-sibling::dd[1]',
        ),
        (
            b"<h2>Old</h2><p>a<p>b<h2>New</h2><p>c<p>d",
            "p:last-child",
            '//h2[normalize-space()="New"]/following-sibling::p[2]',
        ),
        (
            b"<div><b>1</b></div><ul class=stories><li>a<li>b</ul>",
            "li + li",
            "ul.stories > li:nth-of-type(2)",
        ),
    ],
)
def test_a_selector_reads_as_a_person_would_write_it(
    source: bytes, chosen: str, selector: str
) -> None:
    page = quire.encode(source)
    node = page.select_one(chosen)
    assert node is not None
    assert SelectorMaker(page).selector(node) == selector


@pytest.mark.parametrize(
    "name", ["dXXySk", "gAwGiF", "eqjazZ", "sc-bdVaJa1", "SiteFooter_l__V_xa9"]
)
def test_names_that_build_tools_make_are_not_used(name: str) -> None:
    assert not is_lasting(name)
    page = quire.encode(f'<div class="{name}">a</div><div class="{name} tall">b</div>'.encode())
    for node in page.select("div").tolist():
        assert name not in SelectorMaker(page).selector(node)


def test_a_deep_page_is_not_a_slow_page() -> None:
    page = quire.encode(b"<div>" * 500 + b"Cod" + b"<b>x</b>" * 20_000)
    make = SelectorMaker(page)
    node = int(page.select("b")[19_999])
    assert matches(page, make.selector(node)).tolist() == [node]
    assert len(crumbs(make, node)) <= 60
    assert [place.text for place in find_text(page, "cod")]


def test_a_search_finds_words_over_several_elements() -> None:
    page = quire.encode(b"<p>Cod: <b>8</b><i>.40</i></p><script>8.40</script><p>8.40</p>")
    assert [(each.node, each.text) for each in find_text(page, "8.40")] == [
        (page.select_one("p"), "Cod: 8.40"),
        (page.select_one("p:last-child"), "8.40"),
    ]
    assert find_text(page, "  ") == []


def _pairs(name: str) -> list[tuple[Path, Path]]:
    """Return neighbouring versions of the pages that nothing was fitted on."""
    groups: dict[Path, list[Path]] = {}
    for path in corpus.files(name):
        groups.setdefault(path.parent, []).append(path)
    judged = [paths for _, paths in sorted(groups.items())[1::2]]
    found = [
        random.Random(7).sample(list(pairwise(each)), min(4, len(each) - 1)) for each in judged
    ]
    return [pair for pairs in found for pair in pairs]


@pytest.mark.skipif(not corpus.available(), reason=corpus.ABSENT)
@pytest.mark.parametrize(("name", "least"), [("versions-terms", 0.93), ("versions-news", 0.8)])
def test_selectors_still_work_on_the_next_version_of_real_pages(name: str, least: float) -> None:
    chosen = random.Random(1)
    kept = followed = 0
    for before, after in _pairs(name)[:16]:
        old, new = quire.encode(before.read_bytes()), quire.encode(after.read_bytes())
        if old.kind != "html" or new.kind != "html":
            continue
        partner = annotate(old, new).to_new
        make = SelectorMaker(old)
        seen = [node for node in elements(old) if old.visible[node] and old.text(node).strip()]
        for node in chosen.sample(seen, min(12, len(seen))):
            selector = make.selector(node)
            assert matches(old, selector).tolist() == [node]
            if partner[node] >= 0:
                followed += 1
                kept += matches(new, selector).tolist() == [int(partner[node])]
    assert followed > 30
    assert kept / followed >= least, (kept, followed)
