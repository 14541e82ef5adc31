"""Change rates: how often parts of pages change, according to their versions."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
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
        changes: number of changes seen, on all pages together: a change that reaches three pages
            counts three times.
        watched_s: time between first and last capture, on the page where that is longest; 0 if no
            page has versions.
        page_s: the same, all pages together.
        life_p10_s: a tenth of its lives do not exceed this; None if fewer were seen to end. By
            Kaplan and Meier.
        life_p50_s: the same for half of them.
        life_p90_s: the same for nine tenths.
        ttl_s: TTL for which a tenth of its lives are shorter; None when none ended.
        sharing: whether all users get the same.
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
        """Changes per day on one page; None if no page has versions."""
        return self.changes * _DAY_S / self.page_s if self.page_s else None


def pace_of(fragment: LpFragment) -> Pace:
    """Return the pace of an L-P fragment."""
    found = joined_pace([fragment.lives], {fragment.sharing}, [fragment.watched_s])
    return replace(found, changes=fragment.changes)  # its disappearance isn't a change of it


def joined_pace(
    lives: Sequence[Lives], kinds: Collection[Sharing], watched_s: Collection[float]
) -> Pace:
    """Return the pace of a part that several pages have.

    Args:
        lives: how long it stayed as it was, on each page.
        kinds: whether users get the same, on each page.
        watched_s: time between first and last capture, on each page.
    """
    all_lives = Lives.joined(list(lives))
    curve = all_lives.curve()
    ten, half, ninety = (_known(curve.quantile(share)) for share in (0.1, 0.5, 0.9))
    ended = all_lives.at_least_s[all_lives.ended]
    sharing: Sharing = (
        "private" if "private" in kinds else "shared" if set(kinds) == {"shared"} else "unknown"
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


def versions_of(inside: NDArray[np.bool_], rows: NDArray[np.int64], lives: Lifetimes) -> set[int]:
    """Return the versions in which some nodes changed.

    For versions before the outermost node appeared, changes of the node that it came into count: a
    part that replaces another without resembling it is a new part to ``lifetimes``, but to a cache
    that keeps this place of the page it is the same part, changed.

    Args:
        inside: which nodes of the AF tree of the newest version.
        rows: node and version of changes.
        lives: the lifetimes of the page.
    """
    found = set(rows[inside[rows[:, 0]], 1].tolist())
    if not inside.any():
        return found
    node, begun = int(inside.argmax()), lives.kinds.index(lives.kinds[-1])
    while node > 0 and lives.latest_first[node] > begun:
        came, node = lives.latest_first[node], int(lives.latest_parent[node])
        found.update(rows[(rows[:, 0] == node) & (rows[:, 1] <= came), 1].tolist())
    return found


def _known(seconds: float) -> float | None:
    return seconds if math.isfinite(seconds) else None
