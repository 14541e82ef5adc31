"""Shared fragments of a large crawl, written as Parquet files (the steps are in the package).

The places equal those of ``quire.fragments.shared.crawl.crawl_fragments``: use that one if the
result should be in memory, about 10 kB for each page.
"""

from __future__ import annotations

import posixpath
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from quire.engines import Data, Engine, open_engine
from quire.errors import MissingExtra
from quire.fragments.shared.crawl import file_numbers
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
except ImportError:
    raise MissingExtra("pyarrow is not installed", extra="archive") from None

from quire.engines.memory import give_back
from quire.engines.sinks import Sink
from quire.engines.tables import read_groups, read_table, write_table
from quire.fragments.shared import crawl_steps
from quire.fragments.shared.large import grouping, meetings, members, nesting, places, values
from quire.fragments.shared.large.blocks import Blocks, number_pages
from quire.fragments.shared.large.components import Components
from quire.fragments.shared.large.decisions import accepted_groups
from quire.fragments.shared.large.records import (
    BUCKETS,
    BULK,
    Records,
    bucket_count,
    unpacked,
)

# Places in a bucket of fragments.
_PLACES_A_BUCKET = 100_000
# Links that the driver adds to the components at once.
_LINKS = 4 << 20


@dataclass(frozen=True, slots=True)
class WrittenFragments:
    """The shared fragments of a crawl, in files.

    Attributes:
        places: Parquet files with one row for each place of each fragment. All rows of a fragment
            are in one file, by page and part. The columns are those of ``crawl_output.as_table``,
            with the number of the page for its name and address.
        pages: Parquet files with number, name, url, time, bytes and nodes of each page.
        rules: the rules by which the fragments were found.
        n_pages: number of pages.
        n_fragments: number of fragments; those with longer texts have lower numbers.
        n_texts: number of distinct texts.
        total_bytes: bytes of all pages.
        troubles: the files and pages that could not be read, in reading order.
    """

    places: tuple[str, ...]
    pages: tuple[str, ...]
    rules: SharingRules
    n_pages: int
    n_fragments: int
    n_texts: int
    total_bytes: int
    troubles: tuple[Trouble, ...]

    def table(self) -> pa.Table:
        """Read all places, in the order of fragments, pages and parts."""
        found = pa.concat_tables(read_table(file, members.PLACES.names) for file in self.places)
        return found.sort_by([(name, "ascending") for name in ("fragment", "page", "part")])


def write_crawl_fragments(
    paths: Sequence[str],
    sink: str,
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
    work: str | None = None,
    reader: PathReader = read,
) -> WrittenFragments:
    """Find the parts that the pages of a crawl have in common, and write them to a folder.

    >>> from pathlib import Path
    >>> from quire.sources import find
    >>> menu = "<nav><a href=/>Start</a> <a href=/fish>Fish</a> <a href=/chips>Chips</a></nav>"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for day in range(4):
    ...         page = f"{menu}<h1>Day {day}</h1><p>{day * 7} mm of rain"
    ...         _ = Path(folder, f"{day}.html").write_text(page)
    ...     found = write_crawl_fragments(find([folder]), f"{folder}/shared", min_bytes=15)
    ...     rows = found.table().select(["fragment", "same", "page", "byte_end"]).to_pylist()
    >>> found.n_pages, found.n_fragments, rows[0]
    (4, 1, {'fragment': 0, 'same': 'exact', 'page': 0, 'byte_end': 78})

    Args:
        paths: files, as returned by ``quire.sources.find``, without duplicates.
        sink: a new or empty folder for the result, as a path or an address.
        engine: the engine that does the work (default: threads on this machine).
        min_match: as for ``shared_fragments``.
        min_bytes: as for ``shared_fragments``.
        min_pages: as for ``shared_fragments``.
        size_ratio: as for ``shared_fragments``.
        estimate: as for ``shared_fragments``.
        shingling: as for ``shared_fragments``.
        formatting: as for ``shared_fragments``.
        most_bytes: maximum size of a page; larger pages are listed in ``troubles``.
        work: an empty folder for intermediate files, as a path or an address that all machines of
            the engine reach; None for a temporary folder of this machine.
        reader: reads a path; ``quire.captures.read_newest`` also reads archives.

    Raises:
        ValueError: a rule or a setting is out of range.
        FileExistsError: a folder is not empty.
        SourceClash: a path is given twice.
    """
    rules = SharingRules.checked(min_bytes, min_pages, min_match, size_ratio, estimate)
    packing = crawl_steps.Packing(min_bytes, shingling or Shingling(), tuple(sorted(formatting)))
    packing.pool()  # checks the settings before anything is read
    file_of = file_numbers(paths)
    for name in ("places", "pages"):
        Sink(posixpath.join(sink, name)).prepare()  # before hours of work, not after
    with ExitStack() as stack:
        engine = engine or stack.enter_context(open_engine(None))
        folder = work or stack.enter_context(tempfile.TemporaryDirectory(prefix="quire-shared-"))
        crawl = _Crawl(engine, folder, packing, rules)
        fine, odd = for_tasks(paths)
        fn = partial(
            crawl_steps.packed_parts, packing=packing, reader=reader, most_bytes=most_bytes
        )
        parts = engine.map_paths(fine, fn, crawl_steps.PAGES, step="parts")
        files = engine.write(parts, crawl.place("parts"), step="parts")
        numbered = number_pages(files, crawl.place("numbers"), file_of, odd)
        blocks = numbered.blocks
        shelves = crawl.shelve(blocks)
        crawl.group(shelves)
        resolved = crawl.resolve(shelves)
        pages_of = crawl.rank(shelves, resolved)
        fragment_pages = crawl.decide(blocks, resolved, pages_of)
        found = crawl.members(blocks, resolved, fragment_pages)
        listed = engine.map_paths(
            list(blocks.files),
            partial(members.list_pages, blocks=blocks),
            members.LISTED,
            step="pages",
        )
        return WrittenFragments(
            places=tuple(engine.write(found, posixpath.join(sink, "places"), step="places")),
            pages=tuple(engine.write(listed, posixpath.join(sink, "pages"), step="pages")),
            rules=rules,
            n_pages=numbered.pages,
            n_fragments=len(fragment_pages),
            n_texts=shelves.count,
            total_bytes=numbered.total_bytes,
            troubles=numbered.troubles,
        )


