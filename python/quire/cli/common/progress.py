"""Progress bars on standard error while batch work runs.

There is one bar for each step the engine reports. Bars are only drawn on a terminal, and disappear
when the work is done.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from quire.cli.common import terminal
from quire.progress import Progress, no_progress

if TYPE_CHECKING:
    from rich.progress import TaskID


@contextmanager
def bars(steps: Mapping[str, str]) -> Iterator[Progress]:
    """Yield a listener that draws bars, or does nothing if standard error is not a terminal.

    Args:
        steps: the label of each step; other steps are labelled with their own names.
    """
    if not sys.stderr.isatty():
        yield no_progress
        return
    from rich.progress import (  # noqa: PLC0415 - heavy
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
    )
    from rich.progress import Progress as Bars  # noqa: PLC0415 - heavy

    columns = (
        TextColumn("{task.description:<24}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    drawn: dict[str, TaskID] = {}
    # An engine may report from any thread.
    lock = threading.Lock()
    with Bars(*columns, console=terminal.console(stderr=True), transient=True) as shown:

        def listen(step: str, done: int, total: int) -> None:
            with lock:
                words = steps.get(step, step)
                if words not in drawn:
                    drawn[words] = shown.add_task(words, total=total)
                shown.update(drawn[words], completed=done, total=total)

        yield listen
