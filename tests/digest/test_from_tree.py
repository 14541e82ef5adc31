"""Trees that quire did not parse become digests like any other."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import quire
from quire import Digest
from tests import strategies
from tests.strategies import Tree


def algorithm_2(tree: Tree | str) -> str:
    """Serialise as the paper does, by recursion: open, content, children, close."""
    if isinstance(tree, str):
        return tree.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    name, attributes, children = tree
    run = "".join(f' {key}="{value}"' for key, value in attributes.items())
    return f"<{name}{run}>{''.join(map(algorithm_2, children))}</{name}>"


def children_of(tree: Tree | str) -> Iterable[Tree | str]:
    return [] if isinstance(tree, str) else tree[2]


def digest_of(tree: Tree) -> Digest:
    root: Tree | str = tree  # a text is a node too
    return Digest.from_tree(
        root,
        children=children_of,
        tag=lambda node: "#text" if isinstance(node, str) else node[0],
        attributes=lambda node: None if isinstance(node, str) else node[1],
        content=lambda node: node if isinstance(node, str) else None,
    )


@given(strategies.plain_trees())
def test_a_tree_decodes_to_its_serialisation(tree: Tree) -> None:
    page = digest_of(tree)

    assert page.decode() == algorithm_2(tree).encode()
    assert page.kind == "tree"
    assert "verbatim" not in page.flags


@given(strategies.plain_trees())
def test_a_tree_has_the_columns_of_its_serialisation_read_as_xml(tree: Tree) -> None:
    page = digest_of(tree)
    xml = quire.encode(page.decode(), kind="xml")

    assert page.tags == xml.tags
    for name in ("children", "tag", "attr", "content", "size"):
        assert getattr(page, name).tolist() == getattr(xml, name).tolist()


@given(strategies.plain_trees())
def test_columns_make_the_same_digest(tree: Tree) -> None:
    page = digest_of(tree)
    rows = range(1, page.n)
    again = Digest.from_columns(
        page.children[1:],
        [page.tags[page.tag[node]] for node in rows],
        attributes=[page.attributes(node) for node in rows],
        contents=[page.text(node) if page.content[node] >= 0 else None for node in rows],
    )

    assert again.to_bytes() == page.to_bytes()


@given(st.text(), st.text())
def test_any_text_is_read_as_it_was_given(content: str, value: str) -> None:
    content, value = (text.encode("utf-8", "replace").decode() for text in (content, value))
    page = Digest.from_columns([0], ["a"], attributes=[{"k": value}], contents=[content])

    assert page.attributes(1) == {"k": value}
    assert [page.text(node) for node in range(2, page.n)] == ([content] if content else [])


def test_content_of_an_inner_node_comes_before_its_children() -> None:
    page = Digest.from_columns([1, 0], ["a", "b"], contents=["x", b"y"])

    assert page.decode() == b"<a>x<b>y</b></a>"
    assert page.select("a > b").tolist() == [3]


def test_a_tree_can_be_saved_searched_and_compared() -> None:
    page = Digest.from_columns([2, 0, 0], ["r", "#comment", "b"], contents=[None, " c ", None])

    assert page.decode() == b"<r><!-- c --><b></b></r>"
    assert quire.from_bytes(page.to_bytes(compress=True)) == page
    assert page.path(3, "xpath") == "/r/b"
    assert page.to_lxml().find("b") is not None


def test_a_deep_tree_needs_no_deep_stack() -> None:
    page = Digest.from_tree(0, children=lambda k: [k + 1] if k < 50_000 else [], tag=lambda _: "a")

    assert page.n == 50_002
    assert int(page.depth.max()) == 50_001


def test_a_tree_without_end_is_refused() -> None:
    loop: list[object] = []
    loop.append([loop])

    with pytest.raises(quire.TreeError, match="its own descendant"):
        Digest.from_tree(loop, children=lambda node: node, tag=lambda _: "a")  # type: ignore[arg-type, return-value] # lists all the way down


def test_a_node_that_two_parents_share_is_there_twice() -> None:
    shared: list[object] = []

    page = Digest.from_tree([shared, shared], children=lambda node: node, tag=lambda _: "a")  # type: ignore[arg-type, return-value] # lists all the way down
    assert page.children.tolist() == [1, 2, 0, 0]


@pytest.mark.parametrize(
    ("children", "tags", "message"),
    [
        ([], [], "at least one node"),
        ([1], ["a"], "is missing 1 of its 1 children"),
        ([0, 0], ["a", "b"], "no parent for node 1 of 2"),
        ([0], [], "0 tags for 1 child counts"),
        ([0], ["a b"], "has the invalid name"),
        ([0], ["#document"], "the only names with #"),
        ([1, 0], ["#text", "a"], "cannot have children"),
    ],
)
def test_columns_that_are_no_tree_are_refused(
    children: list[int], tags: list[str], message: str
) -> None:
    with pytest.raises(quire.TreeError, match=message):
        Digest.from_columns(children, tags)


@pytest.mark.parametrize(
    ("count", "message"),
    [
        (-1, "node 1 has child count -1; expected"),
        (2**32, "node 1 has child count 4294967296; expected"),
        (2**70, "node 1 has child count"),
        (2**32 - 1, "children"),
        (0.0, "node 1 has child count 0.0; expected a whole number"),
        (1.5, "whole number"),
        ("0", "whole number"),
        (None, "whole number"),
        (float("nan"), "whole number"),
    ],
)
def test_counts_that_are_no_counts_are_refused(count: object, message: str) -> None:
    with pytest.raises(quire.TreeError, match=message):
        Digest.from_columns([1, count], ["a", "b"])  # type: ignore[list-item] # that is the point


def test_counts_of_an_array_of_floats_are_refused() -> None:
    with pytest.raises(quire.TreeError, match="whole number"):
        Digest.from_columns(np.array([1.0, 0.0]), ["a", "b"])


def test_the_columns_of_a_page_are_taken_without_its_document() -> None:
    page = quire.encode(b"<p>x")

    with pytest.raises(quire.TreeError, match="leave the document out"):
        Digest.from_columns(page.children, [page.tags[tag] for tag in page.tag])
