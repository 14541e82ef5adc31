"""The kernels of extraction give exactly the answers of plain Python, also on hostile pages."""

from __future__ import annotations

import threading
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import quire
from quire.digest import Digest, encode
from quire.extraction.finding.candidates import candidates
from quire.extraction.finding.confidence import signs
from quire.extraction.omini import SUBTREES, Subtree
from quire.extraction.omini.subtrees import best
from quire.extraction.outline import Outline, outline
from quire.extraction.table.cells import cells
from tests import corpus
from tests.extraction.oracle import candidates as plain_candidates
from tests.extraction.oracle import cells as plain_cells
from tests.extraction.oracle import nesting as plain_nesting
from tests.extraction.oracle import outline as plain_outline
from tests.extraction.oracle import shapes as plain_shapes
from tests.extraction.oracle import signs as plain_signs
from tests.extraction.oracle import subtrees as plain_subtrees

PAGES = Path(__file__).parents[1] / "pages" / "records"

# Few names and classes, so that siblings and their shapes repeat, also below each other; items with
# one odd part, blank texts, hidden elements, table cells with spans, and texts with inline parts.
_leaf = st.sampled_from(
    [
        "",
        " ",
        "&nbsp;",
        "a",
        "Maker",
        "long text",
        "x <b>y</b> z",
        "by <a href='/u 1'>me</a> on <i class='d d2'>1 May</i>",
        "<img src=x>",
        "<img data-src=y src=x>",
        "<br>",
        "<script>x()</script>",
        "<meta itemprop=m content=' 5 '>",
        "<span itemprop=p content=3>three</span>",
        "<!--c-->",
    ]
)
_starts = st.sampled_from(
    [
        "<div>",
        "<div class=a>",
        "<div class='a  b2'>",
        "<div class=odd>",
        "<div class='row-even i3'>",
        "<p>",
        "<ul><li>",
        "<li>",
        "<li class=c>",
        "<dt>",
        "<dd>",
        "<table><tr><td>",
        "<tr><td>",
        "<td colspan=2>",
        "<td>",
        "<th>",
        "<a href=z>",
        "<svg>",
        "<span>",
        "<h3>",
        "</div><div>",
    ]
)


