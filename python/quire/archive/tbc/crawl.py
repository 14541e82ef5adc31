"""TBC of a crawl: clusters and deltas of paper 003 on any engine.

The method of ``pages``, in steps that any engine runs (``steps``). Tasks read and encode each page
once, and keep its body and its sketch in files below ``work``. A round of the clustering is two
steps: tasks send the pages with the lowest tickets that resemble no template drawn so far, and the
driver draws up to k of them; then all remaining pages join the first template that they resemble.
Files of a round hold only the pages that are still without a template.

The driver holds two numbers for each page that has a template (16 bytes), and k sketches. A task
holds some pages of a file and the references that the pages of the file need.

Every engine stores the same bytes for the same pages. Which pages are drawn depends on the seed and
on their names, not on their order; so clusters differ from those of ``random_sampling`` with the same
seed, which numbers pages.
"""

from __future__ import annotations

import posixpath
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from quire import _core
from quire.archive.tbc.pages import (
    DIRECTORY_BYTES,
    WINDOW,
    Packing,
    TbcSizes,
    check_delta,
    unpack,
)
from quire.engines import Engine, open_engine
from quire.errors import MissingExtra, SourceClash
from quire.similar.sampling import SIMILARITY, TEMPLATES_A_ROUND, TOKENS_IN_A_ROW, check_sampling
from quire.similar.sketches import VALUES
from quire.sources import MOST_BYTES, Trouble, read
from quire.sources.places import for_tasks
from quire.sources.reading import PathReader

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError:
    raise MissingExtra("pyarrow is not installed", extra="archive") from None

from quire.archive.tbc import steps
from quire.engines.arrow import as_text
from quire.engines.tables import read_groups, read_table, write_table

#: Candidates that a step sends for each template that is still wanted.
_CANDIDATES_A_TEMPLATE = 4


@dataclass(frozen=True, slots=True)
class CrawlTbc:
    """A crawl stored with the method of paper 003.

    Attributes:
        files: Parquet files with the stored pages.
        packing: compression of each stored page.
        pages: number of pages.
        clusters: number of clusters.
        covered: number of pages that have a template.
        rounds: rounds of the clustering.
        sizes: bytes by part.
        troubles: what could not be read, sorted by name.
    """

    files: tuple[str, ...]
    packing: Packing | None
    pages: int
    clusters: int
    covered: int
    rounds: int
    sizes: TbcSizes
    troubles: tuple[Trouble, ...]

    @property
    def coverage(self) -> float:
        """The share of pages that have a template (the paper's coverage rate)."""
        return self.covered / self.pages if self.pages else 1.0

    def bodies(self) -> Iterator[tuple[str, bytes]]:
        """Yield the name and the bytes of every page, file by file.

        Holds some pages of a file and the references of all its pages.
        """
        for path in self.files:
            about = read_table(path, ["reference"])
            references = self._wholes(set(steps.values(about["reference"].drop_null())))
            for table in read_groups(path, ["name", "bytes", "reference", "plain", "frame"]):
                for row in table.to_pylist():
                    body = unpack(row["frame"], row["plain"], self.packing)
                    if row["reference"] is not None:
                        body = _core.tbc_apply(references[row["reference"]], body, row["bytes"])
                    yield row["name"], body

    def _wholes(self, numbers: set[int]) -> dict[int, bytes]:
        found: dict[int, bytes] = {}
        wanted = pa.array(sorted(numbers), pa.uint64())
        for path in self.files if numbers else ():
            for table in read_groups(path, ["page", "plain", "frame"]):
                for row in table.filter(pc.is_in(table["page"], wanted)).to_pylist():
                    found[row["page"]] = unpack(row["frame"], row["plain"], self.packing)
        return found


