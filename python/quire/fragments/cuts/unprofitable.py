"""Lonely fragments: what hazards leave in one place alone is not cut out there.

A choice is made by bytes, before anybody has read a page as a cache does. Where a raw ``<`` or a comment's extra dashes keep a part in all
pages but one, its fragment would have one use: an include and a request more, and nothing saved. So pages are cut once for trial, and what
no longer pays stays where it is. Cuts that hazards stop are left in the choice, to be named when files are written.

Cost: linear in the pages that are cut, a round for every time that something is dropped; ``_ROUNDS`` at most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from quire.fragments.cuts.cutting import made_cuts
from quire.fragments.cuts.select import Choice, Cut
from quire.fragments.site.spool import Spool

# What stays may hide what comes after it, so pages are tried again. Real crawls settle in one or two.
_ROUNDS = 4


def without_lonely(choice: Choice, spool: Spool, include_bytes: int) -> Choice:
    """Leave in pages what would have been cut out of one place alone, or at a loss."""
    stopped: dict[int, set[Cut]] = {}
    again: Iterable[int] = range(len(choice.pages))
    for _ in range(_ROUNDS):
        for page in again:
            if choice.pages[page]:
                made = made_cuts(spool.get(page), choice.pages[page])
                stopped[page] = set(choice.pages[page]) - set(made)
        # Without hazards every cut is made, and what was chosen pays already.
        if not any(stopped.values()):
            return choice
        lost = _lost(choice, stopped, include_bytes)
        again = [
            page
            for page, cuts in enumerate(choice.pages)
            if any(cut.key in lost and cut not in stopped[page] for cut in cuts)
        ]
        if not again:
            break
        for page in again:
            choice.pages[page] = [
                cut for cut in choice.pages[page] if cut.key not in lost or cut in stopped[page]
            ]
    return choice


def _lost(choice: Choice, stopped: Mapping[int, set[Cut]], include_bytes: int) -> set[int]:
    """Fragments that no longer pay."""
    uses: Counter[int] = Counter()
    spread: Counter[int] = Counter()
    lengths: dict[int, int] = {}
    made = [
        [cut for cut in cuts if cut not in stopped.get(page, ())]
        for page, cuts in enumerate(choice.pages)
    ]
    for cuts in [*made, *choice.inside.values()]:
        uses.update(cut.key for cut in cuts)
        spread.update({cut.key for cut in cuts})
        lengths.update((cut.key, cut.end - cut.start) for cut in cuts)
    return {
        key
        for key, count in uses.items()
        if spread[key] < 2  # noqa: PLR2004 - shared
        or count * (lengths[key] - include_bytes) <= lengths[key]
    }
