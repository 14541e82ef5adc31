"""The list of names: every name once, whatever its namespace."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quire
from tests import strategies

# Names that another name of the same page could be spelled like.
CLASHING = ["svg", "title", "svg:title", "html:svg:title", "math:mi", "html:title", "mi"]
tags = st.lists(
    st.sampled_from([*CLASHING, "math", "p"]).map(lambda name: f"<{name}>"), max_size=12
).map(lambda parts: "".join(parts).encode())
keys = st.sampled_from(["#object", "##object", "###object", "#string", "#number", "a"])


@given(strategies.html | tags)
def test_no_two_names_of_a_page_are_the_same(source: bytes) -> None:
    page = quire.encode(source, kind="html")

    assert len(set(page.tags)) == len(page.tags)


@given(st.dictionaries(keys, st.none() | st.just("x") | st.integers(), max_size=6))
def test_no_key_is_spelled_like_the_name_of_a_value(members: dict[str, object]) -> None:
    page = quire.encode(str(members).replace("'", '"').replace("None", "null").encode())

    assert page.kind == "json"
    assert len(set(page.tags)) == len(page.tags)


@given(tags)
def test_a_name_says_its_namespace(source: bytes) -> None:
    page = quire.encode(source, kind="html")
    for label, name, namespace in zip(page.tags, page.tag_names, page.tag_namespaces, strict=True):
        if namespace in {"svg", "math"}:
            assert label == f"{namespace}:{name}"
        else:
            assert label in {name, f"html:{name}"}
        assert page.tags[page.tag_id(label)] == label
        assert page.tag_names[page.tag_id(name, namespace or None)] == name


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (b"<title>a</title><svg><title>b", ("title", "svg:svg", "svg:title")),
        (b"<math><mi>x", ("math:math", "math:mi")),
        (b"<svg:title>a", ("html:svg:title",)),
        (b"<o:p>a", ("o:p",)),
    ],
)
def test_names_of_html_pages(source: bytes, expected: tuple[str, ...]) -> None:
    page = quire.encode(source, kind="html")
    usual = {"#document", "html", "head", "body", "#text"}

    assert tuple(name for name in page.tags if name not in usual) == expected


def test_names_of_xml_are_as_written() -> None:
    source = b'<a xmlns:svg="http://www.w3.org/2000/svg"><svg:title/><title/></a>'

    assert quire.encode(source, kind="xml").tags == ("#document", "a", "svg:title", "title")


def test_counts_tell_namespaces_apart_and_a_plain_name_counts_all() -> None:
    page = quire.encode(b"<title>a</title><svg><title>b</title><title>c")
    counts = page.tag_counts()

    assert (counts["title"], counts["svg:title"]) == (1, 2)
    assert [page.count(name) for name in ("title", "svg:title", "table")] == [3, 2, 0]


def test_selectors_know_names_without_a_namespace() -> None:
    page = quire.encode(b"<title>a</title><svg><title>b</title><clipPath>")
    titles = page.select("title").tolist()

    assert [page.tags[page.tag[node]] for node in titles] == ["title", "svg:title"]
    assert page.select("svg title").tolist() == titles[1:]
    assert page.node(titles[1]).tag == "title"
    assert page.node(titles[1]).namespace == "svg"


def test_no_two_names_of_a_real_page_are_the_same(
    corpus_files: Callable[[str], list[Path]],
) -> None:
    foreign = 0
    paths = corpus_files("pages-readability")
    for path in random.Random(7).sample(paths, min(60, len(paths))):
        page = quire.encode(path.read_bytes(), kind="html")
        foreign += "svg" in page.tag_namespaces

        assert len(set(page.tags)) == len(page.tags), path
    assert foreign
