"""Steps: the advice that remains if no two rows are about the same part of a page.

A part and a part inside it are both listed, but only one of them is advice: cutting out both is
not possible. The fragments of the plan come first, then the rows that save more.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from quire.fragments.study.facts import FragmentFacts, Planned

#: A place of a part: page, first byte and the end after the last one.
PartPlace: TypeAlias = tuple[int, int, int]

_COVERED: dict[Planned, str] = {
    "isolated": "Covered: the plan isolates it.",
    "paced": "Covered: the plan cuts out parts of it or around it.",
    "cut": "Covered: it cannot be cut out as a whole, and the plan cuts out parts of it.",
    "left": "Covered by other advice, about a part in it or around it.",
}


def ranked(
    facts: Sequence[FragmentFacts], places: Callable[[FragmentFacts], Iterable[PartPlace]]
) -> tuple[FragmentFacts, ...]:
    """Take back advice about parts that overlap others, and rank the rest.

    In each tier, rows with advice come first, each by the bytes that they save.

    Args:
        facts: rows with advice.
        places: where the part of a row is.
    """
    tiers = {"exact": 0, "own pace": 1, "approximate": 2}

    def order(one: FragmentFacts) -> tuple[bool, bool, int, int, int]:
        rest = (-one.moved_saved, -one.stored_saved, one.number)
        return (one.tier != "exact", one.action == "leave", *rest)

    taken = _Taken()
    found = []
    for one in sorted(facts, key=order):
        where = list(places(one))
        is_covered = one.action != "leave" and any(taken.overlaps(place) for place in where)
        if one.action != "leave" and not is_covered:
            for place in where:
                taken.add(place)
        found.append(
            replace(one, action="leave", advice=_COVERED[one.planned]) if is_covered else one
        )
    found.sort(key=lambda one: (tiers[one.tier], one.action == "leave", *order(one)[2:]))
    counts: defaultdict[str, int] = defaultdict(int)
    rows = []
    for one in found:
        counts[one.tier] += 1
        rows.append(replace(one, rank=counts[one.tier]))
    return tuple(sorted(rows, key=lambda one: ("exact", "approximate", "own pace").index(one.tier)))


class _Taken:
    """Places that never overlap, found by binary search."""

    def __init__(self) -> None:
        self._spans: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)

    def overlaps(self, place: PartPlace) -> bool:
        page, start, end = place
        spans = self._spans[page]
        at = bisect_left(spans, (start, start))
        is_after = at < len(spans) and spans[at][0] < end
        return is_after or (at > 0 and spans[at - 1][1] > start)

    def add(self, place: PartPlace) -> None:
        page, start, end = place
        insort(self._spans[page], (start, end))
