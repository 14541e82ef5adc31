"""Cuts for parts that are set apart: room for them among the elements that pages share, and then the cuts themselves.

A part that no cache may keep must not be inside of a fragment, which no cache could keep either then: a menu would go past the cache because
of a greeting in its header. So elements around such a part are no candidates, on any page; those inside it or across its ends are none on its own page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from quire.fragments.cuts.candidates import Elements
from quire.fragments.cuts.select import Choice, Cut

#: First byte in the source, and after the last one.
Span = tuple[int, int]
# Keys of elements have 64 bits, and what is joined comes right behind them.
_FIRST_KEY = 1 << 65


def without_around(
    pages: Sequence[Elements], spans: Mapping[int, Sequence[Span]]
) -> list[Elements]:
    """Leave out the elements that would stand in the way of parts that are set apart.

    Args:
        pages: the elements of each page.
        spans: the parts, by the numbers of pages.
    """
    found = list(pages)
    around: set[int] = set()
    for number, mine in spans.items():
        page = found[number]
        free = np.ones(len(page), np.bool_)
        for start, end in mine:
            holds = (page.start <= start) & (page.end >= end)
            same = (page.start == start) & (page.end == end)
            around.update(page.key[holds & ~same].tolist())
            free &= (page.end <= start) | (page.start >= end) | same
        found[number] = page.only(free)
    if not around:
        return found
    keys = np.array(sorted(around), np.uint64)
    return [page.only(~np.isin(page.key, keys)) for page in found]


def set_apart(choice: Choice, spans: Mapping[int, Sequence[Span]]) -> None:
    """Cut parts out of pages, but for those that are cut out already.

    Args:
        choice: the cuts of other parts, none of them around these; has more afterwards.
        spans: the parts, by the numbers of pages; none is in another.
    """
    for number, mine in spans.items():
        cuts = list(choice.pages[number])
        for start, end in mine:
            if all(end <= cut.start or cut.end <= start for cut in cuts):
                key = _FIRST_KEY + len(choice.height)
                cuts.append(Cut(start, end, key))
                choice.height[key] = 0
        choice.pages[number] = sorted(cuts, key=lambda cut: cut.start)
