"""The step of finding what a crawl shares that machines do for one another: pages to packed parts.

Reading, encoding, AF trees and shingles are nearly all of the work, and a page needs no other for them. What leaves a task
is a row for each page: about it, and its parts as the pool wants them, packed (``_core.PartPacker``).

| column | meaning |
| --- | --- |
| path, place | the file, and the how-manieth thing in it this is; pages are counted in this order |
| name, url, time, bytes, nodes | about the page |
| parts | 48 bytes for each part with text enough, and the shingles of those texts that this task has not sent before |
| trouble | why it could not be read; then path, place and name are all else that is set |

Pure and deterministic, so that a task may run twice. No byte of a page is in a row, and rows go when they are a megabyte.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from quire import _core
from quire.digest import encode
from quire.errors import MissingExtra, QuireError
from quire.fragments.trees.shingles import Shingling
from quire.sources import Capture, Trouble
from quire.sources.reading import PathReader

try:
    import pyarrow as pa
except ImportError:
    raise MissingExtra("pyarrow is not installed", extra="archive") from None


def _schema(**columns: pa.DataType) -> pa.Schema:
    return pa.schema(list(columns.items()))


PAGES = _schema(
    path=pa.string(),
    place=pa.int64(),
    name=pa.string(),
    url=pa.string(),
    time=pa.timestamp("us", tz="UTC"),
    bytes=pa.int64(),
    nodes=pa.int64(),
    parts=pa.large_binary(),
    trouble=pa.string(),
)

# Rows are handed over when they are so many, or their parts so long.
_MOST_ROWS = 1024
_MOST_PART_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Packing:
    """What parts are packed: the settings that a pool has too.

    Attributes:
        min_bytes: bytes of text that a part has at least.
        shingling: how shingles are made.
        formatting: names of the HTML tags that are removed.
    """

    min_bytes: int
    shingling: Shingling
    formatting: tuple[str, ...]

    def packer(self) -> _core.PartPacker:
        """Make a packer, which remembers what it has sent."""
        how = self.shingling
        return _core.PartPacker(
            self.min_bytes, how.window, how.sample, how.bits, list(self.formatting)
        )

    def pool(self) -> _core.FragmentPool:
        """Make the pool that takes what packers send."""
        how = self.shingling
        return _core.FragmentPool(
            self.min_bytes, how.window, how.sample, how.bits, list(self.formatting)
        )


def packed_parts(
    paths: pa.RecordBatch, *, packing: Packing, reader: PathReader, most_bytes: int
) -> Iterator[pa.RecordBatch]:
    """Turn paths into rows of ``PAGES``."""
    packer = packing.packer()
    rows: list[dict[str, Any]] = []
    held = 0
    for path in paths["path"].to_pylist():
        for place, found in enumerate(reader(str(path), most_bytes=most_bytes)):
            row = _row(found, packer)
            rows.append({"path": path, "place": place, **row})
            held += len(row.get("parts", b""))
            if len(rows) >= _MOST_ROWS or held >= _MOST_PART_BYTES:
                yield pa.RecordBatch.from_pylist(rows, PAGES)
                rows, held = [], 0
    yield pa.RecordBatch.from_pylist(rows, PAGES)


def _row(found: Capture | Trouble, packer: _core.PartPacker) -> dict[str, Any]:
    if isinstance(found, Trouble):
        return {"name": as_text(found.name), "trouble": as_text(found.reason)}
    if not found.body:
        return {"name": as_text(found.name), "trouble": "empty: 0 bytes"}
    try:
        page = encode(found.body, content_type=found.content_type)
        parts = packer.pack(page._native)
    except (QuireError, ValueError) as error:
        return {"name": as_text(found.name), "trouble": as_text(str(error))}
    return {
        "name": as_text(found.name),
        "url": as_text(found.url),
        "time": found.time,
        "bytes": len(found.body),
        "nodes": page.n,
        "parts": parts,
    }


def as_text(text: str) -> str:
    """Give a text that Arrow takes."""
    # A name whose bytes are not UTF-8 holds half pairs, which Arrow does not take.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
