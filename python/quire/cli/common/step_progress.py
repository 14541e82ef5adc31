"""Bars for the work of archives and fragments, which tell of their steps by a function."""

from __future__ import annotations

import time as clock
from collections.abc import Iterator
from contextlib import contextmanager

from quire.cli.common.progress import bars
from quire.progress import Progress, no_progress

_STEPS = {
    "read": "reading, MB",
    "sketch": "looking at pages",
    "encode": "storing pages",
    "export": "writing records",
    "files": "reading files",
    "cut": "cutting pages",
    "compose": "composing pages",
    "strip": "stripping pages",
    "alike": "finding what is alike",
    "equal": "finding what is equal",
    "versions": "following versions",
    "measure": "measuring lifetimes",
    "apart": "setting parts apart",
    "differences": "comparing what is alike",
    "places": "naming places",
    "graph": "drawing the graph",
    "simulate": "simulating requests",
}
_PAUSE_S = 0.05


@contextmanager
def telling() -> Iterator[Progress]:
    """Give a function that draws bars, where somebody looks, and not too often."""
    with bars(_STEPS) as listener:
        last: dict[str, float] = {}

        def tell(step: str, done: int, of: int) -> None:
            now = clock.monotonic()
            if listener is not no_progress and (done == of or now - last.get(step, 0.0) > _PAUSE_S):
                last[step] = now
                listener(step, done, of)

        yield tell
