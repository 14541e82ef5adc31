"""The tables that pass between the steps of a build.

* ``found``: path, ordinal (within the file), name, url, time, length, check, heads (their hash),
  sketch, digest and digests (of pages); stated_digest (of revisits); record (the type of
  companions); trouble, warning.
* ``plans``: cluster, page (its number), check, digest (of pages), of (for a revisit, the number of
  its page; or -1), lend (other clusters that need its bytes).
* ``bodies``: cluster, page, role, of, url, time, head, warc_head, length, check, digest (of pages),
  frame (the body, compressed if that is shorter).
* ``pieces``: kind, meta, payload, base, pages.

A row of ``found`` is a page; a revisit, if ``stated_digest`` is set; a companion, if ``record`` is
set; a trouble or a warning. ``digest`` is the one that the archive stores. Those by which revisits
ask for pages are hashed in their normal form: they are of any length.
"""

from __future__ import annotations

from enum import IntEnum

from quire.archive.format.page_meta import HASH_BYTES
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
    #: A WARC record without a page of its own.
    COMPANION = 3


#: Algorithms of the first ``digests`` of a page, which are those of its bytes; the one that its
#: record states may follow.
REVISIT_ALGORITHMS = ("sha1", "sha256")
#: Length of the hash of a digest.
DIGEST_HASH_BYTES = 16

FOUND = schema_of(
    path=pa.string(),
    ordinal=pa.int32(),
    name=pa.string(),
    url=pa.binary(),
    time=pa.int64(),
    length=pa.int64(),
    check=pa.uint64(),
    heads=pa.uint64(),
    sketch=pa.binary(),
    digest=pa.binary(HASH_BYTES),
    digests=pa.list_(pa.binary(DIGEST_HASH_BYTES)),
    stated_digest=pa.binary(DIGEST_HASH_BYTES),
    record=pa.string(),
    trouble=pa.string(),
    warning=pa.string(),
)
PLANS = schema_of(
    cluster=pa.int32(),
    page=pa.int64(),
    check=pa.uint64(),
    digest=pa.binary(HASH_BYTES),
    of=pa.int64(),
    lend=pa.list_(pa.int32()),
)
BODIES = schema_of(
    cluster=pa.int32(),
    page=pa.int64(),
    role=pa.int8(),
    of=pa.int64(),
    url=pa.binary(),
    time=pa.int64(),
    head=pa.binary(),
    warc_head=pa.binary(),
    length=pa.int64(),
    check=pa.uint64(),
    digest=pa.binary(HASH_BYTES),
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
)
