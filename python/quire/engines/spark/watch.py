"""Watching: how far a job of Spark is, and whether anybody is left to work on it.

Spark waits for ever when no worker offers itself. A job that is watched ends with an error instead, after a while.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from pyspark import InheritableThread, SparkContext

from quire.errors import EngineError
from quire.progress import Progress, no_progress

POLL_S = 0.2
#: How long tasks that were told to end are waited for.
QUIET_S = 15


class Watch:
    """Watches the jobs that this thread starts while it is entered.

    Args:
        context: Spark's.
        steps: the names of the steps of the work: one for each stage.
        listener: is told of progress.
        patience_s: how long to go on without any worker; None where there are none to wait for.

    Attributes:
        lost: the error of a job that was given up.
    """

    def __init__(
        self,
        context: SparkContext,
        steps: Sequence[str],
        listener: Progress,
        patience_s: float | None,
    ) -> None:
        self.lost: EngineError | None = None
        self._context = context
        self._steps = steps
        self._listener = listener
        self._patience_s = patience_s
        self._group = f"quire-{uuid.uuid4().hex}"
        self._told: set[tuple[str, int, int]] = set()
        self._ended = threading.Event()
        self._thread = InheritableThread(target=self._poll, name="quire-watch", daemon=True)

    def __enter__(self) -> Self:
        self._context.setJobGroup(self._group, self._steps[-1], interruptOnCancel=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join()
        with suppress(
            Exception
        ):  # Java may be gone; what went wrong is said by whoever waited for the job
            if error is not None:
                self._context.cancelJobGroup(self._group)
            self._context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]  # takes it

    def _poll(self) -> None:
        alone_since: float | None = None
        while not self._ended.wait(POLL_S):
            try:
                self._tell()
                if workers(self._context) or self._patience_s is None:
                    alone_since = None
                    continue
            except Exception:  # noqa: BLE001 - Java has ended; the job's own thread says so
                return
            alone_since = alone_since or time.monotonic()
            if time.monotonic() - alone_since > self._patience_s:
                self.lost = nobody(self._context, self._patience_s)
                self._context.cancelJobGroup(self._group)
                return
        with suppress(Exception):
            self._tell()

    def _tell(self) -> None:
        if self._listener is no_progress:
            return
        tracker = self._context.statusTracker()
        stages: set[int] = set()
        for job in tracker.getJobIdsForGroup(self._group):
            info = tracker.getJobInfo(job)
            stages.update(info.stageIds if info else ())
        # Stages are numbered as they depend on one another; what comes after the last step is part of it.
        for place, number in enumerate(sorted(stages)):
            stage = tracker.getStageInfo(number)
            if stage is not None:
                step = self._steps[min(place, len(self._steps) - 1)]
                progress = (step, stage.numCompletedTasks, stage.numTasks)
                if progress not in self._told:
                    self._told.add(progress)
                    self._listener(*progress)


def workers(context: SparkContext) -> int:
    """Count the machines that work for us, this one left out."""
    return len(_executors(context)) - 1


def _executors(context: SparkContext) -> Sequence[Any]:
    # Asked of Scala: Spark 4.0 shows it neither to Python nor to Java.
    executors: Sequence[Any] = context._jsc.sc().statusTracker().getExecutorInfos()  # noqa: SLF001
    return executors


def nobody(context: SparkContext, patience_s: float) -> EngineError:
    """Make the error that says that no worker came."""
    return EngineError(
        f"{context.master}: no worker has offered itself for {patience_s:g} s; expected one with a free core and enough memory"
    )


def wait_until_quiet(context: SparkContext) -> None:
    """Wait until no task runs any more: one that was told to end may still be writing."""
    end = time.monotonic() + QUIET_S
    with suppress(Exception):
        while time.monotonic() < end and any(
            executor.numRunningTasks() for executor in _executors(context)
        ):
            time.sleep(POLL_S)
