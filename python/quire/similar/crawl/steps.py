"""The steps of grouping a crawl, as functions of record batches that any engine can run.

Each is pure and deterministic. A page is identified by a 64-bit hash of its name. The bags of all
pages stay in files, and a step reads those it needs.

Columns:

| table | columns |
| --- | --- |
| pages | name, url, time, bytes, nodes, page (hash of the name), size (parts), frame (parts any page has), sketch, bag, trouble |
| meetings | key (a bin of a sketch and its value), page, size |
| hubs | page, hub |
| bags | page, bag |
| pairs | page, other |
| likenesses | page, other, contained, resemblance |

A row of ``pages`` is a page or a trouble: then only name and trouble are set, and page is 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quire import _core
from quire.digest import encode
from quire.errors import MissingExtra, QuireError
from quire.similar.groups import best_hubs, frame_of, hubs_of, likenesses, meeting_rows
from quire.similar.measures import BagMeasure
from quire.similar.sketches import VALUES, Sketch
from quire.sources import Capture, Trouble, read
from quire.sources.reading import PathReader

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError:
    raise MissingExtra("pyarrow is not installed", extra="archive") from None

from quire.engines.arrow import MOST_ROWS, as_text, in_batches, paths_of, schema_of
from quire.engines.tables import read_table

PAGES = schema_of(
    name=pa.string(),
    url=pa.string(),
    time=pa.timestamp("us", tz="UTC"),
    bytes=pa.int64(),
    nodes=pa.int64(),
    page=pa.uint64(),
    size=pa.int64(),
    frame=pa.int64(),
    sketch=pa.binary(),
    bag=pa.large_binary(),
    trouble=pa.string(),
)
MEETINGS = schema_of(key=pa.uint64(), page=pa.uint64(), size=pa.int64())
HUBS = schema_of(page=pa.uint64(), hub=pa.uint64())
BAGS = schema_of(page=pa.uint64(), bag=pa.large_binary())
PAIRS = schema_of(page=pa.uint64(), other=pa.uint64())
LIKENESSES = schema_of(
    page=pa.uint64(), other=pa.uint64(), contained=pa.float64(), resemblance=pa.float64()
)


def page_number(name: str) -> int:
    """Give the number of a page: a hash of its name, the same on every machine.

    >>> page_number("site/a.html")
    6382968073575808257
    """
    return _core.hash64(name.encode("utf-8", "surrogatepass"))


def sketch_pages(
    paths: pa.RecordBatch, *, on: BagMeasure, most_bytes: int, reader: PathReader = read
) -> Iterator[pa.RecordBatch]:
    """Turn paths into rows of ``pages``."""
    rows = (
        _page_row(found, on) if isinstance(found, Capture) else _trouble_row(found)
        for path in paths_of(paths)
        for found in reader(path, most_bytes=most_bytes)
    )
    yield from in_batches(rows, PAGES, heavy="bag")


def _page_row(capture: Capture, on: BagMeasure) -> dict[str, Any]:
    name = as_text(capture.name)
    if not capture.body:
        return _trouble_row(Trouble(name, "empty: 0 bytes"))
    try:
        page = encode(capture.body, content_type=capture.content_type)
        bags = _core.Bags.of_pages([page._native], on)
        sketch = Sketch.of(page, on, m=VALUES)
    except (QuireError, ValueError) as error:
        return _trouble_row(Trouble(name, str(error)))
    return {
        "name": name,
        "url": as_text(capture.url),
        "time": capture.time,
        "bytes": len(capture.body),
        "nodes": page.n,
        "page": page_number(name),
        "size": int(np.frombuffer(bags.totals(), "<u8")[0]),
        "frame": frame_of(page, on),
        "sketch": sketch.values.tobytes(),
        "bag": bags.packed(0),
    }


def _trouble_row(trouble: Trouble) -> dict[str, Any]:
    return {"name": as_text(trouble.name), "trouble": as_text(trouble.reason), "page": 0}


def meetings(paths: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Turn files of ``pages`` into rows of ``meetings``."""
    for path in paths_of(paths):
        table = _pages_only(read_table(path, ["page", "size", "sketch"]))
        for batch in table.to_batches(max_chunksize=MOST_ROWS):
            sketches = [bytes(sketch or b"") for sketch in batch["sketch"].to_pylist()]
            matrix = np.frombuffer(b"".join(sketches), "<u4").reshape(-1, VALUES)
            sizes = np.minimum(_numbers(batch["size"]), 0xFFFF_FFFF).astype(np.uint32)
            keys, owners, owner_sizes = meeting_rows(matrix, _numbers(batch["page"]), sizes)
            yield _batch(MEETINGS, keys, owners, owner_sizes.astype(np.int64))


