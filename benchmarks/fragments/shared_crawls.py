"""Shared fragments of whole crawls: in one process as a list of pages, by threads, and by Spark; the same answer, and what the driver holds.

From files on disk to fragments, in a fresh process each. The pages of a real site as they are, and pages that were made, as Parquet files of a
thousand. Spark is its local mode, with two threads: what a cluster does when it loses workers is in the tests (``tests/engines``).
"""

import json
import subprocess
import sys
import tempfile
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.context import Context
from benchmarks.corpora import unpacked
from benchmarks.fragments.growth_child import made
from benchmarks.provenance import REPOSITORY
from benchmarks.report import Report, Right, Table, at_most, every

REAL = "templates-helsingborg"
MADE_COUNTS = (20_000, 100_000)
PAGES_A_FILE = 1_000
#: How it is asked for, and what it is called.
WAYS = {
    "memory": "in memory",
    "local:1": "1 thread",
    "local:2": "2 threads",
    "spark-local[2]": "Spark, 2 threads",
}
ROUNDS = 2


def run(context: Context) -> Report:
    """Find fragments in every way, and compare."""
    rounds = context.pick(ROUNDS, 1)
    report = Report(
        title="Shared fragments of whole crawls",
        inputs=f"{REAL}; made pages as in shared-growth, seed {context.seed}, {PAGES_A_FILE:,} to a Parquet file",
        method=f"crawl_fragments, and shared_fragments in memory, with their defaults, from files to fragments in a fresh process; wall time, the fastest of {rounds} runs; CPU time and peak memory of the process that asks, beyond what it had before; without opening a session",
    )
    found = {REAL: _lines(str(unpacked(REAL)), rounds, context)}
    for count in context.pick(MADE_COUNTS, (1_000,)):
        with tempfile.TemporaryDirectory(prefix="quire-crawls-") as folder:
            _write(Path(folder), count, context.seed)
            found[f"{count:,} made pages"] = _lines(folder, rounds, context)
    for name, lines in found.items():
        report.tables.append(_table(name, lines))
        expected = lines["memory"]["checksum"]
        for way, line in lines.items():
            if way != "memory":
                right = int(line["checksum"] == expected)
                note = f"{name}: every member of every fragment, in order, as in memory"
                report.right.append(Right(WAYS[way], right, 1, note))
    of = len(report.right)
    equal = sum(one.right for one in report.right)
    report.goals = [every("answers as in memory", equal, of)]
    if not context.quick:
        small, large = (found[f"{count:,} made pages"]["local:2"] for count in MADE_COUNTS)
        grown = (large["peak"] - small["peak"]) / (large["pages"] - small["pages"])
        report.goals.append(at_most("memory for one more page, 2 threads", grown / 1e3, 16, " kB"))
    report.data = {"found": found}
    return report


def _write(folder: Path, count: int, seed: int) -> None:
    pages = made(count, seed)
    for number in range(0, count, PAGES_A_FILE):
        bodies = enumerate(islice(pages, PAGES_A_FILE), number)
        rows = [{"url": f"https://a.example/{n}", "body": body} for n, body in bodies]
        pq.write_table(
            pa.Table.from_pylist(rows), folder / f"{number:06}.parquet", compression="zstd"
        )


def _lines(folder: str, rounds: int, context: Context) -> dict[str, dict[str, Any]]:
    lines = {}
    for way in WAYS:
        runs = [_child(folder, way) for _ in range(rounds)]
        lines[way] = min(runs, key=lambda line: line["wall"])
        context.say(f"{way} {json.dumps(lines[way])}")
    return lines


def _child(folder: str, way: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.fragments.crawl_child", folder, way],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _table(caption: str, lines: dict[str, dict[str, Any]]) -> Table:
    return Table(
        [
            *("way", "pages", "s", "CPU s", "pages/s"),
            *("peak MB", "kB a page", "fragments", "members"),
        ],
        [
            [
                WAYS[way],
                f"{line['pages']:,}",
                f"{line['wall']:.2f}",
                f"{line['cpu']:.2f}",
                f"{line['pages'] / line['wall']:,.0f}",
                f"{line['peak'] / 1e6:,.0f}",
                f"{line['peak'] / line['pages'] / 1e3:.1f}",
                f"{line['fragments']:,}",
                f"{line['members']:,}",
            ]
            for way, line in lines.items()
        ],
        caption,
    )
