"""Shared fragments of a crawl: pages in folders, WARC and Parquet files, looked at by an engine.

The answer is that of ``shared_fragments`` for the same pages in the same order: of ``paths``, and within a file in its own.

1. On the engine (``crawl_steps``): every page is read, encoded, and cut into parts with shingles, once. That is nearly all of the work.
2. Here, at the driver: parts go into the pool as they come, in whatever order engines give; shingles of a text once, however many
   pages have it. No byte of a page comes here.
3. Here: texts are grouped and groups become fragments, by the kernel of ``shared_fragments``. It knows pages by the order in which they came; neither
   groups nor their order depend on it, so that members need only be numbered anew and sorted.

So machines share the work, and the memory of the driver is the bound. It holds the pool and, in the end, the answer: 12 kB a page for real pages of 148 kB
with 39 parts of 200 bytes or more, 6 kB for made ones of 10 kB with 29 (the benchmark ``shared-crawls``).
Grouping on the engine too would not move that bound by much: half to two thirds of all parts are members of the answer.

What cannot be read does not stop the rest; it is in ``troubles``, each with its name and the reason.
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
from quire.fragments.shared.rules import MIN_BYTES, MIN_MATCH, MIN_PAGES, SharingRules
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

from quire.fragments.shared import crawl_steps as steps

_ABOUT = ["name", "url", "time", "bytes", "nodes"]


@dataclass(frozen=True, slots=True, eq=False)
class CrawlFragments:
    """The shared fragments of a crawl.

    Attributes:
        fragments: what pages share; their numbers of pages are rows of ``pages``.
        pages: name, url, time, bytes and nodes of every page, in the order of reading.
        troubles: what could not be read, in that order too.
    """

    fragments: SharedFragments
    pages: pa.Table
    troubles: tuple[Trouble, ...]

    @property
    def total_bytes(self) -> int:
        """Bytes of all pages together."""
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
    size_ratio: float | None = None,
    estimate: Estimate = "paper",
    shingling: Shingling | None = None,
    formatting: Iterable[str] = FORMATTING,
    most_bytes: int = MOST_BYTES,
    reader: PathReader = read,
) -> CrawlFragments:
    """Find the parts that the pages of a crawl share.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from quire.sources import find
    >>> menu = "<nav><a href=/>Start</a> <a href=/fish>Fish</a> <a href=/chips>Chips</a></nav>"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for day in range(4):
    ...         _ = Path(folder, f"{day}.html").write_text(f"{menu}<h1>Day {day}</h1><p>{day * 7} mm of rain")
    ...     _ = Path(folder, "none.html").write_bytes(b"")
    ...     found = crawl_fragments(find([folder]), min_bytes=15)
    >>> found.fragments[0]
    <SharedFragment 0: 17 bytes of text on 4 pages, exact>
    >>> [trouble.reason for trouble in found.troubles]
    ['empty: 0 bytes']

    Args:
        paths: files, as ``quire.sources.find`` gives them; each once.
        engine: who does the work; None for the threads of this machine.
        min_match: see ``shared_fragments``, for this and the next six.
        min_bytes: same.
        min_pages: same.
        size_ratio: same.
        estimate: same.
        shingling: same.
        formatting: same.
        most_bytes: a longer page is a trouble.
        reader: reads a path; ``quire.captures.read_newest`` also reads archives.

    Raises:
        ValueError: a rule or a setting is out of range.
        SourceClash: a path is there twice.
    """
    rules = SharingRules.checked(
        min_bytes=min_bytes,
        min_pages=min_pages,
        min_match=min_match,
        size_ratio=size_ratio,
        estimate=estimate,
    )
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
    """What has come to the driver: the pool, and a row about each page, both in the order of coming."""

    def __init__(self, paths: Sequence[str], packing: steps.Packing) -> None:
        if len(set(paths)) != len(paths):
            path, times = Counter(paths).most_common(1)[0]
            raise SourceClash(f"{path}: there {times} times; expected each path once")
        self._file_of = {path: number for number, path in enumerate(paths)}
        self._pool = packing.pool()
        schema = pa.schema([("file", pa.int32()), *steps.PAGES]).remove(1)
        self._schema = schema.remove(schema.get_field_index("parts"))
        self._rows: list[pa.RecordBatch] = []

    def pass_over(self, odd: Iterable[Trouble]) -> None:
        """Keep troubles with whole files."""
        rows = [
            {
                "file": self._file_of[one.name],
                "place": 0,
                "name": steps.as_text(one.name),
                "trouble": one.reason,
            }
            for one in odd
        ]
        self._rows.append(pa.RecordBatch.from_pylist(rows, self._schema))

    def take(self, batch: pa.RecordBatch) -> None:
        """Pool the parts of some pages."""
        for parts in batch["parts"]:
            if parts.is_valid:
                self._pool.push_packed(parts.as_py())
        files = [self._file_of[str(path)] for path in batch["path"].to_pylist()]
        rows = [pa.array(files, pa.int32()), *(batch[name] for name in self._schema.names[1:])]
        about = pa.RecordBatch.from_arrays(rows, schema=self._schema)
        # A copy: else the rows would hold on to all that came with them, which is the parts.
        self._rows.append(about.take(np.arange(len(batch))))

    def found(self, rules: SharingRules) -> CrawlFragments:
        """Find the fragments, and count pages in the order of reading."""
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


def _reading_order(rows: pa.Table) -> NDArray[np.int64]:
    order: NDArray[np.int64] = np.lexsort((rows["place"].to_numpy(), rows["file"].to_numpy()))
    return order
