"""Progress bars for archives and fragments, which report their steps through a callback."""

from __future__ import annotations

import time as clock
from collections.abc import Iterator
from contextlib import contextmanager

from quire.cli.common.progress import bars
from quire.progress import Progress, no_progress

_STEPS = {
    "read": "reading, MB",
    "sketch": "sketching pages",
    "encode": "storing pages",
    "export": "writing records",
    "files": "reading files",
    "cut": "cutting pages",
    "compose": "composing pages",
    "strip": "stripping pages",
    "alike": "finding similar parts",
    "equal": "finding equal parts",
    "versions": "tracking versions",
    "measure": "measuring lifetimes",
    "apart": "isolating parts",
    "continue": "following parts",
    "differences": "comparing similar parts",
    "places": "naming places",
    "graph": "drawing the graph",
    "simulate": "simulating requests",
}
_PAUSE_S = 0.05


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """Yield a callback that draws bars on a terminal, at most every 50 milliseconds."""
    with bars(_STEPS) as draw:
        last: dict[str, float] = {}

        def progress(step: str, done: int, of: int) -> None:
            now = clock.monotonic()
            if draw is not no_progress and (done == of or now - last.get(step, 0.0) > _PAUSE_S):
                last[step] = now
                draw(step, done, of)

        yield progress
