"""Decisions: which groups are fragments, by the rule about ancestors (``maximal.rs``).

In the order of the groups: a group is not a fragment if the same fragments, at least one, are
around all its members.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quire.fragments.shared.large.nesting import mixed
from quire.fragments.shared.large.records import Records


def accepted_groups(n: int, surroundings: Records, around: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Tell which of ``n`` groups are fragments.

    Args:
        n: number of groups on enough pages.
        surroundings: distinct surroundings of groups that have some for every member.
        around: the ranks of the groups in each, one after another.
    """
    accepted = np.ones(n, bool)
    order = np.argsort(surroundings["rank"], kind="stable")
    ranks = surroundings["rank"][order]
    ends = np.cumsum(surroundings["count"], dtype=np.int64)
    starts = ends - surroundings["count"]
    firsts = np.flatnonzero(np.diff(ranks.astype(np.int64), prepend=-1))
    for first, end in pairwise([*firsts.tolist(), len(ranks)]):
        mine = order[first:end]
        sets = [_accepted(around[starts[one] : ends[one]], accepted) for one in mine.tolist()]
        if sets[0] != (0, 0) and all(one == sets[0] for one in sets):
            accepted[ranks[first]] = False
    return accepted


def _accepted(ranks: NDArray[Any], accepted: NDArray[np.bool_]) -> tuple[int, int]:
    """Return the number of accepted groups and their mixed sum."""
    kept = ranks[accepted[ranks]]
    return len(kept), int(mixed(kept).sum(dtype=np.uint64))
