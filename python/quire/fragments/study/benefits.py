"""Benefits: what is stored and moved less when a part is cut out of its pages, and which parts that is worth it for.

A part of L bytes in u places, cut out, is stored once, and an include in each place. Moved is what goes from the origin to the cache: with a
part in the cache, a page comes without it. Both are counted for each part as if it were cut alone (``Benefit``), and again in the order of
what they save, each beyond those before it (``worth``): a part inside another that is cut out already saves nothing more there, and what is cut
out of a part already is not counted twice. So the second figures add up.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from quire.fragments.cuts.includes import include
from quire.fragments.shared.find import SharedFragment, SharedFragments

#: How long an include is that ``write_composition`` writes.
INCLUDE_BYTES = len(include("", "fragments", "0" * 32))


@dataclass(frozen=True, slots=True)
class Benefit:
    """Bytes that are saved by one part; negative where it costs more.

    Attributes:
        stored: with each page stored once.
        moved: when pages are asked for as often as the log says, or once where there is none, and come from the origin each time
            while the part is in the cache.
    """

    stored: int
    moved: int


def benefit(fragment: SharedFragment, requests: Sequence[int]) -> Benefit:
    """What a part saves by itself; of members that differ, as if all were the longest one's bytes.

    >>> import quire
    >>> from quire.fragments.study.exact_tier import exact_fragments
    >>> menu = "<nav>" + "".join(f"<a href=/{n}>Entry number {n}</a>" for n in range(30)) + "</nav>"
    >>> found = exact_fragments(quire.encode(f"{menu}<h1>{day}".encode()) for day in range(3))
    >>> len(menu), benefit(found[0], [1, 1, 1])
    (921, Benefit(stored=1635, moved=2556))

    Args:
        fragment: the part.
        requests: how often each page is asked for.
    """
    members = fragment.members
    lengths = np.maximum(members.byte_end - members.byte_start, 0)
    often = np.asarray(requests, np.int64)[members.page]
    stored = int(lengths.sum() - lengths.max()) - INCLUDE_BYTES * len(members)
    return Benefit(stored, int(((lengths - INCLUDE_BYTES) * often).sum()))


def worth(
    found: SharedFragments, order: Sequence[int], requests: Sequence[int]
) -> dict[int, Benefit]:
    """What each of some exact parts saves beyond those before it; those that save nothing are left out.

    Args:
        found: what pages share.
        order: fragments, by number: the best first.
        requests: how often each page is asked for.
    """
    chosen: defaultdict[int, _Chosen] = defaultdict(_Chosen)
    saved: dict[int, Benefit] = {}
    for number in order:
        members = found[number].members
        places = [
            place
            for place in zip(
                members.page.tolist(),
                members.byte_start.tolist(),
                members.byte_end.tolist(),
                strict=True,
            )
            if chosen[place[0]].is_free(place[1], place[2])
        ]
        if not places:
            continue
        # The bytes are the same everywhere, but not what was cut out of them: a part inside may have been found on some pages only.
        owns = [end - start - chosen[page].cut_in(start, end) for page, start, end in places]
        stored = sum(owns) - max(owns) - INCLUDE_BYTES * len(places)
        if stored <= 0:
            continue
        moved = sum(
            (own - INCLUDE_BYTES) * requests[place[0]]
            for own, place in zip(owns, places, strict=True)
        )
        saved[number] = Benefit(stored, moved)
        for page, start, end in places:
            chosen[page].add(start, end)
    return saved


class _Chosen:
    """What is cut out of a page: the outermost parts, apart from each other and in order."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []

    def is_free(self, start: int, end: int) -> bool:
        """Whether no chosen part is around these bytes, or crosses their ends."""
        first, last = self._inside(start, end)
        before = first and self._ends[first - 1] > start
        around = last > first and self._ends[last - 1] > end
        same = last > first and self._starts[first] == start and self._ends[first] >= end
        return not (before or around or same)

    def cut_in(self, start: int, end: int) -> int:
        """How many of these bytes are gone already, with the includes in their place counted."""
        first, last = self._inside(start, end)
        pairs = zip(self._starts[first:last], self._ends[first:last], strict=True)
        return sum(stop - begin - INCLUDE_BYTES for begin, stop in pairs)

    def add(self, start: int, end: int) -> None:
        """Cut these bytes out, with all that is inside."""
        first, last = self._inside(start, end)
        self._starts[first:last] = [start]
        self._ends[first:last] = [end]

    def _inside(self, start: int, end: int) -> tuple[int, int]:
        return bisect_left(self._starts, start), bisect_left(self._starts, end)
