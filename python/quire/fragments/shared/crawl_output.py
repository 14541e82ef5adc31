"""The shared fragments of a crawl as a table or as JSON, for other programs.

The table has one row for each place of each fragment, ordered by fragment. A row has everything
needed to cut the fragment out of its page. The JSON has one entry for each fragment, with its first
place only, and lists the files that could not be read.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Literal, TypeAlias

import numpy as np

from quire.errors import MissingExtra
from quire.fragments.shared.crawl import CrawlFragments
from quire.fragments.shared.find import Members, SharedFragment

try:
    import pyarrow as pa
except ImportError:
    raise MissingExtra("pyarrow is not installed", extra="archive") from None

from quire.engines.tables import table_bytes

#: Supported file name endings.
SUFFIXES: tuple[str, ...] = (".csv", ".parquet")

#: How similar the places of a fragment are: same bytes, same text, or similar text.
Sameness: TypeAlias = Literal["exact", "same text", "approximate"]


def sameness(fragment: SharedFragment) -> Sameness:
    """Return how similar the places of a fragment are. Only exact ones may be composed."""
    if fragment.exact:
        return "exact"
    return "same text" if fragment.same_text else "approximate"


def as_table(crawl: CrawlFragments) -> pa.Table:
    """Return a table with one row for each place of each fragment.

    The columns are ``fragment``, ``same`` (see ``sameness``), ``name`` and ``url`` of the page, and
    all columns of ``Members`` except ``page``. Source positions are null if unknown.
    """
    found = crawl.fragments
    members = found.members
    same = np.array([sameness(one) for one in found], dtype=object)
    unknown = members.byte_start < 0
    columns: dict[str, pa.Array[Any] | pa.ChunkedArray[Any]] = {
        "fragment": pa.array(found.fragment),
        "same": pa.array(same[found.fragment], pa.string()),
        "name": crawl.pages["name"].take(members.page),
        "url": crawl.pages["url"].take(members.page),
    }
    for name in Members.__slots__[1:]:
        mask = unknown if name in {"byte_start", "byte_end", "source_hash"} else None
        columns[name] = pa.array(getattr(members, name), mask=mask)
    return pa.Table.from_arrays(list(columns.values()), names=list(columns))


def as_json(crawl: CrawlFragments) -> dict[str, Any]:
    """Return each fragment with its first place, and the files that could not be read."""
    found = crawl.fragments
    return {
        "rules": asdict(found.rules),
        "pages": found.pages,
        "bytes": crawl.total_bytes,
        "places": len(found.members),
        "fragments": [_fragment(crawl, one) for one in found],
        "troubles": [asdict(trouble) for trouble in crawl.troubles],
    }


def _fragment(crawl: CrawlFragments, one: SharedFragment) -> dict[str, Any]:
    members = one.members
    start, end = int(members.byte_start[0]), int(members.byte_end[0])
    is_known = start >= 0
    return {
        "number": one.number,
        "same": sameness(one),
        "text_bytes": one.value_bytes,
        "pages": len(one.pages),
        "places": len(members),
        "first": {
            "name": crawl.name(int(members.page[0])),
            "node": int(members.node[0]),
            "byte_start": start if is_known else None,
            "byte_end": end if is_known else None,
        },
    }


def as_bytes(crawl: CrawlFragments, suffix: str) -> bytes:
    """Return the table as the content of a file.

    Args:
        crawl: the result of ``crawl_fragments``.
        suffix: the file format, one of ``SUFFIXES``.

    Raises:
        ValueError: the suffix is not one of these.
    """
    return table_bytes(as_table(crawl), suffix)
