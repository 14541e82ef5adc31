"""The process that ``shared-crawls`` measures: files in, one JSON object out.

``crawl_child FOLDER memory`` reads the pages one after the other into ``shared_fragments``; any other word is the address of an engine for
``crawl_fragments``. An engine is opened before the clock starts.
"""

import hashlib
import json
import sys
import time
from collections.abc import Iterator

import numpy as np

import quire
from benchmarks.fragments.growth_child import peak_bytes
from quire.engines import open_engine
from quire.fragments import Members
from quire.fragments.shared.crawl import crawl_fragments
from quire.sources import Capture, find, read


def _pages(paths: list[str]) -> Iterator[quire.Digest]:
    for path in paths:
        for found in read(path):
            if isinstance(found, Capture):
                yield quire.encode(found.body, content_type=found.content_type)


def _checksum(found: quire.SharedFragments) -> str:
    """The answer in few digits: every fragment, every member, all of its columns, in order."""
    told = hashlib.sha256(found.starts.tobytes())
    for name in Members.__slots__:
        told.update(np.ascontiguousarray(getattr(found.members, name)).tobytes())
    return told.hexdigest()


def main(folder: str, way: str) -> None:
    """Find the fragments, and print what it took."""
    paths = find([folder])
    before = peak_bytes()
    if way == "memory":
        wall, cpu = time.perf_counter(), time.process_time()
        found = quire.shared_fragments(_pages(paths))
    else:
        with open_engine(way) as engine:
            wall, cpu = time.perf_counter(), time.process_time()
            found = crawl_fragments(paths, engine=engine).fragments
    answer = {
        "pages": found.pages,
        "wall": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "peak": peak_bytes() - before,
        "fragments": len(found),
        "members": len(found.members),
        "checksum": _checksum(found),
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main(*sys.argv[1:])
