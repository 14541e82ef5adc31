"""The records of a crawl of 10,000 pages, on one thread and on two.

Files of four corpora, read again until there are 10,000: reading, encoding, finding records, and
handing the tables over, as ``quire records DIR`` does before it writes them.
"""

from __future__ import annotations

import itertools
import resource
import statistics
import time
from pathlib import Path

from benchmarks.context import Context
from benchmarks.report import Report, Right, Table
from quire.engines import open_engine
from quire.extraction.crawl import PageRecords, crawl_records
from tests import corpus

PAGES = 10_000
RUNS = 2
CORPORA = ("records", "templates-types", "templates-swde-sites", "templates-docs")


def run(context: Context) -> Report:
    """Time whole crawls by turns."""
    files = [
        path
        for name in CORPORA
        for path in corpus.files(name)
        if path.suffix in {".html", ".htm"} and path.stat().st_size
    ]
    paths = list(itertools.islice(itertools.cycle(map(str, files)), context.pick(PAGES, 300)))
    size = sum(Path(path).stat().st_size for path in paths)
    took: dict[int, list[tuple[float, float]]] = {1: [], 2: []}
    counts: dict[int, tuple[int, int, int]] = {}
    for turn in range(context.pick(RUNS, 1)):
        for threads in (1, 2) if turn % 2 else (2, 1):
            context.say(f"run {turn + 1}, {threads} threads")
            began, cpu = time.perf_counter(), time.process_time()
            counts[threads] = _crawl(paths, threads)
            took[threads].append((time.perf_counter() - began, time.process_time() - cpu))
    rows = []
    for threads, found in took.items():
        wall = [seconds for seconds, _ in found]
        best = min(wall)
        rows.append(
            [
                str(threads),
                f"{statistics.median(wall):.1f}",
                f"{best:.1f} to {max(wall):.1f}",
                f"{min(cpu for _, cpu in found):.1f}",
                f"{len(paths) / best:,.0f}",
                f"{size / best / 1e6:.1f}",
            ]
        )
    pages, regions, records = counts[2]
    report = Report(
        title="The records of a crawl",
        inputs=f"{len(paths):,} pages ({len(files):,} files of {', '.join(CORPORA)}, again and again), {size / 1e6:,.0f} MB",
        method="Files to tables on the local engine, by turns; seconds on the clock, and CPU seconds of the fastest run; pages and megabytes for each second of the fastest run",
        tables=[
            Table(
                ["threads", "median s", "fastest to slowest s", "CPU s", "pages/s", "MB/s"],
                rows,
                f"{pages:,} pages, {regions:,} regions, {records:,} records",
            )
        ],
        right=[
            Right(
                "two threads",
                int(counts[1] == counts[2]),
                1,
                "pages, regions and records as with one",
            )
        ],
    )
    fastest = {threads: min(seconds for seconds, _ in found) for threads, found in took.items()}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    report.notes.append(
        f"Two threads are {fastest[1] / fastest[2]:.2f} times as fast as one: kernels run beside each "
        f"other, Python code does not. Peak memory of the process: {peak:,.0f} MB."
    )
    report.data["seconds"] = {str(threads): found for threads, found in took.items()}
    return report


def _crawl(paths: list[str], threads: int) -> tuple[int, int, int]:
    """Read a crawl; count pages, regions and records."""
    pages = regions = records = 0
    with open_engine(None, threads=threads) as engine:
        for found in crawl_records(paths, engine=engine):
            if isinstance(found, PageRecords):
                pages += 1
                regions += len(found.regions)
                records += sum(map(len, found.regions))
    return pages, regions, records
