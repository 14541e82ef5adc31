"""Cutting: which cuts of a page a cache would compose again.

Two scanners read the page as caches do, and skip each part that is cut out. If both are between
tags at the beginning of a part, quire makes the cut. Otherwise the part stays in the page, and the
hazard that keeps it there is recorded. So a cache recognises every include, by construction.

Cost: linear in the page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from quire.fragments.cuts.candidates import Cut
from quire.fragments.cuts.esi_scanner import EsiScanner, Within
from quire.fragments.cuts.hazards import OF_STATES, Hazard, HazardKind


class Stopped(NamedTuple):
    """A cut that is not made, and the hazard that stops it."""

    cut: Cut
    kind: HazardKind


class Scanned(NamedTuple):
    """The cuts of a page or fragment that are made, those that hazards stop, and the hazards."""

    made: tuple[Cut, ...]
    stopped: tuple[Stopped, ...] = ()
    hazards: tuple[Hazard, ...] = ()


def scan(source: bytes, cuts: Sequence[Cut]) -> Scanned:
    r"""Tell which cuts can be made.

    >>> page = b"<p>1 < 2</p><nav>Start</nav><nav>Start</nav>"
    >>> parts = [Cut(0, 12, 7), Cut(12, 28, 8), Cut(28, 44, 8)]
    >>> len(scan(page, parts).made), len(scan(b"<p>1 < 2" + page[12:], [Cut(8, 24, 8)]).made)
    (3, 0)

    Args:
        source: the bytes.
        cuts: the parts, in order; none overlaps another.
    """
    scanners = (EsiScanner(), EsiScanner(backs_up=True))
    made: list[Cut] = []
    stopped: list[Stopped] = []
    kept: Counter[tuple[HazardKind, int]] = Counter()
    for cut in cuts:
        stuck = next(
            (one for one in scanners if one.read(source, cut.start) is not Within.NOTHING), None
        )
        if stuck is None:
            for scanner in scanners:
                scanner.skip_to(cut.end)
            made.append(cut)
        else:
            kind = OF_STATES[stuck.within]
            kept[kind, stuck.opened] += 1
            stopped.append(Stopped(cut, kind))
    hazards = tuple(Hazard(kind, offset, count) for (kind, offset), count in kept.items())
    return Scanned(tuple(made), tuple(stopped), hazards)
