"""Outputs: the templates of a crawl for programs, as a table or as JSON.

The table has a row for every page, followed by a row for everything that could not be read, with
the reason in ``trouble``. JSON has the same data, by group.
"""

from __future__ import annotations

import json
from typing import Any

from quire.errors import MissingExtra
from quire.similar.crawl.templates import CrawlTemplates
from quire.similar.groups import Group

try:
    import pyarrow as pa
except ImportError:
    raise MissingExtra("pyarrow is not installed", extra="archive") from None

from quire.engines.tables import table_bytes

#: The suffixes of the file formats.
SUFFIXES: tuple[str, ...] = (".csv", ".json", ".parquet")

# Decimals of a fit; more would be rounding noise.
_DECIMALS = 6


def as_table(crawl: CrawlTemplates) -> pa.Table:
    """Give a row for every page, and for everything that could not be read.

    The columns of ``CrawlTemplates.table``, then ``trouble``, the reason. A row of a trouble has
    the role ``trouble``, a name and a reason, and nothing else.
    """
    pages = crawl.table()
    pages = pages.append_column("trouble", pa.nulls(len(pages), pa.string()))
    troubles = pa.table(
        {
            "name": pa.array([trouble.name for trouble in crawl.troubles], pa.string()),
            "role": pa.array(["trouble"] * len(crawl.troubles), pa.string()),
            "trouble": pa.array([trouble.reason for trouble in crawl.troubles], pa.string()),
        }
    )
    return pa.concat_tables([pages, troubles], promote_options="default").cast(pages.schema)


def as_json(crawl: CrawlTemplates) -> dict[str, Any]:
    """Give all results as plain values."""
    found = crawl.templates
    n = len(found.group_of)
    loose = {group.number for group in found.loose}
    return {
        "on": found.on,
        "threshold": found.threshold,
        "pages": n,
        "bytes": sum(crawl.pages["bytes"].to_pylist()),
        "coverage": round(found.coverage, _DECIMALS),
        "groups": [_group(crawl, group, is_loose=group.number in loose) for group in found.groups],
        "singles": [crawl.name(page) for page in found.singles.tolist()],
        "troubles": [
            {"name": trouble.name, "reason": trouble.reason} for trouble in crawl.troubles
        ],
    }


def _group(crawl: CrawlTemplates, group: Group, *, is_loose: bool) -> dict[str, Any]:
    fits, resemblances = crawl.templates.fits, crawl.templates.resemblances
    names = crawl.pages["name"].take(group.pages).to_pylist()
    return {
        "number": group.number,
        "size": group.size,
        "share": round(group.size / len(fits), _DECIMALS),
        "fit": round(group.fit, _DECIMALS),
        "loose": is_loose,
        "representative": crawl.name(group.representative),
        "outliers": [crawl.name(page) for page in group.outliers.tolist()],
        "pages": [
            {
                "name": name,
                "fit": round(fit, _DECIMALS),
                "resemblance": round(resemblance, _DECIMALS),
            }
            for name, fit, resemblance in zip(
                names, fits[group.pages].tolist(), resemblances[group.pages].tolist(), strict=True
            )
        ],
    }


def as_bytes(crawl: CrawlTemplates, suffix: str) -> bytes:
    """Give the bytes of a file in one of the formats.

    Args:
        crawl: the result of ``crawl_templates``.
        suffix: one of ``SUFFIXES``.

    Raises:
        ValueError: the format is unknown.
    """
    if suffix == ".json":
        return (json.dumps(as_json(crawl), ensure_ascii=False, indent=1) + "\n").encode()
    return table_bytes(as_table(crawl), suffix)