def crawl_tbc(
    paths: Sequence[str],
    sink: str,
    *,
    engine: Engine | None = None,
    k: int = TEMPLATES_A_ROUND,
    m: int = VALUES,
    w: int = TOKENS_IN_A_ROW,
    sim: float = SIMILARITY,
    window: int = WINDOW,
    seed: int = 0,
    packing: Packing | None = "gzip",
    most_bytes: int = MOST_BYTES,
    work: str | None = None,
    reader: PathReader = read,
) -> CrawlTbc:
    """Store the pages of a crawl with the method of paper 003.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from quire.sources import find
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for i in range(4):
    ...         page = f"<h1>{i}</h1><ul>{'<li>Cod<li>Eel' * 5}</ul>"
    ...         _ = Path(folder, f"{i}.html").write_text(page)
    ...     found = crawl_tbc(find([folder]), f"{folder}/stored")
    ...     restored = sorted(body[:10] for _, body in found.bodies())
    >>> found.pages, found.clusters, restored[3]
    (4, 1, b'<h1>3</h1>')

    Args:
        paths: files, as ``quire.sources.find`` lists them.
        sink: an empty folder for the stored pages, as a path or an address.
        engine: runs the work; None for the threads of this machine.
        k: number of templates drawn in each round of clustering.
        m: number of values in a sketch.
        w: number of consecutive tokens in a shingle.
        sim: minimum similarity (exclusive) for a page to join a template.
        window: window of the filter in tokens; 0 disables the filter.
        seed: random seed; the same seed gives the same result on every engine.
        packing: compression of each stored page: ``gzip`` (level 9), ``zstd`` (level 19) or None.
        most_bytes: a longer page is a trouble.
        work: an empty folder for intermediate files, as a path or an address that all machines of
            the engine reach; None for a temporary folder of this machine.
        reader: reads a path.

    Raises:
        ValueError: a parameter is out of range.
        FileExistsError: the sink or the work folder is not empty.
        SourceClash: two pages have the same name, or the same hash of their names.
    """
    check_delta(window, packing)
    check_sampling(k=k, sim=sim, seed=seed)
    with ExitStack() as stack:
        engine = engine or stack.enter_context(open_engine(None))
        folder = work or stack.enter_context(tempfile.TemporaryDirectory(prefix="quire-tbc-"))
        fine, odd = for_tasks(paths)
        sketched = engine.map_paths(
            fine,
            partial(steps.sketch_pages, m=m, w=w, most_bytes=most_bytes, reader=reader),
            steps.PAGES,
            step="sketch",
        )
        files = engine.write(sketched, posixpath.join(folder, "pages"), step="sketch")
        clustering = _Clustering(engine, folder, files, k=k, m=m, sim=sim, seed=seed)
        clustering.run()
        stored = _store(clustering, files, sink, window, packing)
        return _result(files, stored, clustering, packing, odd)


