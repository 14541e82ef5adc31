"""Templates of a crawl: an engine groups pages in folders, WARC and Parquet files, and archives.

The algorithm of ``groups``, in steps that any engine runs (``steps``). Tasks read and encode each
page once, and keep its name, a sketch of 400 bytes and its bag in files below ``work``. The driver
holds names and numbers, some hundred bytes a page, and the bags of up to 64 pages of each group.

Every engine finds the same groups for the same pages: a page is identified by a hash of its name,
which also breaks ties.

A page that cannot be read does not stop the rest. It is in ``troubles`` with its name and reason.
"""

from __future__ import annotations

import posixpath
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quire.engines import Data, Engine, open_engine
from quire.errors import MissingExtra, SourceClash
from quire.similar.groups import (
    MEASURE,
    THRESHOLD,
    Links,
    Templates,
    arranged,
    check_threshold,
    exemplar_pairs,
    first_groups,
    held,
    merged,
    representatives_of,
)
from quire.similar.measures import BagMeasure
from quire.sources import MOST_BYTES, Trouble, read
from quire.sources.places import for_tasks
from quire.sources.reading import PathReader

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError:
    raise MissingExtra("pyarrow is not installed", extra="archive") from None

from quire.engines.arrow import as_text
from quire.engines.tables import read_table, write_table
from quire.similar.crawl import steps

_ABOUT = ["name", "url", "time", "bytes", "nodes", "page", "size", "frame", "trouble"]


@dataclass(frozen=True, slots=True, eq=False)
class CrawlTemplates:
    """The templates of a crawl.

    Attributes:
        templates: the groups; page numbers in them are rows of ``pages``.
        pages: name, url, time, bytes and nodes of every page, sorted by name.
        troubles: what could not be read, sorted by name.
    """

    templates: Templates
    pages: pa.Table
    troubles: tuple[Trouble, ...]

    def table(self) -> pa.Table:
        """Give the pages with their groups: -1 for a page that is like no other.

        Columns ``name``, ``url``, ``time``, ``bytes``, ``nodes``, ``group``, ``fit``,
        ``resemblance``, ``role`` (``representative``, ``outlier``, ``member`` or ``single``).
        """
        found = self.templates
        role = np.where(found.group_of < 0, "single", "member").astype("<U14")
        for group in found.groups:
            role[group.outliers] = "outlier"
            role[group.representative] = "representative"
        return (
            self.pages.append_column("group", pa.array(found.group_of))
            .append_column("fit", pa.array(found.fits))
            .append_column("resemblance", pa.array(found.resemblances))
            .append_column("role", pa.array(role.tolist()))
        )

    def name(self, page: int) -> str:
        """Give the name of a page, by which ``quire.captures.read_one`` reads it."""
        return str(self.pages["name"][page].as_py())


def crawl_templates(
    paths: Sequence[str],
    *,
    engine: Engine | None = None,
    on: BagMeasure = MEASURE,
    threshold: float = THRESHOLD,
    most_bytes: int = MOST_BYTES,
    work: str | None = None,
    reader: PathReader = read,
) -> CrawlTemplates:
    """Group the pages of a crawl by their templates.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from quire.sources import find
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for i in range(4):
    ...         _ = Path(folder, f"{i}.html").write_text(f"<h1>{i}</h1><ul>{'<li>Cod' * (i + 3)}</ul>")
    ...     _ = Path(folder, "none.html").write_bytes(b"")
    ...     found = crawl_templates(find([folder]))
    >>> found.templates
    <Templates of 4 pages: 1 groups, 0 singles>
    >>> [trouble.reason for trouble in found.troubles]
    ['empty: 0 bytes']

    Args:
        paths: files, as ``quire.sources.find`` lists them.
        engine: runs the work; None for the threads of this machine.
        on: what to compare: any measure but Kang's.
        threshold: minimum share of the smaller of two pages that the larger one must contain, for
            the two to be in one group.
        most_bytes: a longer page is a trouble.
        work: an empty folder for intermediate files, as a path or an address that all machines of
            the engine reach; None for a temporary folder of this machine.
        reader: reads a path. ``quire.captures.read_newest`` also reads archives, on any machine
            that sees the folder of the archive under the same path.

    Raises:
        ValueError: the measure is not known, or the threshold is not between 0 and 1.
        FileExistsError: the work folder is not empty.
    """
    check_threshold(threshold)
    with ExitStack() as stack:
        engine = engine or stack.enter_context(open_engine(None))
        folder = work or stack.enter_context(_temporary())
        fine, odd = for_tasks(paths)
        sketched = engine.map_paths(
            fine,
            partial(steps.sketch_pages, on=on, most_bytes=most_bytes, reader=reader),
            steps.PAGES,
            step="sketch",
        )
        files = engine.write(sketched, posixpath.join(folder, "pages"), step="sketch")
        return _Crawl(engine, folder, files, on, threshold).grouped(odd)


