"""Templates on a Spark cluster: the same groups as on this machine, and what a second worker brings.

A real standalone cluster on loopback, that of the tests: a master and workers of one core each. The whole corpus, WARC files
and broken pages too, is grouped by threads of this machine, by one worker and by two. Every row must be equal: name,
group, role, fit, and the reason of everything that could not be read. What happens when workers are killed
is in the tests (``tests/engines``).
"""

import tempfile
import time
from pathlib import Path

import pyarrow as pa

from benchmarks.context import Context
from benchmarks.corpora import EVERYTHING, unpacked
from benchmarks.report import Report, Right, Table, every
from quire.engines import Engine, open_engine
from quire.engines.spark.engine import SparkEngine
from quire.similar.crawl.templates import CrawlTemplates, crawl_templates
from quire.sources import find
from tests.engines.cluster import LEAN, Cluster

#: Runs of each; the quickest counts.
ROUNDS = 2
SETTINGS = {"spark.driver.extraJavaOptions": LEAN, "spark.executor.extraJavaOptions": LEAN}


def run(context: Context) -> Report:
    """Group the corpus on every engine, and compare."""
    paths = find([str(unpacked(corpus)) for corpus in context.corpora or EVERYTHING])
    paths = paths[:: context.pick(1, 20)]
    total = sum(Path(path).stat().st_size for path in paths)
    report = Report(
        title="Templates on Spark",
        inputs=f"all pages, WARC files and broken files of {len(context.corpora or EVERYTHING)} corpora ({len(paths):,} files, {total / 1e6:,.0f} MB)",
        method=f"crawl_templates with one session for all runs of an engine, after a small job that does not count; wall time, the fastest of {ROUNDS} runs; workers have one core each",
    )
    found: dict[str, CrawlTemplates] = {}
    seconds: dict[str, list[float]] = {}
    for threads in (1, 2):
        with open_engine(f"local:{threads}") as engine:
            name = f"local, {threads} thread{'s' if threads > 1 else ''}"
            found[name], seconds[name] = _timed(engine, paths, context)
    for workers in (1, 2):
        with (
            tempfile.TemporaryDirectory(prefix="quire-spark-") as place,
            Cluster(Path(place), workers) as cluster,
            SparkEngine(cluster.address, memory="512m", settings=SETTINGS) as spark,
        ):
            name = f"Spark, {workers} worker{'s' if workers > 1 else ''}"
            found[name], seconds[name] = _timed(spark, paths, context)
    names = list(found)
    reference = _rows(found[names[0]])
    for name in names[1:]:
        rows = _rows(found[name])
        right = sum(a == b for a, b in zip(reference, rows, strict=False))
        report.right.append(
            Right(
                name,
                right,
                max(len(reference), len(rows)),
                "rows as of one thread: page, group, role, fit, or trouble",
            )
        )
    groups = found[names[0]].templates
    pages = len(groups.group_of)
    first = min(seconds[names[0]])
    report.tables.append(
        Table(
            ["engine", "s", "pages/s", "MB/s", "times one thread"],
            [
                [
                    name,
                    f"{min(times):.1f}",
                    f"{pages / min(times):,.0f}",
                    f"{total / 1e6 / min(times):.1f}",
                    f"{first / min(times):.2f}",
                ]
                for name, times in seconds.items()
            ],
        )
    )
    report.goals = [
        every(f"{entry.who}: the rows of one thread", entry.right, entry.of)
        for entry in report.right
    ]
    one, two = (min(seconds[f"Spark, {words}"]) for words in ("1 worker", "2 workers"))
    report.notes = [
        f"{pages:,} pages in {len(groups.groups):,} groups, {len(groups.singles):,} alone, {len(found[names[0]].troubles):,} troubles",
        f"two workers against one: {one / two:.2f} times the throughput, on a machine with two cores that also runs the master, the driver and other processes",
    ]
    report.data = {"seconds": seconds, "pages": pages, "bytes": total}
    return report


def _timed(
    engine: Engine, paths: list[str], context: Context
) -> tuple[CrawlTemplates, list[float]]:
    crawl_templates(paths[::100], engine=engine)
    times = []
    for _ in range(context.pick(ROUNDS, 1)):
        start = time.perf_counter()
        found = crawl_templates(paths, engine=engine)
        times.append(time.perf_counter() - start)
        context.say(f"{type(engine).__name__}: {times[-1]:.1f} s")
    return found, times


def _rows(found: CrawlTemplates) -> list[tuple[object, ...]]:
    table: pa.Table = found.table().select(["name", "group", "role", "fit"])
    rows = [tuple(row.values()) for row in table.to_pylist()]
    return rows + [(trouble.name, trouble.reason) for trouble in found.troubles]
