"""Paces: how often the parts of pages change, as far as their versions tell.

A shared part changes when the text of a node at or inside it does, on any page that has versions, whether or not that node is an L-P fragment: what
changes with all of its page never is one, and neither is what is short.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from quire.fragments.lifetime.results import Lifetimes, LpFragment
from quire.fragments.lifetime.survival import Lives
from quire.fragments.policy import Sharing

_DAY_S = 86_400


@dataclass(frozen=True, slots=True)
class Pace:
    """How often something changes.

    Attributes:
        changes: how often it was seen to change, all pages together: what three pages share and one change reached counts three times.
        watched_s: for how long it was watched, on the page that was watched longest; 0 where nobody did.
        page_s: the same, all pages together.
        life_p10_s: what a tenth of its lives do not exceed; None where fewer were seen to end. By Kaplan and Meier.
        life_p50_s: the same for half of them.
        life_p90_s: the same for nine tenths.
        ttl_s: for how long it may be cached so that a tenth of its lives are shorter; None when none ended.
        sharing: whether all readers get the same.
    """

    changes: int = 0
    watched_s: float = 0.0
    page_s: float = 0.0
    life_p10_s: float | None = None
    life_p50_s: float | None = None
    life_p90_s: float | None = None
    ttl_s: float | None = None
    sharing: Sharing = "unknown"

    @property
    def changes_per_day(self) -> float | None:
        """Changes in a day of watching one page; None where nobody watched."""
        return self.changes * _DAY_S / self.page_s if self.page_s else None


def pace_of(fragment: LpFragment) -> Pace:
    """The pace of an L-P fragment."""
    found = _pace([fragment.lives], {fragment.sharing}, [fragment.watched_s])
    return replace(found, changes=fragment.changes)  # that it is gone is no change of it


def _pace(lives: list[Lives], kinds: set[Sharing], watched_s: Collection[float]) -> Pace:
    all_lives = Lives.joined(lives)
    curve = all_lives.curve()
    ten, half, ninety = (_known(curve.quantile(share)) for share in (0.1, 0.5, 0.9))
    ended = all_lives.at_least_s[all_lives.ended]
    sharing: Sharing = (
        "private" if "private" in kinds else "shared" if kinds == {"shared"} else "unknown"
    )
    return Pace(
        changes=len(ended),
        watched_s=max(watched_s, default=0.0),
        page_s=sum(watched_s),
        life_p10_s=ten,
        life_p50_s=half,
        life_p90_s=ninety,
        ttl_s=float(np.quantile(ended, 0.1, method="lower")) if len(ended) else None,
        sharing=sharing,
    )


class PageParts:
    """The parts of the last version of a page, by the nodes of its AF tree, as far as captures of its kind tell."""

    def __init__(self, lives: Lifetimes) -> None:
        self._found = lives
        self._versions = [n for n, kind in enumerate(lives.kinds) if kind == lives.kinds[-1]]
        self._times = lives.times[self._versions]
        self.watched_s: float = float(self._times[-1] - self._times[0])
        self._fragments = {one.number: one for one in lives.fragments}
        self._of: list[int] = lives.latest_fragment.tolist()
        self._end = subtree_ends(lives.latest_parent)

    def lives(self, part: int) -> Lives:
        """How long the text of a part stayed as it was, with all that is in it."""
        inside = np.zeros(len(self._of), np.bool_)
        inside[part : self._end[part] if part < len(self._end) else part] = True
        changed = versions_of(inside, self._found.text_changes, self._found)
        places = [place for place, one in enumerate(self._versions) if place and one in changed]
        return Lives.between(self._times, places)

    def sharing(self, part: int) -> set[Sharing]:
        """Whether readers get the same of the fragments at or in it."""
        end = self._end[part] if part < len(self._end) else part
        numbers = {number for number in self._of[part:end] if number >= 0}
        return {self._fragments[number].sharing for number in numbers}


def versions_of(inside: NDArray[np.bool_], rows: NDArray[np.int64], lives: Lifetimes) -> set[int]:
    """The versions in which some nodes changed; before the outermost came, those in which what it came into did.

    What takes the place of another without being like it in any way is a new part to whoever follows parts. To whoever keeps what is in that
    place it is the same part, changed.

    Args:
        inside: which nodes of the AF tree of the last version.
        rows: node and version of changes.
        lives: what the versions tell.
    """
    found = set(rows[inside[rows[:, 0]], 1].tolist())
    if not inside.any():
        return found
    node, begun = int(inside.argmax()), lives.kinds.index(lives.kinds[-1])
    while node > 0 and lives.latest_first[node] > begun:
        came, node = lives.latest_first[node], int(lives.latest_parent[node])
        found.update(rows[(rows[:, 0] == node) & (rows[:, 1] <= came), 1].tolist())
    return found


def shared_pace(members: Iterable[tuple[int, int]], watched: Mapping[int, PageParts]) -> Pace:
    """The pace of a shared part.

    Args:
        members: page and node of the AF tree of each.
        watched: pages that have versions.
    """
    lives: list[Lives] = []
    kinds: set[Sharing] = set()
    seen: dict[int, float] = {}
    for page, part in members:
        # Of a part that is on a page twice, the first tells.
        if page in watched and page not in seen:
            seen[page] = watched[page].watched_s
            lives.append(watched[page].lives(part))
            kinds |= watched[page].sharing(part)
    return _pace(lives, kinds, seen.values())


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
