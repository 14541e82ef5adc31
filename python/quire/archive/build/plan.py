"""The plan of a build: assigns every page to a cluster, in one place, from everything found.

Clusters are made as in compaction: by host, and by sketch if the host does not decide. A long
cluster is split between two addresses, so that a task holds a few hundred megabytes at most and a
large site is divided among many machines. A revisit goes into the cluster of the page it names. If
its own address and time must stay with another page, the bytes of the named page are lent to its
cluster instead.

Memory: addresses, times and sketches of all pages, but no bodies. The part of the plan that is
sent to the machines takes about 25 bytes per page.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from quire.archive.build.read import as_url
from quire.archive.compact.clusters import clusters, host
from quire.archive.compact.compaction import in_order
from quire.errors import MissingExtra

try:
    import pyarrow as pa
except ImportError:
    raise MissingExtra("pyarrow is not installed", extra="archive") from None

from quire.archive.build.tables import PLANS

#: Page bytes after which a cluster is split at the next address, and at the next time of one.
CUT_BYTES = 64 << 20
CUT_BYTES_WITHIN = 256 << 20
#: Minimum size counted for a page: its metadata counts too, and it limits the bases of a cluster.
LEAST_BYTES = 4 << 10
_ROWS = 1 << 16


@dataclass(slots=True, eq=False)
class PlannedPage:
    """A page or revisit found in a source, without its bytes.

    Attributes:
        row: Its row in ``found``.
        file: Number of its file.
        ordinal: Its position among everything found in the file.
        url: Its address.
        time: Fetch time in microseconds since 1970, UTC.
        length: Length of the body; 0 for a revisit.
        check: XXH3 of the body; for a revisit, of its WARC head.
        is_revisit: Whether its bytes are elsewhere.
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
    is_revisit: bool
    of: PlannedPage | None = None
    page: int = -1
    cluster: int = -1

    @property
    def is_stored(self) -> bool:
        """Whether its bytes are known, so that it can be stored."""
        return not self.is_revisit or self.of is not None


@dataclass(frozen=True, slots=True)
class Plan:
    """The assignment of pages to clusters.

    Attributes:
        plans: Rows of ``plans`` for each file that has any, in the order of its findings.
        pages: Number of pages to store, including revisits.
        body_bytes: Bytes of their bodies.
        known: Number of pages left out because they are known.
        left: Names of revisits whose pages were not found in the sources.
        clusters: Number of clusters; they are numbered from 1.
    """

    plans: dict[str, pa.RecordBatch]
    pages: int
    body_bytes: int
    known: int
    left: list[str]
    clusters: int


def plan(
    found: pa.Table,
    paths: Sequence[str],
    is_known: Callable[[PlannedPage], bool],
    stored_time: Callable[[str, int], int | None],
) -> Plan:
    """Assign pages to clusters.

    Args:
        found: Rows of pages and revisits, in any order.
        paths: The files. If pages have the same address and time, the one in the last file counts.
        is_known: Tells whether to leave out a page.
        stored_time: Returns the time of the newest stored version of an address up to a given time.
    """
    seen = _seen(found, paths)
    new = [one for one in seen if one.is_revisit or not is_known(one)]
    _resolve(new, found, stored_time)
    kept = [one for one in new if one.is_stored]
    for page, one in enumerate(kept):
        one.page = page
    n = _put_into_clusters(kept, found["sketch"])
    return Plan(
        plans=_plans(seen, kept, paths),
        pages=len(kept),
        body_bytes=sum((one.of or one).length for one in kept),
        known=len(seen) - len(new),
        left=[found["name"][one.row].as_py() for one in new if not one.is_stored],
        clusters=n,
    )


def _seen(found: pa.Table, paths: Sequence[str]) -> list[PlannedPage]:
    """List the findings by url and time, and for equal ones in the order of the files."""
    number = {path: number for number, path in enumerate(paths)}
    names = ["path", "ordinal", "url", "time", "length", "check", "stated_digest"]
    seen: list[PlannedPage] = []
    for batch in found.select(names).to_batches(max_chunksize=_ROWS):
        columns = zip(*(batch[name].to_pylist() for name in names), strict=True)
        for path, ordinal, url, time, length, check, stated in columns:
            file, is_revisit = number[path], stated is not None
            seen.append(PlannedPage(len(seen), file, ordinal, url, time, length, check, is_revisit))
    seen.sort(key=lambda one: (one.url, one.time, one.file, one.ordinal))
    return seen


def _resolve(
    seen: list[PlannedPage], found: pa.Table, stored_time: Callable[[str, int], int | None]
) -> None:
    """Link revisits to their pages, if these were found."""
    revisits = sorted((one for one in seen if one.is_revisit), key=lambda one: one.time)
    if not revisits:
        return
    # Versions of each address: their times, and the pages whose bytes they have.
    versions: dict[bytes, tuple[list[int], list[PlannedPage]]] = {}
    for one in seen:
        if not one.is_revisit:
            times, pages = versions.setdefault(one.url, ([], []))
            times.append(one.time)
            pages.append(one)
    for one in revisits:
        url, until = found["of_url"][one.row].as_py(), found["of_time"][one.row].as_py()
        times, pages = versions.get(url, ([], []))
        at = bisect_right(times, until)
        elsewhere = stored_time(as_url(url), until)
        if not at or (elsewhere is not None and elsewhere > times[at - 1]):
            continue
        one.of = pages[at - 1]
        # From now on it counts as a page that other revisits may name.
        times, pages = versions.setdefault(one.url, ([], []))
        at = bisect_right(times, one.time)
        times.insert(at, one.time)
        pages.insert(at, one.of)


def _put_into_clusters(kept: list[PlannedPage], sketches: pa.ChunkedArray[Any]) -> int:
    """Assign every page to a cluster, and return the number of clusters."""
    pages = [one for one in kept if not one.is_revisit]
    place = np.array([one.page for one in pages], np.int64)
    group_of = np.zeros(len(kept), np.int64)
    found = clusters(
        [host(as_url(one.url)) for one in pages],
        lambda i: np.frombuffer(sketches[pages[i].row].as_py(), "<u4"),
    )
    for number, group in enumerate(found):
        group_of[place[group]] = number
    for one in kept:
        if one.of is not None:
            group_of[one.page] = group_of[one.of.page]
    order = np.argsort(group_of, kind="stable")
    groups = list(np.split(order, np.flatnonzero(np.diff(group_of[order])) + 1)) if kept else []
    n = 0
    for group in in_order(groups, [(as_url(one.url), one.time) for one in kept]):
        n += 1
        held = 0
        before: PlannedPage | None = None
        for one in (kept[page] for page in group.tolist()):
            if before is not None and _is_cut(before, one, held):
                n += 1
                held = 0
            one.cluster = n
            held += max(one.length, LEAST_BYTES)
            before = one
    return n


def _is_cut(before: PlannedPage, one: PlannedPage, held: int) -> bool:
    if before.url != one.url:
        return held >= CUT_BYTES
    # For one address and time the last page counts, so these must stay in order.
    return held >= CUT_BYTES_WITHIN and before.time != one.time


def _plans(
    seen: list[PlannedPage], kept: list[PlannedPage], paths: Sequence[str]
) -> dict[str, pa.RecordBatch]:
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
            pa.array([-1 if one.of is None else one.of.page for one in mine], pa.int64()),
            pa.array([sorted(lend.get(one.page, ())) for one in mine], pa.list_(pa.int32())),
        ]
        plans[paths[file]] = pa.RecordBatch.from_arrays(columns, schema=PLANS)
    return plans
