"""Object dependency graphs: who holds what, and how deep."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quire
from quire import Digest, Lifetimes, lifetimes, shared_fragments
from quire.fragments import ObjectGraph, dependency_graph
from quire.fragments.simulation.dependency_graph import _depths

MENU = "<nav><a href=/>Start</a> <a href=/fish>Fish</a> <a href=/chips>Chips and all that</a></nav>"
BOX = "<section><h2>Weather at the harbour, by the hour</h2><p>Wind from the west, and rain until the evening, with a high sea behind the mole</p><p>Boats stay in, and so does the ferry to the island, until we say so here</p><p>At {} o'clock, as we were told by those at sea</p></section>"


def page(fish: str, hour: int) -> Digest:
    return quire.encode(
        f"{MENU}<h1>All about {fish} of the sea</h1>{BOX.format(hour)}<p>The {fish} is a fish of the sea, eaten with peas</p>".encode()
    )


def history(fish: str, hours: int = 5) -> tuple[Lifetimes, Digest]:
    pages = [page(fish, hour) for hour in range(hours)]
    return lifetimes(list(enumerate(pages))), pages[-1]


def edges(graph: ObjectGraph) -> set[tuple[str, str]]:
    return {(graph.objects[a].name, graph.objects[b].name) for a, b in graph.holds}


def test_a_part_that_pages_share_is_one_object_and_holds_what_changes_in_it() -> None:
    found = [history(fish) for fish in ("cod", "hake")]
    shared = shared_fragments([last for _, last in found], min_bytes=30)
    graph = dependency_graph([lives for lives, _ in found], shared)

    menu, box = (
        next(one for one in shared if part in pages_of(one, found))
        for part in (b"Chips and", b"o'clock")
    )
    assert {
        (f"page {n}.0", f"shared {one.number}") for n in (0, 1) for one in (menu, box)
    } <= edges(graph)
    assert graph.depth == max(one.depth for one in graph.objects) == 3
    assert sum(graph.count_by_depth().values()) == len(graph.objects)
    assert graph.count_by_depth()[1] == 2
    assert '"page 0.0" [shape=box];' in graph.to_dot()


def pages_of(one: quire.SharedFragment, found: list[tuple[Lifetimes, Digest]]) -> bytes:
    source = found[int(one.members.page[0])][1].decode()
    return source[one.members.byte_start[0] : one.members.byte_end[0]]


def test_of_one_page_the_graph_is_that_of_its_fragments() -> None:
    lives, _ = history("cod")
    graph = dependency_graph([lives])

    assert edges(graph) == {
        (
            f"{'page' if lives.fragments[one.parent].parent is None else 'lp'} 0.{one.parent}",
            f"lp 0.{one.number}",
        )
        for one in lives.parts
        if one.parent is not None
    }
    assert graph.depth == lives.depth


def test_pages_that_are_equal_share_all_of_themselves() -> None:
    found = [history("cod") for _ in range(3)]
    graph = dependency_graph(
        [lives for lives, _ in found], shared_fragments([last for _, last in found], min_bytes=30)
    )

    assert {(f"page {number}.0", "shared 0") for number in range(3)} <= edges(graph)


def test_other_pages_are_refused() -> None:
    lives, last = history("cod")
    with pytest.raises(ValueError, match="1 pages with lifetimes, but shared fragments of 2"):
        dependency_graph([lives], shared_fragments([last, last]))


@given(st.integers(0, 100_000))
def test_depths_are_longest_ways_from_what_nobody_holds(seed: int) -> None:
    drawn = random.Random(seed)
    count = drawn.randint(1, 9)
    order = drawn.sample(range(count), count)
    holds = sorted(
        (order[a], order[b])
        for a in range(count)
        for b in range(a + 1, count)
        if drawn.random() < 0.3
    )
    depth, kept = _depths(count, holds)

    def longest(place: int) -> int:
        return 1 + max((longest(holder) for holder, held in holds if held == place), default=0)

    assert depth == [longest(place) for place in range(count)]
    assert kept == holds


def test_circles_are_opened() -> None:
    depth, kept = _depths(4, [(0, 1), (1, 2), (2, 1), (2, 3)])

    assert (depth, kept) == ([1, 2, 3, 4], [(0, 1), (1, 2), (2, 3)])
