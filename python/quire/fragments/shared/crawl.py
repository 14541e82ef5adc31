"""Shared fragments of a whole crawl: folders, WARC and Parquet files, processed by an engine.

The result equals that of ``shared_fragments`` for the same pages in the same order: the order of
``paths``, and within a file the order of its pages.

1. The engine (``crawl_steps``) reads and encodes every page once and cuts it into parts with
   shingles. This is nearly all of the work.
2. The driver adds the parts to a pool, in whatever order the engine returns them. The shingles of a
   text are sent once, however many pages have that text. No page content reaches the driver.
3. The driver groups the texts and turns groups into fragments, with the same kernel as
   ``shared_fragments``. The kernel numbers pages in order of arrival. Neither the groups nor their
   order depend on those numbers, so the members are simply renumbered and sorted afterwards.

So the work is spread over machines, and the memory of the driver is the limit. The driver holds the
pool and finally the result: 12 kB per page for real pages of 148 kB with 39 parts of 200 bytes or
more, 6 kB for generated pages of 10 kB with 29 parts (benchmark ``shared-crawls``). For crawls that
are too large for this, ``quire.fragments.shared.large.crawl`` groups on the engine and writes the
same result to files.

A file that cannot be read does not stop the others. It is listed in ``troubles`` with the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from quire.engines import Engine, open_engine
from quire.errors import MissingExtra, SourceClash
from quire.fragments.shared.find import SharedFragments, fragments_of
from quire.fragments.shared.rules import (
    MIN_BYTES,
    MIN_MATCH,
    MIN_PAGES,
    SIZE_RATIO,
    SharingRules,
)
from quire.fragments.trees.af_tree import FORMATTING
from quire.fragments.trees.shingles import Estimate, Shingling
from quire.sources import MOST_BYTES, Trouble, read
from quire.sources.places import for_tasks
from quire.sources.reading import PathReader

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError:
    raise MissingExtra("pyarrow is not installed", extra="archive") from None

from quire.engines.arrow import as_text
from quire.fragments.shared import crawl_steps as steps

_ABOUT = ["name", "url", "time", "bytes", "nodes"]


@dataclass(frozen=True, slots=True, eq=False)
class CrawlFragments:
    """The shared fragments of a crawl.

    Attributes:
        fragments: the shared fragments; their page numbers are row numbers of ``pages``.
        pages: name, url, time, bytes and nodes of every page, in reading order.
        troubles: the files and pages that could not be read, in reading order.
    """

    fragments: SharedFragments
    pages: pa.Table
    troubles: tuple[Trouble, ...]

    @property
    def total_bytes(self) -> int:
        """Total size of all pages in bytes."""
        return int(self.pages["bytes"].to_numpy().sum())

    def name(self, page: int) -> str:
        """Give the name of a page, which ``quire.captures.read_one`` reads."""
        return str(self.pages["name"][page].as_py())


def crawl_fragments(
    paths: Sequence[str],
    *,
    engine: Engine | None = None,
    min_match: float = MIN_MATCH,
    min_bytes: int = MIN_BYTES,
    min_pages: int = MIN_PAGES,
    size_ratio: float = SIZE_RATIO,
    estimate: Estimate = "paper",
    shingling: Shingling | None = None,
    formatting: Iterable[str] = FORMATTING,
    most_bytes: int = MOST_BYTES,
    reader: PathReader = read,
) -> CrawlFragments:
    """Find the parts that the pages of a crawl have in common.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from quire.sources import find
    >>> menu = "<nav><a href=/>Start</a> <a href=/fish>Fish</a> <a href=/chips>Chips</a></nav>"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for day in range(4):
    ...         page = f"{menu}<h1>Day {day}</h1><p>{day * 7} mm of rain"
    ...         _ = Path(folder, f"{day}.html").write_text(page)
    ...     _ = Path(folder, "none.html").write_bytes(b"")
    ...     found = crawl_fragments(find([folder]), min_bytes=15)
    >>> found.fragments[0]
    <SharedFragment 0: 17 bytes of text on 4 pages, exact>
    >>> [trouble.reason for trouble in found.troubles]
    ['empty: 0 bytes']

    Args:
        paths: files, as returned by ``quire.sources.find``, without duplicates.
        engine: the engine that does the work (default: threads on this machine).
        min_match: as for ``shared_fragments``.
        min_bytes: as for ``shared_fragments``.
        min_pages: as for ``shared_fragments``.
        size_ratio: as for ``shared_fragments``.
        estimate: as for ``shared_fragments``.
        shingling: as for ``shared_fragments``.
        formatting: as for ``shared_fragments``.
        most_bytes: maximum size of a page; larger pages are listed in ``troubles``.
        reader: reads a path; ``quire.captures.read_newest`` also reads archives.

    Raises:
        ValueError: a rule or a setting is out of range.
        SourceClash: a path is given twice.
    """
    rules = SharingRules.checked(min_bytes, min_pages, min_match, size_ratio, estimate)
    packing = steps.Packing(min_bytes, shingling or Shingling(), tuple(sorted(formatting)))
    crawl = _Crawl(paths, packing)
    with ExitStack() as stack:
        engine = engine or stack.enter_context(open_engine(None))
        fn = partial(steps.packed_parts, packing=packing, reader=reader, most_bytes=most_bytes)
        fine, odd = for_tasks(paths)
        crawl.pass_over(odd)
        for batch in engine.map_paths(fine, fn, steps.PAGES, step="parts").batches():
            crawl.take(batch)
    return crawl.found(rules)


class _Crawl:
    """The state of the driver: the pool and one row for each page, both in order of arrival."""

    def __init__(self, paths: Sequence[str], packing: steps.Packing) -> None:
        self._file_of = file_numbers(paths)
        self._pool = packing.pool()
        schema = pa.schema([("file", pa.int32()), *steps.PAGES]).remove(1)
        self._schema = schema.remove(schema.get_field_index("parts"))
        self._rows: list[pa.RecordBatch] = []

    def pass_over(self, odd: Iterable[Trouble]) -> None:
        """Record files that cannot be read at all."""
        rows = [
            {
                "file": self._file_of[one.name],
                "place": 0,
                "name": as_text(one.name),
                "trouble": one.reason,
            }
            for one in odd
        ]
        self._rows.append(pa.RecordBatch.from_pylist(rows, self._schema))

    def take(self, batch: pa.RecordBatch) -> None:
        """Add the parts of some pages to the pool."""
        for parts in batch["parts"]:
            if parts.is_valid:
                self._pool.push_packed(parts.as_py())
        files = [self._file_of[str(path)] for path in batch["path"].to_pylist()]
        rows = [pa.array(files, pa.int32()), *(batch[name] for name in self._schema.names[1:])]
        about = pa.RecordBatch.from_arrays(rows, schema=self._schema)
        # A copy: otherwise the rows would keep the parts of the whole batch in memory.
        self._rows.append(about.take(np.arange(len(batch))))

    def found(self, rules: SharingRules) -> CrawlFragments:
        """Find the fragments, and number the pages in reading order."""
        rows = pa.Table.from_batches(self._rows, self._schema)
        is_page = pc.is_null(rows["trouble"])
        pages = rows.filter(is_page)
        order = _reading_order(pages)
        number_of = np.empty_like(order)
        number_of[order] = np.arange(len(order))
        troubles = rows.filter(pc.invert(is_page))
        troubles = troubles.take(_reading_order(troubles)).select(["name", "trouble"])
        return CrawlFragments(
            fragments=fragments_of(self._pool, rules).renumbered(number_of),
            pages=pages.take(order).select(_ABOUT),
            troubles=tuple(Trouble(row["name"], row["trouble"]) for row in troubles.to_pylist()),
        )


def file_numbers(paths: Sequence[str]) -> dict[str, int]:
    """Return the position of each path.

    Raises:
        SourceClash: a path is given twice.
    """
    if len(set(paths)) != len(paths):
        path, times = Counter(paths).most_common(1)[0]
        raise SourceClash(f"{path}: given {times} times; expected each path once")
    return {path: number for number, path in enumerate(paths)}


def _reading_order(rows: pa.Table) -> NDArray[np.int64]:
    order: NDArray[np.int64] = np.lexsort((rows["place"].to_numpy(), rows["file"].to_numpy()))
    return order
