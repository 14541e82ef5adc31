"""Two lists in order: what can be matched without changing the order of either."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from itertools import pairwise

from quire.sdiff.views.words import word_changes

# Shorter texts, such as a full stop or a figure, cannot be told apart from others like them.
MIN_TOLD = 8


def unique_matches(left: list[str], right: list[str]) -> list[tuple[int, int]]:
    """Find equal texts that are in both lists only once, and are not so short that many are alike.

    >>> unique_matches(["Terms of service", "x", "x"], ["x", "Terms of service"])
    [(0, 1)]
    """
    counts, others = Counter(left), Counter(right)
    places = {text: place for place, text in enumerate(right)}
    return [
        (place, places[text])
        for place, text in enumerate(left)
        if len(text) >= MIN_TOLD and counts[text] == 1 == others.get(text, 0)
    ]


def equal_places(left: list[int], right: list[int]) -> list[tuple[int, int]]:
    """Match equal numbers of two lists in order: the places of each pair.

    >>> equal_places([1, 2, 3], [2, 9, 3])
    [(1, 0), (2, 2)]
    """
    if not set(left) & set(right):
        return []
    # The kernel that compares words compares numbers too, and has limits for hostile pages.
    before, after = " ".join(map(str, left)), " ".join(map(str, right))
    old_at, new_at = _starts(left), _starts(right)
    found: list[tuple[int, int]] = []
    x = y = 0
    for segment in word_changes(before, after):
        length = len(segment.text)
        if segment.kind == "same":
            for start in range(length):
                i, j = old_at.get(x + start), new_at.get(y + start)
                if i is not None and j is not None and left[i] == right[j]:
                    found.append((i, j))
        x += length if segment.kind != "inserted" else 0
        y += length if segment.kind != "deleted" else 0
    return found


def _starts(numbers: list[int]) -> dict[int, int]:
    """Map the offset of each number in the list as text to its place."""
    found, at = {}, 0
    for place, number in enumerate(numbers):
        found[at] = place
        at += len(str(number)) + 1
    return found


def heaviest_rise(numbers: list[int], weights: list[int]) -> set[int]:
    """Choose numbers that rise, with the largest sum of weights; returns their places.

    >>> sorted(heaviest_rise([0, 3, 1, 2], [1, 1, 1, 1]))
    [0, 2, 3]
    """
    if all(a < b for a, b in pairwise(numbers)):
        return set(range(len(numbers)))
    order = {number: rank for rank, number in enumerate(sorted(set(numbers)), 1)}
    best: list[tuple[int, int]] = [(0, -1)] * (len(numbers) + 1)  # a Fenwick tree of maxima
    before: list[int] = []
    for place, (number, weight) in enumerate(zip(numbers, weights, strict=True)):
        rank, top = order[number] - 1, (0, -1)
        while rank > 0:
            top = max(top, best[rank])
            rank -= rank & -rank
        before.append(top[1])
        mine, rank = (top[0] + weight, place), order[number]
        while rank < len(best):
            best[rank] = max(best[rank], mine)
            rank += rank & -rank
    found: set[int] = set()
    rank, top = len(numbers), (0, -1)
    while rank > 0:
        top = max(top, best[rank])
        rank -= rank & -rank
    place = top[1]
    while place >= 0:
        found.add(place)
        place = before[place]
    return found


class Around:
    """For each of some places: the nearest of the chosen ones before and after it; -1 for none."""

    def __init__(self, count: int, chosen: Container[int]) -> None:
        self.before: list[int] = self._nearest(range(count), chosen)
        self.after: list[int] = self._nearest(range(count - 1, -1, -1), chosen)[::-1]

    @staticmethod
    def _nearest(places: range, chosen: Container[int]) -> list[int]:
        found, last = [], -1
        for place in places:
            found.append(last)
            last = place if place in chosen else last
        return found
