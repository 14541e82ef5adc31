"""Change rates: how often parts of pages change, according to their versions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from quire.fragments.caching.region_history import Watched
from quire.fragments.lifetime.results import LpFragment
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
        seen_s: time in which changes were counted, all pages together: without the gaps of uneven
            captures in which it changed.
        seen_changes: changes in that time.
        is_rate_known: whether captures are dense enough to count changes: few are missed.
    """

    changes: int = 0
    watched_s: float = 0.0
    page_s: float = 0.0
    life_p10_s: float | None = None
    life_p50_s: float | None = None
    life_p90_s: float | None = None
    ttl_s: float | None = None
    sharing: Sharing = "unknown"

    seen_s: float = 0.0
    seen_changes: int = 0
    is_rate_known: bool = False

    @property
    def changes_per_day(self) -> float | None:
        """Changes per day on one page, counted in spans of dense captures.

        None if no page has versions. It is at least this if ``is_rate_known`` is false.
        """
        return self.seen_changes * _DAY_S / self.seen_s if self.seen_s else None


def pace_of(fragment: LpFragment) -> Pace:
    """Return the pace of an L-P fragment."""
    watched = Watched(fragment.lives, fragment.watched_s, 0.0, fragment.sharing)
    gone = int(fragment.gone)
    pace = joined_pace([watched])
    return replace(
        pace, changes=fragment.changes, seen_changes=max(0, pace.seen_changes - gone)
    )  # its disappearance isn't a change of it


def joined_pace(told: Sequence[Watched]) -> Pace:
    """Return the pace of a part that several pages have, by its history on each of them."""
    all_lives = Lives.joined([one.lives for one in told])
    kinds, watched_s = {one.sharing for one in told}, [one.watched_s for one in told]
    curve = all_lives.curve()
    quantiles = [curve.quantile(share) for share in (0.1, 0.5, 0.9)]
    ten, half, ninety = (life if math.isfinite(life) else None for life in quantiles)
    ended = all_lives.at_least_s[all_lives.ended]
    sharing: Sharing = (
        "private" if "private" in kinds else "shared" if kinds == {"shared"} else "unknown"
    )
    return Pace(
        changes=int(all_lives.changed.sum()),
        watched_s=max(watched_s, default=0.0),
        page_s=sum(watched_s),
        life_p10_s=ten,
        life_p50_s=half,
        life_p90_s=ninety,
        ttl_s=float(np.quantile(ended, 0.1, method="lower")) if len(ended) else None,
        sharing=sharing,
        seen_s=float(all_lives.seconds.sum()),
        seen_changes=len(ended),
        is_rate_known=all_lives.is_rate_known,
    )
