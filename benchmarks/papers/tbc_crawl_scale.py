"""Paper 003 on a large crawl: clusters and deltas of more than 100,000 pages, on threads and on Spark.

The paper's crawl (19 million pages) is gone. Pages are made from real templates (``generated``), written as Parquet, and stored by
``crawl_tbc`` in a fresh process: from files on disk to files on disk, gzip included. Both engines must store the same bytes, and
every page must come back.

Tokens of the paper are tags and the strings between them, so pages with nothing but new words would have no template. A
share of the texts of each template (menus, headings, labels) is therefore the same on all its pages.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.context import Context
from benchmarks.engines import NO_JAVA, SPARK
from benchmarks.provenance import REPOSITORY
from benchmarks.report import Report, Right, Table, at_most, every
from benchmarks.similarity import generated

COUNTS = (12_000, 120_000)
QUICK_COUNTS = (500, 2_000)
#: Share of the texts that belong to the template. With it, pages of a template resemble each other by about 0.6, as in
#: figure 3, where coverage begins to fall.
FIXED_TEXTS = 0.85
LOCAL = "local:2"
NAMES = {LOCAL: "local, 2 threads", SPARK: "Spark, 2 workers"}


def run(context: Context) -> Report:
    """Make pages, store them on each engine, and compare."""
    templates = generated.with_fixed_texts(generated.seeds(), FIXED_TEXTS, context.seed)
    counts = context.pick(COUNTS, QUICK_COUNTS)
    engines = [LOCAL, SPARK] if shutil.which("java") else [LOCAL]
    report = Report(
        title="Paper 003 on a large crawl: local engine and Spark",
        inputs=f"{' and '.join(f'{count:,}' for count in counts)} pages made from {len(templates)} real templates, seed {context.seed}; {FIXED_TEXTS:.0%} of the texts belong to the template",
        method="crawl_tbc with the paper's parameters and gzip -9, from Parquet to Parquet, in a fresh process, after a first file that does not count; wall time of one run, which other work on the machine makes longer; CPU time and peak memory of the process (Spark: the driver), and the greatest sum over all processes",
        notes=[] if SPARK in engines else [NO_JAVA],
    )
    lines: list[tuple[str, dict[str, Any]]] = []
    for count in counts:
        with tempfile.TemporaryDirectory(prefix="quire-tbc-pages-") as folder:
            _, total = generated.write(Path(folder), templates, count, context.seed)
            context.say(f"{count:,} pages, {total / 1e6:.0f} MB")
            for engine in engines:
                lines.append((engine, _stored(folder, engine)))
                context.say(json.dumps(lines[-1]))
    report.tables = [_table(lines), _sizes(lines)]
    for engine, line in lines:
        words = f"{NAMES[engine]}, {line['pages']:,} pages: come back byte for byte"
        report.right.append(Right("quire", line["right"], line["pages"], words))
    report.goals = [
        every(
            "pages back byte for byte (crawl)",
            sum(line["right"] for _, line in lines),
            sum(line["pages"] for _, line in lines),
        )
    ]
    small, large = (
        next(line for engine, line in lines if engine == LOCAL and line["pages"] == count)
        for count in counts
    )
    report.goals.append(
        at_most(
            f"CPU time a page at {counts[1] / counts[0]:g} times the pages, local",
            (large["cpu"] / large["pages"]) / (small["cpu"] / small["pages"]),
            1.3,
        )
    )
    report.notes.append(
        f"O(NI) of the paper: {small['rounds']} rounds for {small['pages']:,} pages and {large['rounds']} for"
        f" {large['pages']:,}; {small['cpu'] / small['pages'] * 1e3:.2f} and"
        f" {large['cpu'] / large['pages'] * 1e3:.2f} ms of CPU time a page, the delta step included"
    )
    if SPARK in engines:
        marks = {line["mark"] for _, line in lines if line["pages"] == counts[-1]}
        report.goals.append(
            every("engines that store the same bytes", len(engines) - len(marks) + 1, len(engines))
        )
    report.data = {f"{engine} {line['pages']}": line for engine, line in lines}
    return report


def _stored(folder: str, engine: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.papers.tbc_crawl_child", folder, engine],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,  # what it says on standard error is for the person watching
        text=True,
        check=True,
    )
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def _table(lines: list[tuple[str, dict[str, Any]]]) -> Table:
    rows = [
        [
            NAMES[engine],
            f"{line['pages']:,}",
            f"{line['bytes'] / 1e6:,.0f}",
            f"{line['wall']:.1f}",
            f"{line['cpu']:.1f}" if engine == LOCAL else "",
            f"{line['pages'] / line['wall']:,.0f}",
            f"{line['bytes'] / 1e6 / line['wall']:.1f}",
            f"{line['peak'] / 1e6:,.0f}",
            f"{line['all_peak'] / 1e6:,.0f}",
        ]
        for engine, line in lines
    ]
    headings = [
        "engine",
        "pages",
        "MB",
        "s",
        "CPU s",
        "pages/s",
        "MB/s",
        "peak MB, driver",
        "peak MB, all",
    ]
    return Table(headings, rows, "seconds and memory")


def _sizes(lines: list[tuple[str, dict[str, Any]]]) -> Table:
    rows = [
        [
            NAMES[engine],
            f"{line['pages']:,}",
            str(line["rounds"]),
            f"{line['clusters']:,}",
            f"{line['covered'] / line['pages']:.1%}",
            f"{line['stored'] / 1e6:,.1f}",
            f"{line['stored'] / line['bytes']:.1%}",
            *(f"{line[part] / line['bytes']:.1%}" for part in ("alone", "references", "deltas")),
        ]
        for engine, line in lines
    ]
    headings = [
        "engine",
        "pages",
        "rounds",
        "clusters",
        "coverage",
        "stored MB",
        "compression ratio",
    ]
    headings += ["without a template", "references", "deltas"]
    return Table(headings, rows, "bytes, TBC + gzip -9")
