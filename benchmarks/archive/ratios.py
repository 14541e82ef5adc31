"""How small: every way of storing pages, on every template corpus and version history.

Corpora are measured in two processes beside each other; all figures are CPU time. What rivals store has no addresses, so
quire's is compared without them, and the whole folder is printed beside.
"""

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path

from benchmarks import corpora
from benchmarks.archive import ours, promises, rivals
from benchmarks.archive.captures import Collection, collection
from benchmarks.archive.rivals import Measured
from benchmarks.context import Context
from benchmarks.plot import Series, line_chart
from benchmarks.report import Report, Right, Table

#: Largest first, so that two processes end at about the same time.
BY_SIZE = (
    "versions-terms",
    "versions-news",
    "templates-helsingborg",
    "versions-fund",
    "templates-swde-sites",
    "templates-docs",
    "templates-swde",
    "templates-types",
)
PROCESSES = 2
#: zstd -19 does 3 MB/s, and sees one page at a time: so many bytes of pages stand for all of a corpus.
ALONE_BYTES = 40_000_000
GZIP, ZSTD, DICTIONARY, TBC = "gzip -9", "zstd -19", "zstd -19, one dictionary", "TBC + gzip -9"
QUIRE, DENSE = "quire", "quire dense"
XZ, XZ_ALL, LONG = "solid xz -9", "solid xz -9, dict of all", "solid zstd --long=31 -19"
COLD_WORDS = "{} pages, dense {}".format(*(ours.COLD_READS[tier][0] for tier in ("zstd", "dense")))
METHODS = (GZIP, ZSTD, DICTIONARY, TBC, QUIRE, DENSE, XZ, XZ_ALL, LONG)

#: Ways of storing by name, for one corpus.
Rows = dict[str, Measured]
#: Words and bytes of a corpus, and its rows.
Found = tuple[str, int, Rows]


def run(context: Context) -> Report:
    """Store every corpus in every way, and set the figures beside what was asked."""
    names = context.corpora or (*corpora.TEMPLATES, *corpora.VERSIONS)
    found = dict(_all(names, context))
    report = Report(
        title="Archive: stored size, compared with other tools",
        inputs=", ".join(found[name][0] for name in names),
        method=(
            f"CPU time; {PROCESSES} processes beside each other, one corpus each; every stored page is read back and compared. "
            "Solid streams in the order of sites and addresses, versions by time; their read is that of all pages. "
            f"Reads: median and p99 of {rivals.TIMED_PAGES} pages, of each the least of {rivals.TURNS}. Warm: get after a get of the same page. Cold: Archive.open and its first get, {COLD_WORDS}, files in the system's memory. "
            "xz and zstd by Python's lzma (liblzma) and zstandard (libzstd), with the parameters of the commands"
        ),
    )
    results = {name: found[name][2] for name in names}
    pages = {name: found[name][1] for name in names}
    for caption, kind in (
        ("templates: bytes as % of the pages", corpora.TEMPLATES),
        ("version histories: bytes as % of the pages", corpora.VERSIONS),
    ):
        chosen = [name for name in names if name in kind]
        if chosen:
            report.tables.append(_summary(caption, chosen, results, pages))
    for name in names:
        report.tables.append(_details(found[name][0], results[name], pages[name]))
    report.goals = promises.goals(results)
    report.right = [
        Right(method, *_right(method, results), "pages back byte for byte")
        for method in METHODS
        if any(method in rows for rows in results.values())
    ]
    report.notes = _notes(results)
    report.figures = {"small-and-quick": _figure(results, pages)}
    report.data = {
        name: {method: _plain(row) for method, row in rows.items()}
        for name, rows in results.items()
    }
    return report


def _all(names: Sequence[str], context: Context) -> Iterator[tuple[str, Found]]:
    order = sorted(names, key=lambda name: BY_SIZE.index(name) if name in BY_SIZE else 0)
    with ProcessPoolExecutor(PROCESSES) as pool:
        work = {name: pool.submit(_one, name, context) for name in order}
        for name, future in work.items():
            yield name, future.result()


def _one(name: str, context: Context) -> Found:
    found = collection(name, context)
    rows: Rows = {}
    for method, measure in _ways(found):
        rows[method] = measure()
        share = rows[method].stored / found.size
        context.say(f"{name}: {method}: {share:.2%} in {rows[method].seconds:.0f} s")
    return found.words(), found.size, rows


