"""The steps of building an archive, as functions of record batches that any engine can run.

Each is pure and deterministic: run again, it gives the same rows. No step writes a file: what a cluster of pages becomes
comes out as rows, which are the records of a segment without their heads, and one process writes them.

Columns:

| table | columns |
| --- | --- |
| found | path, ordinal (of what was found in the file), name, url, time, length, check, sketch; of_url, of_time and said (of revisits); passed, trouble |
| plans | cluster, page (its number), check, of (number of a revisit's page, or -1), lend (clusters that want its bytes too) |
| bodies | cluster, page, role, of, name, url, time, head, warc_head, said, length, frame |
| pieces | kind, meta, payload, base, pages; or name, trouble and body_bytes of a revisit that is none |

A row of ``found`` is a page; a revisit, where ``said`` is there; a kind of record that was passed over; or a trouble. Bytes of
pages travel once, from ``bodies`` into the clusters, and compressed. Memory: a batch, and the pages of one table of clusters.

Above: ``build_plan``, ``build``. Below: ``compaction``, ``segment``, ``ingest``, ``revisits``, ``warc_heads``, ``engines``, ``sources``, ``_core``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import IntEnum
from itertools import pairwise
from typing import Any

import numpy as np

from quire import _core
from quire.archive.compaction import sketch_values, write_cluster
from quire.archive.ingest import last_change, records
from quire.archive.layout import Kind
from quire.archive.pages import About, about, to_microseconds, to_time
from quire.archive.revisits import REVISIT, check_digest, named_page, names_page, said_digest
from quire.archive.segment import Piece, base_piece, block_piece
from quire.archive.warc_heads import fold
from quire.errors import ArchiveError, MissingExtra, SourceUnreadable
from quire.sources import Trouble, read
from quire.sources.places import is_address, is_archive
from quire.sources.warc import PAGES, Record

try:
    import pyarrow as pa
except ImportError:
    raise MissingExtra("pyarrow is not installed", extra="archive") from None


def _schema(**columns: pa.DataType) -> pa.Schema:
    return pa.schema(list(columns.items()))


FOUND = _schema(
    path=pa.string(),
    ordinal=pa.int32(),
    name=pa.string(),
    url=pa.binary(),
    time=pa.int64(),
    length=pa.int64(),
    check=pa.uint64(),
    sketch=pa.binary(),
    of_url=pa.binary(),
    of_time=pa.int64(),
    said=pa.string(),
    passed=pa.string(),
    trouble=pa.string(),
)
PLANS = _schema(
    cluster=pa.int32(),
    page=pa.int64(),
    check=pa.uint64(),
    of=pa.int64(),
    lend=pa.list_(pa.int32()),
)
BODIES = _schema(
    cluster=pa.int32(),
    page=pa.int64(),
    role=pa.int8(),
    of=pa.int64(),
    name=pa.string(),
    url=pa.binary(),
    time=pa.int64(),
    head=pa.binary(),
    warc_head=pa.binary(),
    said=pa.string(),
    length=pa.int64(),
    frame=pa.binary(),
)
PIECES = _schema(
    kind=pa.int8(),
    meta=pa.binary(),
    payload=pa.binary(),
    base=pa.int64(),
    pages=pa.int32(),
    name=pa.string(),
    trouble=pa.string(),
    body_bytes=pa.int64(),
)

#: The level of zstd for bytes on their way: quicker than a network, and a fifth of the bytes.
LEVEL = 3
#: Rows are handed over when they are so many, or so long.
_MOST_ROWS = 1024
_MOST_BYTES = 8 << 20
_ALONE = _core.Base(b"")


class Role(IntEnum):
    """What a row of ``bodies`` is."""

    PAGE = 0
    REVISIT = 1
    #: A page of another cluster, whose bytes a revisit of this one needs.
    LENT = 2


@dataclass(frozen=True, slots=True)
class Reading:
    """How sources are read; the same for every step, so that all find the same.

    Attributes:
        time: of pages that do not say when they were fetched; None for when their file was last changed.
        now: of pages of which nobody knows it.
        most_bytes: a longer page is a trouble.
        folder: that paths are relative to, since another machine works in another one.
    """

    time: datetime | None
    now: datetime
    most_bytes: int
    folder: str


@dataclass(frozen=True, slots=True)
class Found:
    """A page in a source; or a revisit, whose bytes are elsewhere."""

    name: str
    url: str
    time: datetime
    head: bytes
    body: bytes
    warc_head: bytes
    revisit: Record | None = None


def found_in(path: str, reading: Reading) -> Iterator[Found | Trouble | str]:
    """Give all that is in a file: pages and revisits, what cannot be read, and the kinds of records that are no pages."""
    real = path if is_address(path) else os.path.join(reading.folder, path)  # noqa: PTH118 - keeps `./`
    for found in _pages_in(real, reading) if not is_archive(path) else _records_in(real, reading):
        yield found if real == path or isinstance(found, str) else _renamed(found, real, path)


def _renamed(found: Found | Trouble, real: str, path: str) -> Found | Trouble:
    """Call something as whoever asked for it called its file."""
    name = path + found.name.removeprefix(real)
    if isinstance(found, Found) and found.url == found.name:
        return replace(found, name=name, url=name)
    return replace(found, name=name)


def _pages_in(path: str, reading: Reading) -> Iterator[Found | Trouble]:
    for page in read(path, most_bytes=reading.most_bytes):
        if isinstance(page, Trouble):
            yield page
            continue
        time = page.time or reading.time or last_change(path) or reading.now
        yield Found(page.name, page.url, time, page.head, page.body, b"")


def _records_in(path: str, reading: Reading) -> Iterator[Found | Trouble | str]:
    for record in records(path, reading.most_bytes):
        if isinstance(record, Trouble):
            yield record
        elif record.kind in PAGES or (record.kind == REVISIT and names_page(record)):
            yield of_record(record, reading)
        else:
            yield record.kind


def of_record(record: Record, reading: Reading) -> Found:
    """Give the page or the revisit in a record."""
    time = record.time or reading.time or reading.now
    if record.kind in PAGES:
        return Found(record.name, record.url, time, record.head, record.payload, record.warc_head)
    # The block of a revisit is a head and nothing else.
    return Found(record.name, record.url, time, record.payload, b"", record.warc_head, record)


def look(paths: pa.RecordBatch, *, reading: Reading) -> Iterator[pa.RecordBatch]:
    """Turn paths into rows of ``found``: what is in them, without the bytes of pages."""
    rows: list[dict[str, Any]] = []
    for path in _paths(paths):
        ordinal = 0
        for found in found_in(path, reading):
            rows.append({"path": path, **_found_row(found, reading)})
            if isinstance(found, Found):
                rows[-1]["ordinal"] = ordinal
                ordinal += 1
            if len(rows) >= _MOST_ROWS:
                yield pa.RecordBatch.from_pylist(rows, FOUND)
                rows = []
    yield pa.RecordBatch.from_pylist(rows, FOUND)


def _found_row(found: Found | Trouble | str, reading: Reading) -> dict[str, Any]:
    if isinstance(found, str):
        return {"passed": as_text(found)}
    if isinstance(found, Trouble):
        return {"name": as_text(found.name), "trouble": as_text(found.reason)}
    row = {"url": as_bytes(found.url), "time": to_microseconds(found.time)}
    if found.revisit is None:
        return row | {
            "length": len(found.body),
            "check": _core.hash64(found.body),
            "sketch": sketch_values(found.body).astype("<u4").tobytes(),
        }
    url, time = named_page(found.revisit)
    return row | {
        "name": as_text(found.name),
        "length": 0,
        "check": _core.hash64(found.warc_head),
        "of_url": as_bytes(url),
        "of_time": to_microseconds(time or reading.now),
        "said": as_text(said_digest(found.revisit)),
    }


def fetch(
    paths: pa.RecordBatch, *, reading: Reading, plans: Mapping[str, pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Turn paths into rows of ``bodies``: pages with their bytes, for the clusters that a plan puts them into.

    Raises:
        SourceUnreadable: a file is not what it was when it was looked at.
    """
    rows: list[dict[str, Any]] = []
    held = 0
    for path in _paths(paths):
        plan = plans[path].to_pylist()
        ordinal = 0
        for found in found_in(path, reading):
            if not isinstance(found, Found):
                continue
            body = found.warc_head if found.revisit else found.body
            if ordinal == len(plan) or plan[ordinal]["check"] != _core.hash64(body):
                raise _changed(found.name)
            made = _body_rows(found, plan[ordinal])
            ordinal += 1
            rows += made
            held += sum(len(row["frame"] or b"") for row in made)
            if len(rows) >= _MOST_ROWS or held >= _MOST_BYTES:
                yield pa.RecordBatch.from_pylist(rows, BODIES)
                rows, held = [], 0
        if ordinal < len(plan):
            raise _changed(path)
    yield pa.RecordBatch.from_pylist(rows, BODIES)