class _Clustering:
    """The driver's part of the clustering: the templates, and which pages joined them."""

    def __init__(
        self,
        engine: Engine,
        folder: str,
        files: list[str],
        *,
        k: int,
        m: int,
        sim: float,
        seed: int,
    ) -> None:
        self.engine = engine
        self.folder = folder
        self.files = files
        self.k, self.m, self.sim, self.seed = k, m, sim, seed
        self.rounds = 0
        self.page: NDArray[np.uint64] = np.empty(0, np.uint64)
        self.template: NDArray[np.uint64] = np.empty(0, np.uint64)

    def run(self) -> None:
        """Draw templates and let pages join, until a round in which no page joins."""
        joined_pages: list[NDArray[np.uint64]] = []
        joined_templates: list[NDArray[np.uint64]] = []
        while templates := self._draw():
            self.rounds += 1
            ids = np.array([page for page, _ in templates], "<u8")
            sketches = b"".join(sketch for _, sketch in templates)
            fn = partial(steps.join, templates=(ids.tobytes(), sketches), m=self.m, sim=self.sim)
            left = self.engine.map_paths(self.files, fn, steps.LEFT, step="join")
            place = posixpath.join(self.folder, f"round-{self.rounds}")
            self.files = self.engine.write(left, place, step="join")
            page, template = self._joined()
            if not len(page):
                break
            used = np.unique(template)
            joined_pages += [page, used]  # a template is in its own cluster
            joined_templates += [template, used]
        if joined_pages:
            page = np.concatenate(joined_pages)
            order = np.argsort(page)
            self.page, self.template = page[order], np.concatenate(joined_templates)[order]

    def _draw(self) -> list[tuple[int, bytes]]:
        """Draw up to k templates, no two of them alike: the paper's ``Select_Template``."""
        drawn: list[tuple[int, bytes]] = []
        after: int | None = None
        while len(drawn) < self.k:
            most = _CANDIDATES_A_TEMPLATE * (self.k - len(drawn))
            fn = partial(
                steps.candidates,
                seed=self.seed,
                after=after,
                most=most,
                drawn=b"".join(sketch for _, sketch in drawn),
                m=self.m,
                sim=self.sim,
            )
            data = self.engine.map_paths(self.files, fn, steps.CANDIDATES, step="draw")
            table = pa.Table.from_batches(list(data.batches()), steps.CANDIDATES).sort_by("ticket")
            rows = table.slice(0, most).to_pylist()
            if not rows:
                break
            for row in rows:
                if len(drawn) < self.k and self._is_new(row["sketch"], drawn):
                    drawn.append((row["page"], row["sketch"]))
                after = row["ticket"]
        return drawn

    def _is_new(self, sketch: bytes, drawn: list[tuple[int, bytes]]) -> bool:
        if not drawn:
            return True
        known = np.frombuffer(b"".join(one for _, one in drawn), "<u4").reshape(-1, self.m)
        alike = _core.view(_core.resemblances(np.frombuffer(sketch, "<u4"), known))
        return bool((np.frombuffer(alike, np.float32) < np.float32(self.sim)).all())

    def _joined(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        tables = [read_table(path, steps.MEMBERS.names) for path in self.files]
        table = pa.concat_tables(tables)
        table = table.filter(pc.is_valid(table["template"]))
        return table["page"].to_numpy(), table["template"].to_numpy()


def _store(
    clustering: _Clustering,
    files: list[str],
    sink: str,
    window: int,
    packing: Packing | None,
) -> list[str]:
    """Write the stored pages, and return their files."""
    engine, folder = clustering.engine, clustering.folder
    wanted = np.unique(clustering.template)
    picked = engine.map_paths(
        files, partial(steps.pick, wanted=wanted.tobytes()), steps.REFERENCES, step="references"
    )
    references = engine.write(picked, posixpath.join(folder, "references"), step="references")
    members: dict[str, str] = {}
    for number, path in enumerate(files):
        page: NDArray[np.uint64] = read_table(path, ["page"])["page"].to_numpy()
        places = np.searchsorted(clustering.page, page)
        places[places == len(clustering.page)] = 0
        has = clustering.page[places] == page if len(clustering.page) else np.zeros(len(page), bool)
        if has.any():
            members[path] = posixpath.join(folder, "members", f"{number:06}.parquet")
            columns = [pa.array(page[has]), pa.array(clustering.template[places[has]])]
            write_table(members[path], pa.Table.from_arrays(columns, schema=steps.MEMBERS))
    fn = partial(
        steps.store, members=members, references=references, window=window, packing=packing
    )
    stored = engine.map_paths(files, fn, steps.STORED, step="store")
    return engine.write(stored, sink, step="store")


def _result(
    files: list[str],
    stored: list[str],
    clustering: _Clustering,
    packing: Packing | None,
    odd: list[Trouble],
) -> CrawlTbc:
    columns = ["page", "bytes", "reference", "packed"]
    table = pa.concat_tables([read_table(path, columns) for path in stored])
    _check_different(stored, table)
    packed = table["packed"].to_numpy()
    is_delta = pc.is_valid(table["reference"]).to_numpy()
    is_reference = np.isin(table["page"].to_numpy(), np.unique(clustering.template))
    sizes = TbcSizes(
        pages=int(table["bytes"].to_numpy().sum()),
        references=int(packed[is_reference].sum()),
        deltas=int(packed[is_delta].sum()),
        alone=int(packed[~is_delta & ~is_reference].sum()),
        directory=DIRECTORY_BYTES * len(table),
    )
    troubles = list(odd)
    for path in files:
        rows = read_table(path, ["name", "trouble"])
        rows = rows.filter(pc.is_valid(rows["trouble"]))
        troubles += [Trouble(row["name"], row["trouble"]) for row in rows.to_pylist()]
    return CrawlTbc(
        files=tuple(stored),
        packing=packing,
        pages=len(table),
        clusters=len(np.unique(clustering.template)),
        covered=len(clustering.page),
        rounds=clustering.rounds,
        sizes=sizes,
        troubles=tuple(
            sorted(
                (Trouble(as_text(one.name), one.reason) for one in troubles),
                key=lambda trouble: trouble.name,
            )
        ),
    )


def _check_different(stored: list[str], table: pa.Table) -> None:
    pages = np.sort(table["page"].to_numpy())
    same = pages[1:][pages[1:] == pages[:-1]]
    if not len(same):
        return
    names: list[str] = []
    for path in stored:
        rows = read_table(path, ["name", "page"])
        names += [row["name"] for row in rows.to_pylist() if row["page"] == same[0]]
    raise SourceClash(
        f"{names[0]} and {names[1]}: two pages with the same hash; rename one of them"
    )
