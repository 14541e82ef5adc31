"""Functions that engines run in these tests, in a module that workers of a cluster can import."""

from __future__ import annotations

import math
import os
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from quire.archive.build import encode as build_encoding
from quire.archive.build import steps as build_steps
from quire.archive.build.read import Reading
from quire.archive.compact.tiers import TierName
from quire.fragments.shared import crawl_steps as fragment_steps
from quire.similar.crawl import steps as crawl_steps
from quire.similar.measures import BagMeasure
from quire.sources.reading import PathReader


def columns(**types: pa.DataType) -> pa.Schema:
    """Make a schema of names and types."""
    return pa.schema(list(types.items()))


WORDS = columns(word=pa.string(), n=pa.int64())
NUMBERS = columns(key=pa.uint64(), value=pa.uint64())
GROUPS = columns(key=pa.uint64(), rows=pa.int64(), value=pa.uint64())
PIECES = columns(key=pa.string(), pieces=pa.int64(), rows=pa.int64())

#: Longer than it takes to find and kill a worker on a busy machine.
HOLD_TIMEOUT_S = 300

BODIES = columns(body=pa.binary())
FLOATS = columns(word=pa.string(), n=pa.float64())
REGROUPED = columns(rows=pa.int64(), keys=pa.int64())
#: Types that a cluster may lack, with values at their ends.
ODD = pa.table(
    {
        "u8": pa.array([255, None], pa.uint8()),
        "u16": pa.array([0, 65535], pa.uint16()),
        "u32": pa.array([7, 7], pa.uint32()),
        "sketch": pa.array([[2**64 - 1, 0], None], pa.list_(pa.uint64())),
        "fixed": pa.array([[1, 2**63], [3, 4]], pa.list_(pa.uint64(), 2)),
        "digest": pa.array([b"\x00" * 16, b"\xff" * 16], pa.binary(16)),
        "body": pa.array([b"<p>\x00\xff", b""], pa.large_binary()),
        "part": pa.array(
            [{"at": 2**64 - 1, "name": "a"}, None],
            pa.struct([("at", pa.uint64()), ("name", pa.large_string())]),
        ),
        "when": pa.array([1_700_000_000_123_456_000, None], pa.timestamp("ns", "UTC")),
        "near": pa.array([0.5, float("inf")], pa.float32()),
        "seen": pa.array([True, None]),
        "kind": pa.array(["html", "xml"]).dictionary_encode(),
    }
)


def paths_of(batch: pa.RecordBatch) -> list[str]:
    """Give the paths of a portion."""
    return [str(path) for path in batch["path"].to_pylist()]


