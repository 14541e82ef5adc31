"""Groups: all sentinels on one page are evaluated together (paper 002, sections 2.2 and 2.3).

A new version of a page goes in, with the sentinels that are due; an ``Outcome`` comes out for each.
The plain definition is in ``oracle``: read both versions in full for every sentinel. ``group`` gives
the same answers with all the shortcuts of the paper, each of which can be switched off.
"""

from __future__ import annotations

from quire.sentinels.groups.cover import covering_subset
from quire.sentinels.groups.group import Group, Member, Version
from quire.sentinels.groups.outcome import Outcome, SettledBy
from quire.sentinels.groups.shortcuts import ALL_SHORTCUTS, NO_SHORTCUTS, Shortcuts

__all__ = [
    "ALL_SHORTCUTS",
    "NO_SHORTCUTS",
    "Group",
    "Member",
    "Outcome",
    "SettledBy",
    "Shortcuts",
    "Version",
    "covering_subset",
]
