"""The minimal covering subset: the fewest sentinels whose locations cover those of all others.

Subtrees nest or are apart, so the outermost subtrees of all locations decide: a set that covers these
covers everything. If every location were one subtree, the sentinels of the outermost ones would be
the answer. A location can have several subtrees, and then this is the set cover problem: greedy
choice, largest gain first, takes at most 1 + ln(n) times the fewest, for n outermost subtrees.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from quire.digest.page import Digest
from quire.sentinels.parts.location import Roots, outermost


def covering_subset(page: Digest, locations: Sequence[Roots]) -> list[int]:
    """Return the places of locations that together cover all of them.

    >>> import quire
    >>> page = quire.encode(b"<ul><li>a<li>b</ul><p>c")
    >>> covering_subset(page, [np.array([5]), np.array([4]), np.array([7]), np.array([9])])
    [1, 3]
    """
    filled = [roots for roots in locations if len(roots)]
    if not filled:
        return []
    tops = outermost(page, np.concatenate(filled))
    covered_by = [set(np.flatnonzero(np.isin(tops, roots)).tolist()) for roots in locations]
    open_tops = set(range(len(tops)))
    chosen = []
    while open_tops:
        best = max(range(len(locations)), key=lambda place: len(covered_by[place] & open_tops))
        chosen.append(best)
        open_tops -= covered_by[best]
    return sorted(chosen)