def words(paths: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Count each word of some files."""
    for path in paths_of(paths):
        text = Path(path).read_text(encoding="utf-8").split()
        for name in sorted(set(text)):
            yield pa.record_batch({"word": [name], "n": [text.count(name)]}, schema=WORDS)


def count(groups: pa.Table) -> Iterator[pa.RecordBatch]:
    """Add up the words of each group. A split group gives its word twice, and a test notices."""
    found = groups.group_by("word").aggregate([("n", "sum")])
    yield from found.rename_columns(["word", "n"]).to_batches()


def numbers(paths: pa.RecordBatch, rows: int, keys: int) -> Iterator[pa.RecordBatch]:
    """Make rows from a "path" that is a number: keys over all 64 bits, distinguishable values."""
    for path in paths_of(paths):
        first = int(path) * rows
        values = np.arange(first, first + rows, dtype=np.uint64)
        yield pa.record_batch({"key": spread(values % np.uint64(keys)), "value": values})


def spread(
    values: np.ndarray[tuple[int], np.dtype[np.uint64]],
) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """Map small numbers to distinct ones over all 64 bits: half exceed the signed range."""
    return values * np.uint64(0x9E3779B97F4A7C15)


def total(groups: pa.Table) -> Iterator[pa.RecordBatch]:
    """Count the rows of each group and add up their values."""
    found = groups.group_by("key").aggregate([("value", "count"), ("value", "sum")])
    yield from (
        found.select(["key", "value_count", "value_sum"]).rename_columns(GROUPS.names).to_batches()
    )


def pieces(groups: pa.Table) -> Iterator[pa.RecordBatch]:
    """Count the pieces of each group: one if its rows are adjacent."""
    keys = groups["word"].to_pylist()
    begun = Counter(key for i, key in enumerate(keys) if i == 0 or keys[i - 1] != key)
    for key, rows in Counter(keys).items():
        yield pa.record_batch({"key": [key], "pieces": [begun[key]], "rows": [rows]}, schema=PIECES)


def fail(paths: pa.RecordBatch, word: str) -> Iterator[pa.RecordBatch]:
    """Yield words, and fail on the file with a certain one; slowly, so that others are running."""
    for batch in words(paths):
        if batch["word"].to_pylist() == [word]:
            raise ValueError(f"no {word} here, please")
        yield batch


def fail_group(groups: pa.Table) -> Iterator[pa.RecordBatch]:
    """Fail on any group."""
    if groups.num_rows:
        raise ValueError(f"{groups.num_rows} rows too many")
    yield from groups.to_batches()


def other_columns(paths: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield columns that were not promised."""
    yield pa.record_batch({"word": paths["path"], "n": pa.array([1.5] * len(paths))})


def no_rows(paths: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield an empty batch."""
    yield pa.record_batch({"word": paths["path"].slice(0, 0), "n": pa.array([], pa.int64())})


def marked(paths: pa.RecordBatch, folder: str) -> Iterator[pa.RecordBatch]:
    """Make numbers, and leave a mark in a folder at the start of each."""
    for path in paths_of(paths):
        mark(folder, f"map-{path}")
        time.sleep(0.1)  # so that both workers get some
        yield from numbers(pa.record_batch({"path": [path]}), rows=500, keys=97)


def marked_total(groups: pa.Table, folder: str) -> Iterator[pa.RecordBatch]:
    """Add up, and leave a mark in a folder for each table."""
    mark(folder, f"reduce-{pc.min(groups['key'])}")
    yield from total(groups)


def mark(folder: str, name: str) -> None:
    """Leave a file that records a start and the process, and wait while a test holds the phase."""
    (Path(folder) / f"{name}.{os.getpid()}.{uuid.uuid4().hex}").touch()
    phase = name.split("-", maxsplit=1)[0]
    begun = sum(1 for _ in Path(folder).glob(f"{phase}-*.{os.getpid()}.*"))
    deadline = time.monotonic() + HOLD_TIMEOUT_S
    while begun >= held_from(folder, phase):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{name}: held for more than {HOLD_TIMEOUT_S} s")
        time.sleep(0.02)


def hold(folder: Path, phase: str, begun: int) -> None:
    """Make each process wait in a phase when it has begun so many tasks of it."""
    (folder / f"hold.{phase}").write_text(str(begun))


def release(folder: Path, phase: str) -> None:
    """Let the processes of a phase go on."""
    (folder / f"hold.{phase}").unlink()


def held_from(folder: str, phase: str) -> float:
    """Return the number of tasks at which processes wait; infinite if they need not."""
    try:
        return int((Path(folder) / f"hold.{phase}").read_text())
    except FileNotFoundError:
        return math.inf


def regroup(groups: pa.Table) -> Iterator[pa.RecordBatch]:
    """Count groups of each size."""
    found = groups.group_by("rows").aggregate([("key", "count")])
    yield from found.select(["rows", "key_count"]).rename_columns(REGROUPED.names).to_batches()


def odd_types(paths: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield the odd types."""
    assert paths.num_rows == 1
    yield from ODD.to_batches()


def same(groups: pa.Table) -> Iterator[pa.RecordBatch]:
    """Pass groups on as they are."""
    yield from groups.to_batches()


def without_keys(paths: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield rows with and without a key."""
    for _ in range(paths.num_rows):
        yield pa.record_batch({"word": [None, "a"], "n": [1, 1]}, schema=WORDS)


def large_rows(paths: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield one batch that is larger than Java transfers at once."""
    assert paths.num_rows == 1
    yield pa.record_batch({"body": pa.array([b"x" * 3_000_000] * 8)})


def marked_sketch_pages(
    paths: pa.RecordBatch, folder: str, *, on: BagMeasure, most_bytes: int, reader: PathReader
) -> Iterator[pa.RecordBatch]:
    """Sketch pages, and leave a mark in a folder at the start of each."""
    for path in paths_of(paths):
        mark(folder, f"map-{crawl_steps.page_number(path)}")
        one = pa.record_batch({"path": [path]})
        yield from crawl_steps.sketch_pages(one, on=on, most_bytes=most_bytes, reader=reader)


def marked_hubs(rows: pa.Table, folder: str) -> Iterator[pa.RecordBatch]:
    """Find hubs, and leave a mark in a folder for each table."""
    mark(folder, f"reduce-{pc.min(rows['key'])}")
    yield from crawl_steps.hubs(rows)


def marked_packed_parts(
    paths: pa.RecordBatch,
    folder: str,
    *,
    packing: fragment_steps.Packing,
    reader: PathReader,
    most_bytes: int,
) -> Iterator[pa.RecordBatch]:
    """Pack parts, and leave a mark in a folder at the start of each path."""
    for path in paths_of(paths):
        mark(folder, f"map-{crawl_steps.page_number(path)}")
    yield from fragment_steps.packed_parts(
        paths, packing=packing, reader=reader, most_bytes=most_bytes
    )


def marked_fetch(
    paths: pa.RecordBatch, folder: str, *, reading: Reading, plans: dict[str, pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Fetch pages, and leave a mark in a folder at the start of each file."""
    for path in paths_of(paths):
        mark(folder, f"map-{crawl_steps.page_number(path)}")
        one = pa.record_batch({"path": [path]})
        yield from build_steps.fetch(one, reading=reading, plans=plans)


def marked_encode_clusters(
    rows: pa.Table, folder: str, codec: TierName
) -> Iterator[pa.RecordBatch]:
    """Encode clusters, and leave a mark in a folder for each table."""
    mark(folder, f"reduce-{pc.min(rows['cluster'])}")
    yield from build_encoding.encode_clusters(rows, codec)
