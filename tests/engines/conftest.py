"""The engines that a test of the contract runs on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from quire.engines import Engine
from quire.engines.local import LocalEngine
from tests.conftest import require
from tests.engines.cluster import LEAN, Cluster, wait_for

if TYPE_CHECKING:
    from quire.engines.spark.engine import SparkEngine

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests of engines in one process, where tests run in several: they share a cluster."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A Spark cluster with two workers."""
    require("java", "run a Spark cluster")
    with Cluster(tmp_path_factory.mktemp("spark")) as running:
        yield running


@pytest.fixture(scope="session")
def told() -> list[tuple[str, int, int]]:
    """The progress that the Spark engine reported."""
    return []


@pytest.fixture(scope="session")
def spark(cluster: Cluster, told: list[tuple[str, int, int]]) -> Iterator[SparkEngine]:
    """One session on the cluster for all tests: opening it takes ten seconds or more."""
    from quire.engines.spark.engine import SparkEngine  # noqa: PLC0415 - needs an extra

    settings = {
        "spark.driver.extraJavaOptions": LEAN,
        "spark.executor.extraJavaOptions": LEAN,
        # Two attempts are enough for functions that always fail; losing a worker does not count.
        "spark.task.maxFailures": "2",
        # So small that batches split groups in every larger test.
        "spark.sql.execution.arrow.maxRecordsPerBatch": "1000",
    }
    with SparkEngine(
        cluster.address,
        progress=lambda *how: told.append(how),
        memory="512m",
        partitions=4,
        settings=settings,
    ) as engine:
        yield engine


@pytest.fixture
def both(spark: SparkEngine, cluster: Cluster) -> Iterator[SparkEngine]:
    """The engine with two workers; a worker that the test kills is replaced."""
    from quire.engines.spark.watch import workers  # noqa: PLC0415 - needs an extra

    wait_for(lambda: workers(spark._context) == 2)
    yield spark
    while len(cluster.workers) < 2:
        cluster.start_worker()
    cluster.wait_for_workers()


@pytest.fixture(params=["local", "spark"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """Each engine in turn."""
    if request.param == "spark":
        engine: Engine = request.getfixturevalue("spark")
        yield engine
    else:
        with LocalEngine(2) as pool:
            yield pool
