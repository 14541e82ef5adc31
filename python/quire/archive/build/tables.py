"""The tables that pass between the steps of a build.

* ``found``: path, ordinal (within the file), name, url, time, length, check, sketch; of_url,
  of_time and stated_digest (for revisits); passed, trouble.
* ``plans``: cluster, page (its number), check, of (for a revisit, the number of its page; or -1),
  lend (other clusters that need its bytes).
* ``bodies``: cluster, page, role, of, name, url, time, head, warc_head, stated_digest, length,
  frame (the body, compressed if that is shorter).
* ``pieces``: kind, meta, payload, base, pages; or name, trouble and body_bytes of a revisit that
  cannot be stored.

A row of ``found`` is a page; a revisit, if ``stated_digest`` is set; a kind of skipped record, with
their number as ``length``; or a trouble.
"""

from __future__ import annotations

from enum import IntEnum

from quire.engines.arrow import schema_of
from quire.errors import MissingExtra

try:
    import pyarrow as pa
except ImportError:
    raise MissingExtra("pyarrow is not installed", extra="archive") from None


class Role(IntEnum):
    """The role of a row of ``bodies``."""

    PAGE = 0
    REVISIT = 1
    #: A page of another cluster whose bytes a revisit in this cluster needs.
    LENT = 2


FOUND = schema_of(
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
    stated_digest=pa.string(),
    passed=pa.string(),
    trouble=pa.string(),
)
PLANS = schema_of(
    cluster=pa.int32(),
    page=pa.int64(),
    check=pa.uint64(),
    of=pa.int64(),
    lend=pa.list_(pa.int32()),
)
BODIES = schema_of(
    cluster=pa.int32(),
    page=pa.int64(),
    role=pa.int8(),
    of=pa.int64(),
    name=pa.string(),
    url=pa.binary(),
    time=pa.int64(),
    head=pa.binary(),
    warc_head=pa.binary(),
    stated_digest=pa.string(),
    length=pa.int64(),
    frame=pa.binary(),
)
PIECES = schema_of(
    kind=pa.int8(),
    meta=pa.binary(),
    payload=pa.binary(),
    base=pa.int64(),
    pages=pa.int32(),
    bases=pa.list_(pa.int64()),
    dependent_bytes=pa.list_(pa.int64()),
    name=pa.string(),
    trouble=pa.string(),
    body_bytes=pa.int64(),
)
