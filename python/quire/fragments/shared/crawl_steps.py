"""The distributed step of ``crawl``: turn pages into packed parts.

Reading, encoding, AF trees and shingles are nearly all of the work, and each page is processed
independently of the others. A task returns one row for each page, with its parts packed in the
format of the pool (``_core.PartPacker``).

| column | meaning |
| --- | --- |
| path, place | the file, and the position of the page in it; pages are numbered in this order |
| name, url, time, bytes, nodes | facts about the page |
| parts | 48 bytes for each part with enough text, and shingles this task has not sent yet |
| trouble | why the page could not be read; then only path, place and name are set as well |

The step is pure and deterministic, so a task may run twice. Rows hold no page content, and a task
hands them over once they reach a megabyte.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from quire import _core
from quire.digest import encode
from quire.engines.arrow import as_text, in_batches, paths_of, schema_of
from quire.errors import MissingExtra, QuireError
from quire.fragments.trees.shingles import Shingling
from quire.sources import Capture, Trouble
from quire.sources.reading import PathReader

try:
    import pyarrow as pa
except ImportError:
    raise MissingExtra("pyarrow is not installed", extra="archive") from None


PAGES = schema_of(
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

# A task passes its rows on when it has this many bytes of parts.
_MOST_PART_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Packing:
    """Settings for packing parts; the pool must have the same.

    Attributes:
        min_bytes: minimum bytes of text of a part.
        shingling: settings for shingles.
        formatting: names of the HTML tags to remove.
    """

    min_bytes: int
    shingling: Shingling
    formatting: tuple[str, ...]

    def packer(self) -> _core.PartPacker:
        """Create a packer, which remembers the texts it has already sent."""
        return _core.PartPacker(*self._settings)

    def pool(self) -> _core.FragmentPool:
        """Create the pool that receives the packed parts."""
        return _core.FragmentPool(*self._settings)

    @property
    def _settings(self) -> tuple[int, int, int, int, list[str]]:
        how = self.shingling
        return self.min_bytes, how.window, how.sample, how.bits, list(self.formatting)


def packed_parts(
    paths: pa.RecordBatch, *, packing: Packing, reader: PathReader, most_bytes: int
) -> Iterator[pa.RecordBatch]:
    """Turn paths into rows of ``PAGES``."""
    packer = packing.packer()
    rows = (
        {"path": path, "place": place, **_row(found, packer)}
        for path in paths_of(paths)
        for place, found in enumerate(reader(path, most_bytes=most_bytes))
    )
    yield from in_batches(rows, PAGES, heavy="parts", most_bytes=_MOST_PART_BYTES)


def _row(found: Capture | Trouble, packer: _core.PartPacker) -> dict[str, Any]:
    name = as_text(found.name)
    if isinstance(found, Trouble):
        return {"name": name, "trouble": as_text(found.reason)}
    if not found.body:
        return {"name": name, "trouble": "empty: 0 bytes"}
    try:
        page = encode(found.body, content_type=found.content_type)
        parts = packer.pack(page._native)
    except (QuireError, ValueError) as error:
        return {"name": name, "trouble": as_text(str(error))}
    return {
        "name": name,
        "url": as_text(found.url),
        "time": found.time,
        "bytes": len(found.body),
        "nodes": page.n,
        "parts": parts,
    }