class _Crawl:
    """The driver: runs the steps, and holds a few numbers for each value and each group."""

    def __init__(
        self, engine: Engine, folder: str, packing: crawl_steps.Packing, rules: SharingRules
    ) -> None:
        self._engine = engine
        self._folder = folder
        self._packing = packing
        self._rules = rules
        self._min_bytes = 2 * packing.shingling.window  # shorter values match only if equal

    def place(self, name: str) -> str:
        """Return a place for intermediate files."""
        return posixpath.join(self._folder, name)

    def shelve(self, blocks: Blocks) -> values.Shelves:
        """Find the distinct values."""
        give_back()
        # A block has about a megabyte of parts, half of which is sent.
        buckets = bucket_count(blocks.count << 19)
        sent = self._engine.map_paths(
            list(blocks.files),
            partial(values.send_parts, blocks=blocks, buckets=buckets),
            BUCKETS,
            step="values",
        )
        shelved = self._engine.group_by_key(
            sent, "bucket", values.shelve, values.SHELVES, step="values", tasks=buckets
        )
        files = self._engine.write(shelved, self.place("values"), step="values")
        return values.Shelves.of(files, self._folder)

    def group(self, shelves: values.Shelves) -> None:
        """Find the leader of each value, and write it beside the values."""
        give_back()
        files = list(shelves.files)
        buckets = self._components(shelves).buckets(grouping.PORTION)
        shelves.write("buckets", buckets)
        tasks = int(buckets.max(initial=-1)) + 1
        del buckets
        sent = self._engine.map_paths(
            files,
            partial(grouping.send_values, shelves=shelves, name="buckets"),
            BUCKETS,
            step="groups",
        )
        fn = partial(grouping.group, packing=self._packing, rules=self._rules)
        found = self._engine.group_by_key(
            sent, "bucket", fn, BULK, step="groups", tasks=max(tasks, 1)
        )
        leader = np.arange(shelves.count, dtype=np.uint32)
        for batch in found.batches():
            joined = unpacked(batch["records"], grouping.JOINED)
            leader[joined["value"]] = joined["leader"]
        shelves.write("leaders", leader)

    def _components(self, shelves: values.Shelves) -> Components:
        give_back()
        files = list(shelves.files)
        shingles = shelves.count * self._packing.shingling.sample
        bits = meetings.bits_for(shingles)
        fn = partial(meetings.count_shingles, shelves=shelves, min_bytes=self._min_bytes, bits=bits)
        common = np.zeros(1 << bits, np.uint16)
        for batch in self._engine.map_paths(files, fn, meetings.BINS, step="keys").batches():
            for row in batch["bins"]:
                counts = np.frombuffer(row.as_buffer(), np.uint8)
                # Large counts stop growing. Any order of shingles gives the same result.
                common += np.minimum(counts, np.iinfo(np.uint16).max - common).astype(np.uint16)
        rarity = self.place("rarity.parquet")
        write_table(rarity, pa.table({"count": common}))
        del common
        keys = meetings.Keys(rarity, bits, self._min_bytes, self._rules.min_match)
        per_value = int(keys.number()[self._packing.shingling.sample])
        buckets = bucket_count(shelves.count * per_value * meetings.KEY.itemsize)
        sent = self._engine.map_paths(
            files,
            partial(meetings.send_keys, shelves=shelves, keys=keys, buckets=buckets),
            BUCKETS,
            step="keys",
        )
        linked = self._engine.group_by_key(
            sent,
            "bucket",
            partial(meetings.link, rules=self._rules),
            BULK,
            step="keys",
            tasks=buckets,
        )
        found = Components(shelves.count)
        held = [np.empty(0, meetings.LINK)]
        for batch in linked.batches():
            held.append(unpacked(batch["records"], meetings.LINK))
            if sum(map(len, held)) >= _LINKS:
                _link(found, held)
                held = []
        _link(found, held)
        return found

    def resolve(self, shelves: values.Shelves) -> list[str]:
        """Give every part its group."""
        give_back()
        sent = self._engine.map_paths(
            list(shelves.files),
            partial(places.send_places, shelves=shelves, name="leaders"),
            BUCKETS,
            step="groups of parts",
        )
        found = self._engine.group_by_key(
            sent, "bucket", places.resolve, places.RESOLVED, step="groups of parts"
        )
        return self._engine.write(found, self.place("resolved"), step="groups of parts")

    def rank(self, shelves: values.Shelves, resolved: list[str]) -> NDArray[np.uint32]:
        """Put the groups on enough pages into their order, and return the pages of each."""
        give_back()
        pages = np.zeros(shelves.count, np.uint32)
        for file in resolved:
            for table in read_groups(file, ["seen"]):
                for row in table["seen"]:
                    seen = np.frombuffer(row.as_buffer(), places.SEEN)
                    pages[seen["group"]] += seen["pages"]
        chosen = pages >= self._rules.min_pages
        shelves.write("chosen", chosen)
        fn = partial(places.describe_leaders, shelves=shelves, name="chosen")
        data = self._engine.map_paths(list(shelves.files), fn, places.LEADERS, step="order")
        found = [unpacked(batch["leaders"], places.LEADER) for batch in data.batches()]
        leaders = np.concatenate([np.empty(0, places.LEADER), *found])
        order = np.lexsort((leaders["hash"], -leaders["bytes"].astype(np.int64)))
        groups = leaders["group"][order]
        self._number("candidates.parquet", groups)
        of_group: NDArray[np.uint32] = pages[groups]
        return of_group

    def decide(
        self, blocks: Blocks, resolved: list[str], pages: NDArray[np.uint32]
    ) -> NDArray[np.uint32]:
        """Find out which groups are fragments; return the pages of each."""
        give_back()
        candidates = self.place("candidates.parquet")
        buckets = bucket_count(64 * len(pages))
        sent = self._engine.map_paths(
            resolved,
            partial(
                nesting.send_surroundings, blocks=blocks, candidates=candidates, buckets=buckets
            ),
            BUCKETS,
            step="nesting",
        )
        found = self._engine.group_by_key(
            sent, "bucket", nesting.distinct, BULK, step="nesting", tasks=buckets
        )
        surroundings: list[Records] = [np.empty(0, nesting.SURROUNDINGS)]
        around = [np.empty(0, np.uint32)]
        for batch in found.batches():
            surroundings.append(unpacked(batch["records"], nesting.SURROUNDINGS))
            around.append(unpacked(batch["lists"], "<u4"))
        accepted = accepted_groups(len(pages), np.concatenate(surroundings), np.concatenate(around))
        table = nesting.read_numbered(candidates)
        in_order = np.empty(len(table), np.uint32)
        in_order[table["number"]] = table["group"]
        self._number("fragments.parquet", in_order[accepted])
        return pages[accepted]

    def members(self, blocks: Blocks, resolved: list[str], pages: NDArray[np.uint32]) -> Data:
        """Bring the members of each fragment together."""
        give_back()
        before = np.cumsum(pages, dtype=np.int64) - pages
        bucket = before // _PLACES_A_BUCKET
        buckets = self.place("fragment-buckets.parquet")
        write_table(buckets, pa.table({"bucket": bucket}))
        fn = partial(
            members.send_members,
            blocks=blocks,
            fragments=self.place("fragments.parquet"),
            buckets=buckets,
        )
        sent = self._engine.map_paths(resolved, fn, BUCKETS, step="places")
        tasks = int(bucket.max(initial=0)) + 1
        return self._engine.group_by_key(
            sent, "bucket", members.arrange, members.PLACES, step="places", tasks=tasks
        )

    def _number(self, name: str, groups: NDArray[np.uint32]) -> None:
        """Write groups with their positions, sorted by group."""
        order = np.argsort(groups)
        table = pa.table({"group": groups[order], "number": order.astype(np.uint32)})
        write_table(self.place(name), table)


def _link(found: Components, held: list[Records]) -> None:
    links = np.concatenate([np.empty(0, meetings.LINK), *held])
    found.link(links["one"], links["other"])