def hubs(rows: pa.Table) -> Iterator[pa.RecordBatch]:
    """Turn ``meetings``, grouped by key, into rows of ``hubs``."""
    sizes = _numbers(rows["size"]).astype(np.uint32)
    yield _batch(HUBS, *hubs_of(_numbers(rows["key"]), _numbers(rows["page"]), sizes))


def most_met(rows: pa.Table) -> Iterator[pa.RecordBatch]:
    """Turn ``hubs``, grouped by page, into the best rows of ``hubs``."""
    yield _batch(HUBS, *best_hubs(_numbers(rows["page"]), _numbers(rows["hub"])))


def pick(paths: pa.RecordBatch, *, wanted: bytes) -> Iterator[pa.RecordBatch]:
    """Turn files of ``pages`` into the ``bags`` of some of them, given by their numbers."""
    numbers = pa.array(np.frombuffer(wanted, "<u8"))
    for path in paths_of(paths):
        table = read_table(path, ["page", "bag", "trouble"])
        chosen = _pages_only(table.filter(pc.is_in(table["page"], numbers))).select(["page", "bag"])
        yield from chosen.cast(BAGS).to_batches()


def compare(
    paths: pa.RecordBatch, *, pairs: dict[str, str], others: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Turn files of ``pages`` into ``likenesses`` of their pages and pages of other files.

    Args:
        paths: the files.
        pairs: for each file, the file with its ``pairs``.
        others: files with the ``bags`` of the other pages.
    """
    for path in paths_of(paths):
        asked = read_table(pairs[path], PAIRS.names)
        wanted = pc.unique(asked["other"])
        parts = [read_table(other, BAGS.names) for other in others]
        parts = [part.filter(pc.is_in(part["page"], wanted)) for part in parts]
        known = pa.concat_tables([part.cast(BAGS) for part in parts])
        table = _pages_only(read_table(path, ["page", "bag", "trouble"]))
        page, other = _numbers(asked["page"]), _numbers(asked["other"])
        contained, resemblance = likenesses(
            _places(page, _numbers(table["page"])),
            bags_of(table["bag"]),
            _places(other, _numbers(known["page"])),
            bags_of(known["bag"]),
        )
        yield _batch(LIKENESSES, page, other, contained, resemblance)


def bags_of(column: pa.ChunkedArray[Any]) -> _core.Bags:
    """Read a column of packed bags, without copying each."""
    array = pa.concat_arrays([chunk.cast(pa.large_binary()) for chunk in column.chunks])
    _, offsets, data = array.buffers()
    if offsets is None or data is None:  # no rows
        return _core.Bags.from_packed(b"", np.zeros(len(array) + 1, np.int64))
    places = np.frombuffer(memoryview(offsets), "<i8")[array.offset :][: len(array) + 1]
    return _core.Bags.from_packed(np.frombuffer(memoryview(data), np.uint8), places)


def _places(wanted: NDArray[np.uint64], known: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Find the places of the wanted numbers among the known ones, which are all different."""
    order = np.argsort(known, kind="stable")
    return order[np.searchsorted(known[order], wanted)].astype(np.uint32)


def _pages_only(table: pa.Table) -> pa.Table:
    if "trouble" in table.column_names:
        return table.filter(pc.is_null(table["trouble"]))
    return table.filter(pc.is_valid(table["sketch"]))


def _numbers(column: pa.Array[Any] | pa.ChunkedArray[Any]) -> NDArray[Any]:
    found: NDArray[Any] = (
        column.to_numpy(zero_copy_only=False) if isinstance(column, pa.Array) else column.to_numpy()
    )
    return found


def _batch(schema: pa.Schema, *columns: NDArray[Any]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array(column) for column in columns], schema=schema)
