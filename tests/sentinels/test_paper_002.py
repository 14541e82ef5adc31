"""Settlements for paper 002: what it leaves open, and the tests that hold our answers.

``docs/papers.md`` lists them with the names of these tests.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import quire
from quire.sdiff.annotation import Annotation
from quire.sdiff.facets import differing
from quire.sentinels.conditions import Text
from quire.sentinels.conditions.comparison import Scope
from quire.sentinels.groups import Group, Shortcuts, Version, covering_subset
from quire.sentinels.groups import group as group_module
from quire.sentinels.groups.masks import ChangeMap
from quire.sentinels.parts import Aspect, Location, PageReader, Part
from quire.sentinels.parts.location import Roots, inside, outermost
from quire.sentinels.sentinel import Sentinel
from tests.sentinels.test_groups import ABOUT, histories, parts

NOTHING_STORED = Shortcuts(part_signatures=False, covering_subset=False)


def test_members_with_different_bases_have_one_annotation_for_each_pair_of_versions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pages = [quire.encode(b"<h1>Menu</h1><p>%d</p><ul><li>a</ul>" % number) for number in range(3)]
    pairs: list[tuple[int, int]] = []

    def counted(old: quire.Digest, new: quire.Digest) -> Annotation:
        pairs.append((pages.index(old), pages.index(new)))
        return quire.annotate(old, new)

    monkeypatch.setattr(group_module, "annotate", counted)
    group = Group(pages.__getitem__)
    for name, base in {"a": 0, "b": 0, "c": 1, "d": 1, "e": 1}.items():
        where = "p" if name in "ac" else "ul"
        sentinel = Sentinel(name, (Part(Location((where,))),))
        group.install(sentinel, Version(base, pages[base].signatures))

    found = group.evaluate(
        Version(2, pages[2].signatures), PageReader(pages[2]), ABOUT, shortcuts=NOTHING_STORED
    )

    assert pairs == [(0, 2), (1, 2)]
    assert {each.sentinel for each in found if each.changed} == {"a", "c"}


# ------------------------------------------------------------ the covering subset

PAGE = quire.encode(b"<ul><li>a<li>b<b>c</b></ul><p>d<i>e</i></p><p>f</p>")
# Elements of the page, so that locations nest, overlap and are apart.
roots = st.lists(st.integers(3, PAGE.n - 1), max_size=4).map(
    lambda nodes: outermost(PAGE, np.array(nodes, np.int64))
)


def covers(chosen: list[Roots], every: list[Roots]) -> bool:
    covering = outermost(PAGE, np.concatenate([np.zeros(0, np.int64), *chosen]))
    return all(inside(PAGE, each, covering).all() for each in every)


@given(st.lists(roots, max_size=6))
@settings(max_examples=300)
def test_the_covering_subset_covers_and_is_within_its_bound_of_the_smallest(
    locations: list[Roots],
) -> None:
    chosen = covering_subset(PAGE, locations)

    assert covers([locations[place] for place in chosen], locations)
    fewest = next(
        size
        for size in range(len(locations) + 1)
        if any(covers([*some], locations) for some in combinations(locations, size))
    )
    tops = outermost(PAGE, np.concatenate([np.zeros(0, np.int64), *locations]))
    assert len(chosen) <= fewest * (1 + math.log(max(1, len(tops))))


def test_a_covering_subset_is_found_anew_when_the_elements_change() -> None:
    pages = [
        quire.encode(b"<title>1</title><div><p>a</p></div>"),
        quire.encode(b"<title>2</title><div><p>a</p></div>"),
        quire.encode(b"<title>3</title><div></div><p>a</p>"),
        quire.encode(b"<title>4</title><div></div><p>b</p>"),
    ]
    group = Group(pages.__getitem__)
    for where in ("div", "p"):
        sentinel = Sentinel(where, (Part(Location((where,))),))
        group.install(sentinel, Version(0, pages[0].signatures), pages[0])
    taken = Shortcuts(part_signatures=False)
    changed = []
    for number in (1, 2, 3):
        version = Version(number, pages[number].signatures)
        found = group.evaluate(version, PageReader(pages[number]), ABOUT, shortcuts=taken)
        group.accept(version, found)
        changed.append([each.sentinel for each in found if each.changed])

    assert changed == [[], ["div"], ["p"]]


# ------------------------------------------------------------ deletions


def test_a_deletion_lies_in_the_part_it_is_gone_from_and_in_no_other() -> None:
    old = quire.encode(b"<ul><li>a</li><li>b</li></ul><p>c</p><ol><li>d</li></ol>")
    new = quire.encode(b"<ul><li>a</li></ul><p>c</p><ol><li>d</li></ol>")
    changes = ChangeMap(quire.annotate(old, new), PageReader(old), PageReader(new))

    def is_same(where: str) -> bool:
        return changes.is_same(Location((where,)), ("text",))

    # The new page has no node for it; the old node is inside the old nodes of the location.
    assert not is_same("ul")
    assert not is_same("li")
    assert not is_same("body")
    assert is_same("p")
    assert is_same("ol")


# ------------------------------------------------------------ where an expression is matched


@pytest.mark.parametrize(
    ("scope", "fired"),
    [
        ("new", ["chips", "open"]),
        ("old", ["fish", "open"]),
        ("added", ["chips"]),
        ("removed", ["fish"]),
        ("changed", ["chips", "fish"]),
    ],
)
def test_an_expression_is_matched_on_the_new_the_old_or_the_difference(
    scope: Scope, fired: list[str]
) -> None:
    old, new = quire.encode(b"<p>Open<p>Fish 9"), quire.encode(b"<p>Open<p>Chips 8")
    group = Group(lambda _: old)
    for word in ("chips", "fish", "open"):
        when = Text(Part(), scope, pattern=f"(?i)^{word}")
        group.install(Sentinel(word, (Part(),), when), Version(0, old.signatures), old)

    found = group.evaluate(Version(1, new.signatures), PageReader(new), ABOUT)

    assert [each.sentinel for each in found if each.fired] == fired


# ------------------------------------------------------------ no false negatives from signatures


@given(histories(), parts)
@settings(max_examples=300)
def test_equal_signatures_of_facets_mean_equal_readings(
    pages: list[quire.Digest], part: Part
) -> None:
    for old, new in combinations(pages, 2):
        if part.facets.isdisjoint(differing(old.signatures, new.signatures)):
            assert PageReader(old).read(part) == PageReader(new).read(part)


@given(histories(), parts)
@settings(max_examples=300)
def test_signatures_of_a_part_are_equal_exactly_when_its_readings_are(
    pages: list[quire.Digest], part: Part
) -> None:
    for old, new in combinations(pages, 2):
        before, after = PageReader(old), PageReader(new)
        stored = zip(part.watch, before.signatures(part), after.signatures(part), strict=True)

        assert tuple(aspect for aspect, one, two in stored if one != two) == (
            after.read(part).differs(before.read(part))
        )


ASPECTS_OF_ADDRESSES: tuple[Aspect, ...] = ("links", "images")
ELEMENTS = ["a", "area", "link", "form", "iframe", "frame", "embed", "script", "img", "source"]
ELEMENTS += ["video", "audio", "input", "input type=image", "svg><image", "object", "p"]


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("name", ["href", "src", "srcset", "poster", "action", "xlink:href"])
def test_an_address_that_is_read_is_in_its_signature(element: str, name: str) -> None:
    old = quire.encode(f"<{element} {name}=old.png>".encode())
    new = quire.encode(f"<{element} {name}=new.png>".encode())

    for aspect in ASPECTS_OF_ADDRESSES:
        part = Part(watch=(aspect,))
        if PageReader(old).read(part) != PageReader(new).read(part):
            assert not part.facets.isdisjoint(differing(old.signatures, new.signatures))
