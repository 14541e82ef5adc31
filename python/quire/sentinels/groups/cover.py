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
    sizes = [len(roots) for roots in locations]
    if not any(sizes):
        return []
    roots = np.concatenate(locations)
    owners = np.repeat(np.arange(len(locations)), sizes)
    tops = outermost(page, roots)
    places = np.minimum(np.searchsorted(tops, roots), len(tops) - 1)
    is_top = tops[places] == roots
    owners, places = owners[is_top], places[is_top]
    chosen = []
    while len(owners):
        best = int(np.bincount(owners).argmax())
        chosen.append(best)
        is_covered = np.zeros(len(tops), np.bool_)
        is_covered[places[owners == best]] = True
        is_open = ~is_covered[places]
        owners, places = owners[is_open], places[is_open]
    return sorted(chosen)
