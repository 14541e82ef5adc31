"""Watching: reports the progress of a Spark job, and ends it if no worker is left.

Without workers, Spark waits forever. A watched job ends with an error after a while instead.
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
#: How long to wait for cancelled tasks to end.
QUIET_S = 15
#: How long to wait for the counts of an ended job; Spark counts in a thread of its own.
LAST_COUNT_S = 5


class Watch:
    """Watches the jobs that this thread starts inside the context manager.

    Args:
        context: The Spark context.
        steps: Names of the steps of the work, one for each stage.
        progress: called as the work goes on.
        patience_s: How long to wait without any worker; None for Spark on this machine.

    Attributes:
        lost: The error, if the job was given up.
    """

    def __init__(
        self,
        context: SparkContext,
        steps: Sequence[str],
        progress: Progress,
        patience_s: float | None,
    ) -> None:
        self.lost: EngineError | None = None
        self._context = context
        self._steps = steps
        self._progress = progress
        self._patience_s = patience_s
        self._group = f"quire-{uuid.uuid4().hex}"
        self._reported: set[tuple[str, int, int]] = set()
        self._ended = threading.Event()
        self._has_failed = False
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
        self._has_failed = error is not None
        self._ended.set()
        self._thread.join()
        # Java may be gone; the code that waits for the job reports the error.
        with suppress(Exception):
            if error is not None:
                self._context.cancelJobGroup(self._group)
            self._context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]

    def _poll(self) -> None:
        alone_since: float | None = None
        while not self._ended.wait(POLL_S):
            try:
                self._report()
                if workers(self._context) or self._patience_s is None:
                    alone_since = None
                    continue
            except Exception:  # noqa: BLE001 - Java has ended; the job's own thread reports it
                return
            alone_since = alone_since or time.monotonic()
            if time.monotonic() - alone_since > self._patience_s:
                self.lost = no_worker(self._context, self._patience_s)
                self._context.cancelJobGroup(self._group)
                return
        with suppress(Exception):
            self._report_end()

    def _report_end(self) -> None:
        """Report the last counts, once Spark has counted all tasks of the jobs."""
        if self._progress is no_progress:
            return
        tracker = self._context.statusTracker()
        end = time.monotonic() + LAST_COUNT_S
        while not self._has_failed and time.monotonic() < end:
            jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(self._group)]
            if jobs and all(job is None or job.status != "RUNNING" for job in jobs):
                break
            time.sleep(POLL_S / 10)
        self._report()

    def _report(self) -> None:
        if self._progress is no_progress:
            return
        tracker = self._context.statusTracker()
        stages: set[int] = set()
        for job in tracker.getJobIdsForGroup(self._group):
            info = tracker.getJobInfo(job)
            stages.update(info.stageIds if info else ())
        # Stages are numbered in the order they depend on each other; stages after the last step
        # count as part of it.
        for place, number in enumerate(sorted(stages)):
            stage = tracker.getStageInfo(number)
            if stage is not None:
                step = self._steps[min(place, len(self._steps) - 1)]
                state = (step, stage.numCompletedTasks, stage.numTasks)
                if state not in self._reported:
                    self._reported.add(state)
                    self._progress(*state)


def workers(context: SparkContext) -> int:
    """Count the machines that work for us, without this one."""
    return len(_executors(context)) - 1


def _executors(context: SparkContext) -> Sequence[Any]:
    # Asked through Scala: Spark 4.0 exposes it neither to Python nor to Java.
    executors: Sequence[Any] = context._jsc.sc().statusTracker().getExecutorInfos()  # noqa: SLF001
    return executors


def no_worker(context: SparkContext, patience_s: float) -> EngineError:
    """Make the error for a cluster without available workers."""
    return EngineError(
        f"{context.master}: no worker available for {patience_s:g} s; "
        "expected one with a free core and enough memory"
    )


def wait_until_quiet(context: SparkContext) -> None:
    """Wait until no task is running: a cancelled task may still be writing."""
    end = time.monotonic() + QUIET_S
    with suppress(Exception):
        while time.monotonic() < end and any(
            executor.numRunningTasks() for executor in _executors(context)
        ):
            time.sleep(POLL_S)
