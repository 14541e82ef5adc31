"""Every measure is what its definition says, on whole pages and on parts of them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quire
from quire.similar import (
    BAG_MEASURES,
    Bag,
    BagMeasure,
    content,
    path_counts,
    paths,
    structure,
    structure_class,
    tokens,
)
from tests.similar import oracles
from tests.strategies import attributes, names

# Words short enough to meet again, letters with marks, letters that are words, and what separates them.
texts = st.text("aB9_ .-é\u0301東京\n", max_size=12) | st.sampled_from(
    ["fish and chips ", " 東京 "]
)
pieces = st.one_of(
    st.tuples(names, attributes).map(lambda part: f"<{part[0]}{part[1]}>"),
    names.map(lambda name: f"</{name}>"),
    texts,
)
pages = st.lists(pieces, max_size=30).map(
    lambda parts: quire.encode("".join(parts).encode(), kind="html", encoding="utf-8")
)
selectors = st.sampled_from([None, None, "p, li", "div", "td, body, script", "*"])
measures = st.sampled_from(BAG_MEASURES)


@given(pages, pages, measures, selectors)
def test_similarity_is_what_the_definition_says(
    a: quire.Digest, b: quire.Digest, on: BagMeasure, nodes: str | None
) -> None:
    one, two = oracles.bag(a, on, nodes), oracles.bag(b, on, nodes)
    expected = oracles.jaccard(one, two)

    assert quire.similarity(a, b, on, nodes=nodes) == pytest.approx(expected)
    assert quire.similarity(a, a, on, nodes=nodes) == 1.0
    bag = Bag.of(a, on, nodes=nodes)
    assert bag.similarity(Bag.of(b, on, nodes=nodes)) == pytest.approx(expected)
    assert len(bag) == len(one)
    if oracles.ORACLES[on][1]:
        assert sorted(bag.counts.tolist()) == sorted(one.values())


@given(pages, pages, measures, selectors)
def test_an_explanation_adds_up_to_the_similarity(
    a: quire.Digest, b: quire.Digest, on: BagMeasure, nodes: str | None
) -> None:
    one, two = oracles.bag(a, on, nodes), oracles.bag(b, on, nodes)
    found = quire.similarity(a, b, on, nodes=nodes, explain=True, most=10**6)

    assert found.value == quire.similarity(a, b, on, nodes=nodes)
    assert (found.shared, found.total) == ((one & two).total(), (one | two).total())
    differing = {part: (one[part], two[part]) for part in one | two if one[part] != two[part]}
    assert sorted((part.in_a, part.in_b) for part in found.parts) == sorted(differing.values())
    sizes = [abs(part.in_a - part.in_b) for part in found.parts]
    assert sizes == sorted(sizes, reverse=True)
    assert found.differing == len(found.parts)


@given(pages, pages)
def test_pages_without_bags_are_compared_like_pages_with_bags(
    a: quire.Digest, b: quire.Digest
) -> None:
    expected = Bag.of(a).similarity(Bag.of(b))
    fresh, other = quire.from_bytes(a.to_bytes()), quire.from_bytes(b.to_bytes())

    # Neither has a bag; then both make one.
    assert quire.similarity(fresh, other) == expected
    assert quire.similarity(fresh, other) == quire.similarity(other, fresh) == expected


def test_each_measure_has_a_function_of_its_own() -> None:
    own = dict(
        zip(
            BAG_MEASURES,
            (structure, structure_class, content, paths, path_counts, tokens),
            strict=True,
        )
    )
    a = quire.encode(b"<h1></h1><p class=x>one two three four five six<p>seven<ul><li>eight</ul>")
    b = quire.encode(b"<p>one two three four five<p>seven<ul><li>nine<li>ten</ul>")
    for on, function in own.items():
        assert function(a, b) == quire.similarity(a, b, on), on
        assert 0 < function(a, b) < 1, on
        assert function(a, b, nodes="li") == quire.similarity(a, b, on, nodes="li"), on


@pytest.mark.parametrize("on", BAG_MEASURES)
def test_pages_without_parts_are_alike_and_unlike_any_other(on: BagMeasure) -> None:
    empty, full = quire.encode(b"", kind="bytes"), quire.encode(b"<p>fish")

    assert quire.similarity(empty, empty, on) == 1.0
    assert quire.similarity(empty, full, on) == 0.0
    assert quire.similarity(full, full, on, nodes="table") == 1.0


def test_columns_and_bags_of_one_name_are_kept_apart() -> None:
    a, b = quire.encode(b"<p>fish and chips"), quire.encode(b"<p>fish and chips")

    assert len(a.content) == a.n
    assert quire.similarity(a, b, "content") == quire.similarity(b, a, "content") == 1.0
    assert len(b.content) == b.n


def test_every_kind_of_page_has_a_structure_and_words() -> None:
    sources = {
        "xml": (
            b"<?xml version='1.0'?><a><b>fish</b></a>",
            b"<?xml version='1.0'?><a><c>fish</c></a>",
        ),
        "json": (b'{"a": ["fish"]}', b'{"b": ["fish"]}'),
        "text": (b"fish\n\nchips", b"fish\n\nfish\n\nchips"),
    }
    for kind, (one, two) in sources.items():
        a, b = quire.encode(one), quire.encode(two)
        assert (a.kind, b.kind) == (kind, kind)
        assert quire.similarity(a, a) == 1.0
        assert quire.similarity(a, b) < 1.0, kind


def test_what_cannot_be_compared_is_refused() -> None:
    page = quire.encode(b"<p>")

    with pytest.raises(ValueError, match="unknown measure 'looks'; expected structure,"):
        quire.similarity(page, page, "looks")  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="kang only compares whole pages"):
        quire.similarity(page, page, "kang", nodes="p")
    with pytest.raises(quire.SelectorError):
        quire.similarity(page, page, nodes="p[")
    with pytest.raises(ValueError, match='unknown measure "looks"'):
        Bag.of(page, "looks")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="a bag of structure with a bag of paths"):
        Bag.of(page).similarity(Bag.of(page, "paths"))


def test_features_are_the_same_in_every_process() -> None:
    code = (
        "import quire; page = quire.encode(b'<p class=a>fish and chips, please<p>peas');"
        "print([quire.Bag.of(page, on).hashes.tolist() for on in ('structure+class', 'content')])"
    )
    printed = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
        for _ in range(2)
    }

    assert len(printed) == 1


@pytest.mark.timeout(900)  # quadratic, it would take hours
def test_hostile_pages_take_no_longer_than_others() -> None:
    deep = quire.encode(b"<b>" * 200_000)
    wide = quire.encode(b"<p class='" + b"a b c " * 50_000 + b"'>" + b"<i>x" * 200_000)
    for on in BAG_MEASURES:
        quire.similarity(deep, wide, on, explain=True)
        quire.similarity(wide, wide, on, nodes="*")


def test_real_pages_are_as_alike_as_the_definition_says(
    corpus_files: Callable[[str], list[Path]],
) -> None:
    files = [path for path in corpus_files("templates-types") if path.suffix == ".html"][::9]
    pages = [quire.encode(path.read_bytes()) for path in files]
    for on in ("structure", "structure+class", "paths", "paths+counts"):
        bags = [oracles.bag(page, on) for page in pages]
        for a, b, one, two in zip(pages, pages[1:], bags, bags[1:], strict=False):
            assert quire.similarity(a, b, on) == pytest.approx(oracles.jaccard(one, two))
