"""The process that ``shared-large`` measures: made pages in, one JSON object out.

``large_child COUNT SEED driver`` groups on the driver (``crawl_fragments``); any other word names an engine that groups
(``write_crawl_fragments``).
"""

import hashlib
import json
import os
import sys
import tempfile
import time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.engines import java_peak_bytes, opened, peak_bytes
from benchmarks.fragments.large_pages import made, read_made
from quire.fragments.shared.crawl import crawl_fragments
from quire.fragments.shared.crawl_output import as_table
from quire.fragments.shared.large.crawl import write_crawl_fragments

_PAGES_A_PATH = 1_000


def _checksum(places: pa.Table) -> str:
    """The answer in few digits: every place of every fragment, all of its columns, in order."""
    told = hashlib.sha256()
    for name in sorted(places.column_names):
        column = places[name].combine_chunks()
        if pa.types.is_string(column.type):
            told.update("\n".join(map(str, column.to_pylist())).encode())
        else:
            told.update(np.ascontiguousarray(column.fill_null(0).to_numpy()).tobytes())
    return told.hexdigest()


def main(count: int, seed: int, way: str) -> None:
    """Find the fragments, and print time and memory."""
    paths = [
        f"{seed} {count} {first} {min(first + _PAGES_A_PATH, count)}"
        for first in range(0, count, _PAGES_A_PATH)
    ]
    total = sum(len(made(seed, count, number)) for number in range(0, count, max(count // 100, 1)))
    wall, cpu = time.perf_counter(), time.process_time()
    answer: dict[str, Any] = {
        "pages": count,
        "page_bytes": total / len(range(0, count, max(count // 100, 1))),
    }
    if way == "driver":
        found = crawl_fragments(paths, reader=read_made)
        answer |= {"fragments": len(found.fragments), "members": len(found.fragments.members)}
        answer |= {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
        answer["peak"] = peak_bytes(os.getpid())
        places = as_table(found).drop(["name", "url"])
        answer["checksum"] = _checksum(
            places.append_column("page", pa.array(found.fragments.members.page))
        )
    else:
        with (
            tempfile.TemporaryDirectory(prefix="quire-large-") as folder,
            opened(way, folder) as engine,
        ):
            wall, cpu = time.perf_counter(), time.process_time()
            written = write_crawl_fragments(
                paths, f"{folder}/found", engine=engine, reader=read_made
            )
            answer |= {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
            answer |= {"peak": peak_bytes(os.getpid()), "java_peak": java_peak_bytes()}
            answer |= {
                "fragments": written.n_fragments,
                "texts": written.n_texts,
                "members": sum(pq.read_metadata(file).num_rows for file in written.places),
            }
            # Only for answers that are compared: all places pass through memory.
            answer["checksum"] = _checksum(written.table()) if count <= 100_000 else ""
    print(json.dumps(answer))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
