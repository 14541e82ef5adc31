"""The engines of benchmarks: threads of this machine, or a real Spark cluster on it, and the memory of a driver."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from quire.engines import Engine, open_engine

#: Address of a Spark cluster that is started for the benchmark.
SPARK = "spark"
WORKERS = 2
NO_JAVA = "java is not installed, so Spark is left out (Debian: openjdk-17-jre-headless)"


@contextlib.contextmanager
def opened(name: str, place: str) -> Iterator[Engine]:
    """Open an engine; for ``SPARK``, start a cluster whose logs and data are below a folder."""
    if name != SPARK:
        with open_engine(name) as engine:
            yield engine
        return
    # Here, since only this engine needs them.
    from quire.engines.spark.engine import SparkEngine  # noqa: PLC0415
    from tests.engines.cluster import LEAN, Cluster  # noqa: PLC0415

    Path(place, "cluster").mkdir()
    settings = {"spark.driver.extraJavaOptions": LEAN, "spark.executor.extraJavaOptions": LEAN}
    with (
        Cluster(Path(place, "cluster"), WORKERS) as cluster,
        SparkEngine(cluster.address, memory="512m", settings=settings) as spark,
    ):
        yield spark


def peak_bytes(pid: int) -> int:
    """Resident memory of a process at its peak. Not that of getrusage, which begins with what the parent had."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def java_peak_bytes() -> int:
    """Peak memory of the Java process through which this process drives Spark; 0 without one."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parent = int(path.read_text().rpartition(")")[2].split()[1])
            if parent == os.getpid() and b"SparkSubmit" in (path.parent / "cmdline").read_bytes():
                return peak_bytes(int(path.parent.name))
    return 0
