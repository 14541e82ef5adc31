"""The tables that go between the steps of a build.

| table | columns |
| --- | --- |
| found | path, ordinal (of what was found in the file), name, url, time, length, check, sketch; of_url, of_time and said (of revisits); passed, trouble |
| plans | cluster, page (its number), check, of (number of a revisit's page, or -1), lend (clusters that want its bytes too) |
| bodies | cluster, page, role, of, name, url, time, head, warc_head, said, length, frame (the body, compressed where that is shorter) |
| pieces | kind, meta, payload, base, pages; or name, trouble and body_bytes of a revisit that is none |

A row of ``found`` is a page; a revisit, where ``said`` is there; a kind of record that was passed over, with their number as ``length``;
or a trouble.
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
    """What a row of ``bodies`` is."""

    PAGE = 0
    REVISIT = 1
    #: A page of another cluster, whose bytes a revisit of this one needs.
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
    said=pa.string(),
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
    said=pa.string(),
    length=pa.int64(),
    frame=pa.binary(),
)
PIECES = schema_of(
    kind=pa.int8(),
    meta=pa.binary(),
    payload=pa.binary(),
    base=pa.int64(),
    pages=pa.int32(),
    leaned_on=pa.list_(pa.int64()),
    leaning=pa.list_(pa.int64()),
    name=pa.string(),
    trouble=pa.string(),
    body_bytes=pa.int64(),
)