def _changed(name: str) -> SourceUnreadable:
    return SourceUnreadable(
        f"{name}: changed while the archive was built, or could not be read a second time; build it again",
        name=name,
    )


def _body_rows(found: Found, planned: Mapping[str, Any]) -> list[dict[str, Any]]:
    if planned["cluster"] < 0 and not planned["lend"]:
        return []
    frame = None
    if found.revisit is None:
        frame = _ALONE.encode(found.body, LEVEL)
        frame = frame if len(frame) < len(found.body) else found.body
    row = {
        "cluster": planned["cluster"],
        "page": planned["page"],
        "role": Role.PAGE if found.revisit is None else Role.REVISIT,
        "of": planned["of"],
        "name": as_text(found.name),
        "url": as_bytes(found.url),
        "time": to_microseconds(found.time),
        "head": found.head,
        "warc_head": found.warc_head,
        "said": as_text(said_digest(found.revisit)) if found.revisit else None,
        "length": len(found.body),
        "frame": frame,
    }
    lent = [{**row, "cluster": number, "role": Role.LENT} for number in planned["lend"]]
    return [row, *lent] if planned["cluster"] >= 0 else lent


class Member:
    """A page of a cluster, out of a row of ``bodies``; a revisit has the bytes of another row."""

    def __init__(self, row: Mapping[str, Any], source: Mapping[str, Any]) -> None:
        self._row, self._source = row, source
        self._about: About | None = None

    @property
    def length(self) -> int:
        """Bytes of its body."""
        return int(self._source["length"])

    def read(self) -> tuple[About, bytes]:
        """Give the page."""
        body = _body(self._source)
        if self._about is None:
            row = self._row
            self._about = stored(
                as_url(row["url"]), to_time(row["time"]), row["head"], body, row["warc_head"]
            )
        return self._about, body


