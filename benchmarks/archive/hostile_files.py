"""Hostile files: does the time to read a crawl or an archive grow with its size, and nothing else?

False records in WARC files, a WACZ of many small files, and archives whose bases are damaged beyond
repair. CPU time, the best of several runs; the growth exponent is fitted as for hostile pages. A
damaged archive is compared with the same one before.
"""

import gzip
import tempfile
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.context import Context
from benchmarks.measure import best_of, growth_exponent
from benchmarks.report import Report, Table, at_most
from quire.archive import Archive
from quire.archive.format.record import Head, RecordKind, Source, heads
from quire.archive.repair import repair
from quire.errors import DamagedRecord
from quire.sources import find, read

SIZES = (2_000, 4_000, 8_000, 16_000)
QUICK_SIZES = (500, 1_000, 2_000)
MOST_GROWTH = 1.2
PAGES = 60
START = datetime(2026, 5, 1, tzinfo=UTC)
_RECORD = (
    b"WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: https://a.example/\r\n"
    b"Content-Length: 3\r\n\r\n<p>\r\n\r\n"
)


def _swallowed(n: int) -> bytes:
    inside = b"WARC/1.0\r\n\r\n" * n + b"x"
    return b"WARC/1.0\r\nContent-Length: %d\r\n\r\n" % (len(inside) - 1) + inside


WARC_SHAPES: dict[str, Callable[[int], bytes]] = {
    "lines WARC/1.0, gzip": lambda n: gzip.compress(b"WARC/1.0\r\n" * (8 * n)),
    "heads without length": lambda n: b"WARC/1.0\r\n\r\n" * n,
    "heads in a false block": _swallowed,
    "length beyond the end": lambda n: b"WARC/1.0\r\nContent-Length: 40000000\r\n\r\nx\r\n\r\n" * n,
    "wrong lengths": lambda n: b"WARC/1.0\r\nContent-Length: 100\r\n\r\nx\r\n\r\n" * n,
    "members of ten bytes": lambda n: gzip.compress(b"WARC/1.0\r\n") * n,
    "folded lines": lambda n: (
        b"WARC/1.0\r\nA: b\r\n" + b" c\r\n" * n + b"Content-Length: 0\r\n\r\n"
    ),
}


def run(context: Context) -> Report:
    """Read every shape at every size, and damaged archives beside whole ones."""
    sizes, rounds = context.pick(SIZES, QUICK_SIZES), context.pick(5, 2)
    report = Report(
        title="Hostile files",
        inputs=f"generated, n = {sizes[0]:,} … {sizes[-1]:,}",
        method=f"all pages of a file are read in this process; CPU time, best of {rounds}",
    )
    rows, worst = [], 0.0
    with tempfile.TemporaryDirectory() as folder:
        for name, write in _files(Path(folder)).items():
            context.say(name)
            seconds = []
            for n in sizes:
                path = write(n)
                seconds.append(best_of(lambda path=path: _read(path), rounds))
            exponent = growth_exponent(sizes, seconds)
            worst = max(worst, exponent)
            times = [f"{second * 1e3:.1f}" for second in seconds]
            rows.append([name, *times, f"{exponent:.2f}"])
            report.data[name] = dict(zip(map(str, sizes), seconds, strict=True))
        headings = ["file", *(f"n={n:,}" for n in sizes), "growth"]
        report.tables.append(Table(headings, rows, "milliseconds to read all of it"))
        answer = _damaged(Path(folder), report)
    report.goals = [
        at_most("growth exponent on every hostile file", worst, MOST_GROWTH, ""),
        at_most("get from a damaged dense base", answer, 1.0, " s"),
    ]
    return report


def _files(folder: Path) -> dict[str, Callable[[int], Path]]:
    def warc(make: Callable[[int], bytes], n: int) -> Path:
        path = folder / f"{n}.warc"
        path.write_bytes(make(n))
        return path

    def wacz(n: int) -> Path:
        path = folder / f"{n}.wacz"
        with zipfile.ZipFile(path, "w") as made:
            for i in range(n // 2):
                made.writestr(f"archive/{i}.warc", _RECORD)
        return path

    files: dict[str, Callable[[int], Path]] = {
        name: lambda n, make=make: warc(make, n)  # type: ignore[misc] # one for each shape
        for name, make in WARC_SHAPES.items()
    }
    return {**files, "WACZ of n / 2 files": wacz}


def _read(path: Path) -> int:
    return sum(1 for inside in find([str(path)]) for _ in read(inside))


def _damaged(folder: Path, report: Report) -> float:
    """Time get, verify and repair before and after two bits of each dense base are flipped."""
    place = folder / "a.quire"
    with Archive.create(place) as archive:
        for i in range(PAGES):
            rows = "".join(f"<li class=k{i % 3}>{i * j % 89} of {j}" for j in range(400))
            archive.add(f"https://a.example/{i}", START, f"<ul class=t{i % 3}>{rows}".encode())
        archive.compact(codec="dense")
    whole = _times(place)
    (path,) = place.glob("*.segment")
    source = Source(path)
    found = [one for one in heads(source) if isinstance(one, Head)]
    source.close()
    content = bytearray(path.read_bytes())
    for head in found:
        if head.kind == RecordKind.BASE:
            for at in (0.1, 0.7):
                content[head.payload_offset + int(at * head.payload_bytes)] ^= 4
    path.write_bytes(content)
    hurt = _times(place)
    rows = [
        [step, f"{before * 1e3:.1f}", f"{after * 1e3:.1f}"]
        for step, before, after in zip(("first get", "verify", "repair"), whole, hurt, strict=True)
    ]
    caption = f"milliseconds; {PAGES} pages, two bits flipped in each dense base"
    report.tables.append(Table(["", "whole", "damaged"], rows, caption))
    return hurt[0]


def _times(place: Path) -> list[float]:
    clock = time.process_time
    with Archive.open(place) as archive:
        start = clock()
        with suppress(DamagedRecord):
            archive.get("https://a.example/0")
        got = clock()
        archive.verify()
        verified = clock()
    repair(place)
    return [got - start, verified - got, clock() - verified]
