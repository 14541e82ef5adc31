"""How fast: pages in until they are safe, compaction, build, export; megabytes of pages for each second of a core.

The clock is the CPU time of the process with all its threads, so a figure is of one core however many are used; wall
time stands beside, and has the disk in it.
"""

import os
import tempfile
import time
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks import corpora
from benchmarks.archive.captures import Capture, Collection, collection
from benchmarks.context import Context
from benchmarks.report import Goal, Report, Right, Table, at_least
from quire.archive import Archive, export, ingest
from quire.archive.build.build import build_archive

CORPORA = (*corpora.TEMPLATES, "versions-fund")
#: Runs of the quick steps; compaction runs once.
ROUNDS = 3
ADD, INGEST = "add, commit", "ingest of .warc.gz"
DEFAULT, DENSE, EXPORT = "compact", "compact, dense", "export to .warc.gz"
BUILD = "build from .warc.gz"
STEPS = (ADD, INGEST, DEFAULT, DENSE, BUILD, EXPORT)
ASKED = {ADD: 50, INGEST: 50, DEFAULT: 25, DENSE: 2}


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds of one step on one collection."""

    cpu: float
    wall: float


def run(context: Context) -> Report:
    """Take every step on every corpus."""
    names = context.corpora or CORPORA
    report = Report(
        title="Archive: speed of writing",
        inputs="",
        method=f"MB of pages for each second of CPU time (for each second on the wall), the middle of {ROUNDS} runs, compaction and build once; ingest and build with as many threads as usual",
    )
    words, sizes, right, of = [], {}, 0, 0
    spent: dict[str, dict[str, Spent]] = {}
    for name in names:
        found = collection(name, context)
        words.append(found.words())
        sizes[name] = found.size
        with tempfile.TemporaryDirectory(prefix="quire-speed-") as folder:
            spent[name], sound = _steps(Path(folder), found, context.pick(ROUNDS, 1))
        right, of = right + sound, of + 4 * len(found.captures)
        context.say(f"{name}: " + ", ".join(f"{s} {t.cpu:.1f} s" for s, t in spent[name].items()))
    report.inputs = ", ".join(words)
    rates = {
        step: {name: sizes[name] / 1e6 / spent[name][step].cpu for name in names} for step in STEPS
    }
    report.tables = [
        Table(
            ["", *STEPS],
            [[name, *(_cell(sizes[name], spent[name][step]) for step in STEPS)] for name in names],
        )
    ]
    total = sum(sizes.values())
    report.goals = [
        _goal(step, rates[step], total / 1e6 / sum(spent[name][step].cpu for name in names))
        for step in ASKED
    ]
    report.right = [
        Right(
            "quire",
            right,
            of,
            "pages back byte for byte: ingested, compacted, compacted densely, built",
        )
    ]
    report.notes = [
        "build reads the crawl twice and writes a compacted archive; archive-growth has the goal for it, on a large crawl",
        f"load average of the machine at the end: {os.getloadavg()[2]:.1f} in 15 minutes, on {os.cpu_count()} cores: the machine was busy, so wall time is high",
    ]
    report.data = {
        name: {step: [one.cpu, one.wall] for step, one in spent[name].items()} for name in names
    }
    return report


def _goal(step: str, rates: dict[str, float], together: float) -> Goal:
    """All pages together decide; the slowest corpus is told."""
    worst = min(rates, key=rates.__getitem__)
    goal = at_least(f"{step}, per core, all corpora", together, ASKED[step], " MB/s", digits=1)
    return Goal(
        goal.what, goal.promised, f"{goal.measured} (slowest {rates[worst]:.1f}, {worst})", goal.met
    )


def _cell(size: int, spent: Spent) -> str:
    return f"{size / 1e6 / spent.cpu:.1f} ({size / 1e6 / spent.wall:.1f})"


def _steps(folder: Path, found: Collection, rounds: int) -> tuple[dict[str, Spent], int]:
    """Seconds by step, and how many pages were right after the last four that store."""
    warc = folder / "crawl.warc.gz"
    write_warc(warc, found.captures)
    right = 0
    spent: dict[str, list[Spent]] = {step: [] for step in STEPS}
    for turn in range(rounds):
        with Archive.create(folder / f"added-{turn}") as archive:
            spent[ADD].append(_timed(lambda: _add(archive, found.captures)))
        with Archive.create(folder / f"ingested-{turn}") as archive:
            spent[INGEST].append(_timed(lambda: ingest(archive, [str(warc)])))
    right += _right(folder / "ingested-0", found)
    with Archive.open(folder / "added-0", write=True) as archive:
        spent[DEFAULT].append(_timed(archive.compact))
    right += _right(folder / "added-0", found)
    with Archive.open(folder / "ingested-0", write=True) as archive:
        spent[DENSE].append(_timed(lambda: archive.compact(codec="dense")))
    right += _right(folder / "ingested-0", found)
    spent[BUILD].append(_timed(lambda: build_archive([str(warc)], folder / "built")))
    right += _right(folder / "built", found)
    with Archive.open(folder / "added-0") as archive:
        for _ in range(rounds):
            spent[EXPORT].append(_timed(lambda: export(archive, folder / "out.warc.gz")))
    middle = {
        step: Spent(median(one.cpu for one in runs), median(one.wall for one in runs))
        for step, runs in spent.items()
    }
    return middle, right


def _timed(step: Callable[[], object]) -> Spent:
    cpu, wall = time.process_time(), time.perf_counter()
    step()
    return Spent(time.process_time() - cpu, time.perf_counter() - wall)


def _add(archive: Archive, captures: list[Capture]) -> None:
    for capture in captures:
        archive.add(capture.url, capture.time, capture.body)
    archive.commit()


def _right(folder: Path, found: Collection) -> int:
    with Archive.open(folder) as archive:
        return sum(archive.get(one.url, one.time).body == one.body for one in found.captures)


def write_warc(path: Path, captures: Iterable[Capture]) -> None:
    """A crawl as crawlers write it: a gzip member for each response."""
    with path.open("wb") as file:
        for one in captures:
            block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + one.body
            head = (
                f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {one.url}\r\n"
                f"WARC-Date: {one.time:%Y-%m-%dT%H:%M:%S}Z\r\n"
                f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n"
            )
            engine = zlib.compressobj(6, zlib.DEFLATED, 31)
            file.write(engine.compress(head.encode() + block + b"\r\n\r\n") + engine.flush())