def _wrapped(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    one = st.builds(
        lambda start, parts: start + "".join(parts), _starts, st.lists(inner, max_size=4)
    )
    closed = st.builds(lambda name, part: f"<{name}>{part}</{name}>", _tags, one)
    again = st.builds(lambda part, times: part * times, closed, st.integers(2, 5))
    return st.one_of(closed, again)


_tags = st.sampled_from(["div", "div class=a", "li", "ul", "dl", "tr", "table", "span", "section"])
pages = st.lists(st.recursive(_leaf, _wrapped, max_leaves=30), min_size=1, max_size=6).map(
    lambda parts: encode("".join(parts).encode(), kind="html")
)


def check_same(page: Digest) -> None:
    """Compare everything that the kernels find on a page."""
    view, plain = outline(page), plain_outline.outline(page)
    for name in ("elements", "leaves", "own_text", "end", "parent", "leaves_before", "text_before"):
        np.testing.assert_array_equal(getattr(view, name), getattr(plain, name), name)
    for heuristic in Subtree:
        scores = plain_subtrees.SUBTREES[heuristic](plain)
        np.testing.assert_array_equal(SUBTREES[heuristic](view), scores)
        assert best(view, heuristic) == len(scores) - 1 - int(scores[::-1].argmax())
    found = [(one.node, one.records, one.likeness) for one in candidates(view)]
    assert found == plain_lists(plain)
    for one in candidates(view):
        measured, expected = asdict(signs(view, one)), plain_signs.signs(plain, one)
        assert {name: measured[name] for name in expected} == expected
    for _, records, _ in found:
        assert cells(view, records) == plain_cells.cells(plain, records)


def plain_lists(
    view: plain_outline.Outline,
) -> list[tuple[int, tuple[tuple[int, ...], ...], float]]:
    """The lists of a page as plain Python finds them."""
    if not view.elements.any() or not view.leaves.any():
        return []
    shapes = plain_shapes.shapes(view)
    found = plain_candidates.candidates(view, shapes)
    kept = plain_nesting.resolve(view, shapes, found)
    return [(one.node, one.records, one.likeness) for one in kept]


@settings(max_examples=300)
@given(pages)
def test_kernels_equal_plain_python(page: Digest) -> None:
    check_same(page)


@pytest.mark.parametrize("case", sorted(path.name for path in PAGES.iterdir() if path.is_dir()))
def test_kernels_equal_plain_python_on_list_pages(case: str) -> None:
    check_same(encode((PAGES / case / "page.html").read_bytes()))


def test_kernels_equal_plain_python_on_real_pages() -> None:
    for path in corpus.files("records"):
        if path.suffix == ".html":
            check_same(encode(path.read_bytes()))


@pytest.mark.parametrize(
    "source",
    [
        b'{"#text": [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}, {"a": 3, "b": "z"}]}',
        b"<?xml version='1.0'?><r><i class='a'>x<b>1</b></i><i class='a'>y<b>2</b></i><i>z<b>3</b></i></r>",
        b"one\n\ntwo\n\nthree\n",
        b"",
        b"\0\1",
        "<ul><li>\x1c a \u00a0b<li>\u200b<li>c\u2003d<li>e</ul>".encode(),
        b"<ul>" + b"<li><b>a</b> b" * 500 + b"</ul>",  # means of more than 128 numbers
    ],
)
def test_kernels_equal_plain_python_on_other_pages(source: bytes) -> None:
    check_same(encode(source))


def test_a_digest_that_was_stored_has_the_same_lists() -> None:
    page = encode(b"<ul>" + b"<li><b>a</b> b" * 9 + b"</ul>")
    stored = quire.from_bytes(page.to_bytes())

    assert candidates(outline(stored)) == candidates(outline(page)) != []


def test_a_text_of_a_run_of_siblings_stays_inside_its_record() -> None:
    # The element around the records has a text of its own and only inline elements in it.
    items = "".join(f"<a href=/{n}>Fish {n}</a><span>{n} €</span>" for n in range(5))
    page = encode(f"<div>Prices: {items}</div>".encode())
    view = outline(page)
    (one,) = candidates(view)

    rows = [[cell.value for cell in row] for row in cells(view, one.records)]

    assert len(one.records[0]) == 2
    assert rows[3] == ["/3", "Fish 3", "3 €"]


def test_numbers_of_nodes_are_checked() -> None:
    view = outline(encode(b"<p>x"))

    with pytest.raises(ValueError, match="node 99 does not exist; the page has 6"):
        cells(view, ((99,),))
    with pytest.raises(OverflowError):
        cells(view, ((-1,),))
    with pytest.raises(KeyError, match="unknown column"):
        view.native.column("fish")
    with pytest.raises(KeyError, match="unknown heuristic"):
        view.native.best_subtree("fish")


_MOST = 1_000_000
_HOSTILE = {
    "a million siblings": b"<ul>" + b"<li>x" * _MOST,
    "deep": b"<div><b>x</b>y" * (_MOST // 14),
    "deep inline": b"<p><b>x" * 3 + b"<b>x<i>y" * (_MOST // 8),
    "lists in lists": b"<ul>" + b"<li>a<b>b</b><li>c<b>d</b><li>e<b>f</b><ul>" * (_MOST // 44),
    "one class each": b"".join(b"<div class=c%d><b>x</b> y</div>" % n for n in range(_MOST // 30)),
    "runs of inline siblings": b"<div>x" + b"<a href=/>y</a><span>z</span>" * (_MOST // 30),
    "wide row": b"<table>" + (b"<tr>" + b"<td colspan=1000>x</td>" * (_MOST // 72)) * 3,
    "attributes": b"<ul>" + (b"<li" + b" a=b" * 10_000 + b"><b>x</b> y") * (_MOST // 40_000),
}


@pytest.mark.parametrize("name", _HOSTILE)
def test_a_hostile_page_has_an_answer(name: str) -> None:
    view = outline(encode(_HOSTILE[name]))

    for one in candidates(view):
        assert len(cells(view, one.records)) == len(one.records)


def test_several_threads_may_use_one_outline() -> None:
    page = encode((min(PAGES.iterdir()) / "page.html").read_bytes())
    view: Outline = outline(page)
    expected = candidates(view)
    found: list[bool] = []

    def look() -> None:
        found.extend(candidates(view) == expected for _ in range(20))

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == [True] * 80
