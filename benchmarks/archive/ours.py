"""The archive, stored and read through its Python API.

Storing is ``add``, ``commit`` and ``compact``. A warm read is a ``get`` after one of the same page: its base is open, but another page was read in between. A cold
one is a new ``Archive.open`` and its first ``get``; the files are in the system's memory, as nobody can empty that
between reads.
"""

import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.archive.captures import Capture
from benchmarks.archive.rivals import TIMED_PAGES, Measured, least, spread
from benchmarks.measure import percentile
from quire.archive import Archive
from quire.archive.compact.tiers import TierName

#: Pages that are read cold, evenly spaced, and how often each; dense ones take a tenth of a second.
COLD_READS: dict[TierName, tuple[int, int]] = {"zstd": (200, 3), "dense": (40, 2), "tbc": (40, 2)}
#: What rivals do not store: where pages are, and what they are called.
BESIDE = frozenset({"addresses and heads", "indexes", "other files", "other records"})


def measured(folder: Path, captures: Sequence[Capture], codec: TierName) -> Measured:
    """Store captures, read every one of them, and compare."""
    start = time.process_time()
    with Archive.create(folder) as archive:
        for capture in captures:
            archive.add(capture.url, capture.time, capture.body)
        archive.commit()
        added = time.process_time()
        archive.compact(codec=codec)
    end = time.process_time()
    with Archive.open(folder) as archive:
        parts = dict(archive.stats().parts)
        reads, right = _warm(archive, captures)
    cold, opening, cold_right = _cold(folder, captures, *COLD_READS[codec])
    if cold_right != len(cold):
        right = 0
    return Measured(
        size=sum(len(capture.body) for capture in captures),
        pages=len(captures),
        stored=sum(length for part, length in parts.items() if part not in BESIDE),
        seconds=end - start,
        reads=reads,
        right=right,
        cold=cold,
        folder=sum(path.stat().st_size for path in folder.iterdir()),
        parts=parts,
        steps={"add": added - start, "compact": end - added, "open": opening},
    )


def _warm(archive: Archive, captures: Sequence[Capture]) -> tuple[list[float], int]:
    """Seconds to read some pages again, and how many of all were right."""
    timed = {id(capture) for capture in spread(captures, TIMED_PAGES)}
    reads, right = [], 0
    for number, capture in enumerate(captures):
        page = archive.get(capture.url, capture.time)
        right += page.body == capture.body and page.url == capture.url
        if id(capture) in timed:
            # Small pages share a frame, and the last frame stays decoded: so another page is read before each.
            other = captures[number - len(captures) // 2]
            reads.append(least(lambda one: archive.get(one.url, one.time), capture, other=other))
    return reads, right


def _cold(
    folder: Path, captures: Sequence[Capture], count: int, turns: int
) -> tuple[list[float], float, int]:
    """Seconds of opening and reading, seconds of opening alone, the middle one, and how many were right."""
    reads, opens, right = [], [], 0
    for capture in spread(captures, count):
        spent = []
        for _ in range(turns):
            start = time.thread_time()
            with Archive.open(folder) as archive:
                opened = time.thread_time()
                page = archive.get(capture.url, capture.time)
                end = time.thread_time()
            spent.append((end - start, opened - start))
        reads.append(min(spent)[0])
        opens.append(min(spent)[1])
        right += page.body == capture.body
    return reads, percentile(opens, 50), right
