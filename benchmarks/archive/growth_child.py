"""The process that stores pages for ``growth``: a folder of Parquet or WARC files, one JSON object out.

Reading Parquet files is not timed, but is in the memory. A build reads its WARC files itself, and that is timed.
"""

import hashlib
import json
import random
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from benchmarks.archive.ours import BESIDE
from benchmarks.measure import percentile
from benchmarks.similarity.generated import template_of
from benchmarks.similarity.grouping_child import peak_bytes
from quire.archive import Archive
from quire.archive.build.build import build_archive
from quire.sources.warc import Record, read_records

COMMIT_PAGES = 2_000
GETS = 2_000
OPENS = 5
_TIME = datetime(2026, 1, 1, tzinfo=UTC)


def main(way: str, folder: str) -> None:
    """Store the pages of a folder, read them, and say what it took."""
    line = _built(Path(folder)) if way == "build" else _added(folder)
    print(json.dumps(line))


def _built(folder: Path) -> dict[str, Any]:
    place = folder / "a.quire"
    paths = [str(path) for path in sorted(folder.glob("*.warc.gz"))]
    cpu, wall = time.process_time(), time.perf_counter()
    done = build_archive(paths, place)
    line: dict[str, Any] = {
        "pages": done.pages,
        "bytes": done.body_bytes,
        "cpu": time.process_time() - cpu,
        "wall": time.perf_counter() - wall,
        "peak": peak_bytes(),
        "stored": sum(path.stat().st_size for path in place.iterdir()),
    }
    known = {
        found.url: hashlib.blake2b(found.payload, digest_size=16).digest()
        for path in paths
        for found in read_records(path)
        if isinstance(found, Record)
    }
    with Archive.open(place) as archive:
        line["right"], line["read"] = _read(archive, known)
    return line


def _added(folder: str) -> dict[str, Any]:
    place = Path(folder) / "a.quire"
    line: dict[str, Any] = {"peak_start": peak_bytes()}
    with Archive.create(place) as archive:
        known, line["bytes"], line["add"] = _add(archive, Path(folder))
        line["peak_add"] = peak_bytes()
        start, wall = time.process_time(), time.perf_counter()
        archive.compact()
        line["compact"] = time.process_time() - start
        line["compact_wall"] = time.perf_counter() - wall
    line |= {"pages": len(known), "peak_compact": peak_bytes(), "open": _open(place)}
    with Archive.open(place) as archive:
        parts = archive.stats().parts
        line["stored"] = sum(parts.values())
        line["beside"] = sum(length for part, length in parts.items() if part in BESIDE)
        gets = _gets(archive, known)
        line |= {"get": percentile(gets, 50), "get_p99": percentile(gets, 99)}
        line["peak_get"] = peak_bytes()
        line["right"], line["read"] = _read(archive, known)
    line["peak_read"] = line["peak"] = peak_bytes()
    return line


def _pages(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Addresses and bytes; the template of a page is its host."""
    number = 0
    for path in sorted(folder.glob("*.parquet")):
        for batch in pq.ParquetFile(path).iter_batches(batch_size=100, columns=["url", "body"]):
            for row in batch.to_pylist():
                host = template_of(row["url"]).replace("/", ".")
                yield f"https://{host}/{number}.html", row["body"]
                number += 1


def _add(archive: Archive, folder: Path) -> tuple[dict[str, bytes], int, float]:
    """Checksums of the pages by their addresses, their bytes, and CPU seconds."""
    known, total, spent = {}, 0, 0.0
    for url, body in _pages(folder):
        known[url] = hashlib.blake2b(body, digest_size=16).digest()
        total += len(body)
        start = time.process_time()
        archive.add(url, _TIME, body)
        if len(known) % COMMIT_PAGES == 0:
            archive.commit()
        spent += time.process_time() - start
    start = time.process_time()
    archive.commit()
    return known, total, spent + time.process_time() - start


def _open(place: Path) -> float:
    """Seconds to open the archive, the middle one."""
    spent = []
    for _ in range(OPENS):
        start = time.thread_time()
        with Archive.open(place):
            spent.append(time.thread_time() - start)
    return percentile(spent, 50)


def _gets(archive: Archive, known: dict[str, bytes]) -> list[float]:
    """Seconds of getting pages in any order; the first hundred only warm up."""
    urls = list(known)
    spent = []
    for url in random.Random(0).choices(urls, k=GETS + 100):
        start = time.thread_time()
        page = archive.get(url)
        spent.append(time.thread_time() - start)
        if not _is(page.body, known[url]):
            raise AssertionError(f"{url}: other bytes than were stored")
    return spent[100:]


def _read(archive: Archive, known: dict[str, bytes]) -> tuple[int, float]:
    """How many pages are right, and CPU seconds of reading all as they are stored."""
    right, spent = 0, 0.0
    start = time.process_time()
    for page in archive.read():
        spent += time.process_time() - start
        right += _is(page.body, known[page.url])
        start = time.process_time()
    return right, spent


def _is(body: bytes, digest: bytes) -> bool:
    return hashlib.blake2b(body, digest_size=16).digest() == digest


if __name__ == "__main__":
    main(*sys.argv[1:])
