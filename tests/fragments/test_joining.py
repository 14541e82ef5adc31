"""Fragments that are never apart become one, and pages come together as before."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire.fragments import (
    EsiFiles,
    Manifest,
    PlanRules,
    Policy,
    plan_fragments,
    verify,
    write_composition,
)
from quire.fragments.cuts.includes import name_of
from quire.fragments.cuts.joining import join_neighbours
from tests.fragments.hostile import bodies, pages_of

PARTS = [
    b"<div id=p%d>" % n
    + b"".join(b"<p>Line %d of part %d</p>" % (m, n) for m in range(30))
    + b"</div>"
    for n in range(4)
]


def both(sources: list[bytes], rules: PlanRules) -> tuple[Manifest, Manifest]:
    """What comes of pages without joining, and with it."""
    found = []
    for joins in (False, True):
        with plan_fragments(pages_of(sources), rules=rules) as plan:
            if joins:
                join_neighbours(plan)
            files = EsiFiles(plan)
            assert len(list(files)) > 0
            found.append(files.manifest)
    return found[0], found[1]


def page(number: int, *parts: bytes) -> bytes:
    """A page with some parts in a box that every page has otherwise."""
    return b"<main class=m%d>" % number + b"".join(parts) + b"</main>"


@pytest.mark.parametrize("gap", [b"", b"\n", b"\r\n    \t"])
def test_parts_that_are_never_apart_are_one_include(gap: bytes) -> None:
    sources = [page(n, PARTS[0], gap, PARTS[1], gap, PARTS[2]) for n in range(3)]
    plain, joined = both(sources, PlanRules())

    assert [one.includes for one in plain.pages] == [3] * 3
    assert [one.includes for one in joined.pages] == [1] * 3
    assert [one.length for one in joined.fragments] == [sum(map(len, PARTS[:3])) + 2 * len(gap)]
    assert joined.volumes.stored < plain.volumes.stored
    assert joined.volumes.moved < plain.volumes.moved


@pytest.mark.parametrize(
    "sources",
    [
        # Apart on one page, with another between them, the other way round, with other white space, with text between them.
        [page(1, PARTS[0], PARTS[1]), page(2, PARTS[0], PARTS[1]), page(3, PARTS[0])],
        [page(1, PARTS[0], PARTS[1]), page(2, PARTS[0], PARTS[2], PARTS[1]), page(3, PARTS[2])],
        [page(1, PARTS[0], PARTS[1]), page(2, PARTS[1], PARTS[0])],
        [page(1, PARTS[0], PARTS[1]), page(2, PARTS[0], b"\n", PARTS[1])],
        [page(n, PARTS[0], b"<hr>", PARTS[1]) for n in range(3)],
        [page(1, PARTS[0], PARTS[0], PARTS[0]), page(2, PARTS[0], PARTS[0])],
    ],
)
def test_parts_that_are_ever_apart_stay_two(sources: list[bytes]) -> None:
    plain, joined = both(sources, PlanRules())

    assert sum(one.includes for one in plain.pages) >= 3
    assert joined == plain


def test_parts_that_are_kept_for_another_time_are_not_joined() -> None:
    sources = [page(n, PARTS[0], PARTS[1], PARTS[2]) for n in range(3)]
    with plan_fragments(pages_of(sources)) as plan:
        plan.policies = {
            name_of(PARTS[0]): Policy(60, reason="one"),
            name_of(PARTS[1]): Policy(60, reason="another"),
            name_of(PARTS[2]): Policy(60, sharing="private"),
        }
        assert join_neighbours(plan) == 1
        assert [len(cuts) for cuts in plan.choice.pages] == [2] * 3


def test_what_is_joined_keeps_the_includes_in_it() -> None:
    menu = PARTS[3]
    box = b"<section>" + PARTS[0] + menu + b"</section>"
    sources = [page(n, box, b"\n", PARTS[1]) for n in range(4)] + [page(n, menu) for n in (7, 8, 9)]
    rules = PlanRules(max_depth=2)
    plain, joined = both(sources, rules)

    assert {one.folder for one in plain.fragments} == {"fragments", "templates"}
    (outer,) = [one for one in joined.fragments if one.folder == "templates"]
    assert outer.length == len(box + b"\n" + PARTS[1])
    assert joined.volumes.stored < plain.volumes.stored


@settings(max_examples=60)
@given(bodies, st.sampled_from([1, 2, 5]))
def test_every_page_comes_together_again(sources: list[bytes], depth: int) -> None:
    rules = PlanRules(min_bytes=100, max_depth=depth)
    with tempfile.TemporaryDirectory() as folder:
        with plan_fragments(pages_of(sources), rules=rules) as plan:
            before = len(plan.choice.uses())
            gone = join_neighbours(plan)
            assert len(plan.choice.uses()) == before - gone
            write_composition(plan, Path(folder, "esi"))
        found = verify(Path(folder, "esi"))

    assert found.unequal == 0
    assert found.pages == len(sources) == found.equal + found.refused
