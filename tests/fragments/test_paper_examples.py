"""The worked examples of paper 004 (figures 3, 4, 6, 7 and 8), with the paper's parameters.

The figures are drawings whose texts are not all legible, so the texts are ours; the trees, the parameters and the results are the paper's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import numpy as np
import pytest

import quire
from benchmarks.fragments.slashdot import STORIES, slashdot
from quire import AfTree, Digest
from quire.fragments import (
    NearestAmong,
    NodeStatus,
    SharedFragments,
    Shingling,
    algorithm_1,
    algorithm_2,
    lifetimes,
    shared_fragments,
    window_hashes,
)

SAME, MOVED, CHANGED = NodeStatus.UNCHANGED, NodeStatus.POSITION_CHANGED, NodeStatus.VALUE_CHANGED


def page(html: str) -> Digest:
    return quire.encode(html.encode())


# ------------------------------------------------------------ figure 3: shingles and MD5


def test_a_small_change_alters_one_of_eight_shingles_and_all_of_the_md5() -> None:
    how = Shingling(window=20, sample=8, bits=32)
    one = b"The parts of a page that change are few, and the shingles of the page tell which of them did, at a small cost and for every page of the site."
    other = one.replace(b"small cost", b"modest cost")

    first, second = (
        set(AfTree.of(page(text.decode())).shingles(how).of(0).tolist()) for text in (one, other)
    )

    assert len(first) == len(second) == 8
    assert len(first & second) == 7
    digests = [hashlib.md5(text, usedforsecurity=False).digest() for text in (one, other)]
    differing = sum(a != b for a, b in zip(*digests, strict=True))
    assert differing >= 15  # of 16; one byte in 256 is the same by chance


# ------------------------------------------------------------ figure 4: HiSh


def test_shingles_of_a_concatenation_are_the_smallest_of_both_parts_and_their_overlap() -> None:
    """(8, 4) shingles, as in the figure."""
    how = Shingling(window=8, sample=4, bits=32)
    tree = AfTree.of(page("<p>Shingles of this string B</p><p>and of that string C</p>"))
    whole, first, second = (tree.value(node) for node in range(3))
    assert whole == first + second
    crossing = whole[len(first) - 7 : len(first) + 7]  # all windows that begin in B and end in C

    parts = [tree.shingles(how).of(node) for node in (1, 2)]
    overlap = window_hashes(crossing, how)

    assert len(overlap) == 7
    together = np.unique(np.concatenate([*parts, overlap]))[:4]
    assert sorted(tree.shingles(how).of(0).tolist()) == together.tolist()
    assert (
        sorted(tree.shingles(how).of(0).tolist())
        == np.unique(window_hashes(whole, how))[:4].tolist()
    )


# ------------------------------------------------------------ figure 6: the BBC

HEADING = "Talks on the harbour begin again in the capital"
TEXT = " ".join(
    f"Ministers of {number} countries met for the {number}th time and said little about harbour {number * 7}."
    for number in range(3, 16)
)
BULLETS = {
    "world": (
        "Analysis: why nobody expected an agreement this year",
        "Timeline of the harbour and its many owners since 1900",
        "In pictures: boats and their crews",
    ),
    "mid-east": (
        "Background: who owns the boats and the quays of the town",
        "Timeline of the harbour and its many owners since 1900",
        "Country profile: the coast from the air",
    ),
}


def bbc(name: str) -> Digest:
    """A_1 around A_2 (heading), A_3 (text) and A_4 (list) with A_5 to A_7; the title keeps it apart from its page."""
    items = "".join(f"<li>{text}</li>" for text in BULLETS[name])
    other = f"Headlines of {name}: " + " ".join(f"{name} number {n * 3}." for n in range(30))
    return page(f"<title>{other}</title><div><h1>{HEADING}</h1><p>{TEXT}</p><ul>{items}</ul></div>")


@pytest.mark.parametrize("find", [algorithm_1, shared_fragments])
def test_the_segment_is_one_fragment_at_0_7_and_three_at_0_9(
    find: Callable[..., SharedFragments],
) -> None:
    pages = [bbc(name) for name in BULLETS]
    trees = [AfTree.of(one) for one in pages]

    def found(min_match: float) -> list[bytes]:
        shared = find(pages, min_match=min_match, min_bytes=30)
        assert shared.rules.size_ratio == 0.9
        return [
            trees[0].value(int(one.members.part[0])).decode().strip().encode() for one in shared
        ]

    # A_1 and B_1 are similar: one large fragment, and all others have the same ancestors.
    assert len(found(0.7)) == 1
    assert found(0.7)[0].startswith(HEADING.encode())
    assert found(0.7)[0].endswith(BULLETS["world"][2].encode())
    # A_1 and B_1 are not: (A_3, B_3), (A_6, B_6) and (A_2, B_2), in order of size.
    assert found(0.9) == [text.encode() for text in (TEXT, BULLETS["world"][1], HEADING)]


# ------------------------------------------------------------ figure 7: one step of Algorithm 2


def test_a_node_both_of_whose_children_changed_is_one_fragment() -> None:
    """ChildChangeThreshold 0.5; a part that moved is compared with itself, wherever it is now."""
    kept = [
        f"Section {name} of the page, which stays as it was for years and years" for name in "ABC"
    ]
    footer = "The long footer of this page, which stands at its end and tells of its makers"
    old = page(
        f"<div><p>{kept[0]}<p>{kept[1]}<p>{kept[2]}</div>"
        f"<div><p>The first news of the morning, told in many words<p>Weather for the day is fine, with wind from the west</div><p>{footer}"
    )
    new = page(
        f"<div><p>{kept[1]}<p>{kept[0]}<p>{kept[2]}</div>"
        f"<div><p>The evening: other things have happened in the town<p>Rain is expected everywhere in the whole of the country</div><p>{footer}"
    )
    [step] = algorithm_2([old, new], child_change=0.5, min_overlap=0.1).versions
    texts = [step.tree.value(node).decode().strip() for node in step.fragments]

    assert texts[:2] == [kept[1], kept[0]]
    assert [NodeStatus(int(step.status[node])) for node in step.fragments] == [
        MOVED,
        MOVED,
        CHANGED,
    ]
    assert texts[2].startswith("The evening")
    assert texts[2].endswith("country")


# ------------------------------------------------------------ figure 8: Slashdot


@pytest.mark.parametrize(
    ("child_change", "expected"), [(0.3, 1), (0.5, 1), (0.51, 8), (0.7, 8), (1.0, 8)]
)
def test_four_new_stories_of_eight_are_one_fragment_up_to_0_5_and_eight_above(
    child_change: float, expected: int
) -> None:
    """The lists overlap by a third, and are the same part with the default of OvlpThrshld."""
    old, new = slashdot(STORIES[4:]), slashdot(STORIES[:8])

    [step] = algorithm_2([old, new], child_change=child_change).versions
    items = [node for node in range(step.tree.n) if step.tree.parent[node] == 3]
    marked = [NodeStatus(int(step.status[node])) for node in items]

    assert marked == [CHANGED] * 4 + [MOVED] * 4
    assert [int(node) for node in step.nearest[items[4:]]] == items[:4]
    assert len(step.fragments) == expected

    found = lifetimes([(0, old), (3600, new)], child_change=child_change)
    assert len(found.parts) == expected


def test_the_text_of_the_paper_finds_a_story_that_moved_out_of_the_list() -> None:
    """Algorithm 2 searches the children of the partner, the text of section 5 the whole tree."""
    lead = "A story that was one of many and is the lead of the whole page now, told at length"
    old = page(
        f"<h1>Our page of news</h1><ul><li>{STORIES[0]}<li>{lead}<li>{STORIES[1]}<li>{STORIES[2]}</ul>"
    )
    new = page(
        f"<h1>Our page of news</h1><p>{lead}</p><ul><li>{STORIES[0]}<li>{STORIES[1]}<li>{STORIES[2]}</ul>"
    )
    status = {}
    for among in NearestAmong:
        [step] = algorithm_2([old, new], nearest_among=among).versions
        [node] = [n for n in range(step.tree.n) if step.tree.value(n).decode().strip() == lead]
        status[among] = NodeStatus(int(step.status[node]))

    assert status == {NearestAmong.CHILDREN: CHANGED, NearestAmong.PAGE: MOVED}
