"""Which nodes a reader can see."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quire
from quire.digest import HIDDEN_ELEMENTS
from tests import strategies


def seen(node: quire.Node) -> list[bool]:
    """Say for a node and all below it whether they are visible, by the rules."""
    scripting = "scripting" in node.page.flags
    if node.namespace == "html":
        hidden = node.tag in HIDDEN_ELEMENTS and (scripting or node.tag != "noscript")
    else:
        hidden = node.namespace in {"svg", "math"} and node.tag in {"script", "style"}
    if hidden:
        return [False] * int(node.page.size[node.number])
    leaf = node.tag in {"#comment", "#doctype"}
    return [not leaf, *(below for child in node for below in seen(child))]


def words(text: str) -> str:
    return "".join(text.split())


def shown(page: quire.Digest) -> str:
    """Put the texts together that are visible."""
    texts = [tag for tag, name in enumerate(page.tags) if name in {"#text", "#cdata"}]
    nodes = [node for node in range(page.n) if page.visible[node] and page.tag[node] in texts]
    return "".join(page.text(node) for node in nodes)


@given(source=strategies.html, scripting=st.booleans())
def test_nodes_in_hidden_elements_are_not_visible(*, source: bytes, scripting: bool) -> None:
    page = quire.encode(source, kind="html", scripting=scripting)

    assert page.visible.tolist() == seen(page.root)


@given(source=strategies.html, scripting=st.booleans())
def test_visible_texts_are_the_text_of_the_page(*, source: bytes, scripting: bool) -> None:
    page = quire.encode(source, kind="html", scripting=scripting)

    assert words(shown(page)) == words(page.text())


def test_comments_and_instructions_of_xml_are_not_visible() -> None:
    page = quire.encode(b"<?xml version='1.0'?><!DOCTYPE a><a><!-- b --><style>c</style></a>")
    names = [page.tags[tag] for tag in page.tag]

    assert dict(zip(names, page.visible.tolist(), strict=True)) == {
        "#document": True,
        "#instruction": False,
        "#doctype": False,
        "a": True,
        "#comment": False,
        "style": True,
        "#text": True,
    }


def test_all_of_json_is_visible_and_bytes_are_not() -> None:
    assert quire.encode(b'{"a": [1, null]}').visible.all()
    assert quire.encode(b"\x00\x01", kind="bytes").visible.tolist() == [True, False]


def test_the_column_cannot_be_changed() -> None:
    page = quire.encode(b"<p>Fish")

    with pytest.raises(ValueError, match="read-only"):
        page.visible[0] = False


def test_visible_texts_of_real_pages_are_their_text(
    corpus_files: Callable[[str], list[Path]],
) -> None:
    paths = corpus_files("pages-readability")
    for path in random.Random(7).sample(paths, min(40, len(paths))):
        page = quire.encode(path.read_bytes(), kind="html")

        assert words(shown(page)) == words(page.text()), path
