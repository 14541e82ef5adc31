"""The plan of a build: into which cluster each page goes, decided in one place from all that was found.

Clusters are those of compaction: by hosts, and by sketches where hosts do not decide. One that is long is cut between two
addresses, so that a task holds some hundred megabytes at most and a large site is work for many machines. A revisit goes
with the page it names; where it cannot, because its own address and time have to stay together with another page's, the
bytes of that page are lent to its cluster.

Memory: addresses, times and sketches of all pages; no bytes. The part of the plan that travels to the machines is some 25
bytes a page.
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

#: Bytes of pages after which a cluster is cut at the next address, and at the next time of one address.
CUT_BYTES = 64 << 20
CUT_BYTES_WITHIN = 256 << 20
#: A page has no fewer bytes than this here: what it has besides also counts, and a cluster has so many bases at most.
LEAST_BYTES = 4 << 10
_ROWS = 1 << 16


@dataclass(slots=True, eq=False)
class PlannedPage:
    """A page or a revisit that was found in a source, without its bytes.

    Attributes:
        row: its row of ``found``.
        file: number of its file.
        ordinal: of what was found in the file.
        url: its address.
        time: microseconds since 1970, UTC.
        length: of the body; 0 of a revisit.
        check: XXH3 of the body; of a revisit that of its WARC head.
        is_revisit: whether its bytes are elsewhere.
        of: the page whose bytes a revisit has, where that was found.
        page: its number among those that are stored, by url and time; -1 where it is left out.
        cluster: where it goes; -1 where it is left out.
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
        """Whether it has its bytes, or knows where they are."""
        return not self.is_revisit or self.of is not None


@dataclass(frozen=True, slots=True)
class Plan:
    """Where pages go.

    Attributes:
        plans: for each file that has any, the rows of ``plans``, in the order of what was found in it.
        pages: how many pages are to be stored, with revisits.
        body_bytes: bytes of their bodies.
        known: pages that are left out.
        left: names of revisits whose pages are not among those that were found.
        clusters: how many there are; they are numbered from 1.
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
    """Decide where pages go.

    Args:
        found: rows of pages and of revisits, in any order.
        paths: the files; of pages of one address and time, that of the last file counts.
        is_known: tells whether a page is left out.
        stored_time: gives the time of the newest version of an address, of a time or before, that is stored already.
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
    """List what was found, by url and time, and where these are the same in the order of the files."""
    number = {path: number for number, path in enumerate(paths)}
    names = ["path", "ordinal", "url", "time", "length", "check", "said"]
    seen: list[PlannedPage] = []
    for batch in found.select(names).to_batches(max_chunksize=_ROWS):
        columns = zip(*(batch[name].to_pylist() for name in names), strict=True)
        for path, ordinal, url, time, length, check, said in columns:
            file, is_revisit = number[path], said is not None
            seen.append(PlannedPage(len(seen), file, ordinal, url, time, length, check, is_revisit))
    seen.sort(key=lambda one: (one.url, one.time, one.file, one.ordinal))
    return seen


def _resolve(
    seen: list[PlannedPage], found: pa.Table, stored_time: Callable[[str, int], int | None]
) -> None:
    """Give revisits their pages, where these were found."""
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
        # It is a page itself from here on, which others may name.
        times, pages = versions.setdefault(one.url, ([], []))
        at = bisect_right(times, one.time)
        times.insert(at, one.time)
        pages.insert(at, one.of)


def _put_into_clusters(kept: list[PlannedPage], sketches: pa.ChunkedArray[Any]) -> int:
    """Give every page its cluster, and say how many there are."""
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
    # Of one address and time the last one counts, so these stay in order.
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
