"""The steps of a build that read sources, as functions of record batches for any engine.

``look`` lists the contents of the sources. ``fetch`` reads them again, following a plan, and sends
on the compressed bytes of each page. Both are pure and deterministic: run again, they give the same
rows. Memory: one batch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from quire import _core
from quire.archive.build.read import Found, Reading, as_bytes, found_in
from quire.archive.format.page_meta import HASH_BYTES, to_microseconds
from quire.archive.format.record import PLAIN_ZSTD
from quire.archive.known import heads_hash
from quire.archive.warc.pipeline import Arrived
from quire.archive.warc.revisits import digests_of, stated_digest
from quire.engines.arrow import as_text, paths_of
from quire.errors import MissingExtra, SourceUnreadable
from quire.sources import Trouble
from quire.sources.warc import normal_digest

try:
    import pyarrow as pa
except ImportError:
    raise MissingExtra("pyarrow is not installed", extra="archive") from None

from quire.archive.build.tables import BODIES, DIGEST_HASH_BYTES, FOUND, Role

#: zstd level for bytes in transit: faster than a network, at a fifth of the size. Level 3 is 4 %
#: smaller and takes 1.4 times as long.
LEVEL = 1
#: Maximum rows and bytes of a batch.
_MOST_ROWS = 1024
_MOST_BYTES = 8 << 20


def look(paths: pa.RecordBatch, *, reading: Reading) -> Iterator[pa.RecordBatch]:
    """Turn paths into rows of ``found``: the contents of files, without the bytes of pages."""
    rows: list[dict[str, Any]] = []
    held = 0
    for path in paths_of(paths):
        ordinal = 0
        for found in found_in(path, reading):
            row = {"path": path, **_found_row(found)}
            if isinstance(found, Found):
                row["ordinal"] = ordinal
                ordinal += 1
                if found.fault:
                    rows.append({"path": path, **_named(found.name), "warning": found.fault})
            rows.append(row)
            held += sum(len(value) for value in row.values() if isinstance(value, bytes | str))
            if len(rows) >= _MOST_ROWS or held >= _MOST_BYTES:
                yield pa.RecordBatch.from_pylist(rows, FOUND)
                rows, held = [], 0
    yield pa.RecordBatch.from_pylist(rows, FOUND)


def _named(name: str) -> dict[str, Any]:
    return {"name": as_text(name)}


def _found_row(found: Found | Trouble) -> dict[str, Any]:
    if isinstance(found, Trouble):
        return {**_named(found.name), "trouble": as_text(found.reason)}
    page = found.page
    row = {
        "url": as_bytes(page.url),
        "time": to_microseconds(page.time),
        "length": len(page.body),
        "check": _check(found),
        "heads": heads_hash(page.head, page.warc_head),
    }
    if found.kind:
        return row | {"record": as_text(found.kind)}
    if found.revisit is None:
        sha256 = hashlib.sha256(page.body).digest()
        return row | {
            "sketch": _core.page_sketch(page.body),
            "digest": sha256[:HASH_BYTES],
            "digests": _digests(page, sha256),
        }
    digest = normal_digest(stated_digest(found.revisit))
    return row | {**_named(found.name), "stated_digest": _hash(digest)}


def _check(found: Found) -> int:
    page = found.page
    return _core.hash64(page.body if found.revisit is None else page.warc_head)


def _digests(page: Arrived, sha256: bytes) -> list[bytes]:
    """Hash the digests of a page by which revisits may ask for it, those of its bytes first."""
    if not page.warc_head:
        return []  # a crawl of plain files has no revisits
    own = [f"sha1:{hashlib.sha1(page.body, usedforsecurity=False).hexdigest()}"]
    own.append(f"sha256:{sha256.hex()}")
    stated = digests_of(b"", page.warc_head, ())
    return [_hash(digest) for digest in (*own, *stated.difference(own))]


def _hash(digest: str) -> bytes:
    data = digest.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=DIGEST_HASH_BYTES).digest()


def fetch(
    paths: pa.RecordBatch, *, reading: Reading, plans: Mapping[str, pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Turn paths into rows of ``bodies``: pages with their bytes, for their planned clusters.

    Raises:
        SourceUnreadable: A file has changed since ``look`` read it.
    """
    rows: list[dict[str, Any]] = []
    held = 0
    for path in paths_of(paths):
        plan = plans[path].to_pylist()
        ordinal = 0
        for found in found_in(path, reading):
            if not isinstance(found, Found):
                continue
            if ordinal == len(plan) or plan[ordinal]["check"] != _check(found):
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
        f"{name}: changed while the archive was built, or could not be read a second time; "
        "build it again",
        name=name,
    )


def _body_rows(found: Found, planned: Mapping[str, Any]) -> list[dict[str, Any]]:
    if planned["cluster"] < 0 and not planned["lend"]:
        return []
    frame, page = None, found.page
    if found.revisit is None:
        frame = PLAIN_ZSTD.encode(page.body, LEVEL)
        frame = frame if len(frame) < len(page.body) else page.body
    row = {
        "cluster": planned["cluster"],
        "page": planned["page"],
        "role": _role(found),
        "of": planned["of"],
        "url": as_bytes(page.url),
        "time": to_microseconds(page.time),
        "head": page.head,
        "warc_head": page.warc_head,
        "length": len(page.body),
        "check": planned["check"],
        "digest": planned["digest"],
        "frame": frame,
    }
    lent = [{**row, "cluster": number, "role": Role.LENT} for number in planned["lend"]]
    return [row, *lent] if planned["cluster"] >= 0 else lent


def _role(found: Found) -> Role:
    if found.kind:
        return Role.COMPANION
    return Role.PAGE if found.revisit is None else Role.REVISIT
