"""Whatever goes in comes out, and the columns say what the tree is."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quire
from quire.digest.files import PageKind
from tests import strategies
from tests.strategies import Tree


@given(source=strategies.html, scripting=st.booleans())
def test_every_html_page_comes_back_byte_for_byte(*, source: bytes, scripting: bool) -> None:
    assert quire.encode(source, kind="html", scripting=scripting).decode() == source


@given(
    strategies.html, st.sampled_from(["td", "select", "template", "svg path", "math mi", "title"])
)
def test_every_fragment_comes_back_byte_for_byte(source: bytes, fragment: str) -> None:
    page = quire.encode(source, fragment=fragment)

    assert page.decode() == source
    assert "fragment" in page.flags


@given(strategies.disguised | st.binary(max_size=200))
def test_any_bytes_at_all_come_back(source: bytes) -> None:
    assert quire.encode(source, recover=True).decode() == source


@given(strategies.disguised, st.sampled_from(["html", "xml", "json", "text", "bytes"]))
def test_any_bytes_come_back_whatever_they_are_taken_for(source: bytes, kind: PageKind) -> None:
    assert quire.encode(source, kind=kind, recover=True).decode() == source


@given(value=strategies.json_values, indent=st.sampled_from([None, 1, 4]), ascii_only=st.booleans())
def test_json_comes_back_in_its_own_layout(
    *, value: object, indent: int | None, ascii_only: bool
) -> None:
    source = json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode()
    page = quire.encode(source, kind="json")

    assert page.decode() == source
    # The layout is predicted; only keys with escapes are stored twice, which may outweigh a small page.
    assert "verbatim" not in page.flags or b"\\" in source


@given(strategies.html, st.sampled_from(["utf-16le", "utf-16be", "shift_jis", "koi8-r", "gb18030"]))
def test_other_character_sets_come_back(source: bytes, encoding: str) -> None:
    encoded = source.decode().encode(encoding, "replace")
    page = quire.encode(encoded, kind="html", encoding=encoding)

    assert page.decode() == encoded
    assert page.encoding_reason == "given"


@given(strategies.html)
def test_columns_describe_one_tree(source: bytes) -> None:
    page = quire.encode(source, kind="html")
    children, parent, depth, size = (
        column.tolist() for column in (page.children, page.parent, page.depth, page.size)
    )

    def walk(node: int, above: int, level: int) -> int:
        """Check a subtree by the definition of each column; give the node after it."""
        after = node + 1
        for _ in range(children[node]):
            after = walk(after, node, level + 1)
        assert (parent[node], depth[node], size[node]) == (above, level, after - node)
        return after

    assert walk(0, -1, 0) == page.n == sum(children) + 1
    for node in range(page.n):
        leaf = page.tags[page.tag[node]].startswith("#") and children[node] == 0
        assert page.content[node] < 0 or leaf
        assert -1 <= page.attr[node] < len(page.attrs)
        assert -1 <= page.content[node] < len(page.contents)


def flat(tree: Tree | str, into: list[tuple[str, dict[str, str], str, int]]) -> None:
    """List a tree in pre-order by recursion: name, attributes, text, number of children."""
    if isinstance(tree, str):
        into.append(("#text", {}, tree, 0))
        return
    name, attributes, children = tree
    into.append((name, attributes, "", len(children)))
    for child in children:
        flat(child, into)


@given(strategies.plain_trees(), st.sampled_from(["html", "xml"]))
def test_columns_are_the_tree_that_was_written(tree: Tree, kind: PageKind) -> None:
    page = quire.encode(strategies.written(tree).encode(), kind=kind)
    expected: list[tuple[str, dict[str, str], str, int]] = []
    flat(tree, expected)

    first = page.n - len(expected)  # html, head and body are implied
    found = [
        (
            page.tags[page.tag[node]],
            page.attributes(node),
            page.text(node) if page.content[node] >= 0 else "",
            int(page.children[node]),
        )
        for node in range(first, page.n)
    ]

    assert found == expected


def test_the_lists_of_the_paper_are_the_columns_by_their_names() -> None:
    # Figure 2: a table of one row with an image and a text.
    page = quire.encode(b"<table><tr><td><img src=a><td>x</table>", fragment="div")

    assert page.N == page.n == 8
    assert page.ST.tolist() == [1, 1, 1, 2, 1, 0, 1, 0]
    assert page.TL == ("#document", "table", "tbody", "tr", "td", "img", "#text")
    assert [page.TL[tag] for tag in page.TM] == [
        *("#document", "table", "tbody", "tr", "td", "img", "td", "#text")
    ]
    assert list(page.AL) == [b" src=a"]
    assert page.AM.tolist() == [-1, -1, -1, -1, -1, 0, -1, -1]
    assert list(page.CL) == [b"x"]
    assert page.CM.tolist() == [-1, -1, -1, -1, -1, -1, -1, 0]


def test_a_name_in_two_namespaces_is_two_tags() -> None:
    page = quire.encode(b"<a>1</a><svg><a>2</a><clipPath/></svg>")

    assert [
        (label, space)
        for label, name, space in zip(page.tags, page.tag_names, page.tag_namespaces, strict=True)
        if name == "a"
    ] == [("a", "html"), ("svg:a", "svg")]
    assert page.tag_counts()["a"] == page.tag_counts()["svg:a"] == 1
    assert page.count("a") == 2
    assert page.tag_namespaces[page.tag_id("#text")] == ""
    assert page.tag_namespaces[page.tag_id("clipPath")] == "svg"
    assert page.tag_id("a", "svg") != page.tag_id("a") >= 0
    assert page.tag_id("nav") == -1
    assert page.count("nav") == 0


@given(strategies.html)
def test_tag_counts_are_what_counting_gives(source: bytes) -> None:
    page = quire.encode(source, kind="html")
    names = [page.tags[tag] for tag in page.tag]

    assert page.tag_counts() == {name: names.count(name) for name in page.tags}


@given(strategies.html, st.lists(st.integers(0, 400), max_size=8))
def test_a_page_in_chunks_is_the_page_in_one(source: bytes, cuts: list[int]) -> None:
    encoder = quire.Encoder(kind="html", scripting=False)
    start = 0
    for cut in sorted(cuts):
        encoder.feed(memoryview(source)[start:cut])
        start = max(start, cut)
    encoder.feed(bytearray(source[start:]))

    whole = quire.encode(source, kind="html", scripting=False)

    assert encoder.finish().to_bytes() == whole.to_bytes()


def test_an_encoder_is_used_up_by_its_page() -> None:
    encoder = quire.Encoder()
    encoder.feed(b"<p>")
    encoder.finish()

    with pytest.raises(ValueError, match="finished"):
        encoder.feed(b"x")
    with pytest.raises(ValueError, match="finished"):
        encoder.finish()


def test_an_encoder_takes_the_options_of_encode() -> None:
    encoder = quire.Encoder(fragment="tr")
    encoder.feed(b"<td>1<td>2")

    assert encoder.finish() == quire.encode(b"<td>1<td>2", fragment="tr")
    with pytest.raises(ValueError, match="always html"):
        quire.Encoder(kind="xml", fragment="tr")
    with pytest.raises(ValueError, match="unknown encoding"):
        quire.Encoder(encoding="utf-99")


def test_a_string_is_a_path_and_bytes_are_a_page(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(b"<p>Fish")

    assert quire.encode(path) == quire.encode(str(path)) == quire.encode(b"<p>Fish")
    assert quire.encode(bytearray(b"<p>Fish")) == quire.encode(memoryview(b"<p>Fish"))
    with pytest.raises(FileNotFoundError):
        quire.encode(str(tmp_path / "gone.html"))
    with pytest.raises(TypeError, match=r"'<p>Fish'.*\.encode\(\)"):
        quire.encode("<p>Fish")


def test_a_fault_is_named_with_its_file_and_place(tmp_path: Path) -> None:
    path = tmp_path / "feed.xml"
    path.write_bytes(b"<a>\n  <b></a>")

    with pytest.raises(quire.MalformedSource) as caught:
        quire.encode(path, kind="xml")

    assert (caught.value.kind, caught.value.line) == ("xml", 2)
    assert str(caught.value).startswith(f"{path}: not well-formed xml: ")
    assert "recovered" in quire.encode(path, kind="xml", recover=True).flags


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "tree"}, "unknown kind 'tree'; expected html"),
        ({"kind": "HTML"}, "unknown kind"),
        ({"encoding": "utf-9"}, "unknown encoding 'utf-9'"),
        ({"fragment": ""}, "fragment '' is not an element"),
        ({"fragment": "svg path d"}, "is not an element"),
        ({"fragment": "td", "kind": "xml"}, "a fragment is always html"),
    ],
)
def test_an_option_that_means_nothing_is_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("'", "['\"]")):
        quire.encode(b"<p>", **options)  # type: ignore[arg-type] # that is the point


def test_what_is_no_page_is_a_type_error() -> None:
    with pytest.raises(TypeError):
        quire.encode(3)  # type: ignore[arg-type] # that is the point
    with pytest.raises(TypeError):
        quire.encode(None)  # type: ignore[arg-type] # that is the point


def test_deep_pages_need_no_deep_stack() -> None:
    source = b"<div>" * 100_000
    page = quire.encode(source, kind="html")

    assert page.decode() == source
    assert "depth-capped" in page.flags
    assert page.text() == ""
    assert page.select("div:last-child").size > 0
    assert quire.encode(b"<a>" * 5000 + b"</a>" * 5000, kind="xml").to_lxml().tag == "a"


@pytest.mark.parametrize("name", ["pages-readability", "xml-data", "diff-pairs"])
def test_real_pages_come_back(corpus_files: Callable[[str], list[Path]], name: str) -> None:
    paths = corpus_files(name)
    for path in random.Random(7).sample(paths, min(60, len(paths))):
        source = path.read_bytes()
        page = quire.encode(source, recover=True)
        assert page.decode() == source, path
        assert quire.from_bytes(page.to_bytes()).decode() == source, path


@pytest.mark.parametrize("encoding", ["iso-8859-1", "utf-16"])
def test_a_fault_is_where_it_is_in_the_source(encoding: str) -> None:
    text = f"<?xml version='1.0' encoding='{encoding}'?>\n<r>éé\n<a>éü</b></r>"
    source = text.encode(encoding)
    with pytest.raises(quire.MalformedSource, match="line 3, column") as caught:
        quire.encode(source)

    width = 1 if encoding == "iso-8859-1" else 2
    assert (caught.value.line, caught.value.column) == (3, 5 * width + 1)
    assert source[caught.value.offset :].decode("latin1").startswith("<\0/" if width == 2 else "</")


# Longer than runs that are looked up by their bytes.
def test_attributes_added_to_html_and_body_without_tags_stay_apart() -> None:
    page = quire.encode(b"x<html class=%b><body id=%b>" % (b"a" * 80, b"b" * 80), kind="html")
    html, body = (page.select(name)[0] for name in ("html", "body"))

    assert dict(page.attributes(html)) == {"class": "a" * 80}
    assert dict(page.attributes(body)) == {"id": "b" * 80}
