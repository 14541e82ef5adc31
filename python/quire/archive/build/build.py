"""Building: a crawl becomes an archive at once, small from the start, by the threads of this machine or by a cluster.

1. **look**: every source is read, and what was found in it comes here without its bytes: addresses, times, sketches.
2. **plan**: here pages are put into clusters, by the rules of compaction (``build_plan``).
3. **fetch** and **encode**: every source is read again; the engine brings the pages of a cluster together, and a task
   makes the pieces of a segment of them, as compaction would.
4. **commit**: pieces are written here, one after the other, into one new segment, which gets its name when it is whole
   and every page is in it.

The machines of a cluster need the sources and nothing else: they write no file, so a task that runs twice, or dies, leaves
nothing behind, and whoever wins gives the same rows. What comes back is what is stored, a few hundredths of what was read.
Sources are read twice so that no copy of the crawl has to lie between the steps; one that is not the same the second
time ends the build.

Until the last step there is no archive, and an old one is as it was (``staging``). To run a build again that was cut
off is all there is to do.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Literal

from quire.archive.archive import Archive
from quire.archive.build.read import Reading, as_url, now
from quire.archive.build.staging import staged
from quire.archive.compact.tiers import TierName
from quire.archive.disk.storage import DISK, Disk
from quire.archive.format.page_meta import to_time
from quire.archive.format.segment import Piece
from quire.archive.warc.ingest import MOST_TROUBLES, Ingested
from quire.engines import Engine, open_engine
from quire.errors import ArchiveError, MissingExtra
from quire.sources import MOST_BYTES, Trouble
from quire.sources.places import for_tasks
from quire.sources.reading import split_name

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError:
    raise MissingExtra("pyarrow is not installed", extra="archive") from None

from quire.archive.build import encode as build_encoding
from quire.archive.build import plan as build_plan
from quire.archive.build import steps as build_steps
from quire.archive.build.plan import Plan, PlannedPage
from quire.archive.build.revisits import Again
from quire.archive.build.tables import BODIES, FOUND, PIECES

#: Bytes of pages for a task that encodes, on average: in the worst case so many come back.
TASK_BYTES = 64 << 20


def build_archive(
    paths: Sequence[str],
    output: str | os.PathLike[str],
    *,
    engine: Engine | None = None,
    time: datetime | None = None,
    skip_known: bool = False,
    most_bytes: int = MOST_BYTES,
    codec: Literal["zstd", "dense"] = "zstd",
    on_trouble: Callable[[Trouble], None] = lambda _trouble: None,
    disk: Disk = DISK,
) -> Ingested:
    """Make an archive of a crawl, or add a crawl to one, as one segment in which alike pages lean on common bases.

    >>> import tempfile
    >>> from quire.sources import find
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for i in range(9):
    ...         _ = Path(folder, f"{i}.html").write_text(f"<h1>Cod {i}</h1>" + "<p>Fresh today" * 99)
    ...     done = build_archive(find([folder]), f"{folder}/site.quire")
    ...     with Archive.open(f"{folder}/site.quire") as archive:
    ...         done.pages, len(archive), archive.verify()
    (9, 9, [])

    Args:
        paths: what ``sources.find`` lists; the machines of the engine have to reach them.
        output: the archive: a folder of this machine. One that is there gets the pages as a new segment.
        engine: who does the work; None for the threads of this machine.
        time: of pages that do not say when they were fetched; for files it is when they were last changed, else now.
        skip_known: leave out pages that the archive has with the same address, time and bytes.
        most_bytes: a longer page is a ``Trouble``.
        codec: the tier that pages are written in, as of ``Archive.compact``.
        on_trouble: is told of each trouble.
        disk: where the archive is.

    Returns:
        What was added. Without a page nothing was changed, and no archive made.

    Raises:
        ArchiveError: ``output`` is a folder that is no archive.
        ArchiveLocked: another writer holds it.
        StorageFailed: the disk did not take it; all is as it was.
        SourceUnreadable: a source changed meanwhile; on a cluster this is an ``EngineError``, with the same words.
        EngineError: the cluster failed.
    """
    paths = list(dict.fromkeys(paths))
    reading = Reading(time, now(), most_bytes, str(Path.cwd()))
    with ExitStack() as stack:
        engine = engine or stack.enter_context(open_engine(None))
        archive = stack.enter_context(staged(Path(output), disk))
        return _Build(engine, archive, paths, reading, codec, on_trouble).run(skip_known=skip_known)


@dataclass
class _Build:
    """A build under way."""

    engine: Engine
    archive: Archive
    paths: list[str]
    reading: Reading
    codec: TierName
    on_trouble: Callable[[Trouble], None]
    passed_over: Counter[str] = field(default_factory=Counter)
    trouble_count: int = 0
    troubles: list[Trouble] = field(default_factory=list)
    lost_bytes: int = 0

    def run(self, *, skip_known: bool) -> Ingested:
        """Go through the steps."""
        found = self._look()
        planned = build_plan.plan(
            found, self.paths, self._is_known if skip_known else _nothing, self._stored_time
        )
        again = Again(self.archive, self.reading)
        again.look(planned.left, self._trouble, skip_known=skip_known)
        added = self.archive.add_pieces(self._pieces(planned, again))
        place = {path: number for number, path in enumerate(self.paths)}
        self.troubles.sort(key=lambda trouble: place.get(split_name(trouble.name)[0], 0))
        return Ingested(
            pages=added,
            body_bytes=planned.body_bytes + again.body_bytes - self.lost_bytes,
            known=planned.known + again.known,
            passed_over=dict(sorted(self.passed_over.items())),
            trouble_count=self.trouble_count,
            troubles=tuple(self.troubles),
        )

    def _look(self) -> pa.Table:
        """Read all sources, and give the rows of pages and revisits."""
        paths, odd = for_tasks(self.paths)
        for trouble in odd:
            self._trouble(trouble)
        data = self.engine.map_paths(
            paths, partial(build_steps.look, reading=self.reading), FOUND, step="sketch"
        )
        kept = []
        for batch in data.batches():
            is_page = pc.is_valid(batch["ordinal"])
            kept.append(batch.filter(is_page))
            for row in batch.filter(pc.invert(is_page)).to_pylist():
                if row["trouble"] is None:
                    self.passed_over[row["passed"]] += row["length"]
                else:
                    self._trouble(Trouble(row["name"], row["trouble"]))
        return pa.Table.from_batches(kept, FOUND)

    def _pieces(self, planned: Plan, again: Again) -> Iterator[Piece]:
        """Give all pieces; the last one only when every page is in one."""
        fetch = partial(build_steps.fetch, reading=self.reading, plans=planned.plans)
        bodies = self.engine.map_paths(sorted(planned.plans), fetch, BODIES, step="fetch")
        encoded = self.engine.group_by_key(
            bodies,
            "cluster",
            partial(build_encoding.encode_clusters, codec=self.codec),
            PIECES,
            step="encode",
            tasks=planned.body_bytes // TASK_BYTES + 1,
        )
        count = 0
        lost = 0
        if planned.pages:
            for batch in encoded.batches():
                for row in batch.to_pylist():
                    if row["trouble"] is not None:
                        lost += 1
                        self.lost_bytes += row["body_bytes"]
                        self._trouble(Trouble(row["name"], row["trouble"]))
                        continue
                    piece = build_encoding.piece_of(row)
                    count += piece.pages
                    yield piece
        if count + lost != planned.pages:
            raise ArchiveError(
                f"{self.archive.folder}: {count + lost:,} of {planned.pages:,} pages came back from the engine; "
                "nothing was stored, build it again"
            )
        yield from again.pieces(planned.clusters + 1, self.codec)

    def _is_known(self, page: PlannedPage) -> bool:
        for known in self.archive.abouts(as_url(page.url), to_time(page.time)):
            if known.time != page.time:
                return False
            if (known.length, known.check) == (page.length, page.check):
                return True
        return False

    def _stored_time(self, url: str, until: int) -> int | None:
        known = next(self.archive.abouts(url, to_time(until)), None)
        return None if known is None else known.time

    def _trouble(self, trouble: Trouble) -> None:
        self.trouble_count += 1
        if len(self.troubles) < MOST_TROUBLES:
            self.troubles.append(trouble)
        self.on_trouble(trouble)


def _nothing(_page: PlannedPage) -> bool:
    return False
