"""Grouping 1,000, 10,000 and 100,000 pages on one machine: does the cost grow with the pages, or faster?

Pages are made from real templates (``generated``), written as Parquet, and grouped by ``crawl_templates`` in a fresh
process with two threads: from files on disk to groups. The name of a page's template is in its address, so that the
groups are judged too.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.context import Context
from benchmarks.provenance import REPOSITORY
from benchmarks.report import Report, Table, at_most
from benchmarks.similarity import generated

COUNTS = (1_000, 10_000, 100_000)
QUICK_COUNTS = (200, 2_000)
THREADS = 2
#: Runs of each size; the quickest counts, since other work on the machine only adds.
ROUNDS = 3


def run(context: Context) -> Report:
    """Make pages, group them, and compare the time a page takes."""
    templates = generated.seeds()
    counts = context.pick(COUNTS, QUICK_COUNTS)
    report = Report(
        title="Grouping as pages grow",
        inputs=f"pages made from {len(templates)} real templates, seed {context.seed}: other words, runs of siblings repeated or dropped",
        method=f"crawl_templates in a fresh process, {THREADS} threads, from Parquet files to groups; wall time, the fastest of {ROUNDS} runs; peak resident memory of the process",
    )
    lines = [_line(templates, count, context.pick(ROUNDS, 1), context) for count in counts]
    bare = generated.seeds(loose=True)
    losing = [_line(bare, count, 1, context) for count in counts]
    report.tables = [
        _totals("", lines),
        _steps(lines),
        _totals(
            "harder: pages may lose parts of their template, as header or menu; one run", losing
        ),
    ]
    small, large = lines[-2], lines[-1]
    times = large["pages"] / small["pages"]

    def a_page(clock: str) -> float:
        return float((large[clock] / large["pages"]) / (small[clock] / small["pages"]))

    report.goals = [
        at_most(f"time a page at {times:g} times the pages", a_page("wall"), 1.3),
        at_most(f"CPU time a page at {times:g} times the pages", a_page("cpu"), 1.3),
    ]
    start = lines[0]["peak"]
    grown = (large["peak"] - start) / (large["pages"] - lines[0]["pages"])
    report.notes = [
        f"memory grows by {grown / 1e3:.1f} kB a page from {start / 1e6:.0f} MB",
        "the k-th template has 1/k as many pages as the largest, so at 1,000 pages the smallest have two or three",
        "the harder pages were generated first; groups of them merge as the number of pages grows, so the easier ones were added. The likely reason: hubs are the smallest pages, and with more pages the smallest one has less in it",
    ]
    report.data = {"lines": lines, "losing": losing}
    return report


def _line(
    templates: Sequence[generated.Seed], count: int, rounds: int, context: Context
) -> dict[str, Any]:
    """Make so many pages, and group them; the fastest of some runs."""
    with tempfile.TemporaryDirectory(prefix="quire-growth-") as folder:
        _, total = generated.write(Path(folder), templates, count, context.seed)
        context.say(f"{count:,} pages, {total / 1e6:.0f} MB")
        found = [_grouped(folder) for _ in range(rounds)]
    best = min(found, key=lambda line: line["wall"])
    best |= {"bytes": total, "walls": [line["wall"] for line in found]}
    context.say(json.dumps(best))
    return best


def _grouped(folder: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.similarity.grouping_child", folder, str(THREADS)],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,  # what it says on standard error is for the person watching
        text=True,
        check=True,
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _totals(caption: str, lines: list[dict[str, Any]]) -> Table:
    return Table(
        [
            "pages",
            "MB",
            "s",
            "CPU s",
            "s per 1,000 pages",
            "MB/s",
            "peak MB",
            "templates",
            "groups",
            "pages alone",
            "ARI",
        ],
        [
            [
                f"{line['pages']:,}",
                f"{line['bytes'] / 1e6:,.0f}",
                f"{line['wall']:.2f}",
                f"{line['cpu']:.2f}",
                f"{line['wall'] / line['pages'] * 1e3:.3f}",
                f"{line['bytes'] / 1e6 / line['wall']:.0f}",
                f"{line['peak'] / 1e6:,.0f}",
                str(line["templates"]),
                str(line["groups"]),
                str(line["singles"]),
                f"{line['ari']:.4f}",
            ]
            for line in lines
        ],
        caption,
    )


def _steps(lines: list[dict[str, Any]]) -> Table:
    names = list(dict.fromkeys(name for line in lines for name in line["steps"]))
    return Table(
        ["ms per 1,000 pages", *(f"{line['pages']:,} pages" for line in lines)],
        [
            [name, *(f"{line['steps'].get(name, 0) / line['pages'] * 1e6:.1f}" for line in lines)]
            for name in names
        ],
        "by step",
    )
