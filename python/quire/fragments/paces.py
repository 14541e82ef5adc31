"""Paces: how often the parts of pages change, as far as their versions tell.

A shared part has the pace of the L-P fragments at or inside it, on every page that has versions; where there is none, that of the nearest one
around it, with which it is delivered anew. A part with neither was not seen to change while its page was watched.

Above: ``statistics``. Below: ``lp_results``, ``lives``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quire.fragments.lives import Lives
from quire.fragments.lp_results import Lifetimes, LpFragment, Sharing

_DAY_S = 86_400


@dataclass(frozen=True, slots=True)
class Pace:
    """How often something changes.

    Attributes:
        changes: how often it was seen to change.
        watched_s: for how long it was watched, all pages together; 0 where nobody did.
        life_p10_s: what a tenth of its lives do not exceed; None where fewer were seen to end. By Kaplan and Meier.
        life_p50_s: the same for half of them.
        life_p90_s: the same for nine tenths.
        ttl_s: for how long it may be cached so that a tenth of its lives are shorter; None when none ended.
        sharing: whether all readers get the same.
    """

    changes: int = 0
    watched_s: float = 0.0
    life_p10_s: float | None = None
    life_p50_s: float | None = None
    life_p90_s: float | None = None
    ttl_s: float | None = None
    sharing: Sharing = "unknown"

    @property
    def changes_per_day(self) -> float | None:
        """Changes in a day of watching; None where nobody watched."""
        return self.changes * _DAY_S / self.watched_s if self.watched_s else None


def pace_of(fragments: Sequence[LpFragment], watched_s: float) -> Pace:
    """Put the lives of some L-P fragments together.

    Args:
        fragments: those that change it.
        watched_s: for how long it was watched.
    """
    if not fragments:
        return Pace(watched_s=watched_s)
    curve = Lives.joined([one.lives for one in fragments]).curve()
    ten, half, ninety = (_known(curve.quantile(share)) for share in (0.1, 0.5, 0.9))
    kinds = {one.sharing for one in fragments}
    sharing: Sharing = (
        "private" if "private" in kinds else "shared" if kinds == {"shared"} else "unknown"
    )
    return Pace(
        changes=sum(one.changes for one in fragments),
        watched_s=watched_s,
        life_p10_s=ten,
        life_p50_s=half,
        life_p90_s=ninety,
        ttl_s=_known(min(one.ttl_s() for one in fragments)),
        sharing=sharing,
    )


class PageParts:
    """The L-P fragments of a page, by the nodes of the AF tree of its last version."""

    def __init__(self, lives: Lifetimes) -> None:
        self.watched_s: float = float(lives.times[-1] - lives.times[0])
        self._fragments = {one.number: one for one in lives.fragments}
        self._of: list[int] = lives.latest_fragment.tolist()
        self._parent: list[int] = lives.latest_parent.tolist()
        self._end = subtree_ends(lives.latest_parent)

    def changing(self, part: int) -> list[LpFragment]:
        """What changes a part: the fragments at or in it, or else the nearest one around it."""
        if part >= len(self._of):
            return []
        inside = {number for number in self._of[part : self._end[part]] if number >= 0}
        found = [self._fragments[number] for number in sorted(inside)]
        found = [one for one in found if one.parent is not None]
        around = self._parent[part]
        while not found and around > 0:
            one = self._fragments.get(self._of[around])
            found = [one] if one is not None and one.parent is not None else []
            around = self._parent[around]
        return found


def shared_pace(members: Iterable[tuple[int, int]], watched: Mapping[int, PageParts]) -> Pace:
    """The pace of a shared part.

    Args:
        members: page and node of the AF tree of each.
        watched: pages that have versions.
    """
    found: dict[tuple[int, int], LpFragment] = {}
    seen: dict[int, float] = {}
    for page, part in members:
        if page in watched:
            seen[page] = watched[page].watched_s
            found |= {(page, one.number): one for one in watched[page].changing(part)}
    return pace_of(list(found.values()), sum(seen.values()))


def subtree_ends(parent: NDArray[np.int64]) -> list[int]:
    """After the last node below each, in pre-order.

    >>> subtree_ends(np.array([-1, 0, 1, 0]))
    [4, 3, 3, 4]
    """
    above = parent.tolist()
    ends = list(range(1, len(above) + 1))
    for node in range(len(above) - 1, 0, -1):
        ends[above[node]] = max(ends[above[node]], ends[node])
    return ends


def _known(seconds: float) -> float | None:
    return seconds if math.isfinite(seconds) else None
