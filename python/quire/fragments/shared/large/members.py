"""Members: the places of the fragments, by fragment, page and part, and the list of pages."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from quire.engines.arrow import paths_of, schema_of
from quire.engines.tables import read_groups, read_table
from quire.errors import MissingExtra
from quire.fragments.shared.large.blocks import Blocks
from quire.fragments.shared.large.nesting import outermost, parents, ranks_of, read_numbered
from quire.fragments.shared.large.records import Collected, Records, unpacked

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError:
    raise MissingExtra("pyarrow is not installed", extra="archive") from None

_NARROW = ("part", "node", "node_end", "value_bytes", "byte_start", "byte_end")
_WIDE = ("value_hash", "source_hash")
_MEMBER = np.dtype(
    [
        *((name, "<u4") for name in ("fragment", "page", *_NARROW)),
        *((name, "<u8") for name in _WIDE),
    ]
)
_UNKNOWN = np.iinfo(np.uint32).max

#: The columns of ``crawl_output.as_table``, with the number of the page for its name and address.
PLACES = schema_of(
    fragment=pa.int64(),
    same=pa.string(),
    page=pa.int64(),
    part=pa.int64(),
    node=pa.int64(),
    node_end=pa.int64(),
    value_bytes=pa.int64(),
    value_hash=pa.uint64(),
    byte_start=pa.int64(),
    byte_end=pa.int64(),
    source_hash=pa.uint64(),
)
LISTED = schema_of(
    page=pa.int64(),
    name=pa.string(),
    url=pa.string(),
    time=pa.timestamp("us", tz="UTC"),
    bytes=pa.int64(),
    nodes=pa.int64(),
)

# Rows of a batch.
_MOST_ROWS = 1 << 16


def send_members(
    paths: pa.RecordBatch, *, blocks: Blocks, fragments: str, buckets: str
) -> Iterator[pa.RecordBatch]:
    """Send the outermost members of fragments to the bucket of their fragment."""
    numbered = read_numbered(fragments)
    bucket_of = read_table(buckets, ["bucket"])["bucket"].to_numpy()
    collected = Collected()
    for file in paths_of(paths):
        for table in read_groups(file, ["block", "groups"]):
            for block, packed in zip(table["block"].to_numpy(), table["groups"], strict=True):
                parts, numbers = blocks.parts_of(int(block))
                groups = np.frombuffer(packed.as_buffer(), "<u4")
                found = ranks_of(groups, numbered)
                rows = np.flatnonzero(
                    (found >= 0) & outermost(parents(parts.records["size"]), groups)
                )
                sent = np.empty(len(rows), _MEMBER)
                sent["fragment"], sent["page"] = found[rows], numbers[parts.page[rows]]
                for name in (*_NARROW, *_WIDE):
                    sent[name] = parts.records[name][rows]
                yield from collected.add(bucket_of[found[rows]], sent)
    yield from collected.rows()


def arrange(groups: pa.Table) -> Iterator[pa.RecordBatch]:
    """Sort the members of some fragments, and tell how similar those of each are."""
    sent = unpacked(groups["records"], _MEMBER)
    del groups  # a fragment of all pages would be in memory twice
    sent = sent[np.lexsort((sent["part"], sent["page"], sent["fragment"]))]
    starts = np.flatnonzero(np.diff(sent["fragment"].astype(np.int64), prepend=-1))
    counts = np.diff(np.append(starts, len(sent)))

    def is_equal(name: str) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        equal = sent[name] == np.repeat(sent[name][starts], counts)
        return np.logical_and.reduceat(equal, starts) if len(starts) else np.empty(0, bool)

    known = (
        np.logical_and.reduceat(sent["byte_start"] != _UNKNOWN, starts)
        if len(starts)
        else np.empty(0, bool)
    )
    same = np.where(is_equal("value_hash"), "same text", "approximate")
    same = np.repeat(np.where(known & is_equal("source_hash"), "exact", same), counts)
    for start in range(0, len(sent), _MOST_ROWS):
        yield _batch(sent[start : start + _MOST_ROWS], same[start : start + _MOST_ROWS])


def _batch(sent: Records, same: np.ndarray[tuple[int], np.dtype[np.str_]]) -> pa.RecordBatch:
    unknown = sent["byte_start"] == _UNKNOWN
    columns = []
    for field in PLACES:
        if field.name == "same":
            columns.append(pa.array(same.astype(object), pa.string()))
            continue
        mask = unknown if field.name in {"byte_start", "byte_end", "source_hash"} else None
        values = sent[field.name]
        if field.type == pa.int64():
            values = values.astype(np.int64)
        columns.append(pa.array(np.ascontiguousarray(values), field.type, mask=mask))
    return pa.RecordBatch.from_arrays(columns, schema=PLACES)


def list_pages(paths: pa.RecordBatch, *, blocks: Blocks) -> Iterator[pa.RecordBatch]:
    """List the pages with their numbers."""
    for file in paths_of(paths):
        numbers = read_groups(blocks.numbers_of(file), ["number"])
        for about, number in zip(read_groups(file, LISTED.names[1:]), numbers, strict=False):
            table = about.add_column(0, "page", number["number"])
            yield from (
                table.filter(pc.greater_equal(table["page"], pa.scalar(0)))
                .cast(LISTED)
                .to_batches()
            )
