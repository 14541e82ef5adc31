"""The archive at 1,000, 10,000 and 100,000 pages: does a page cost the same, in time and in bytes?

Pages are made from real templates (``similarity.generated``) and stored by a fresh process (``growth_child``), whose memory is
looked at too. A template is a site: its name is the host of its pages.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.context import Context
from benchmarks.provenance import REPOSITORY
from benchmarks.report import Report, Right, Table, at_most, every
from benchmarks.similarity import generated

COUNTS = (1_000, 10_000, 100_000)
QUICK_COUNTS = (200, 1_000)
#: Templates of small pages, so that 100,000 of them are stored in minutes.
SIZES = (2_000, 8_000)
MOST_MEMORY_GB = 1.0
STEPS = ("add", "compact", "read")


def run(context: Context) -> Report:
    """Make pages, store them, read them, and compare what a page costs."""
    templates = generated.seeds(sizes=SIZES)
    lines = [_line(templates, count, context) for count in context.pick(COUNTS, QUICK_COUNTS)]
    report = Report(
        title="Archive as pages grow",
        inputs=f"pages made from {len(templates)} real templates without scripts and styles, seed {context.seed}: other words, runs of siblings repeated or dropped; a template is a site",
        method="a fresh process for each size: add with a commit every 2,000 pages, compact, open, get 2,000 pages in any order, read all as stored; CPU time, one run; peak resident memory of the process (VmHWM)",
    )
    report.tables = [_table(lines), _memory(lines)]
    small, large = lines[-2], lines[-1]

    def a_page(step: str) -> float:
        return float((large[step] / large["pages"]) / (small[step] / small["pages"]))

    times = large["pages"] / small["pages"]
    report.goals = [
        at_most(
            f"peak memory at {large['pages']:,} pages", large["peak"] / 1e9, MOST_MEMORY_GB, " GB"
        ),
        every(
            "generated pages back byte for byte",
            sum(line["right"] for line in lines),
            sum(line["pages"] for line in lines),
        ),
    ]
    report.right = [
        Right("quire", line["right"], line["pages"], "pages back byte for byte") for line in lines
    ]
    report.notes = [
        f"at {times:g} times the pages a page takes {a_page('add'):.2f} times the time to add, {a_page('compact'):.2f} to compact, {a_page('read'):.2f} to read, and {a_page('stored'):.2f} times the bytes",
        f"the process had {large['peak_start'] / 1e6:.0f} MB before it began: Python, numpy, pyarrow for the pages to store",
        "the k-th template has 1/k as many pages as the largest; texts are random words, which a base cannot predict",
    ]
    report.data = {"lines": lines}
    return report


def _line(templates: list[generated.Seed], count: int, context: Context) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="quire-growth-") as folder:
        _, total = generated.write(Path(folder), templates, count, context.seed)
        context.say(f"{count:,} pages, {total / 1e6:.0f} MB")
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.archive.growth_child", folder],
            cwd=REPOSITORY,
            stdout=subprocess.PIPE,  # what it says on standard error is for the person watching
            text=True,
            check=True,
        )
    line: dict[str, Any] = json.loads(done.stdout)
    context.say(done.stdout.strip())
    return line


def _table(lines: list[dict[str, Any]]) -> Table:
    headings = [
        "pages",
        "MB",
        "add, s per 1,000",
        "compact, s per 1,000",
        "read all, s per 1,000",
        "open, ms",
        "get, us",
        "p99",
        "bytes a page",
        "of pages",
        "beside, bytes a page",
    ]
    return Table(
        headings,
        [
            [
                f"{line['pages']:,}",
                f"{line['bytes'] / 1e6:,.0f}",
                *(f"{line[step] / line['pages'] * 1e3:.3f}" for step in STEPS),
                f"{line['open'] * 1e3:.1f}",
                f"{line['get'] * 1e6:,.0f}",
                f"{line['get_p99'] * 1e6:,.0f}",
                f"{line['stored'] / line['pages']:,.0f}",
                f"{line['stored'] / line['bytes']:.2%}".replace("%", " %"),
                f"{line['beside'] / line['pages']:.0f}",
            ]
            for line in lines
        ],
    )


def _memory(lines: list[dict[str, Any]]) -> Table:
    steps = ("start", "add", "compact", "get", "read")
    return Table(
        ["peak MB by then", *steps],
        [
            [f"{line['pages']:,} pages", *(f"{line[f'peak_{step}'] / 1e6:,.0f}" for step in steps)]
            for line in lines
        ],
    )
