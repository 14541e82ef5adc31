"""Shared fragments of large crawls: grouping on an engine, and what its driver holds; beside it, grouping on the driver.

Pages are made from their numbers by the tasks that read them, in a fresh process each. With threads the driver and all tasks are one process. With
Spark they are not: the driver is a Python process and its Java process, the tasks are in others.
"""

import json
import shutil
import subprocess
import sys
from typing import Any

from benchmarks.context import Context
from benchmarks.engines import NO_JAVA, SPARK
from benchmarks.provenance import REPOSITORY
from benchmarks.report import Goal, Report, Right, Table, at_most, every

COUNTS = (10_000, 100_000, 1_000_000)
#: Up to here the driver groups as well, and the answers are compared.
MOST_ON_DRIVER = 100_000
#: Up to here Spark groups as well: two cores are few for more.
MOST_ON_SPARK = 100_000
DRIVER, THREADS = "driver", "local:2"
MOST = {DRIVER: MOST_ON_DRIVER, SPARK: MOST_ON_SPARK}
WAYS = {
    DRIVER: "on the driver",
    THREADS: "on the engine, 2 threads",
    SPARK: "on the engine, Spark with 2 workers",
}


def run(context: Context) -> Report:
    """Find fragments in more and more pages, in each way."""
    ways = [DRIVER, THREADS, *([SPARK] if shutil.which("java") else [])]
    report = Report(
        title="Shared fragments of large crawls",
        inputs=f"made pages of 20 templates, seed {context.seed}: menus and footers, three teasers that other pages have too, two to four texts of their own",
        method="crawl_fragments (on the driver) and write_crawl_fragments (on the engine) with their defaults, pages made on the way, in a fresh process; wall and CPU time of one run (Spark: CPU of the driver's Python); peak memory of the process, all its threads and the interpreter included, and for Spark that of the driver's Java process",
        notes=[] if SPARK in ways else [NO_JAVA],
    )
    found: dict[str, list[dict[str, Any]]] = {way: [] for way in ways}
    for count in context.pick(COUNTS, (1_000, 2_000)):
        for way in ways:
            if count <= MOST.get(way, count):
                found[way].append(_child(count, context.seed, way))
                context.say(f"{way} {json.dumps(found[way][-1])}")
    for way, lines in found.items():
        report.tables.append(_table(WAYS[way], lines))
    for way in ways[1:]:
        for one, other in zip(found[DRIVER], found[way], strict=False):
            note = (
                f"{one['pages']:,} pages: every place of every fragment, in order, as on the driver"
            )
            right = int(one["checksum"] == other["checksum"])
            report.right.append(Right(WAYS[way], right, 1, note))
    equal = sum(one.right for one in report.right)
    report.goals = [every("answers as on the driver", equal, len(report.right))]
    if not context.quick:
        report.goals += [_goal(way, found[way][-1]) for way in ways[1:]]
    report.data = {"found": found}
    return report


def _goal(way: str, line: dict[str, Any]) -> Goal:
    held = "driver and tasks, 2 threads" if way == THREADS else "driver, Spark (Python and Java)"
    peak = line["peak"] + line["java_peak"]
    return at_most(f"memory of {held}, {line['pages']:,} pages", peak / 1e9, 1, " GB")


def _child(count: int, seed: int, way: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.fragments.large_child", str(count), str(seed), way],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _table(caption: str, lines: list[dict[str, Any]]) -> Table:
    return Table(
        [
            "pages",
            "bytes a page",
            "s",
            "CPU s",
            "peak MB",
            "kB a page",
            "Java MB",
            "fragments",
            "places",
        ],
        [
            [
                f"{line['pages']:,}",
                f"{line['page_bytes']:,.0f}",
                f"{line['wall']:,.0f}",
                f"{line['cpu']:,.0f}",
                f"{line['peak'] / 1e6:,.0f}",
                f"{line['peak'] / line['pages'] / 1e3:.1f}",
                f"{line['java_peak'] / 1e6:,.0f}" if line.get("java_peak") else "",
                f"{line['fragments']:,}",
                f"{line['members']:,}",
            ]
            for line in lines
        ],
        caption,
    )
