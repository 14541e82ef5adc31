"""Near-duplicates, against comparing all pages with all."""

from __future__ import annotations

import random

import pytest

import quire
from quire.similar import Bag, near_duplicates


def versions(texts: int, copies: int, seed: int) -> list[quire.Digest]:
    """Some texts, each in several versions that differ by a few words."""
    draw = random.Random(seed)
    pages = []
    for text in range(texts):
        words = [f"w{text}x{draw.randrange(400)}" for _ in range(300)]
        for _ in range(copies):
            changed = list(words)
            for _ in range(draw.randrange(4)):
                changed[draw.randrange(300)] = f"new{draw.random()}"
            pages.append(quire.encode(f"<p>{' '.join(changed)}".encode()))
    draw.shuffle(pages)
    return pages


@pytest.mark.parametrize("threshold", [0.8, 0.9, 0.97])
def test_groups_are_those_of_comparing_all_with_all(threshold: float) -> None:
    pages = versions(8, 6, seed=3)
    bags = [Bag.of(page, "content") for page in pages]
    first = list(range(len(pages)))
    for i, one in enumerate(bags):
        for j, other in enumerate(bags[:i]):
            if one.similarity(other) >= threshold:
                old, new = max(first[i], first[j]), min(first[i], first[j])
                first = [new if each == old else each for each in first]
    expected = {
        tuple(i for i, each in enumerate(first) if each == start)
        for start in set(first)
        if first.count(start) > 1
    }

    found = near_duplicates(pages, threshold=threshold)

    assert {tuple(group.pages.tolist()) for group in found} == expected
    assert expected
    for group in found:
        for page, similarity in zip(group.pages, group.similarities, strict=True):
            assert similarity == bags[page].similarity(bags[group.pages[0]])


def test_thousands_of_equal_pages_are_one_group() -> None:
    page = quire.encode(b"<p>" + b" ".join(b"w%d" % i for i in range(50)))

    (group,) = near_duplicates([page] * 5_000)

    assert group.pages.tolist() == list(range(5_000))


def test_pages_without_words_are_no_duplicates() -> None:
    empty = [quire.encode(b"<p></p>"), quire.encode(b"<ul></ul>")]

    assert near_duplicates(empty) == ()
    assert near_duplicates([]) == ()
    with pytest.raises(ValueError, match="threshold is 2"):
        near_duplicates(empty, threshold=2)
