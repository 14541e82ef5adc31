"""The process that stores a crawl for ``tbc-crawl``: a folder of Parquet files, one JSON object out.

Memory is measured twice: the peak of this process (with threads, that is all; with Spark, the
driver), and the greatest sum over this process and all its descendants, sampled twice a second.
"""

import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq

from benchmarks.engines import opened
from benchmarks.papers.tbc_crawl_memory import Sampler
from benchmarks.similarity.grouping_child import peak_bytes
from quire import _core
from quire.archive.tbc.crawl import CrawlTbc, crawl_tbc


def main(folder: str, engine_name: str) -> None:
    """Store the pages of a folder, say what it took, and check that every page comes back."""
    paths = sorted(str(path) for path in Path(folder).glob("*.parquet"))
    with (
        tempfile.TemporaryDirectory(prefix="quire-tbc-") as place,
        opened(engine_name, place) as engine,
    ):
        crawl_tbc(paths[:1], f"{place}/first", engine=engine, work=f"{place}/first-work")
        with Sampler() as sampler:
            start, cpu = time.perf_counter(), time.process_time()
            found = crawl_tbc(paths, f"{place}/stored", engine=engine, work=f"{place}/work")
            wall, cpu = time.perf_counter() - start, time.process_time() - cpu
        peak = peak_bytes()
        answer = {
            "pages": found.pages,
            "bytes": found.sizes.pages,
            "stored": found.sizes.stored,
            "alone": found.sizes.alone,
            "references": found.sizes.references,
            "deltas": found.sizes.deltas,
            "clusters": found.clusters,
            "covered": found.covered,
            "rounds": found.rounds,
            "wall": wall,
            "cpu": cpu,
            "peak": peak,
            "all_peak": max(sampler.most, peak),
            "right": _right(found, paths),
            "mark": _mark(found),
        }
    print(json.dumps(answer))


def _right(found: CrawlTbc, paths: list[str]) -> int:
    """How many pages come back: bodies are compared as a multiset of hashes."""
    wanted = Counter(
        _core.hash64(body)
        for path in paths
        for batch in pq.ParquetFile(path).iter_batches(columns=["body"])
        for body in map(bytes, batch["body"].to_pylist())  # type: ignore[arg-type] # none is null
    )
    return (wanted & Counter(_core.hash64(body) for _, body in found.bodies())).total()


def _mark(found: CrawlTbc) -> int:
    """A number that is the same if the same bytes are stored for every page, in whatever files."""
    total = 0
    for path in found.files:
        for batch in pq.ParquetFile(path).iter_batches(columns=["name", "frame"]):
            for row in batch.to_pylist():
                total ^= _core.hash64(row["name"].encode() + b"\n" + row["frame"])
    return total


if __name__ == "__main__":
    main(*sys.argv[1:])
