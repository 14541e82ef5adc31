"""Changed or not, from headers where they are enough."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import quire
from quire import ALL_FACETS, Rules
from quire.sdiff.changed import BLOCK, counts_differ
from quire.sdiff.facets import Facet
from tests.strategies import html

# One change for each facet, and all the facets that it is seen in.
PAIRS = {
    "nothing": (b"<p>a", b"<p>a", set()),
    "spelling": (b"<p class=a>&amp;</p>", b"<P class='a'>&#38;", set()),
    "content": (b"<p>a", b"<p>b", {"content"}),
    "attributes": (b"<p id=a>", b"<p id=b>", {"attributes"}),
    "tags": (b"<b>a</b>", b"<i>a</i>", {"tags"}),
    "links": (b"<a href=x>", b"<a href=y>", {"attributes", "links"}),
    "images": (b"<img src=x>", b"<img src=y>", {"attributes", "images"}),
}

rules = st.builds(
    Rules,
    only=st.sampled_from([(), (), ("p",), ("body",)]),
    without=st.sampled_from([(), (), ("b",), ("td", "li")]),
    ignore_space=st.booleans(),
    ignore_case=st.booleans(),
    ignore_attributes=st.sampled_from([(), ("id",), ("*",)]),
    ignore_text=st.sampled_from([(), ("fish",)]),
    ignore_order=st.booleans(),
    tolerance=st.sampled_from([None, (1.0, 0.0)]),
)


@pytest.mark.parametrize("name", PAIRS)
def test_a_change_is_seen_in_its_facets_and_no_others(name: str) -> None:
    before, after, expected = PAIRS[name]
    old, new = quire.encode(before, kind="html"), quire.encode(after, kind="html")

    assert {facet for facet in ALL_FACETS if quire.changed(old, new, facet)} == expected
    assert quire.changed(old, new) == bool(expected)
    found = {facet for change in quire.annotate(old, new).changes() for facet in change.facets}
    assert found == expected


# Pages that are the same bytes in two character sets, or the same text in two, or two pages. Names,
# values and texts that are not ASCII are where bytes and characters differ.
LETTERS = ["größe", "ä", "§", "naïve"]
foreign = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["p", "b", "a"]), *[st.sampled_from([*LETTERS, "id"])] * 2).map(
            lambda part: f"<{part[0]} {part[1]}={part[2]}>"
        ),
        st.sampled_from([*LETTERS, "</p>", "</b>", " ", "fish", "<a href=ü>", "<img src=é>"]),
    ),
    max_size=8,
).map("".join)
CHARSETS = ["utf-8", "windows-1252", "iso-8859-15", "koi8-r"]


@st.composite
def page_pairs(draw: st.DrawFn) -> tuple[quire.Digest, quire.Digest]:
    """Draw two pages that a signature and an annotation could see differently."""
    kind = draw(st.sampled_from(["pages", "labels", "recoded"]))
    if kind == "pages":
        old, new = (quire.encode(draw(html), kind="html") for _ in range(2))
        return old, new
    text = draw(foreign)
    if kind == "labels":
        source = text.encode(draw(st.sampled_from(["utf-8", "latin-1"])))
        one, other = draw(st.sampled_from(CHARSETS)), draw(st.sampled_from(CHARSETS))
        return (
            quire.encode(source, kind="html", encoding=one),
            quire.encode(source, kind="html", encoding=other),
        )
    edited = draw(st.sampled_from([text, text.replace("ö", "o"), text + " "]))
    return (
        quire.encode(text.encode("latin-1"), kind="html", encoding="windows-1252"),
        quire.encode(edited.encode(), kind="html", encoding="utf-8"),
    )


facet_sets = st.sampled_from(ALL_FACETS) | st.sets(st.sampled_from(ALL_FACETS), min_size=1).map(
    lambda found: tuple(facet for facet in ALL_FACETS if facet in found)
)
IGNORES_NOTHING = Rules(ignore_attributes=("zzz",))


@given(page_pairs(), facet_sets, st.just(Rules()) | st.just(IGNORES_NOTHING) | rules)
def test_changed_is_true_exactly_when_the_annotation_has_a_change(
    pages: tuple[quire.Digest, quire.Digest], facets: Facet | tuple[Facet, ...], given_rules: Rules
) -> None:
    old, new = pages
    annotation = quire.annotate(old, new, given_rules)

    assert quire.changed(old, new, facets, rules=given_rules) == annotation.differs(facets)
    assert annotation.differs(facets) == any(True for _ in annotation.changes(facets))
    assert quire.changed(old, new, rules=given_rules) == bool(annotation)
    # Rules forgive, and add nothing.
    assert quire.changed(old, new, rules=given_rules) <= quire.changed(old, new)
    for facet in ALL_FACETS:  # equal signatures are a final no
        same = getattr(old.signatures, facet) == getattr(new.signatures, facet)
        assert not (same and quire.changed(old, new, facet, rules=given_rules))


@given(page_pairs(), facet_sets)
def test_rules_that_ignore_nothing_change_no_answer(
    pages: tuple[quire.Digest, quire.Digest], facets: Facet | tuple[Facet, ...]
) -> None:
    old, new = pages

    assert quire.changed(old, new, facets, rules=IGNORES_NOTHING) == quire.changed(old, new, facets)
    assert quire.changed(old, new, rules=IGNORES_NOTHING) == quire.changed(old, new)


def test_names_of_attributes_are_compared_as_they_read() -> None:
    source = "<p größe=1>".encode()
    old = quire.encode(source, kind="html", encoding="utf-8")
    misread = quire.encode(source, kind="html", encoding="windows-1252")
    recoded = quire.encode("<p größe=1>".encode("latin-1"), kind="html", encoding="windows-1252")

    assert quire.changed(old, misread)
    assert quire.changed(old, misread, "attributes")
    assert not quire.changed(old, recoded)


def test_a_new_element_changes_no_facet_that_it_has_no_value_of() -> None:
    old, new = quire.encode(b"<p id=a>x"), quire.encode(b"<hr><p id=a>x")

    assert not quire.changed(old, new, "attributes")
    assert quire.changed(old, new, "structure")


@given(html, rules)
def test_a_page_has_not_changed_since_itself(source: bytes, given_rules: Rules) -> None:
    page = quire.encode(source, kind="html")

    assert not quire.changed(page, page, rules=given_rules)
    assert not quire.annotate(page, page, given_rules)


@pytest.mark.parametrize("compress", [False, True])
def test_headers_decide_about_stored_digests(tmp_path: Path, compress: bool) -> None:  # noqa: FBT001 - a parameter of the test
    old, new = tmp_path / "old.qd", tmp_path / "new.qd"
    body = b"<ul>" + b"".join(b"<li>%d</li>" % (number**5 % 99_991) for number in range(2_000))
    quire.encode(body, kind="html").save(old, compress=compress)
    quire.encode(body + b"<p>more", kind="html").save(new, compress=compress)
    for path in (old, new):  # all that is left is the header
        path.write_bytes(path.read_bytes()[:1024])
        with pytest.raises(quire.DigestFormatError):
            quire.load(path)

    assert quire.changed(str(old), new)
    assert quire.changed(quire.peek(old), quire.peek(new))
    assert not quire.changed(old, quire.peek(old))
    # A facet with equal signatures did not change; headers are enough to see it.
    assert not quire.changed(old, new, "links")
    assert not quire.changed(quire.peek(old), quire.peek(new), "links", rules=IGNORES_NOTHING)
    # Different signatures of one facet may come from a new element before its values.
    with pytest.raises(quire.DigestFormatError):
        quire.changed(old, new, "content")
    with pytest.raises(TypeError, match="header"):
        quire.changed(quire.peek(old), quire.peek(new), "content")
    assert quire.structure_changed(old, new)
    assert not quire.structure_changed(old, old)
    # With rules, equal signatures still are an answer, and the whole page is not needed for it.
    assert not quire.changed(old, old, "links", rules=Rules(ignore_case=True))


def test_rules_are_applied_to_stored_digests_that_differ(tmp_path: Path) -> None:
    old, new = tmp_path / "old.qd", tmp_path / "new.qd"
    quire.encode(b"<p>Open").save(old)
    quire.encode(b"<p>OPEN").save(new)

    assert quire.changed(old, new)
    assert not quire.changed(old, new, rules=Rules(ignore_case=True))
    with pytest.raises(TypeError, match="header"):
        quire.changed(quire.peek(old), new, rules=Rules(ignore_case=True))


def test_the_same_bytes_read_in_two_ways_are_two_pages() -> None:
    source = b"<p>a"

    assert quire.changed(quire.encode(source, kind="html"), quire.encode(source, kind="text"))


# Kind and flags are the same in each pair; only what is read differs.
@pytest.mark.parametrize(
    ("source", "one", "other"),
    [
        ("é".encode(), {"encoding": "utf-8"}, {"encoding": "windows-1252"}),
        (b"<td>a", {"fragment": "tr"}, {"fragment": "p"}),
        (b"<g>a", {"fragment": "svg path"}, {"fragment": "td"}),
    ],
)
def test_the_same_bytes_in_another_encoding_or_context_are_another_page(
    source: bytes, one: dict[str, Any], other: dict[str, Any]
) -> None:
    old = quire.encode(source, kind="html", **one)
    new = quire.encode(source, kind="html", **other)

    assert quire.changed(old, new)
    assert quire.annotate(old, new)


def test_white_space_of_a_text_and_of_a_page_differ_for_both_questions() -> None:
    old, new = quire.encode(b" ", kind="text"), quire.encode(b" ", fragment="svg path")

    assert quire.changed(old, new)
    assert quire.annotate(old, new)


def test_a_facet_that_is_not_known_is_an_error_that_lists_those_that_are() -> None:
    page = quire.encode(b"<p>a")
    with pytest.raises(ValueError, match="unknown facet 'colour'; expected structure, tags"):
        quire.changed(page, page, ["content", "colour"])  # type: ignore[list-item]


@given(html, html)
@example(b"", b"<tr> ")
def test_algorithm_3_is_what_the_paper_says(before: bytes, after: bytes) -> None:
    old, new = quire.encode(before, kind="html"), quire.encode(after, kind="html")
    expected = old.children.tolist() != new.children.tolist()

    assert quire.structure_changed(old, new) == expected
    if quire.changed(old, new, "structure"):
        assert expected
    elif expected:
        # White space between elements is a node, but for `changed` it is layout, not structure.
        assert any(change.kind == "layout" for change in quire.annotate(old, new).changes())


def test_algorithm_3_counts_white_space_between_elements_and_changed_does_not() -> None:
    old, new = quire.encode(b"<p>a</p><p>b"), quire.encode(b"<p>a</p>\n<p>b")

    assert quire.structure_changed(old, new)
    assert not quire.changed(old, new, "structure")


class Counted(np.ndarray[tuple[int, ...], np.dtype[np.uint8]]):
    """A column that counts the entries taken from it."""

    taken = 0

    def __getitem__(self, place: Any) -> Any:  # noqa: ANN401 - as in numpy
        found = super().__getitem__(place).view(np.ndarray)
        Counted.taken += found.size
        return found


@pytest.mark.parametrize(
    ("place", "blocks"), [(0, 1), (BLOCK - 1, 1), (BLOCK, 2), (3 * BLOCK, 4), (None, 4)]
)
def test_structures_are_read_up_to_the_first_difference(place: int | None, blocks: int) -> None:
    old = np.zeros(3 * BLOCK + 5, np.uint8).view(Counted)
    new = np.zeros(3 * BLOCK + 5, np.uint32)
    if place is not None:
        new[place] = 7
    Counted.taken = 0

    assert counts_differ(old, new) == (place is not None)
    assert Counted.taken == min(blocks * BLOCK, len(old))


def test_a_structure_that_differs_in_its_last_block_only_has_changed() -> None:
    rows = b"<a></a>" * BLOCK
    old = quire.encode(b"<r>" + rows + b"<b><c></c></b><d></d></r>", kind="xml")
    new = quire.encode(b"<r>" + rows + b"<b></b><d><c></c></d></r>", kind="xml")

    assert old.n == new.n > BLOCK
    assert quire.structure_changed(old, new)
    assert not quire.structure_changed(old, quire.encode(old.decode(), kind="xml"))
