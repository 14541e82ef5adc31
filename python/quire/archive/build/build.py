"""Builds a compacted archive from crawls in one run, on local threads or on a cluster.

1. **look**: read every source and collect addresses, times and sketches here, but no bodies.
2. **plan**: assign pages to clusters here, by the rules of compaction (``plan``).
3. **fetch** and **encode**: read every source again. The engine brings the pages of a cluster
   together, and a task encodes them as pieces of a segment, as compaction would.
4. **commit**: write the pieces here into one new segment, which gets its name when it is complete
   and contains every page.

The machines of a cluster only need access to the sources. They write no file, so a task that runs
twice or dies leaves nothing behind, and every run gives the same rows. They send back only the
encoded pages, a few percent of the bytes read. Sources are read twice so that no copy of the crawl
has to be kept between the steps; a source that has changed the second time ends the build.

The archive appears in the last step, and an existing one is unchanged until then (``staging``).
After an interrupted build, run it again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Literal

from quire.archive.archive import Archive
from quire.archive.build.read import Reading, as_it_is, as_url, now
from quire.archive.compact.tiers import TierName, tier_of
from quire.archive.disk.storage import DISK, Disk
from quire.archive.format.page_meta import to_microseconds
from quire.archive.format.segment import Piece
from quire.archive.known import Known, identity
from quire.archive.staging import staged
from quire.archive.warc.ingest import Ingested, Report
from quire.archive.warc.pipeline import Arrived
from quire.archive.warc.revisits import REVISIT
from quire.engines import Engine, open_engine
from quire.errors import ArchiveError, MissingExtra
from quire.sources import MOST_BYTES, Capture, Trouble
from quire.sources.places import for_tasks
from quire.sources.reading import split_name
from quire.spool import Spool

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError:
    raise MissingExtra("pyarrow is not installed", extra="archive") from None

from quire.archive.build import encode as build_encoding
from quire.archive.build import plan as build_plan
from quire.archive.build import steps as build_steps
from quire.archive.build.plan import Plan, PlannedPage
from quire.archive.build.revisits import StoredRevisits
from quire.archive.build.tables import BODIES, FOUND, PIECES

#: Average page bytes per encoding task: in the worst case, that much is sent back.
TASK_BYTES = 64 << 20


def build_archive(
    paths: Sequence[str],
    output: str | os.PathLike[str],
    *,
    engine: Engine | None = None,
    time: datetime | None = None,
    rename: Callable[[Capture], Capture] = as_it_is,
    skip_known: bool = False,
    most_bytes: int = MOST_BYTES,
    codec: Literal["zstd", "dense"] = "zstd",
    on_trouble: Callable[[Trouble], None] = lambda _trouble: None,
    on_warning: Callable[[Trouble], None] = lambda _warning: None,
    disk: Disk = DISK,
) -> Ingested:
    """Build an archive from crawls, or add crawls to one, as a single compacted segment.

    >>> import tempfile
    >>> from quire.sources import find
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for i in range(9):
    ...         text = f"<h1>Cod {i}</h1>" + "<p>Fresh today" * 99
    ...         _ = Path(folder, f"{i}.html").write_text(text)
    ...     done = build_archive(find([folder]), f"{folder}/site.quire")
    ...     with Archive.open(f"{folder}/site.quire") as archive:
    ...         done.pages, len(archive), archive.verify()
    (9, 9, [])

    Args:
        paths: Files as listed by ``sources.find``; all machines of the engine must reach them.
        output: Folder of the archive, on this machine. An existing archive gets a new segment.
        engine: The engine to run on (default: threads of this machine).
        time: Fetch time for pages that do not record one (default: file modification time, or now).
        rename: Called with each page that is not in a WARC file; may change its address and time.
            All machines of the engine must be able to import it.
        skip_known: Skip pages and records that the archive has, equal in everything.
        most_bytes: Maximum page size in bytes; a longer page is a ``Trouble``.
        codec: Tier that encodes the pages, as in ``Archive.compact``.
        on_trouble: Called with each trouble.
        on_warning: Called with each warning.
        disk: The disk the archive is on.

    Returns:
        The pages added and skipped. If there is nothing to add, no archive is made.

    Raises:
        ArchiveError: ``output`` is a folder, but not an archive.
        ArchiveLocked: Another writer has it open.
        StorageFailed: The disk could not store the segment; nothing is changed.
        SourceUnreadable: A source changed during the build; on a cluster this is an
            ``EngineError`` with the same message.
        EngineError: The cluster failed.
    """
    paths = list(dict.fromkeys(paths))
    reading = Reading(time, now(), most_bytes, str(Path.cwd()), rename)
    with ExitStack() as stack:
        engine = engine or stack.enter_context(open_engine(None))
        archive = stack.enter_context(staged(Path(output), disk))
        spool = stack.enter_context(Spool())
        known = archive.known() if skip_known else None
        report = Report(on_trouble, on_warning)
        return _Build(engine, archive, paths, reading, codec, spool, known, report).run()


@dataclass
class _Build:
    """A build in progress."""

    engine: Engine
    archive: Archive
    paths: list[str]
    reading: Reading
    codec: TierName
    spool: Spool
    known: Known | None
    report: Report

    def run(self) -> Ingested:
        """Run the steps."""
        found = self._look()
        planned = build_plan.plan(found, self.paths, self._is_known, tier_of(self.codec).base_bytes)
        revisits = StoredRevisits(self.archive, self.reading, self.spool)
        revisits.look(planned.left, self.report.warn, self._has)
        self.archive.add_pieces(self._pieces(planned, revisits))
        companions = planned.companions
        if revisits.companions:
            companions[REVISIT] += len(revisits.companions)
        report, place = self.report, {path: number for number, path in enumerate(self.paths)}
        for listed in (report.troubles, report.warnings):
            listed.sort(key=lambda trouble: place.get(split_name(trouble.name)[0], 0))
        return Ingested(
            pages=planned.pages + len(revisits.members),
            body_bytes=planned.body_bytes + revisits.body_bytes,
            known=planned.known + revisits.known,
            companions=dict(sorted(companions.items())),
            known_companions=planned.known_companions + revisits.known_companions,
            trouble_count=report.trouble_count,
            troubles=tuple(report.troubles),
            warning_count=report.warning_count,
            warnings=tuple(report.warnings),
        )

    def _look(self) -> pa.Table:
        """Read all sources, and return the rows of pages, revisits and companions."""
        paths, odd = for_tasks(self.paths)
        for trouble in odd:
            self.report.trouble(trouble)
        data = self.engine.map_paths(
            paths, partial(build_steps.look, reading=self.reading), FOUND, step="sketch"
        )
        kept = []
        for batch in data.batches():
            is_page = pc.is_valid(batch["ordinal"])
            kept.append(batch.filter(is_page))
            for row in batch.filter(pc.invert(is_page)).to_pylist():
                if row["trouble"] is None:
                    self.report.warn(Trouble(row["name"], row["warning"]))
                else:
                    self.report.trouble(Trouble(row["name"], row["trouble"]))
        return pa.Table.from_batches(kept, FOUND)

    def _pieces(self, planned: Plan, revisits: StoredRevisits) -> Iterator[Piece]:
        """Yield all pieces; raise before the last ones if a page is missing."""
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
        expected = planned.pages + planned.companions.total()
        count = 0
        if expected:
            for batch in encoded.batches():
                for row in batch.to_pylist():
                    piece = build_encoding.piece_of(row)
                    count += piece.pages
                    yield piece
        if count != expected:
            raise ArchiveError(
                f"{self.archive.folder}: {count:,} of {expected:,} pages came back "
                "from the engine; "
                "nothing was stored, build it again"
            )
        yield from revisits.pieces(planned.clusters + 1, self.codec)

    def _is_known(self, page: PlannedPage) -> bool:
        return self.known is not None and self.known.leave_out(
            as_url(page.url), page.time, page.identity, is_companion=page.kind is not None
        )

    def _has(self, page: Arrived) -> bool:
        return self.known is not None and self.known.leave_out(
            page.url,
            to_microseconds(page.time),
            identity(page.head, page.body, page.warc_head),
            is_companion=page.is_companion,
        )
