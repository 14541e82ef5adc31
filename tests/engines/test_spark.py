"""The Spark engine, beyond the promises of every engine."""

from __future__ import annotations

import socket
import subprocess
import sys
import textwrap
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from quire.engines import open_engine
from quire.engines.local import LocalEngine
from quire.engines.spark.types import spark_schema
from quire.errors import EngineError, MissingExtra
from tests.conftest import require
from tests.engines import jobs
from tests.engines.cluster import ROOT

if TYPE_CHECKING:
    from quire.engines.spark.engine import SparkEngine

pytestmark = pytest.mark.timeout(600)


def test_progress_is_told_step_by_step(
    spark: SparkEngine, told: list[tuple[str, int, int]], tmp_path: Path
) -> None:
    told.clear()
    work = partial(jobs.numbers, rows=10, keys=5)
    data = spark.map_paths([str(i) for i in range(6)], work, jobs.NUMBERS, step="sketch")
    grouped = spark.group_by_key(data, "key", jobs.total, jobs.GROUPS, step="bands")
    list(grouped.batches())
    spark.write(grouped, str(tmp_path / "sink"), step="keep")

    assert ("sketch", 6, 6) in told
    assert ("bands", 4, 4) in told
    assert ("keep", 4, 4) in told


@pytest.mark.usefixtures("spark")
def test_the_last_counts_are_reported_though_spark_counts_late() -> None:
    """Spark counts tasks in a thread of its own, which may be behind when the job ends."""
    from quire.engines.spark.watch import Watch  # noqa: PLC0415 - needs an extra

    told: list[tuple[str, int, int]] = []
    tracker = LateTracker(late=5)
    context = SimpleNamespace(
        statusTracker=lambda: tracker,
        setJobGroup=lambda *_, **__: None,
        setLocalProperty=lambda *_: None,
    )

    with Watch(context, ["sketch"], lambda *how: told.append(how), None):  # type: ignore[arg-type]
        pass  # ends before the first look at it

    assert told[-1] == ("sketch", 4, 4)


class LateTracker:
    """Answers as Spark does, but says that a job runs when it ended some questions ago."""

    def __init__(self, late: int) -> None:
        self.late = late

    def getJobIdsForGroup(self, group: str) -> list[int]:  # noqa: N802 - Spark's name
        """Return the jobs."""
        del group
        return [1]

    def getJobInfo(self, job: int) -> SimpleNamespace:  # noqa: N802 - Spark's name
        """Tell how a job is doing."""
        del job
        self.late -= 1
        return SimpleNamespace(stageIds=[1], status="RUNNING" if self.late > 0 else "SUCCEEDED")

    def getStageInfo(self, stage: int) -> SimpleNamespace:  # noqa: N802 - Spark's name
        """Count tasks."""
        del stage
        return SimpleNamespace(numCompletedTasks=4 if self.late <= 0 else 3, numTasks=4)


def test_a_reading_may_stop_early(spark: SparkEngine) -> None:
    work = partial(jobs.numbers, rows=10, keys=5)
    data = spark.map_paths([str(i) for i in range(6)], work, jobs.NUMBERS)
    rows = data.batches()
    next(rows)
    rows.close()  # type: ignore[attr-defined]  # a generator, though only an iterator is promised

    assert sum(batch.num_rows for batch in data.batches()) == 60


def test_large_rows_come_to_the_driver(spark: SparkEngine) -> None:
    data = spark.map_paths(["x"], jobs.large_rows, jobs.BODIES)

    bodies = [row["body"] for batch in data.batches() for row in batch.to_pylist()]

    assert [len(body) for body in bodies] == [3_000_000] * 8


def test_data_of_another_engine_is_refused(spark: SparkEngine, tmp_path: Path) -> None:
    with LocalEngine(1) as pool:
        data = pool.map_paths(["a"], jobs.words, jobs.WORDS)

    with pytest.raises(TypeError, match="LocalData of another engine"):
        spark.write(data, str(tmp_path / "sink"))


def test_one_session_at_a_time(spark: SparkEngine) -> None:
    assert spark.is_open
    with pytest.raises(EngineError, match="a Spark session is open in this process"):
        open_engine("spark-local[1]")


def test_a_function_that_workers_cannot_import_says_so(
    spark: SparkEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "only_on_the_driver.py").write_text(
        "from tests.engines.jobs import words\n\ndef read(paths):\n    yield from words(paths)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import only_on_the_driver  # type: ignore[import-not-found]  # noqa: PLC0415 - written above

    data = spark.map_paths(["a"], only_on_the_driver.read, jobs.WORDS)
    with pytest.raises(EngineError, match="No module named 'only_on_the_driver'") as caught:
        list(data.batches())

    assert "workers need this Python, with quire and the module" in caught.value.__notes__[0]


def test_a_column_that_cannot_travel_is_refused() -> None:
    with pytest.raises(TypeError, match="column when: rows of type month_day_nano_interval cannot"):
        spark_schema(pa.schema([("when", pa.month_day_nano_interval())]))


def test_nobody_at_the_address_is_told_at_once() -> None:
    require("java", "be asked for after it")
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"spark://127.0.0.1:{closed.getsockname()[1]}"
        with pytest.raises(EngineError, match=f"{address}: no Spark master answers .*refused"):
            open_engine(address)


def test_an_address_without_a_port_is_refused() -> None:
    require("java", "be asked for after it")
    with pytest.raises(ValueError, match=r"expected spark://HOST:PORT"):
        open_engine("spark://somewhere")


def test_no_java_is_told_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineError, match=r"java is not on the path; Spark needs Java 17 .* apt "):
        open_engine("spark-local")

    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(EngineError, match=f"no Java found: JAVA_HOME is {tmp_path};"):
        open_engine("spark-local")


@pytest.mark.parametrize(
    ("address", "module", "extra"),
    [("local", "pyarrow", "archive"), ("spark-local", "pyspark", "spark")],
)
def test_a_missing_library_is_told_with_its_extra(address: str, module: str, extra: str) -> None:
    # In a process of its own: imported modules stay imported.
    script = f"""
        import sys
        sys.modules[{module!r}] = None
        from quire.engines import open_engine
        from quire.errors import MissingExtra
        try:
            open_engine({address!r})
        except MissingExtra as error:
            print(error)
        """
    found = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True
    )

    assert found.stdout == f"{MissingExtra(f'{module} is not installed', extra=extra)}\n"


def test_a_session_comes_and_goes_quietly() -> None:
    # In a process of its own: only one session can be open, and the other tests use it.
    require("java", "run Spark on this machine")
    script = """
        import os
        from functools import partial
        from quire.engines.spark.engine import SparkEngine
        from quire.errors import EngineError
        from tests.engines import jobs
        from tests.engines.cluster import LEAN

        settings = {"spark.driver.extraJavaOptions": LEAN}
        with SparkEngine("local[2]", memory="512m", settings=settings) as engine:
            work = partial(jobs.numbers, rows=10, keys=3)
            data = engine.map_paths(["0", "1"], work, jobs.NUMBERS)
            print(sum(batch.num_rows for batch in data.batches()))
            java = engine._session._gateway.proc.pid
        try:
            list(data.batches())
        except EngineError as error:
            print(error)
        try:
            os.kill(java, 0)
        except ProcessLookupError:
            print("Java has ended")
        """
    found = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )

    assert found.stderr == ""
    assert found.stdout.splitlines() == [
        "20",
        "the engine is closed; its data can no longer be read",
        "Java has ended",
    ]
