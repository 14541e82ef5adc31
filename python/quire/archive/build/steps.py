"""The steps of a build that read sources, as functions of record batches for any engine.

``look`` lists the contents of the sources. ``fetch`` reads them again, following a plan, and sends
on the compressed bytes of each page. Both are pure and deterministic: run again, they give the same
rows. Memory: one batch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from quire import _core
from quire.archive.build.read import Found, Reading, as_bytes, found_in
from quire.archive.compact.clusters import sketch_values
from quire.archive.format.page_meta import to_microseconds
from quire.archive.format.record import PLAIN_ZSTD
from quire.archive.warc.revisits import named_page, stated_digest
from quire.engines.arrow import as_text, paths_of
from quire.errors import MissingExtra, SourceUnreadable
from quire.sources import Trouble

try:
    import pyarrow as pa
except ImportError:
    raise MissingExtra("pyarrow is not installed", extra="archive") from None

from quire.archive.build.tables import BODIES, FOUND, Role

#: zstd level for bytes in transit: faster than a network, at a fifth of the size.
LEVEL = 3
#: Maximum rows and bytes of a batch.
_MOST_ROWS = 1024
_MOST_BYTES = 8 << 20


def look(paths: pa.RecordBatch, *, reading: Reading) -> Iterator[pa.RecordBatch]:
    """Turn paths into rows of ``found``: the contents of files, without the bytes of pages."""
    rows: list[dict[str, Any]] = []
    held = 0
    for path in paths_of(paths):
        ordinal = 0
        passed: Counter[str] = Counter()
        for found in found_in(path, reading):
            if isinstance(found, str):
                passed[found] += 1
                continue
            row = {"path": path, **_found_row(found, reading)}
            if isinstance(found, Found):
                row["ordinal"] = ordinal
                ordinal += 1
            rows.append(row)
            held += sum(len(value) for value in row.values() if isinstance(value, bytes | str))
            if len(rows) >= _MOST_ROWS or held >= _MOST_BYTES:
                yield pa.RecordBatch.from_pylist(rows, FOUND)
                rows, held = [], 0
        rows += [{"path": path, "passed": kind, "length": n} for kind, n in passed.items()]
    yield pa.RecordBatch.from_pylist(rows, FOUND)


def _found_row(found: Found | Trouble, reading: Reading) -> dict[str, Any]:
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
        "stated_digest": as_text(stated_digest(found.revisit)),
    }


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
        f"{name}: changed while the archive was built, or could not be read a second time; "
        "build it again",
        name=name,
    )


def _body_rows(found: Found, planned: Mapping[str, Any]) -> list[dict[str, Any]]:
    if planned["cluster"] < 0 and not planned["lend"]:
        return []
    frame = None
    if found.revisit is None:
        frame = PLAIN_ZSTD.encode(found.body, LEVEL)
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
        "stated_digest": as_text(stated_digest(found.revisit)) if found.revisit else None,
        "length": len(found.body),
        "frame": frame,
    }
    lent = [{**row, "cluster": number, "role": Role.LENT} for number in planned["lend"]]
    return [row, *lent] if planned["cluster"] >= 0 else lent
