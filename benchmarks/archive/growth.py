"""The archive at 1,000, 10,000 and 100,000 pages: does a page cost the same, in time and in bytes?

Pages are made from real templates (``similarity.generated``) and stored by a fresh process (``growth_child``), whose memory is
looked at too. A template is a site: its name is the host of its pages.

Two ways to fill an archive are measured: page by page with a compaction at the end, with many small pages, and ``build`` of a
crawl in .warc.gz files, with pages as long as those of the web.
"""

import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.archive.captures import Capture
from benchmarks.archive.speed import write_warc
from benchmarks.context import Context
from benchmarks.provenance import REPOSITORY
from benchmarks.report import Report, Right, Table, at_least, at_most, every
from benchmarks.similarity import generated

COUNTS = (1_000, 10_000, 100_000)
QUICK_COUNTS = (200, 1_000)
#: Templates of small pages, so that 100,000 of them are stored in minutes.
SIZES = (2_000, 8_000)
MOST_MEMORY_GB = 1.0
STEPS = ("add", "compact", "read")
#: Pages of the crawls for a build, and templates of pages as long as those of the web: 70 KB on average.
BUILD_COUNTS = (12_000, 124_000)
QUICK_BUILD_COUNTS = (200, 1_000)
BUILD_SIZES = (20_000, 160_000)
#: Share of the texts of a crawl that belong to the template: menus, headings, labels.
FIXED_TEXTS = 0.85
PAGES_A_WARC = 2_000
LEAST_BUILD_MB_S = 40
_TIME = datetime(2026, 1, 1, tzinfo=UTC)


def run(context: Context) -> Report:
    """Make pages, store them, read them, and compare what a page costs."""
    templates = generated.seeds(sizes=SIZES)
    lines = [_line(templates, count, context) for count in context.pick(COUNTS, QUICK_COUNTS)]
    crawl_templates = generated.with_fixed_texts(
        generated.seeds(sizes=BUILD_SIZES), FIXED_TEXTS, context.seed
    )
    builds = [
        _build(crawl_templates, count, context)
        for count in context.pick(BUILD_COUNTS, QUICK_BUILD_COUNTS)
    ]
    report = Report(
        title="Archive as pages grow",
        inputs=f"pages made from {len(templates)} real templates without scripts and styles, seed {context.seed}: other words, runs of siblings repeated or dropped; a template is a site; for build, {len(crawl_templates)} templates of longer pages, {FIXED_TEXTS:.0%} of whose texts belong to the template, in .warc.gz files of {PAGES_A_WARC:,} pages",
        method="a fresh process for each size: add with a commit every 2,000 pages, compact, open, get 2,000 pages in any order, read all as stored; or build from .warc.gz, with a thread for each core; CPU time of all threads, one run; peak resident memory of the process (VmHWM)",
    )
    report.tables = [_table(lines), _memory(lines), _builds(builds)]
    small, large, crawl = lines[-2], lines[-1], builds[-1]

    def a_page(step: str) -> float:
        return float((large[step] / large["pages"]) / (small[step] / small["pages"]))

    times = large["pages"] / small["pages"]
    report.goals = [
        at_most(
            f"peak memory at {large['pages']:,} pages", large["peak"] / 1e9, MOST_MEMORY_GB, " GB"
        ),
        every(
            "generated pages back byte for byte",
            sum(line["right"] for line in [*lines, *builds]),
            sum(line["pages"] for line in [*lines, *builds]),
        ),
        at_least(
            f"build of {crawl['pages']:,} pages, per core",
            crawl["bytes"] / 1e6 / crawl["cpu"],
            LEAST_BUILD_MB_S,
            " MB/s",
            digits=1,
        ),
        at_most(
            f"peak memory of the build of {crawl['pages']:,} pages",
            crawl["peak"] / 1e9,
            MOST_MEMORY_GB,
            " GB",
        ),
    ]
    report.right = [
        Right("quire", line["right"], line["pages"], "pages back byte for byte") for line in lines
    ] + [
        Right("quire", line["right"], line["pages"], "pages of a build back byte for byte")
        for line in builds
    ]
    report.notes = [
        f"at {times:g} times the pages a page takes {a_page('add'):.2f} times the time to add, {a_page('compact'):.2f} to compact, {a_page('read'):.2f} to read, and {a_page('stored'):.2f} times the bytes",
        f"the process had {large['peak_start'] / 1e6:.0f} MB before it began: Python, numpy, pyarrow for the pages to store",
        "the k-th template has 1/k as many pages as the largest; texts are random words, which a base cannot predict",
    ]
    report.data = {"lines": lines, "builds": builds}
    return report


def _line(templates: list[generated.Seed], count: int, context: Context) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="quire-growth-") as folder:
        _, total = generated.write(Path(folder), templates, count, context.seed)
        context.say(f"{count:,} pages, {total / 1e6:.0f} MB")
        return _child(context, "add", folder)


def _build(templates: list[generated.Seed], count: int, context: Context) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="quire-build-") as folder:
        draw = random.Random(context.seed)
        for number, first in enumerate(range(0, count, PAGES_A_WARC)):
            pages = range(first, min(first + PAGES_A_WARC, count))
            write_warc(Path(folder, f"{number:03}.warc.gz"), _crawl(templates, pages, draw))
        context.say(f"{count:,} pages for a build")
        return _child(context, "build", folder)


def _crawl(templates: list[generated.Seed], pages: range, draw: random.Random) -> Iterator[Capture]:
    """Pages of a crawl: the k-th template has 1 / k of what the first has."""
    shares = [1 / (place + 1) for place in range(len(templates))]
    chosen = draw.choices(templates, shares, k=len(pages))
    for number, template in zip(pages, chosen, strict=True):
        host = template.name.replace("/", ".")
        body = generated.make(template.plan, draw)
        yield Capture(f"https://{host}/{number}.html", _TIME, body)


def _child(context: Context, way: str, folder: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.archive.growth_child", way, folder],
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


def _builds(lines: list[dict[str, Any]]) -> Table:
    headings = [
        "pages",
        "MB",
        "CPU s",
        "MB/s per core",
        "wall s",
        "peak MB",
        "bytes a page",
        "of pages",
    ]
    return Table(
        headings,
        [
            [
                f"{line['pages']:,}",
                f"{line['bytes'] / 1e6:,.0f}",
                f"{line['cpu']:.1f}",
                f"{line['bytes'] / 1e6 / line['cpu']:.1f}",
                f"{line['wall']:.1f}",
                f"{line['peak'] / 1e6:,.0f}",
                f"{line['stored'] / line['pages']:,.0f}",
                f"{line['stored'] / line['bytes']:.2%}".replace("%", " %"),
            ]
            for line in lines
        ],
        "build of a crawl in .warc.gz",
    )
