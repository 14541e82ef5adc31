"""Experiment 2 of paper 000: the four phases of Omini, on the digest and on a DOM.

Ten runs for each page, as in the paper. The DOM is lxml's, built by libxml2 in C; the heuristics over
it are Python. Ours are a kernel in Rust for the subtree, and Python over numpy for the delimiters. The
paper found that the digest wins parsing and subtree identification, and that the DOM narrowly wins the
delimiters.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import quire
from benchmarks.bars import bar_chart
from benchmarks.context import Context
from benchmarks.measure import growth_exponent
from benchmarks.peers import omini_lxml
from benchmarks.report import Report, Right, Table, at_least, at_most
from quire.digest import encode
from quire.extraction import omini
from tests import corpus

Answer = TypeVar("Answer")
RUNS = 10
PHASES = ("read file", "parse", "identify subtree", "determine delimiters")
#: Records in generated pages whose time shows how the cost grows.
GROWTH = (250, 500, 1000, 2000, 4000)


def run(context: Context) -> Report:
    """Time the phases of both on the same pages."""
    files = [
        path
        for path in (*corpus.files("records"), *corpus.files("templates-types"))
        if path.suffix == ".html"
    ][:: context.pick(1, 8)]
    times: dict[str, dict[str, list[float]]] = {
        who: {phase: [] for phase in PHASES} for who in ("digest", "DOM")
    }
    same = 0
    for file in files:
        for turn in range(RUNS):  # by turns: the first to read a file finds the caches cold
            for who in (_digest, _dom) if turn % 2 else (_dom, _digest):
                who(file, times["digest" if who is _digest else "DOM"])
        same += _is_same(file)
    report = Report(
        title="Experiment 2 of paper 000: Omini on the digest and on a DOM",
        inputs=f"{len(files)} list pages of records and templates-types, {RUNS} runs each",
        method="Milliseconds of each phase, mean over all pages: of all runs, of the fastest run of each page, and of the slowest; CPU time of the process",
        tables=[_table(times)],
        right=[
            Right(
                "digest and DOM",
                same,
                len(files),
                "same subtree and same delimiter on the same tree; the digest measures texts as written, the DOM without entities",
            )
        ],
    )
    ratio = {
        phase: statistics.mean(times["DOM"][phase]) / statistics.mean(times["digest"][phase])
        for phase in PHASES
    }
    report.goals.append(
        at_least("subtree phase, digest against DOM", ratio["identify subtree"], 20)
    )
    winner = "confirmed" if ratio["determine delimiters"] < 1 else "not confirmed"
    report.notes.append(
        f"The paper's finding that the DOM wins the delimiter phase: {winner} here "
        f"(DOM {ratio['determine delimiters']:.2f} times as long)."
    )
    report.figures["experiment-2"] = bar_chart(
        "Phases of Omini: mean, and from the fastest to the slowest of ten runs",
        PHASES,
        {
            who: [1000 * statistics.mean(found[phase]) for phase in PHASES]
            for who, found in times.items()
        },
        "phase",
        "milliseconds",
        log_y=True,
        ranges={
            who: [_range([1000 * each for each in found[phase]]) for phase in PHASES]
            for who, found in times.items()
        },
    )
    _end_to_end(report, files)
    _hostile(report)
    return report


def _timed(into: list[float], work: Callable[[], Answer]) -> Answer:
    began = time.process_time()
    result = work()
    into.append(time.process_time() - began)
    return result


def _digest(file: Path, into: dict[str, list[float]]) -> None:
    source = _timed(into[PHASES[0]], lambda: omini.read_file(file))
    page = _timed(into[PHASES[1]], lambda: omini.parse(source))
    view, node = _timed(into[PHASES[2]], lambda: omini.identify_subtree(page))
    _timed(into[PHASES[3]], lambda: omini.determine_delimiters(view, node))


def _dom(file: Path, into: dict[str, list[float]]) -> None:
    source = _timed(into[PHASES[0]], file.read_bytes)
    root = _timed(into[PHASES[1]], lambda: omini_lxml.parse(source))
    seen, node = _timed(into[PHASES[2]], lambda: omini_lxml.identify_subtree(root))
    _timed(into[PHASES[3]], lambda: omini_lxml.determine_delimiters(seen, node))


def _is_same(file: Path) -> bool:
    """Whether both find the same on one tree: parsers differ, heuristics must not."""
    page = encode(file.read_bytes())
    view, node = omini.identify_subtree(page)
    ranked = omini.determine_delimiters(view, node)
    seen, element = omini_lxml.identify_subtree(page.to_lxml())
    best = omini_lxml.determine_delimiters(seen, element)
    return element.tag == page.tag_names[int(page.tag[node])] and best == (
        ranked[0].tag if ranked else None
    )


def _table(times: dict[str, dict[str, list[float]]]) -> Table:
    rows = []
    for phase in PHASES:
        row = [phase]
        for who in ("digest", "DOM"):
            fastest, slowest = _range(times[who][phase])
            mean = statistics.mean(times[who][phase])
            row.append(f"{1000 * mean:.3f} ({1000 * fastest:.3f} to {1000 * slowest:.3f})")
        mean = statistics.mean(times["DOM"][phase]) / statistics.mean(times["digest"][phase])
        rows.append([*row, f"{mean:.1f}x"])
    return Table(
        ["phase", "digest", "DOM", "DOM / digest"], rows, "Milliseconds: mean (fastest to slowest)"
    )


def _range(found: list[float]) -> tuple[float, float]:
    """The fastest and the slowest run of a page, on average over all pages."""
    pages = [found[at : at + RUNS] for at in range(0, len(found), RUNS)]
    return statistics.mean(map(min, pages)), statistics.mean(map(max, pages))


def _end_to_end(report: Report, files: list[Path]) -> None:
    """`quire.records` from bytes to tables: time by size of page, and how it grows."""
    rows = []
    for low, high in ((0, 50), (50, 150), (150, 500)):
        chosen = [file for file in files if low <= file.stat().st_size / 1000 < high]
        found = [_best(file.read_bytes()) for file in chosen]
        if not found:
            continue
        rows.append(
            [
                f"{low} to {high} kB",
                str(len(chosen)),
                f"{1000 * statistics.median(found):.1f}",
                f"{1000 * max(found):.1f}",
            ]
        )
        if low == 50:
            report.goals.append(
                at_most(
                    "median page of 50 to 150 kB, bytes to tables",
                    1000 * statistics.median(found),
                    5,
                    " ms",
                )
            )
    report.tables.append(
        Table(["size", "pages", "median ms", "slowest ms"], rows, "quire.records, bytes to tables")
    )
    item = "<li class=p><a href=/{n}><img src={n}.jpg></a><h3>Thing {n}</h3><b>{n}.50 €</b><p>Text {n}</p>"
    sizes = [sum(len(item.format(n=n)) for n in range(count)) for count in GROWTH]
    seconds = [
        _best(("<ul>" + "".join(item.format(n=n) for n in range(count)) + "</ul>").encode())
        for count in GROWTH
    ]
    exponent = growth_exponent([float(size) for size in sizes], seconds)
    report.goals.append(
        at_most("growth exponent, one list of 250 to 4,000 records", exponent, 1.15, "")
    )
    report.data["growth"] = {"bytes": sizes, "seconds": seconds}


def _best(source: bytes) -> float:
    found = []
    for _ in range(3):
        began = time.process_time()
        quire.records(encode(source))
        found.append(time.process_time() - began)
    return min(found)


def _hostile(report: Report) -> None:
    """Pages of one megabyte that are made to be slow."""
    most = 1_000_000
    pages = {
        "deep": b"<div><b>x</b>y" * (most // 14),
        "wide list": b"<ul>" + b"<li><b>a</b> b" * (most // 14),
        "wide row": b"<table><tr>" + b"<td>x</td>" * (most // 10),
        "texts and breaks": b"<p>" + b"x<br>" * (most // 5),
        "lists in lists": b"<ul><li>a<b>b</b>" * (most // 17),
        "many small lists": b"<ul><li><b>a</b> 1<li><b>b</b> 2<li><b>c</b> 3</ul>" * (most // 50),
    }
    rows = []
    for name, source in pages.items():
        page = encode(source)
        began = time.process_time()
        found = quire.records(page, least_confidence=0)
        seconds = time.process_time() - began
        rows.append([name, f"{page.n:,}", str(len(found)), f"{seconds:.2f}"])
        report.data[f"hostile, {name}"] = seconds
    report.tables.append(
        Table(["1 MB, hostile", "nodes", "regions", "seconds"], rows, "Hostile pages, all regions")
    )