@contextmanager
def _temporary() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="quire-templates-") as folder:
        yield folder


class _Crawl:
    """The driver's part of the work: a row about each page, by number.

    Pages are numbered in the order of their hashes, so the first pages of a group are a random
    sample of it.
    """

    def __init__(
        self, engine: Engine, folder: str, files: list[str], on: BagMeasure, threshold: float
    ) -> None:
        self.engine = engine
        self.folder = folder
        self.files = files
        self.on = on
        self.threshold = threshold
        tables = [
            table.append_column("file", pa.array(np.full(len(table), number, np.int32)))
            for number, table in enumerate(read_table(path, _ABOUT) for path in files)
        ]
        rows = pa.concat_tables(tables)
        is_page = pc.is_null(rows["trouble"])
        self.troubles = rows.filter(pc.invert(is_page)).select(["name", "trouble"])
        self.pages = rows.filter(is_page).sort_by("page")
        self.ids: NDArray[np.uint64] = self.pages["page"].to_numpy()
        most = 0xFFFF_FFFF
        self.sizes: NDArray[np.uint32] = self.pages["size"].to_numpy().clip(max=most).astype("<u4")
        self.frames: NDArray[np.uint32] = self.pages["frame"].to_numpy().astype("<u4")
        self.file_of: NDArray[np.int32] = self.pages["file"].to_numpy()
        self._check_different()

    def _check_different(self) -> None:
        same = np.flatnonzero(self.ids[1:] == self.ids[:-1])
        if len(same):
            one, other = (self.pages["name"][int(same[0]) + i].as_py() for i in (0, 1))
            raise SourceClash(
                f"{one} and {other}: two pages with the same hash; rename one of them"
            )

    def grouped(self, odd: list[Trouble]) -> CrawlTemplates:
        """Run the steps. ``odd`` are troubles that are known before."""
        n = len(self.ids)
        links = self._links()
        label, sampled = first_groups(n, links)
        sampled = sampled[self._is_needed(label, links)[label[sampled]]]
        bags = self._bags(sampled)
        label = merged(label, links, sampled, bags, self.threshold)
        representatives = representatives_of(label, sampled, bags)
        fits = self._fits(label, representatives)
        found = arranged(label, fits, representatives, self.on, self.threshold)
        return self._by_name(found, odd)

    def _links(self) -> Links:
        """Find hubs and keep links that pass the threshold, as page numbers."""
        engine = self.engine
        met = engine.map_paths(self.files, steps.meetings, steps.MEETINGS, step="meet")
        linked = engine.group_by_key(met, "key", steps.hubs, steps.HUBS, step="meet")
        best = engine.group_by_key(linked, "page", steps.most_met, steps.HUBS, step="hubs")
        page, hub = self._columns(best, "page", "hub")
        hub_files = engine.write(
            self._picked(np.unique(hub)), posixpath.join(self.folder, "hubs"), step="hubs"
        )
        found = self._compared("links", page, hub, hub_files)
        links = (
            self._numbers(found["page"]),
            self._numbers(found["other"]),
            found["contained"],
            found["resemblance"],
        )
        return held(links, self.sizes, self.frames, self.threshold)

    def _fits(self, label: NDArray[np.uint32], representatives: dict[int, int]) -> Links:
        """Compare pages with the exemplars of their groups."""
        page, other = exemplar_pairs(label, representatives, self.sizes)
        files = self.engine.write(
            self._picked(self.ids[np.unique(other)]),
            posixpath.join(self.folder, "exemplars"),
            step="fit",
        )
        found = self._compared("fits", self.ids[page], self.ids[other], files)
        return (
            self._numbers(found["page"]),
            self._numbers(found["other"]),
            found["contained"],
            found["resemblance"],
        )

    def _is_needed(self, label: NDArray[np.uint32], links: Links) -> NDArray[np.bool_]:
        """Tell which groups need samples: those of several pages, and those that links lead to."""
        n = len(label)
        needed: NDArray[np.bool_] = np.bincount(label, minlength=n) > 1
        between = label[links[0]] != label[links[1]]
        for side in links[:2]:
            needed[label[side[between]]] = True
        return needed

    def _picked(self, wanted: NDArray[np.uint64]) -> Data:
        """Select the bags of some pages, on the engine."""
        fn = partial(steps.pick, wanted=np.sort(wanted).astype("<u8").tobytes())
        return self.engine.map_paths(self.files, fn, steps.BAGS, step="pick")

    def _bags(self, numbers: NDArray[np.uint32]) -> Any:  # noqa: ANN401 - the kernel's
        """Fetch the bags of some pages to the driver."""
        batches = list(self._picked(self.ids[numbers]).batches())
        table = pa.Table.from_batches(batches, steps.BAGS).sort_by("page")
        # Page numbers follow the order of hashes, and so do these rows.
        return steps.bags_of(table["bag"])

    def _compared(
        self, name: str, page: NDArray[np.uint64], other: NDArray[np.uint64], others: list[str]
    ) -> dict[str, NDArray[Any]]:
        """Compare pages with others whose bags are in files. Rows come in any order."""
        file_of = self.file_of[self._numbers(page)]
        pairs: dict[str, str] = {}
        for number, path in enumerate(self.files):
            mine = file_of == number
            if mine.any():
                pairs[path] = posixpath.join(self.folder, name, f"{number:06}.parquet")
                asked = [pa.array(page[mine]), pa.array(other[mine])]
                write_table(pairs[path], pa.Table.from_arrays(asked, schema=steps.PAIRS))
        fn = partial(steps.compare, pairs=pairs, others=others)
        data = self.engine.map_paths(sorted(pairs), fn, steps.LIKENESSES, step=name)
        table = pa.Table.from_batches(list(data.batches()), steps.LIKENESSES)
        return {column: table[column].to_numpy() for column in table.column_names}

    def _columns(self, data: Data, *names: str) -> list[NDArray[Any]]:
        table = pa.Table.from_batches(list(data.batches()), data.schema)
        return [table[name].to_numpy() for name in names]

    def _numbers(self, ids: NDArray[np.uint64]) -> NDArray[np.uint32]:
        return np.searchsorted(self.ids, ids).astype(np.uint32)

    def _by_name(self, found: Templates, odd: list[Trouble]) -> CrawlTemplates:
        """Renumber pages in the order of their names."""
        order = pc.sort_indices(self.pages["name"]).to_numpy().astype(np.int64)
        row_of = np.empty_like(order)
        row_of[order] = np.arange(len(order))
        troubles = [Trouble(row["name"], row["trouble"]) for row in self.troubles.to_pylist()]
        troubles += [Trouble(as_text(one.name), one.reason) for one in odd]
        return CrawlTemplates(
            templates=found.renumbered(row_of),
            pages=self.pages.take(order).select(_ABOUT[:5]),
            troubles=tuple(sorted(troubles, key=lambda trouble: trouble.name)),
        )
