"""Shared fragments: the index finds what the paper's loop finds."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quire
from quire import Digest, SharedFragments
from quire.fragments import Members, algorithm_1, shared_fragments

WORDS = ["fish", "chips", "peas", "salt", "open", "closed", "daily", "from", "until", "price"]
MATCHES = [0.7, 0.9, 1.0]
BYTES = [30, 50, 200]


def block(seed: int, edits: random.Random, chance: float) -> str:
    """A few paragraphs that all pages have, some words of it changed."""
    drawn = random.Random(seed)
    paragraphs = []
    for _ in range(drawn.randint(1, 4)):
        words = [
            drawn.choice(WORDS) + str(drawn.randint(0, 9)) for _ in range(drawn.randint(1, 30))
        ]
        changed = [f"<b>{edits.random():.3f}</b>" if edits.random() < chance else w for w in words]
        paragraphs.append(f"<p>{' '.join(changed)}</p>")
    return f"<div class=c{seed}>{''.join(paragraphs)}</div>"


def site(seed: int, pages: int = 8) -> list[Digest]:
    """Pages that share blocks, nested and in any order, whole or nearly."""
    drawn = random.Random(seed)
    made = []
    for _ in range(pages):
        chosen = [drawn.randint(0, 9) for _ in range(drawn.randint(0, 6))]
        # Where overlaps are near the thresholds, a wrong index would show.
        parts = [block(number, drawn, drawn.choice([0, 0, 0.02, 0.1])) for number in chosen]
        cut = drawn.randint(0, len(parts))
        made.append(f"<main>{''.join(parts[:cut])}</main>{''.join(parts[cut:])}")
    return [quire.encode(page.encode()) for page in made]


def same(one: SharedFragments, other: SharedFragments) -> bool:
    return one.starts.tolist() == other.starts.tolist() and all(
        getattr(one.members, name).tolist() == getattr(other.members, name).tolist()
        for name in Members.__slots__
    )


@given(
    st.integers(0, 10_000),
    st.fixed_dictionaries(
        {
            "min_match": st.sampled_from([0.05, 0.3, 0.5, *MATCHES]),
            "min_bytes": st.sampled_from([1, *BYTES]),
            "min_pages": st.sampled_from([2, 3, 5]),
            "estimate": st.sampled_from(["paper", "unbiased"]),
            "size_ratio": st.sampled_from([0.0, 0.5, 0.9, 1.0]),
        }
    ),
)
def test_the_index_finds_what_the_paper_s_loop_finds(seed: int, rules: dict[str, Any]) -> None:
    pages = site(seed)

    assert same(shared_fragments(pages, **rules), algorithm_1(pages, **rules))


def test_p_stays_at_nine_tenths_at_a_lower_matching_factor() -> None:
    """P and MinMatchFactor are two parameters: lowering one must not lower the other."""
    sentences = [f"Sentence {number} of a long story about a harbour." for number in range(40)]
    pages = [quire.encode(f"<p>{' '.join(sentences[:count])}".encode()) for count in (40, 33)]

    for found in (shared_fragments, algorithm_1):
        assert len(found(pages, min_match=0.5)) == 0
        assert len(found(pages, min_match=0.5, size_ratio=0.8)) == 1


@pytest.mark.parametrize(
    ("corpus", "count"),
    [("templates-types", 14), ("templates-helsingborg", 14), ("templates-docs", 10)],
)
def test_it_does_so_on_real_pages(
    corpus: str, count: int, corpus_files: Callable[[str], list[Path]]
) -> None:
    files = random.Random(4).sample(corpus_files(corpus), count)
    pages = [quire.encode(path.read_bytes()) for path in files]
    for min_match in MATCHES:
        for min_bytes in BYTES:
            rules: dict[str, Any] = {"min_match": min_match, "min_bytes": min_bytes}
            found = shared_fragments(pages, **rules)

            assert len(found) > 0
            assert same(found, algorithm_1(pages, **rules))


@given(st.integers(0, 10_000), st.randoms(use_true_random=False))
def test_the_order_of_pages_changes_nothing_but_their_numbers(
    seed: int, shuffled: random.Random
) -> None:
    pages = site(seed)
    order = list(range(len(pages)))
    shuffled.shuffle(order)
    found = shared_fragments(pages, min_bytes=30)
    other = shared_fragments([pages[number] for number in order], min_bytes=30)

    def places(fragments: SharedFragments, number_of: list[int]) -> list[set[tuple[int, int]]]:
        return [
            {
                (number_of[page], part)
                for page, part in zip(
                    fragment.members.page.tolist(), fragment.members.part.tolist(), strict=True
                )
            }
            for fragment in fragments
        ]

    assert places(found, list(range(len(pages)))) == places(other, order)


@given(st.integers(0, 10_000))
def test_exact_members_have_the_same_bytes(seed: int) -> None:
    pages = site(seed)
    for fragment in shared_fragments(pages, min_bytes=30):
        members = fragment.members
        written = {
            pages[page].decode()[start:end]
            for page, start, end in zip(
                members.page, members.byte_start, members.byte_end, strict=True
            )
        }
        assert fragment.exact == (len(written) == 1)
        assert len(fragment.pages) >= 2


@given(st.integers(0, 10_000))
def test_members_of_a_fragment_never_lie_in_one_another(seed: int) -> None:
    for fragment in shared_fragments(site(seed), min_bytes=30, min_match=0.5):
        members = fragment.members
        for at in range(1, len(members)):
            if members.page[at] == members.page[at - 1]:
                assert members.node[at] >= members.node_end[at - 1]


def test_lower_factors_find_larger_fragments() -> None:
    # The paper's illustration: a list of which one item changed. Its overlap is about 0.8.
    def words(name: str, count: int) -> str:
        return " ".join(f"{name}{number}" for number in range(count))

    items = [f"<li>{words(name, 12)}</li>" for name in WORDS]
    pages = [
        quire.encode(
            f"<ul>{''.join(items)}<li>{words(own, 12)}</li></ul><p>{words(own, 300)}".encode()
        )
        for own in ("nobody", "jackie")
    ]
    low, high = (shared_fragments(pages, min_match=match, min_bytes=30) for match in (0.4, 1.0))

    assert [pages[0].tags[pages[0].tag[one.members.node[0]]] for one in low] == ["ul"]
    assert len(high) == len(items)
    assert high[0].value_bytes < low[0].value_bytes


def test_one_page_shares_nothing() -> None:
    page = quire.encode(b"<p>the same paragraph, and then once more" * 9)

    assert len(shared_fragments([page], min_bytes=30)) == 0
    assert len(shared_fragments([])) == 0


def test_identical_pages_are_one_fragment() -> None:
    pages = [quire.encode(b"<h1>Title</h1>" + b"<p>a paragraph of some length" * 9)] * 4
    found = shared_fragments(pages)

    assert len(found) == 1
    assert found[0].exact
    assert found[0].pages.tolist() == [0, 1, 2, 3]
    assert found[0].members.part.tolist() == [0, 0, 0, 0]


def test_pages_without_body_or_text_are_passed_over() -> None:
    text = b"<p>a text that is long enough to be a fragment of its own"
    sources = [b"", b"<html><head></head></html>", b"<frameset></frameset>", b"\0\xff", text, text]
    found = shared_fragments((quire.encode(source) for source in sources), min_bytes=30)

    assert [fragment.pages.tolist() for fragment in found] == [[4, 5]]
    assert found.pages == 6


def test_a_page_whose_bytes_are_not_known_is_never_exact() -> None:
    text = "\ufeff<p>a text that is long enough to be a fragment"
    pages = [quire.encode(text.encode("utf-16-le"))] * 2
    (found,) = shared_fragments(pages, min_bytes=30)

    assert found.same_text
    assert not found.exact
    assert found.members.byte_start.tolist() == [-1, -1]


def test_short_values_are_alike_only_when_equal() -> None:
    # 39 bytes, with the line feed: one less than two windows.
    pages = [quire.encode(f"<p>{'a' * 30} other {n}</p>".encode()) for n in (1, 1, 2)]
    (found,) = shared_fragments(pages, min_bytes=30, min_match=0.05)

    assert found.pages.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"min_bytes": 0}, "min_bytes 0: expected at least 1"),
        ({"min_pages": 1}, "min_pages 1: expected at least 2"),
        ({"min_match": 0}, "min_match 0: expected more than 0, and at most 1"),
        ({"min_match": 1.1}, "min_match 1.1: expected more than 0, and at most 1"),
        ({"size_ratio": -0.1}, "size_ratio -0.1: expected 0 to 1"),
        ({"estimate": "best"}, "estimate 'best': expected paper or unbiased"),
    ],
)
@pytest.mark.parametrize("find", [shared_fragments, algorithm_1])
def test_rules_that_make_no_sense_are_refused(
    find: Callable[..., SharedFragments], rules: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        find([], **rules)


def test_fragments_are_a_sequence() -> None:
    found = shared_fragments(site(1), min_bytes=30)

    assert [fragment.number for fragment in found] == list(range(len(found)))
    assert found[-1].number == len(found) - 1
    assert [fragment.number for fragment in found[1:3]] == [1, 2]
    assert found.fragment.tolist() == [f.number for f in found for _ in range(len(f.members))]
    with pytest.raises(IndexError):
        found[len(found)]
