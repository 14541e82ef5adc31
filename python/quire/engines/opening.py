"""Opens the engine that an address such as ``spark://head:7077`` names."""

from __future__ import annotations

import re

from quire.engines.seam import Engine
from quire.progress import Progress, no_progress


def open_engine(
    address: str | None = None, *, threads: int | None = None, progress: Progress = no_progress
) -> Engine:
    """Open the engine that an address names. Use it in a ``with`` statement.

    >>> with open_engine("local:4") as engine:
    ...     type(engine).__name__
    'LocalEngine'

    Args:
        address: ``local`` or None for the threads of this machine, ``local:4`` for four threads;
            ``spark://host:7077`` for a cluster, ``spark-local[2]`` for Spark on this machine.
        threads: Number of threads, if the address does not give it; ignored for a cluster.
        progress: called from any thread.

    Raises:
        ValueError: The address does not name an engine.
        MissingExtra: pyarrow or pyspark is not installed.
        EngineError: The cluster does not answer, or Java is missing.
    """
    pool = re.fullmatch(r"local(?::([1-9][0-9]{0,5}))?", "local" if address is None else address)
    if pool is not None:
        from quire.engines.local import LocalEngine  # noqa: PLC0415 - needs an extra

        return LocalEngine(int(pool[1]) if pool[1] else threads, progress)
    spark = re.fullmatch(
        r"(spark://.+)|spark-(local(?:\[(?:[1-9][0-9]{0,5}|\*)\])?)", address or ""
    )
    if spark is not None:
        from quire.engines.spark.engine import SparkEngine  # noqa: PLC0415 - needs an extra

        master = spark[1] or ("local[*]" if spark[2] == "local" else spark[2])
        return SparkEngine(master, progress=progress)
    raise ValueError(
        f"{address}: not an engine; expected local, local:THREADS, spark://HOST:PORT "
        "or spark-local[THREADS]"
    )
