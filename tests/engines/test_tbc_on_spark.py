"""A cluster stores the bytes of this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from quire.archive.tbc.crawl import CrawlTbc, crawl_tbc
from quire.engines.tables import read_table
from quire.sources import find
from tests.archive.test_tbc_crawls import crawl

if TYPE_CHECKING:
    from quire.engines.spark.engine import SparkEngine

pytestmark = pytest.mark.timeout(600)


def rows(found: CrawlTbc) -> list[tuple[object, ...]]:
    """Read all that is stored, in the order of the pages."""
    columns = ["name", "page", "bytes", "reference", "plain", "frame", "packed"]
    tables = [read_table(path, columns) for path in found.files]
    return sorted(tuple(row.values()) for table in tables for row in table.to_pylist())


def test_a_cluster_stores_what_this_machine_stores(spark: SparkEngine, tmp_path: Path) -> None:
    pages = crawl(tmp_path / "crawl", 120, 9)
    paths = find([str(tmp_path / "crawl")])

    here = crawl_tbc(paths, str(tmp_path / "here"), k=1)
    there = crawl_tbc(
        paths, str(tmp_path / "there"), engine=spark, k=1, work=str(tmp_path / "work")
    )

    assert here.rounds > 1
    assert rows(there) == rows(here)
    assert dict(there.bodies()) == pages
    assert (there.sizes, there.rounds, there.clusters) == (here.sizes, here.rounds, here.clusters)