def _ways(found: Collection) -> Iterator[tuple[str, Callable[[], Measured]]]:
    bodies = [capture.body for capture in found.captures]
    yield GZIP, lambda: rivals.measured(rivals.gzip_pages, bodies)
    yield ZSTD, lambda: rivals.measured(rivals.zstd_pages, bodies, ALONE_BYTES)
    yield DICTIONARY, lambda: rivals.measured(rivals.zstd_dictionary, bodies, ALONE_BYTES)
    yield TBC, lambda: rivals.measured(rivals.tbc_gzip, bodies)
    yield QUIRE, lambda: _ours(found, dense=False)
    yield DENSE, lambda: _ours(found, dense=True)
    small, unpack = rivals.xz(rivals.XZ_BYTES), rivals.unxz
    yield XZ, lambda: rivals.measured_solid(small, unpack, bodies)
    if found.size > rivals.XZ_BYTES and found.name in corpora.TEMPLATES:
        large = rivals.xz(found.size)
        yield XZ_ALL, lambda: rivals.measured_solid(large, unpack, bodies)
    yield LONG, lambda: rivals.measured_solid(rivals.zstd_long, rivals.unzstd_long, bodies)


def _ours(found: Collection, *, dense: bool) -> Measured:
    with tempfile.TemporaryDirectory(prefix="quire-ratios-") as folder:
        return ours.measured(Path(folder) / "a.quire", found.captures, "dense" if dense else "zstd")


def _right(method: str, results: Mapping[str, Rows]) -> tuple[int, int]:
    rows = [rows[method] for rows in results.values() if method in rows]
    return sum(row.right for row in rows), sum(row.pages for row in rows)


def _summary(
    caption: str, names: Sequence[str], results: Mapping[str, Rows], sizes: Mapping[str, int]
) -> Table:
    shown = []
    for method in METHODS:
        cells = [method]
        for name in names:
            row = results[name].get(method)
            cells.append(_percent(row.stored, sizes[name]) if row else "")
        if any(cells[1:]):
            shown.append(cells)
        if method in {QUIRE, DENSE}:
            folders = [results[name][method].folder or 0 for name in names]
            cells = [_percent(size, sizes[name]) for size, name in zip(folders, names, strict=True)]
            shown.append([f"{method}, whole folder", *cells])
    return Table(["", *(name.partition("-")[2] for name in names)], shown, caption)


def _details(words: str, rows: Rows, size: int) -> Table:
    gzip = rows[GZIP].stored
    shown = []
    for method, row in rows.items():
        cold = [_micro(row.read(percent, cold=True)) for percent in (50, 99)] if row.cold else []
        shown.append(
            [
                method,
                f"{row.stored / 1e6:.3f}",
                _percent(row.stored, size),
                f"1/{gzip / row.stored:.2f}",
                f"{row.rate():.1f}",
                *(_micro(row.read(percent)) for percent in (50, 99)),
                *(cold or ["", ""]),
                _percent(row.folder, size) if row.folder else "",
            ]
        )
    headings = [
        "",
        "MB",
        "of pages",
        "of gzip",
        "write MB/s",
        "read us",
        "p99",
        "cold us",
        "p99",
        "whole folder",
    ]
    return Table(headings, shown, words)


def _notes(results: Mapping[str, Rows]) -> list[str]:
    notes = [
        f"load average of the machine at the end: {os.getloadavg()[2]:.1f} in 15 minutes, on {os.cpu_count()} cores",
        "quire is counted without addresses, heads and indexes, which the rivals do not store; bases and their guards are counted. 'whole folder' counts everything",
        f"one dictionary: {rivals.DICTIONARY_BYTES:,} bytes, trained on the pages it compresses, counted once as zstd -19 stores it; training is in its speed",
        f"zstd -19 with and without a dictionary: of corpora over {ALONE_BYTES / 1e6:.0f} MB an evenly spaced part of about that size, since each page is by itself; the dictionary is spread over all",
        "quire's writing speed is add, commit and compact together; `archive-speed` has them apart",
    ]
    for name, rows in results.items():
        if XZ_ALL in rows:
            share = rows[DENSE].stored / rows[XZ_ALL].stored
            notes.append(
                f"{name} has more bytes than xz -9 looks back (64 MiB): with a dictionary of all of it, dense is {share:.2f} of solid xz"
            )
    return notes


def _figure(results: Mapping[str, Rows], sizes: Mapping[str, int]) -> str:
    series = []
    for method in METHODS:
        points = sorted(
            (rows[method].read(), rows[method].stored / sizes[name] * 100)
            for name, rows in results.items()
            if method in rows
        )
        if points:
            series.append(Series(method, [x for x, _ in points], [y for _, y in points]))
    return line_chart(
        "Small and quick: one mark for each corpus",
        series,
        "us to read a page (of a solid stream: all)",
        "bytes as % of the pages",
        log_x=True,
        log_y=True,
    )


def _plain(row: Measured) -> dict[str, object]:
    """For programs: all but the time of each read."""
    kept = {name: value for name, value in asdict(row).items() if name not in {"reads", "cold"}}
    kept["read_us"] = [round(row.read(percent), 1) for percent in (50, 99)]
    if row.cold:
        kept["cold_us"] = [round(row.read(percent, cold=True), 1) for percent in (50, 99)]
    return kept


def _percent(part: int, of: int) -> str:
    share = part / of * 100
    return f"{share:.3f} %" if share < 1 else f"{share:.2f} %"


def _micro(value: float) -> str:
    return f"{value:,.0f}"
