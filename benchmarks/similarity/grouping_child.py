"""The process that groups for ``grouping-growth``: a folder of Parquet files, one JSON object out.

Seconds are by step of the engine, the time of a step it reads from not counted in it; what is left is the driver's.
"""

import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks.similarity.clusters import ari
from benchmarks.similarity.generated import template_of
from quire.engines import Data, Engine, open_engine
from quire.similar.crawl.templates import crawl_templates


class Clock:
    """Seconds by name; a name that begins inside another stops the other."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._names = ["driver"]
        self._since = time.perf_counter()

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """What happens inside is of this name."""
        self._count()
        self._names.append(name)
        try:
            yield
        finally:
            self._count()
            self._names.pop()

    def _count(self) -> None:
        now = time.perf_counter()
        name = self._names[-1]
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self._since
        self._since = now

    def stop(self) -> dict[str, float]:
        """The seconds until now."""
        self._count()
        return self.seconds


class TimedData:
    """Rows whose making is timed."""

    def __init__(self, data: Data, clock: Clock, step: str) -> None:
        self.data, self._clock, self._step = data, clock, step

    @property
    def schema(self) -> pa.Schema:
        """The columns."""
        return self.data.schema

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows."""
        rows = iter(self.data.batches())
        while True:
            with self._clock.of(self._step):
                batch = next(rows, None)
            if batch is None:
                return
            yield batch


class TimedEngine:
    """An engine whose steps are timed; a Protocol's engine in every other way."""

    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._engine, self._clock = engine, clock

    def map_paths(
        self, paths: Sequence[str], fn: Callable[..., Any], schema: pa.Schema, *, step: str = "read"
    ) -> TimedData:
        """See ``Engine``."""
        made = self._engine.map_paths(paths, fn, schema, step=step)
        return TimedData(made, self._clock, f"{step} (map)" if step == "meet" else step)

    def group_by_key(
        self, data: TimedData, key: str, fn: Callable[..., Any], schema: pa.Schema, *, step: str
    ) -> TimedData:
        """See ``Engine``."""
        return TimedData(
            self._engine.group_by_key(data, key, fn, schema, step=step), self._clock, step
        )

    def write(self, data: TimedData, sink: str, *, step: str = "write") -> list[str]:
        """See ``Engine``."""
        with self._clock.of(f"{step} (write)"):
            return self._engine.write(data, sink, step=step)


def peak_bytes() -> int:
    """The most memory this program had. What ``getrusage`` says begins with the peak of whoever started it."""
    found = re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) * 1024 if found else 0


def main(folder: str, threads: str) -> None:
    """Group the pages of a folder and say what it took."""
    paths = sorted(str(path) for path in Path(folder).glob("*.parquet"))
    with open_engine(f"local:{threads}") as engine:
        clock = Clock()
        start = time.perf_counter()
        cpu = time.process_time()
        found = crawl_templates(paths, engine=TimedEngine(engine, clock))  # type: ignore[arg-type]
        wall, cpu = time.perf_counter() - start, time.process_time() - cpu
        steps = clock.stop()
    # Before the table is made, whose memory is not the grouping's.
    peak = peak_bytes()
    table = found.table()
    templates = [template_of(url) for url in table["url"].to_pylist()]
    group = table["group"].to_numpy().astype("int64")
    alone = group < 0
    group[alone] = len(found.templates.groups) + alone.nonzero()[0]
    answer = {
        "pages": len(templates),
        "wall": wall,
        "cpu": cpu,
        "steps": steps,
        "peak": peak,
        "groups": len(found.templates.groups),
        "singles": len(found.templates.singles),
        "templates": len(set(templates)),
        "ari": ari(templates, group),
        "troubles": len(found.troubles),
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main(*sys.argv[1:])
