"""The plan of a build: assigns every page to a cluster, in one place, from everything found.

Clusters are made by the code of compaction, from the sketches of the pages. Long ones are split, so
that a task holds a few hundred megabytes at most. A revisit goes into the cluster of a page that
has the digest it states. If its own address and time must stay with another page, the bytes of
that page are lent to its cluster instead. Companions have clusters of their own, by type.

Memory: addresses, times and sketches of all pages, but no bodies. The part of the plan that is
sent to the machines takes about 40 bytes per page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from quire.archive.build.read import as_url
from quire.archive.compact.choose_base import BASE_BYTES
from quire.archive.compact.clusters import LEAST_BYTES, clusters
from quire.archive.known import Identity
from quire.errors import MissingExtra

try:
    import pyarrow as pa
except ImportError:
    raise MissingExtra("pyarrow is not installed", extra="archive") from None

from quire.archive.build.tables import PLANS, REVISIT_ALGORITHMS

#: Bytes of companions in a cluster.
COMPANION_BYTES = 64 << 20
_ROWS = 1 << 16


@dataclass(slots=True, eq=False)
class PlannedPage:
    """A page, revisit or companion found in a source, without its bytes.

    Attributes:
        row: Its row in ``found``.
        file: Number of its file.
        ordinal: Its position among everything found in the file.
        url: Its address.
        time: Fetch time in microseconds since 1970, UTC.
        length: Length of the body or block; 0 for a revisit.
        check: XXH3 of the body or block; for a revisit, of its WARC head.
        heads: XXH3 of its heads.
        is_revisit: Whether its bytes are elsewhere.
        kind: Type of a companion; None for a page or revisit.
        of: The page whose bytes a revisit has, if it was found.
        page: Its number among the stored pages, by url and time; -1 if it is left out.
        cluster: Its cluster; -1 if it is left out.
    """

    row: int
    file: int
    ordinal: int
    url: bytes
    time: int
    length: int
    check: int
    heads: int
    is_revisit: bool
    kind: str | None
    of: PlannedPage | None = None
    page: int = -1
    cluster: int = -1

    @property
    def is_stored(self) -> bool:
        """Whether its bytes are known, so that it can be stored."""
        return not self.is_revisit or self.of is not None

    @property
    def identity(self) -> Identity:
        """What distinguishes it from others of its address and time."""
        bytes_of = self.of or self
        return bytes_of.length, bytes_of.check, self.heads


@dataclass(frozen=True, slots=True)
class Plan:
    """The assignment of pages to clusters.

    Attributes:
        plans: Rows of ``plans`` for each file that has any, in the order of its findings.
        pages: Number of pages to store, including revisits.
        body_bytes: Bytes of their bodies.
        companions: Number of companions to store, by type.
        known: Number of pages left out because they are known.
        known_companions: Number of companions left out because they are known.
        left: Names of revisits whose pages were not found in the sources.
        clusters: Number of clusters; they are numbered from 1.
    """

    plans: dict[str, pa.RecordBatch]
    pages: int
    body_bytes: int
    companions: Counter[str]
    known: int
    known_companions: int
    left: list[str]
    clusters: int


def plan(
    found: pa.Table,
    paths: Sequence[str],
    is_known: Callable[[PlannedPage], bool],
    base_bytes: int = BASE_BYTES,
) -> Plan:
    """Assign pages to clusters.

    Args:
        found: Rows of pages, revisits and companions, in any order.
        paths: The files. If pages have the same address and time, the one in the last file counts.
        is_known: Tells whether to leave out a page, a companion, or a revisit that has its page.
        base_bytes: About how many bytes of pages a base of the tier can have.
    """
    seen = _seen(found, paths)
    _resolve(seen, found)
    new = [one for one in seen if not one.is_stored or not is_known(one)]
    there = set(map(id, new))
    for one in new:
        if one.of is not None and id(one.of) not in there:
            one.of = None  # its page is left out, because the archive has it
    kept = [one for one in new if one.is_stored and one.kind is None]
    companions = [one for one in new if one.kind is not None]
    for page, one in enumerate([*kept, *companions]):
        one.page = page
    n = _put_into_clusters(kept, found["sketch"], base_bytes=base_bytes)
    n = _put_companions_into_clusters(companions, n)
    known = [one for one in seen if one.is_stored and one.page < 0]
    return Plan(
        plans=_plans(seen, kept, found["digest"], paths),
        pages=len(kept),
        body_bytes=sum((one.of or one).length for one in kept),
        companions=Counter(one.kind or "" for one in companions),
        known=sum(one.kind is None for one in known),
        known_companions=sum(one.kind is not None for one in known),
        left=[found["name"][one.row].as_py() for one in new if not one.is_stored],
        clusters=n,
    )


def _seen(found: pa.Table, paths: Sequence[str]) -> list[PlannedPage]:
    """List the findings by url and time, and for equal ones in the order of the files."""
    number = {path: number for number, path in enumerate(paths)}
    names = ["path", "ordinal", "url", "time", "length", "check", "heads", "stated_digest"]
    names.append("record")
    seen: list[PlannedPage] = []
    for batch in found.select(names).to_batches(max_chunksize=_ROWS):
        columns = zip(*(batch[name].to_pylist() for name in names), strict=True)
        for path, ordinal, url, time, length, check, heads, stated, kind in columns:
            row, file, is_revisit = len(seen), number[path], stated is not None
            seen.append(
                PlannedPage(row, file, ordinal, url, time, length, check, heads, is_revisit, kind)
            )
    seen.sort(key=lambda one: (one.url, one.time, one.file, one.ordinal))
    return seen


def _resolve(seen: list[PlannedPage], found: pa.Table) -> None:
    """Link revisits to pages that have their digests, wherever these were found."""
    revisits = {one.row: one for one in seen if one.is_revisit}
    if not revisits:
        return
    stated = found["stated_digest"]
    wanted = {row: stated[row].as_py() for row in revisits}
    digests = set(wanted.values())
    by_row = {one.row: one for one in seen if not one.is_revisit and one.kind is None}
    # By the digest of the bytes if possible: the digest that a record states may be wrong.
    with_digest: dict[bytes, PlannedPage] = {}
    as_stated: dict[bytes, PlannedPage] = {}
    start = 0
    for batch in found.select(["digests"]).to_batches(max_chunksize=_ROWS):
        for row, values in enumerate(batch["digests"].to_pylist(), start):
            for i, digest in enumerate(values or ()):
                if digest in digests:
                    known = with_digest if i < len(REVISIT_ALGORITHMS) else as_stated
                    known.setdefault(digest, by_row[row])
        start += len(batch)
    for row, digest in wanted.items():
        revisits[row].of = with_digest.get(digest) or as_stated.get(digest)


def _put_into_clusters(
    kept: list[PlannedPage], sketches: pa.ChunkedArray[Any], *, base_bytes: int
) -> int:
    """Assign every page to a cluster, and return the number of clusters."""
    # A revisit has the bytes, and so the sketch, of the page it names.
    sources = [one.of or one for one in kept]
    groups = clusters(
        [(as_url(one.url), one.time) for one in kept],
        [one.length for one in sources],
        [sketches[one.row].as_py() for one in sources],
        base_bytes=base_bytes,
    )
    for number, group in enumerate(groups, 1):
        for page in group.tolist():
            kept[page].cluster = number
    return len(groups)


def _put_companions_into_clusters(companions: list[PlannedPage], n: int) -> int:
    """Assign companions to clusters numbered after ``n``, and return the highest number."""
    held = COMPANION_BYTES
    for one in sorted(companions, key=lambda one: (one.kind, one.url, one.time, one.page)):
        if held >= COMPANION_BYTES:
            n += 1
            held = 0
        one.cluster = n
        held += max(one.length, LEAST_BYTES)
    return n


def _plans(
    seen: list[PlannedPage],
    kept: list[PlannedPage],
    digests: pa.ChunkedArray[Any],
    paths: Sequence[str],
) -> dict[str, pa.RecordBatch]:
    digest_of: pa.Array[Any] = digests.combine_chunks()
    lend: dict[int, set[int]] = {}
    for one in kept:
        if one.of is not None and one.of.cluster != one.cluster:
            lend.setdefault(one.of.page, set()).add(one.cluster)
    in_file: dict[int, list[PlannedPage]] = {}
    for one in seen:
        in_file.setdefault(one.file, []).append(one)
    plans: dict[str, pa.RecordBatch] = {}
    for file, mine in in_file.items():
        mine.sort(key=lambda one: one.ordinal)
        if all(one.cluster < 0 for one in mine):
            continue
        columns: list[pa.Array[Any]] = [
            pa.array([one.cluster for one in mine], pa.int32()),
            pa.array([one.page for one in mine], pa.int64()),
            pa.array([one.check for one in mine], pa.uint64()),
            digest_of.take(pa.array([one.row for one in mine], pa.int64())),
            pa.array([-1 if one.of is None else one.of.page for one in mine], pa.int64()),
            pa.array([sorted(lend.get(one.page, ())) for one in mine], pa.list_(pa.int32())),
        ]
        plans[paths[file]] = pa.RecordBatch.from_arrays(columns, schema=PLANS)
    return plans
