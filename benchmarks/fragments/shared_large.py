"""Shared fragments of large crawls: grouping on the engine, and what the driver holds; beside it, grouping on the driver.

Pages are made from their numbers by the tasks that read them, in a fresh process each. The engine is that of this machine, so the driver's memory
includes that of all tasks.
"""

import json
import subprocess
import sys
from typing import Any

from benchmarks.context import Context
from benchmarks.provenance import REPOSITORY
from benchmarks.report import Report, Right, Table, at_most, every

COUNTS = (10_000, 100_000, 1_000_000)
#: Up to here the driver groups as well, and the answers are compared.
MOST_ON_DRIVER = 100_000
WAYS = {"driver": "on the driver", "local:2": "on the engine, 2 threads"}


def run(context: Context) -> Report:
    """Find fragments in more and more pages, in both ways."""
    report = Report(
        title="Shared fragments of large crawls",
        inputs=f"made pages of 20 templates, seed {context.seed}: menus and footers, three teasers that other pages have too, two to four texts of their own",
        method="crawl_fragments (on the driver) and write_crawl_fragments (on the engine) with their defaults, pages made on the way, in a fresh process; wall and CPU time of one run; peak memory of the process, all threads and the interpreter included",
    )
    found: dict[str, list[dict[str, Any]]] = {way: [] for way in WAYS}
    for count in context.pick(COUNTS, (1_000, 2_000)):
        for way in WAYS:
            if way != "driver" or count <= MOST_ON_DRIVER:
                found[way].append(_child(count, context.seed, way))
                context.say(f"{way} {json.dumps(found[way][-1])}")
    for way, lines in found.items():
        report.tables.append(_table(WAYS[way], lines))
    for one, other in zip(found["driver"], found["local:2"], strict=False):
        note = f"{one['pages']:,} pages: every place of every fragment, in order, as on the driver"
        right = int(one["checksum"] == other["checksum"])
        report.right.append(Right(WAYS["local:2"], right, 1, note))
    equal = sum(one.right for one in report.right)
    report.goals = [every("answers as on the driver", equal, len(report.right))]
    if not context.quick:
        most = found["local:2"][-1]
        name = f"memory of the driver, {most['pages']:,} pages"
        report.goals.append(at_most(name, most["peak"] / 1e9, 1, " GB"))
    report.data = {"found": found}
    return report


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
        ["pages", "bytes a page", "s", "CPU s", "peak MB", "kB a page", "fragments", "places"],
        [
            [
                f"{line['pages']:,}",
                f"{line['page_bytes']:,.0f}",
                f"{line['wall']:,.0f}",
                f"{line['cpu']:,.0f}",
                f"{line['peak'] / 1e6:,.0f}",
                f"{line['peak'] / line['pages'] / 1e3:.1f}",
                f"{line['fragments']:,}",
                f"{line['members']:,}",
            ]
            for line in lines
        ],
        caption,
    )