def stored(url: str, time: datetime, head: bytes, body: bytes, warc_head: bytes) -> About:
    """Say what is stored of a page beside its bytes."""
    extra = fold(warc_head, url, time, head, body) if warc_head else b""
    return about(url, time, body, head, extra)


def encode_clusters(rows: pa.Table) -> Iterator[pa.RecordBatch]:
    """Turn ``bodies``, grouped by cluster, into rows of ``pieces``."""
    keys = rows["cluster"].to_numpy()
    cuts = [0, *(np.flatnonzero(np.diff(keys)) + 1).tolist(), len(keys)]
    for start, end in pairwise(cuts):
        found = rows.slice(start, end - start).to_pylist()
        members, troubles = _members(sorted(found, key=lambda row: row["page"]))
        if troubles:
            yield pa.RecordBatch.from_pylist(troubles, PIECES)
        for piece in pieces(int(keys[start]), members):
            yield pa.RecordBatch.from_pylist([_piece_row(piece)], PIECES)


def _members(rows: list[dict[str, Any]]) -> tuple[list[Member], list[dict[str, Any]]]:
    """Give the pages of a cluster, and rows for revisits that have another page than they say."""
    by_page = {row["page"]: row for row in rows if row["role"] != Role.REVISIT}
    members: list[Member] = []
    troubles: list[dict[str, Any]] = []
    for row in rows:
        if row["role"] == Role.PAGE:
            members.append(Member(row, row))
        elif row["role"] == Role.REVISIT:
            page = by_page[row["of"]]
            try:
                check_digest(
                    row["said"],
                    as_url(page["url"]),
                    to_time(page["time"]),
                    _body(page),
                    page["warc_head"],
                )
            except ArchiveError as error:
                trouble = {"name": row["name"], "trouble": as_text(no_page(error))}
                troubles.append(trouble | {"body_bytes": page["length"]})
                continue
            members.append(Member(row, page))
    return members, troubles


def no_page(finding: object) -> str:
    """Say that a revisit cannot be stored."""
    return f"a revisit whose page is not here: {finding}"


def _body(row: Mapping[str, Any]) -> bytes:
    frame, length = bytes(row["frame"]), int(row["length"])
    return frame if len(frame) == length else _ALONE.decode(frame, length)


class _Pieces:
    """Takes a cluster, and keeps its pieces until somebody asks."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._made: list[Piece] = []

    def add_base(self, content: bytes, level: int) -> int:
        self._made.append(base_piece(self._number, content, level))
        return self._number

    def add_block(self, base: int, pages: Sequence[About], frames: Sequence[bytes]) -> None:
        self._made.append(block_piece(base, pages, frames))

    def taken(self) -> list[Piece]:
        made, self._made = self._made, []
        return made


def pieces(number: int, members: Sequence[Any]) -> Iterator[Piece]:
    """Encode a cluster, whose base gets its number."""
    writer = _Pieces(number)
    for _ in write_cluster(writer, members):
        yield from writer.taken()
    yield from writer.taken()


def _piece_row(piece: Piece) -> dict[str, Any]:
    return {
        "kind": int(piece.kind),
        "meta": piece.meta,
        "payload": piece.payload,
        "base": piece.base,
        "pages": piece.pages,
    }


def piece_of(row: Mapping[str, Any]) -> Piece:
    """Give the piece of a row of ``pieces``."""
    return Piece(
        Kind(row["kind"]), bytes(row["meta"]), bytes(row["payload"]), row["base"], row["pages"]
    )


def as_bytes(url: str) -> bytes:
    """Give an address as bytes: it may hold half pairs, which Arrow does not take as text."""
    return url.encode("utf-8", "surrogatepass")


def as_url(data: bytes) -> str:
    """Give an address back."""
    return bytes(data).decode("utf-8", "surrogatepass")


def as_text(text: str) -> str:
    """Give a text that Arrow takes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _paths(batch: pa.RecordBatch) -> list[str]:
    return [str(path) for path in batch["path"].to_pylist()]


def now() -> datetime:
    """The time of pages of which nobody knows it: asked once, by whoever begins the work."""
    return datetime.now(UTC).replace(microsecond=0)
