"""The step of a build that encodes the pages of a cluster as pieces of a segment.

It is pure and deterministic, and writes no file: pieces are returned as rows, and one process
writes them. A piece does not depend on the file it goes into.

A page is decompressed twice, for the sample of its cluster and to be encoded; once, if its cluster
is short enough to stay in memory.

Memory: the compressed pages of one table of clusters, and what ``write_cluster`` holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from quire import _core
from quire.archive.build.read import as_url
from quire.archive.compact import choose_base as base_choice
from quire.archive.compact.companions import CompanionSlot, write_companions
from quire.archive.compact.tiers import TierName, tier_of
from quire.archive.compact.tiers.tier import Tier
from quire.archive.compact.write_cluster import write_cluster
from quire.archive.format.page_meta import About, to_time
from quire.archive.format.record import PLAIN_ZSTD, RecordKind
from quire.archive.format.segment import Piece, base_piece, block_piece
from quire.archive.warc.pipeline import Arrived
from quire.errors import ArchiveError, MissingExtra

try:
    import pyarrow as pa
except ImportError:
    raise MissingExtra("pyarrow is not installed", extra="archive") from None

from quire.archive.build.tables import PIECES, Role

#: Base numbers reserved for each cluster: one for all of it, and one for each run of its pages.
CLUSTER_BASES = 1 << 10


class Member:
    """A page of a cluster, from a row of ``bodies``.

    Args:
        row: The row of the page.
        source: The row with its bytes: that of another page, if this is a revisit.
        is_kept: Whether its bytes stay in memory once they are decompressed.
    """

    def __init__(
        self, row: Mapping[str, Any], source: Mapping[str, Any], *, is_kept: bool = False
    ) -> None:
        self._row, self._source, self._is_kept = row, source, is_kept
        self._known: _Decoded | None = None
        self._body: bytes | None = None

    @property
    def url(self) -> str:
        """Address of the page."""
        return as_url(self._row["url"])

    @property
    def time(self) -> int:
        """Fetch time in microseconds since 1970, UTC."""
        return int(self._row["time"])

    @property
    def sketch(self) -> bytes:
        """Sketch of the body."""
        return self._decoded()[0].sketch

    @property
    def length(self) -> int:
        """Length of the body in bytes."""
        return int(self._source["length"])

    @property
    def digest(self) -> bytes:
        """First bytes of the SHA-256 of the body."""
        return bytes(self._source["digest"])

    def read(self) -> tuple[About, bytes]:
        """Return metadata and body of the page."""
        known, body = self._decoded()
        return known.about, body

    def _decoded(self) -> tuple[_Decoded, bytes]:
        body = _body(self._source) if self._body is None else self._body
        if self._is_kept:
            self._body = body
        if self._known is None:
            about = arrived(self._row, body).about(self.digest)
            self._known = _Decoded(about, _core.page_sketch(body))
        return self._known, body


class _Decoded(NamedTuple):
    """Everything about a page that needs its bytes."""

    about: About
    sketch: bytes


def arrived(row: Mapping[str, Any], body: bytes) -> Arrived:
    """Return the page or companion in a row of ``bodies``."""
    return Arrived(
        as_url(row["url"]),
        to_time(row["time"]),
        row["head"],
        body,
        row["warc_head"],
        is_companion=row["role"] == Role.COMPANION,
    )


def encode_clusters(rows: pa.Table, codec: TierName) -> Iterator[pa.RecordBatch]:
    """Encode ``bodies``, grouped by cluster, as rows of ``pieces``."""
    tier = tier_of(codec)
    keys = rows["cluster"].to_numpy()
    cuts = [0, *(np.flatnonzero(np.diff(keys)) + 1).tolist(), len(keys)]
    for start, end in pairwise(cuts):
        found = rows.slice(start, end - start).to_pylist()
        found.sort(key=lambda row: row["page"])
        number = int(keys[start])
        if found[0]["role"] == Role.COMPANION:
            made = companion_pieces(number, [_slot(row) for row in found], tier)
        else:
            made = pieces(number, _members(found), tier)
        for piece in made:
            yield pa.RecordBatch.from_pylist([_piece_row(piece)], PIECES)


def _members(rows: list[dict[str, Any]]) -> list[Member]:
    """Return the pages of a cluster."""
    by_page = {row["page"]: row for row in rows if row["role"] != Role.REVISIT}
    found = []
    for row in rows:
        if row["role"] == Role.PAGE:
            found.append((row, row))
        elif row["role"] == Role.REVISIT:
            found.append((row, by_page[row["of"]]))
    # Then the sample for the base is all of them, and as many bytes are held anyway.
    is_kept = sum(source["length"] for _, source in found) <= base_choice.SAMPLE_BYTES
    return [Member(row, source, is_kept=is_kept) for row, source in found]


def _slot(row: Mapping[str, Any]) -> CompanionSlot:
    return companion_slot(arrived(row, _body(row)))


def companion_slot(companion: Arrived) -> CompanionSlot:
    """Describe a companion that is in memory."""
    known = companion.about()
    return CompanionSlot.of(known, lambda: (known, companion.body))


def _body(row: Mapping[str, Any]) -> bytes:
    """Return the bytes that ``fetch`` sent.

    Raises:
        ArchiveError: They are other bytes now.
    """
    frame, length = bytes(row["frame"]), int(row["length"])
    body = frame if len(frame) == length else PLAIN_ZSTD.decode(frame, length)
    if _core.hash64(body) != row["check"]:
        raise ArchiveError(
            f"{as_url(row['url'])}: its bytes changed between two steps of the build; "
            "nothing was stored, build it again"
        )
    return body


class _Pieces:
    """Receives a cluster, and holds its pieces until they are taken."""

    def __init__(self, number: int) -> None:
        self._next = number
        self._made: list[Piece] = []

    def add_base(self, content: bytes, frame: bytes) -> int:
        number = self._next
        self._next += 1
        self._made.append(base_piece(number, content, frame))
        return number

    def add_block(self, base: int, pages: Sequence[About], frames: Sequence[bytes]) -> None:
        self._made.append(block_piece(base, pages, frames))

    def taken(self) -> list[Piece]:
        made, self._made = self._made, []
        return made


def pieces(cluster: int, members: Sequence[base_choice.Member], tier: Tier) -> Iterator[Piece]:
    """Encode a cluster; its bases get numbers that no other cluster uses."""
    writer = _Pieces(cluster * CLUSTER_BASES)
    for _ in write_cluster(writer, members, tier):
        yield from writer.taken()
    yield from writer.taken()


def companion_pieces(
    cluster: int, companions: Sequence[CompanionSlot], tier: Tier
) -> Iterator[Piece]:
    """Encode companions as one cluster."""
    writer = _Pieces(cluster * CLUSTER_BASES)
    for _ in write_companions(writer, companions, tier):
        yield from writer.taken()
    yield from writer.taken()


def _piece_row(piece: Piece) -> dict[str, Any]:
    return {
        "kind": int(piece.kind),
        "meta": piece.meta,
        "payload": piece.payload,
        "base": piece.base,
        "pages": piece.pages,
        "bases": list(piece.dependent_bytes.keys()),
        "dependent_bytes": list(piece.dependent_bytes.values()),
    }


def piece_of(row: Mapping[str, Any]) -> Piece:
    """Make a piece from a row of ``pieces``."""
    return Piece(
        kind=RecordKind(row["kind"]),
        meta=bytes(row["meta"]),
        payload=bytes(row["payload"]),
        base=row["base"],
        pages=row["pages"],
        dependent_bytes=dict(zip(row["bases"], row["dependent_bytes"], strict=True)),
    )
