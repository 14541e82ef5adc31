"""Encoding and decoding against the paper's Algorithms 1 and 2, and the tree of its figure 2."""

from __future__ import annotations

import pytest
from hypothesis import given

import quire
from quire import Digest
from tests import strategies
from tests.digest.paper_000_program import algorithm_1, algorithm_2, children
from tests.strategies import Tree

#: Section 3.3: a table with one row of two columns. The first has an image, the second a table
#: with an image and a text in a ``font`` that has 5 children, while no other node has more than 2.
#: The text does not name these children; texts and line breaks are our guess.
FIGURE_2 = (
    b"<table><tr>"
    b'<td><img src="u"/></td>'
    b'<td><table><tr><td><img src="v"/></td><td><font size="2">A<br/>B<br/>C</font></td></tr></table></td>'
    b"</tr></table>"
)


def bare(tree: Tree) -> Tree:
    """Keep only the elements of a tree: the paper's algorithms know nothing else."""
    name, _, below = tree
    return name, {}, [bare(child) for child in below if not isinstance(child, str)]


def counts(page: Digest) -> list[int]:
    """Take the child counts without those of the document, which the paper does not have."""
    return [int(count) for count in page.ST[1:]]


def elements_below(page: Digest) -> list[int]:
    """Count the children that are elements, for every element."""
    is_element = [not page.tags[tag].startswith("#") for tag in page.tag]
    found = dict.fromkeys((node for node in range(page.n) if is_element[node]), 0)
    for node in found:
        if int(page.parent[node]) in found:
            found[int(page.parent[node])] += 1
    return list(found.values())


@given(strategies.plain_trees())
def test_encoding_counts_children_as_algorithm_1_does(tree: Tree) -> None:
    source = strategies.written(tree)

    page = quire.encode(source.encode(), kind="xml")

    assert elements_below(page) == algorithm_1(source)
    alone = strategies.written(bare(tree))
    assert counts(quire.encode(alone.encode(), kind="xml")) == algorithm_1(alone)


@given(strategies.plain_trees())
def test_decoding_prints_as_algorithm_2_does(tree: Tree) -> None:
    page = quire.encode(strategies.written(bare(tree)).encode(), kind="xml")
    names = [page.tags[tag] for tag in page.tag[1:]]

    made = algorithm_2(
        counts(page), lambda node: f"<{names[node]}>", lambda node: f"</{names[node]}>"
    )

    assert made.encode() == page.decode()


@given(strategies.plain_trees())
def test_decoding_prints_attributes_and_contents_as_the_papers_implementation_does(
    tree: Tree,
) -> None:
    page = quire.encode(strategies.written(tree).encode(), kind="xml")

    def start(node: int) -> str:
        if page.CM[node + 1] >= 0:
            return bytes(page.CL[page.CM[node + 1]]).decode()
        run = page.AL[page.AM[node + 1]].decode() if page.AM[node + 1] >= 0 else ""
        return f"<{page.TL[page.TM[node + 1]]}{run}>"

    def end(node: int) -> str:
        return "" if page.CM[node + 1] >= 0 else f"</{page.TL[page.TM[node + 1]]}>"

    assert algorithm_2(counts(page), start, end).encode() == page.decode()


@given(strategies.plain_trees())
def test_the_children_of_a_node_are_those_of_the_papers_subroutine(tree: Tree) -> None:
    page = quire.encode(strategies.written(tree).encode(), kind="xml")
    expected: list[list[int]] = [[] for _ in range(page.n)]
    for node in range(1, page.n):
        expected[int(page.parent[node])].append(node)

    assert children([int(count) for count in page.ST]) == expected


def test_algorithm_1_as_printed_counts_end_tags_as_nodes() -> None:
    source = "<a><b></b><c></c></a>"

    assert algorithm_1(source) == [2, 0, 0]
    assert algorithm_1(source, as_printed=True) == [2, 0, None, 0, None, None]


def test_algorithm_2_as_printed_gives_a_later_child_to_a_complete_node() -> None:
    # Node 4 is the last child of 3, and 3 the last one of 1: both are complete after it.
    st = [2, 2, 0, 1, 0, 0]

    assert children(st) == [[1, 5], [2, 3], [], [4], [], []]
    assert children(st, as_printed=True) == [[1], [2, 3, 5], [], [4], [], []]


def test_the_tree_of_figure_2_has_the_digest_that_the_paper_describes() -> None:
    page = quire.encode(FIGURE_2, kind="xml")
    st, names = counts(page), [page.TL[tag] for tag in page.TM[1:]]

    assert (names[:4], st[:4]) == (["table", "tr", "td", "img"], [1, 2, 1, 0])
    assert page.AM[1] == page.CM[1] == -1  # the root has neither attributes nor content
    assert st[names.index("font")] == 5
    assert sorted(st)[-2] == 2
    assert len(page.TL) < page.N
    assert all(page.ST[node] == 0 for node in range(page.n) if page.CM[node] >= 0)
    assert [page.CL[content] for content in page.CM if content >= 0] == [b"A", b"B", b"C"]
    assert page.decode() == FIGURE_2


def test_a_browser_puts_a_body_into_each_table_of_figure_2() -> None:
    page = quire.encode(FIGURE_2, fragment="div")

    assert page.count("tbody") == 2
    assert page.n == quire.encode(FIGURE_2, kind="xml").n + 2
    assert page.decode() == FIGURE_2


@pytest.mark.parametrize("tree", [("a", {}, []), ("a", {}, [("b", {}, [("c", {}, [])])])])
def test_the_algorithms_agree_on_one_node_and_on_a_chain(tree: Tree) -> None:
    source = strategies.written(tree)
    st = algorithm_1(source)

    assert counts(quire.encode(source.encode(), kind="xml")) == st
    assert children([count or 0 for count in st])[-1] == []
