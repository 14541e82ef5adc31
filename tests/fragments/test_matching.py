"""Statuses of nodes: what the quick way says is what the paper's rules say."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

import quire
from quire import _core
from quire.fragments import NodeStatus
from quire.fragments.lifetime.matching import Matching, match_versions
from quire.fragments.lifetime.version_parts import Comparing, Parts
from quire.fragments.lifetime.version_record import largest_changed
from tests.fragments import lp_oracle

WORDS = ["fish", "chips", "peas", "salt", "open", "closed", "daily", "from", "until", "price"]
SAME, MOVED, CHANGED = (int(status) for status in NodeStatus)


def sentence(drawn: random.Random, most: int = 14) -> str:
    return " ".join(
        f"{drawn.choice(WORDS)}{drawn.randint(0, 99)}" for _ in range(drawn.randint(1, most))
    )


def section(drawn: random.Random, depth: int = 3) -> str:
    """A list, a text, or sections in a section."""
    if depth == 0 or drawn.random() < 0.4:
        return f"<p>{sentence(drawn)}</p>"
    tag = drawn.choice(["div", "ul", "section"])
    return (
        f"<{tag}>{''.join(section(drawn, depth - 1) for _ in range(drawn.randint(1, 4)))}</{tag}>"
    )


def edited(drawn: random.Random, pieces: list[str]) -> list[str]:
    """The next version: some sections replaced, edited, copied, moved, gone, come."""
    pieces = list(pieces)
    for _ in range(drawn.randint(0, 4)):
        at = drawn.randrange(len(pieces)) if pieces else 0
        match drawn.randint(0, 5):
            case 0:
                pieces.insert(at, section(drawn))
            case 1 if pieces:
                pieces.pop(at)
            case 2 if pieces:
                pieces.insert(drawn.randint(0, len(pieces) - 1), pieces.pop(at))
            case 3 if pieces:
                pieces[at] = pieces[at].replace(drawn.choice(WORDS), drawn.choice(WORDS), 2)
            case 4 if pieces:
                pieces[at] = f"<div>{pieces[at]}<p>{sentence(drawn)}</p></div>"
            case 5 if pieces:
                pieces.insert(at, pieces[at])
            case _:
                pass
    return pieces


def compared(old: str, new: str, how: Comparing) -> tuple[Parts, Parts, Matching]:
    before, after = (Parts(quire.encode(page.encode()), how) for page in (old, new))
    return before, after, match_versions(before, after, how)


@given(
    st.integers(0, 100_000), st.sampled_from([0.2, 0.5, 0.8]), st.sampled_from([0.3, 0.5, 0.7, 1.0])
)
@example(
    46540, 0.2, 0.3
)  # an edited copy in the place of the original has the same sample of shingles
def test_statuses_and_fragments_are_those_of_the_plain_rules(
    seed: int, min_overlap: float, child_change: float
) -> None:
    drawn = random.Random(seed)
    pieces = [section(drawn) for _ in range(drawn.randint(0, 5))]
    changed = edited(drawn, pieces)
    how = Comparing(min_overlap, child_change)
    old, new, found = compared("".join(pieces), "".join(changed), how)

    expected = lp_oracle.Marked(old.tree, new.tree, min_overlap, child_change)

    partners = {node: int(a) for node, a in enumerate(found.partner) if a >= 0}
    assert partners == expected.partner
    assert found.status.tolist() == [int(expected.status[node]) for node in range(new.tree.n)]
    for min_bytes in (1, 30, 100):
        assert set(largest_changed(new, found.status, min_bytes)) == lp_oracle.fragments(
            new.tree, expected.status, min_bytes
        )


@given(st.integers(0, 100_000))
def test_every_place_is_taken_once_and_partners_keep_theirs(seed: int) -> None:
    drawn = random.Random(seed)
    pieces = [section(drawn) for _ in range(4)]
    _, _, found = compared("".join(pieces), "".join(edited(drawn, pieces)), Comparing())

    taken = found.place[found.place >= 0].tolist()
    assert len(taken) == len(set(taken))
    assert (found.place[found.partner >= 0] == found.partner[found.partner >= 0]).all()


def test_four_new_items_of_eight_are_the_paper_s_example() -> None:
    """Slashdot: at 0.5 the list is one fragment, above it the items are."""
    items = [
        f"<li>A story number {n} about things of {n * 17} kinds, told at length</li>"
        for n in range(12)
    ]
    heading = "".join(
        f"<p>Heading number {n} of this page, the same in all versions" for n in range(3)
    )
    old, new = (f"{heading}<ul>{''.join(chosen)}</ul>" for chosen in (items[4:], items[:8]))

    for child_change, expected in ((0.5, ["ul"]), (0.7, ["li"] * 8)):
        # Of twelve stories four are in both, so that the lists overlap by a third.
        _, after, found = compared(old, new, Comparing(child_change=child_change))
        assert [
            after.tag_name(node) for node in largest_changed(after, found.status, 30)
        ] == expected
        assert found.status[-8:].tolist() == [CHANGED] * 4 + [MOVED] * 4


def test_a_leaf_with_another_text_changed_and_takes_the_place_of_the_old_one() -> None:
    old, new, found = compared(
        "<p>Fish</p><b></b><p>9:00", "<p>Fish</p><b></b><p>9:30", Comparing()
    )

    assert found.status.tolist() == [SAME, SAME, CHANGED]
    assert found.partner.tolist() == [0, 1, -1]
    assert found.place.tolist() == [0, 1, 2]
    assert (old.tree.n, new.tree.n) == (3, 3)


def test_a_share_out_of_range_is_named() -> None:
    with pytest.raises(ValueError, match=r"min_overlap 0: expected more than 0"):
        Comparing(min_overlap=0)
    with pytest.raises(ValueError, match=r"child_change 1.5: expected more than 0"):
        Comparing(child_change=1.5)


def test_long_lists_of_like_items_are_compared_within_bounds() -> None:
    items = [
        f"<li>The same words in every item of this list, but for {n}</li>" for n in range(3000)
    ]
    _, after, found = compared("".join(items[:2000]), "".join(items[1000:]), Comparing())

    assert after.tree.n == 2001
    assert (found.status[1:1001] == MOVED).all()


# Few values, so that texts share some; a cap of few, so that it is met.
rows = st.lists(
    st.tuples(st.sets(st.integers(0, 12), min_size=1, max_size=6), st.integers(0, 3)), max_size=9
)


@given(rows, rows, st.sampled_from([0.2, 0.5, 1.0]), st.integers(1, 9))
def test_the_most_alike_are_paired_first_then_those_of_one_place_then_in_order(
    old: list[tuple[set[int], int]],
    new: list[tuple[set[int], int]],
    least: float,
    most: int,
) -> None:
    telling = [
        [value for value in values if sum(value in other for other, _ in old) <= most]
        for values, _ in new
    ]
    scored = []
    for b, (values, place) in enumerate(new):
        shared = [sum(value in other for value in telling[b]) for other, _ in old]
        nearest = sorted((-count, a) for a, count in enumerate(shared) if count)[:most]
        for _, a in nearest:
            score = len(values & old[a][0]) / len(values | old[a][0])
            if score >= least:
                scored.append((-score, old[a][1] != place, b, a))
    expected: list[tuple[int, int]] = []
    for _, _, b, a in sorted(scored):
        if all(a != one and b != other for one, other in expected):
            expected.append((a, b))

    found = _core.pair_alike(packed(old), packed(new), least, most)

    olds, news = (np.frombuffer(one, "<u4").tolist() for one in found)
    assert list(zip(olds, news, strict=True)) == expected


def packed(
    texts: list[tuple[set[int], int]],
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]:
    values = [value for some, _ in texts for value in sorted(some)]
    ends = np.cumsum([len(some) for some, _ in texts])
    places = [place for _, place in texts]
    return np.array(values, np.uint32), ends.astype(np.uint32), np.array(places, np.uint32)


@pytest.mark.parametrize(
    ("values", "ends", "places"),
    [([1, 2], [1], [0]), ([1, 2], [3], [0]), ([1, 2], [2, 1, 2], [0] * 3), ([1], [1], [0, 1])],
)
def test_rows_that_do_not_fit_are_refused(
    values: list[int], ends: list[int], places: list[int]
) -> None:
    good = packed([({1}, 0)])
    bad = (np.array(values, np.uint32), np.array(ends, np.uint32), np.array(places, np.uint32))

    with pytest.raises(ValueError, match=r"ends"):
        _core.pair_alike(bad, good, 0.5, 32)
    with pytest.raises(ValueError, match=r"ends"):
        _core.pair_alike(good, bad, 0.5, 32)


def test_thousands_of_items_that_are_all_alike_have_partners() -> None:
    def listed(version: int) -> Parts:
        items = "".join(
            f"<li>item number {n} of a long list, seen as version {version}</li>"
            for n in range(3000)
        )
        return Parts(quire.encode(f"<ul>{items}</ul>".encode()), Comparing())

    found = match_versions(listed(1), listed(2), Comparing())

    assert (found.place >= 0).all()
    assert (found.partner >= 0).mean() > 0.9
