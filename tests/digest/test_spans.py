"""The bytes of the source that a node was written with."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given

import quire
from quire.errors import NodeNotFound
from tests import strategies


def described(page: quire.Digest, node: int) -> list[tuple[str, int, dict[str, str], str]]:
    """Describe a subtree, with all that a reader could compare."""
    names = page.tags
    return [
        (
            names[page.tag[below]],
            int(page.children[below]),
            page.attributes(below),
            page.text(below) if page.content[below] >= 0 else "",
        )
        for below in range(node, node + int(page.size[node]))
    ]


def check_nesting(page: quire.Digest) -> None:
    """Check that spans nest and that neighbours do not overlap."""
    spans = [page.span(node) for node in range(page.n)]
    assert spans[0] == (0, page.source_bytes)
    for node in range(1, page.n):
        (start, end), parent = spans[node], spans[int(page.parent[node])]
        assert parent[0] <= start <= end <= parent[1]
        after = node + int(page.size[node])
        assert after == page.n or end <= spans[after][0]


@given(strategies.html)
def test_spans_nest_as_nodes_do(source: bytes) -> None:
    page = quire.encode(source, kind="html")
    if "verbatim" not in page.flags:
        check_nesting(page)


@given(strategies.html)
def test_a_text_is_where_its_span_says(source: bytes) -> None:
    page = quire.encode(source, kind="html")
    if page.flags & {"verbatim", "reordered"}:
        return
    for node in range(page.n):
        if page.tags[page.tag[node]] == "#text":
            start, end = page.span(node)
            raw = page.contents[int(page.content[node])]
            rest = iter(source[start:end])
            assert start == end or all(byte in rest for byte in raw)


@given(strategies.plain_trees().map(strategies.written))
def test_the_bytes_of_an_element_are_the_element(source: str) -> None:
    page = quire.encode(source.encode(), kind="html")
    for node in page.select("body *").tolist():
        again = quire.encode(page.node(node).source, fragment="body")

        assert described(again, 1) == described(page, node)


@pytest.mark.parametrize(
    ("source", "selector", "expected"),
    [
        (b"<p>Fish</p>x", "p", b"<p>Fish</p>"),
        (b"<p>Fish<p>x", "p", b"<p>Fish"),
        (b"<!doctype html><p>Fish</p>\n", "body", b"<p>Fish</p>\n"),
        (b"<!doctype html><p>Fish</p>\n", "head", b""),
        (b"<table><tr><td>1</table>", "tbody", b"<tr><td>1"),
        (b"<P Class=a>Fish &amp; chips</P >", "p", b"<P Class=a>Fish &amp; chips</P >"),
        (b"<p>a<br>b<img src=x>", "img", b"<img src=x>"),
    ],
)
def test_implied_tags_have_no_bytes(source: bytes, selector: str, expected: bytes) -> None:
    found = quire.encode(source, kind="html").root.select_one(selector)

    assert found is not None
    assert found.source == expected


def test_the_bytes_of_a_moved_text_are_where_it_was_written() -> None:
    source = b"<div><table>moved<tr><td>1</table>b</div>"
    page = quire.encode(source, kind="html")
    moved = next(node for node in range(page.n) if page.text(node) == "moved")
    start, end = page.span(moved)

    assert "reordered" in page.flags
    assert source[start:end] == b""
    assert b"moved" in page.node(int(page.select("table")[0])).source
    check_nesting(page)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16le", "iso-2022-jp", "shift_jis"])
def test_spans_count_bytes_of_the_source(encoding: str) -> None:
    source = "<p>かな</p><ul><li>魚<li>芋</ul>".encode(encoding)
    page = quire.encode(source, kind="html", encoding=encoding)
    sources = [page.node(node).source for node in page.select("p, li").tolist()]

    assert [part.decode(encoding) for part in sources] == ["<p>かな</p>", "<li>魚", "<li>芋"]
    check_nesting(page)


def test_a_byte_order_mark_is_in_front_of_the_first_node() -> None:
    page = quire.encode("<p>魚".encode("utf-16"), kind="html")

    assert page.span(int(page.select("p")[0])) == (2, 10)


def test_other_kinds_have_spans_too() -> None:
    page = quire.encode(b'{"a": [1, {"b": null}]}')
    assert page.node(3).source == b'[1, {"b": null}]'
    page = quire.encode(b"<a><b/>x<c>y</c></a>", kind="xml")
    assert [page.node(node).source for node in range(2, 5)] == [b"<b/>", b"x", b"<c>y</c>"]
    page = quire.encode(b"one\ntwo\n\nthree")
    assert page.node(2).source == b"one\n"


def test_a_node_that_is_not_there_has_no_span() -> None:
    with pytest.raises(NodeNotFound):
        quire.encode(b"<p>").span(99)


def test_select_one_is_the_first_of_select() -> None:
    page = quire.encode(b"<ul><li>a<li>b</ul><ol><li>c</ol>")
    ordered = page.select_one("ol")

    assert page.select_one("li") == page.select("li")[0]
    assert ordered is not None
    assert page.select_one("li", within=ordered) == page.select("ol li")[0]
    assert page.select_one("table") is None
    assert page.root.select_one("table") is None
    with pytest.raises(quire.SelectorError):
        page.select_one("li[")


def test_spans_of_real_pages_nest(corpus_files: Callable[[str], list[Path]]) -> None:
    known = 0
    paths = corpus_files("pages-readability")
    for path in random.Random(7).sample(paths, min(25, len(paths))):
        page = quire.encode(path.read_bytes(), kind="html")
        if "verbatim" not in page.flags:
            known += 1
            check_nesting(page)
    assert known
