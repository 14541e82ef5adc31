"""AF trees: what they keep of a page, and where it is in the source."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

import quire
from benchmarks.papers.fragments_figure21 import is_accounted_for
from quire import AfTree, Digest
from quire.fragments import INLINE, source_spans
from tests import strategies
from tests.fragments import oracles


def check(page: Digest) -> None:
    tree = AfTree.of(page)
    expected = list(oracles.af_tree(page).walk())

    assert [tree.value(node) for node in range(tree.n)] == [part.value for part in expected]
    assert tree.node.tolist() == [part.node for part in expected]
    assert tree.node_end.tolist() == [part.node_end for part in expected]
    assert tree.size.tolist() == [len(list(part.walk())) for part in expected]
    for place, part in enumerate(expected):
        assert [tree.node[child] for child in tree.children(place)] == [
            child.node for child in part.children
        ]
    left_out = tree.pruned
    assert page.n == tree.n + sum(
        (left_out.formatting, left_out.blank, left_out.joined, left_out.chained)
    )
    # The kernel computes `blank` as a difference, so the sum alone could not be wrong.
    assert (left_out.formatting, left_out.blank) == oracles.removed_nodes(page)
    assert is_accounted_for(page, tree)


@given(strategies.html)
def test_an_af_tree_is_what_its_definition_says(source: bytes) -> None:
    check(quire.encode(source, kind="html"))


@pytest.mark.parametrize("corpus", ["templates-types", "pages-readability"])
def test_an_af_tree_of_a_real_page_is_what_its_definition_says(
    corpus: str, corpus_files: Callable[[str], list[Path]]
) -> None:
    pages = [path for path in corpus_files(corpus) if path.suffix in {".html", ".htm"}]
    for path in pages[:: max(len(pages) // 8, 1)]:
        check(quire.encode(path.read_bytes(), kind="html"))


@given(strategies.html)
def test_bytes_of_nodes_are_the_source_again(source: bytes) -> None:
    page = quire.encode(source, kind="html")
    spans = source_spans(page)
    tree = AfTree.of(page)

    assert (spans is None) == (not tree.has_bytes)
    if spans is None:
        return
    assert (spans.start[0], spans.end[0]) == (0, len(source))
    for node in range(1, page.n):
        parent = page.parent[node]
        assert spans.start[parent] <= spans.start[node] <= spans.end[node] <= spans.end[parent]
    assert tree.byte_start[0] == 0
    assert (tree.byte_start <= tree.byte_end).all()


@given(strategies.html, strategies.html)
def test_hashes_are_equal_where_bytes_are(one: bytes, other: bytes) -> None:
    hashes: dict[int, bytes] = {}
    for source in (one, other, one + other):
        page = quire.encode(source, kind="html")
        tree = AfTree.of(page)
        for node in range(tree.n if tree.has_bytes else 0):
            written = source[tree.byte_start[node] : tree.byte_end[node]]
            assert hashes.setdefault(int(tree.source_hash[node]), written) == written
    assert len(set(hashes.values())) == len(hashes)


def test_values_are_slices_of_one_text_with_a_leaf_on_each_line() -> None:
    tree = AfTree.of(quire.encode(b"<p>a  b\n<p>c<ul><li>d<li>e&amp;f</ul>"))

    assert tree.text == b"a b\nc\nd\ne&f\n"
    assert tree.value_bytes.tolist() == [12, 4, 2, 6, 2, 4]
    assert [tree.node_id(node) for node in range(tree.n)] == [
        *((), (0,), (1,), (2,), (2, 0), (2, 1))
    ]
    assert tree.parent.tolist() == [-1, 0, 0, 0, 3, 3]
    assert tree.depth.tolist() == [0, 1, 1, 1, 2, 2]


def test_texts_in_other_encodings_have_equal_values() -> None:
    pages = [
        quire.encode("<p>Grüße</p>x".encode()),
        quire.encode("<p>Grüße</p>x".encode("latin-1"), encoding="windows-1252"),
        quire.encode(b"<p>Gr&uuml;&szlig;e</p>x"),
        quire.encode("\ufeff<p>Grüße</p>x".encode("utf-16-le")),
    ]

    assert len({int(AfTree.of(page).value_hash[1]) for page in pages}) == 1
    assert [AfTree.of(page).has_bytes for page in pages] == [True, True, True, False]


def test_a_page_without_known_bytes_says_so() -> None:
    tree = AfTree.of(quire.encode("\ufeff<p>a<p>b".encode("utf-16-le")))

    assert set(tree.byte_start.tolist()) == set(tree.byte_end.tolist()) == {-1}
    assert not tree.source_hash.any()


@pytest.mark.parametrize(
    "source",
    [
        b"",
        b" ",
        b"<html><head></head></html>",
        b"<frameset><frame></frameset>",
        b"<img src=a>",
        b"\x89PNG\r\n\x1a\n\0",
    ],
)
def test_a_page_without_text_is_one_node_without_a_value(source: bytes) -> None:
    tree = AfTree.of(quire.encode(source))

    assert (tree.n, tree.text, tree.value_bytes[0]) == (1, b"", 0)
    assert len(tree.shingles().of(0)) == 0


def test_other_kinds_have_af_trees_too() -> None:
    assert AfTree.of(quire.encode(b'{"a": [1, "two"]}')).text == b"1\ntwo\n"
    assert AfTree.of(quire.encode(b"<?xml version='1.0'?><a><b>x</b><c>y</c></a>")).n == 3
    assert AfTree.of(quire.encode(b"one\ntwo\n\nthree")).text == b"one two\nthree\n"


def test_tags_to_remove_can_be_chosen() -> None:
    page = quire.encode(b"<p>read <a href=/>the <b>news</b></a> now")

    assert AfTree.of(page).text == b"read\nthe news\nnow\n"
    assert AfTree.of(page, formatting=INLINE).text == b"read the news now\n"
    assert AfTree.of(page, formatting=()).text == b"read\nthe\nnews\nnow\n"


def test_chains_can_be_kept_as_in_the_paper() -> None:
    page = quire.encode(b"<div><ul><li>a</ul></div><p>b")
    tags = [page.tags[page.tag[node]] for node in AfTree.of(page, chains=True).node]

    assert tags == [*("#document", "html", "body", "div", "ul", "li", "#text", "p", "#text")]


def test_columns_are_read_only() -> None:
    tree = AfTree.of(quire.encode(b"<p>a<p>b"))

    assert not any(
        getattr(tree, name).flags.writeable for name in ("node", "size", "value_hash", "parent")
    )


def test_a_deep_page_takes_time_with_its_length() -> None:
    depth = 50_000
    source = b"<a>" + b"<b>word " * depth + b"</b>" * depth + b"</a>"
    tree = AfTree.of(quire.encode(source, kind="xml"))

    assert tree.n == depth * 2 - 1
    assert tree.shingles().hashes < 2 * len(tree.text)
    assert np.unique(tree.source_hash).size > depth
