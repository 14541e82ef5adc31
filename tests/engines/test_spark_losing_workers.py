"""A worker of the cluster is killed while it works, and the result is still right.

Tasks leave a mark when they start, with their process, and wait there while the test holds their
phase. So the kill comes in the right phase, to a worker that has finished something, however busy
the machine is; and the tests know which work was done again.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from quire.errors import EngineError
from tests.engines import jobs
from tests.engines.cluster import Cluster, wait_for
from tests.engines.test_contract import expected_totals, found_totals, totals_of

if TYPE_CHECKING:
    from quire.engines.spark.engine import SparkData, SparkEngine

pytestmark = pytest.mark.timeout(600)

N_PATHS = 16
ROWS = 500
KEYS = 97
EXPECTED = expected_totals(N_PATHS * ROWS, KEYS)

T = TypeVar("T")


class Mark(NamedTuple):
    """The start of a task: which, in what process, when."""

    task: str
    pid: int
    time: float


def marks(folder: Path, phase: str) -> list[Mark]:
    """Read the marks of a phase, oldest first."""
    found = []
    for path in folder.glob(f"{phase}-*"):
        task, pid, _ = path.name.split(".")
        found.append(Mark(task, int(pid), path.stat().st_mtime))
    return sorted(found, key=lambda mark: mark.time)


def marked_totals(engine: SparkEngine, folder: Path) -> SparkData:
    """Sums by key of many rows, in two phases with marks."""
    read = partial(jobs.marked, folder=str(folder))
    add = partial(jobs.marked_total, folder=str(folder))
    data = engine.map_paths([str(i) for i in range(N_PATHS)], read, jobs.NUMBERS)
    return engine.group_by_key(data, "key", add, jobs.GROUPS)


def killed_meanwhile(
    action: Callable[[], T], cluster: Cluster, folder: Path, phase: str, least: int
) -> tuple[T, set[int], float]:
    """Run work, and kill a worker that waits in its last of some tasks of a phase.

    Args:
        action: the work.
        cluster: where it runs.
        folder: where its tasks leave marks.
        phase: when the kill comes.
        least: how many tasks of the phase a process of the worker has begun by then.

    Returns:
        The result of the work, the Python processes of the killed worker, and the time of the kill.
    """
    jobs.hold(folder, phase, least)
    with ThreadPoolExecutor(1) as pool:
        work = pool.submit(action)
        try:
            wait_for(lambda: work.done() or busy_worker(folder, phase, least), timeout_s=240)
            assert not work.done(), _why(work)
            victim = busy_worker(folder, phase, least)
            assert victim is not None
            of_victim = in_session(os.getsid(victim), folder)
            at = time.time()
            cluster.kill_worker_of(victim)
            assert not work.done(), "the work was over before the kill"
        finally:
            jobs.release(folder, phase)
        return work.result(300), of_victim, at


def _why(work: Future[T]) -> str:
    return f"ended before a worker was busy: {work.exception() or work.result()}"


def _session(pid: int) -> int | None:
    with suppress(ProcessLookupError):
        return os.getsid(pid)
    return None


def busy_worker(folder: Path, phase: str, least: int) -> int | None:
    """Find a process that waits in a phase, on a worker that has also begun paths."""
    begun = Counter(mark.pid for mark in marks(folder, phase))
    readers = {mark.pid for mark in marks(folder, "map")}  # none where only groups leave marks
    for pid, number in begun.items():
        session = _session(pid)
        if number < least or session is None:
            continue
        if not readers or in_session(session, folder) & readers:
            return pid
    return None


def in_session(session: int, folder: Path) -> set[int]:
    """Find the processes of a worker that have left marks."""
    begun = {mark.pid for mark in [*marks(folder, "map"), *marks(folder, "reduce")]}
    return {pid for pid in begun if _session(pid) == session}


def test_a_worker_killed_while_paths_are_read_costs_no_row(
    both: SparkEngine, cluster: Cluster, tmp_path: Path
) -> None:
    data = marked_totals(both, tmp_path)

    found, victim, at = killed_meanwhile(
        lambda: found_totals(data), cluster, tmp_path, "map", least=3
    )

    assert found == EXPECTED
    # The kill came in the phase: all groups started after it.
    assert min(mark.time for mark in marks(tmp_path, "reduce")) > at
    read = marks(tmp_path, "map")
    lost = {mark.task for mark in read if mark.pid in victim}
    again = {mark.task for mark in read if mark.pid not in victim and mark.time > at}
    # Two tasks were done and one had started; the victim's work was repeated; none is missing.
    assert len(lost) >= 3
    assert lost <= again
    assert {mark.task for mark in read} == {f"map-{i}" for i in range(N_PATHS)}


def test_a_worker_killed_while_groups_are_worked_on_costs_no_row(
    both: SparkEngine, cluster: Cluster, tmp_path: Path
) -> None:
    folder, sink = tmp_path / "marks", tmp_path / "sink"
    folder.mkdir()
    data = marked_totals(both, folder)

    files, victim, at = killed_meanwhile(
        lambda: both.write(data, str(sink)), cluster, folder, "reduce", least=1
    )

    assert totals_of(pa.concat_tables(map(pq.read_table, files))) == EXPECTED
    assert sorted(str(path) for path in sink.iterdir()) == files  # and no attempt is left
    before = [mark for mark in marks(folder, "map") if mark.time < at]
    after = [mark for mark in marks(folder, "map") if mark.time > at]
    # The kill came in the phase: all paths had been read, and groups were being processed.
    assert {mark.task for mark in before} == {f"map-{i}" for i in range(N_PATHS)}
    assert any(mark.time < at for mark in marks(folder, "reduce"))
    # Other workers read the victim's paths again, and its groups were processed again.
    lost = {mark.task for mark in before if mark.pid in victim}
    assert lost
    assert lost <= {mark.task for mark in after}
    groups = Counter(mark.task for mark in marks(folder, "reduce"))
    assert max(groups.values()) > 1


def test_work_that_nobody_is_left_for_is_given_up(
    both: SparkEngine, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(both, "_patience_s", 2)
    data = marked_totals(both, tmp_path)
    jobs.hold(tmp_path, "map", 1)

    with ThreadPoolExecutor(1) as pool:
        work = pool.submit(found_totals, data)
        wait_for(lambda: work.done() or marks(tmp_path, "map"))
        for worker in list(cluster.workers):
            cluster.workers.remove(worker)
            worker.kill()
        with pytest.raises(EngineError, match="no worker available for 2 s; expected one"):
            work.result(300)
