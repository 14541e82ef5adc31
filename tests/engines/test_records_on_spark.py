"""A cluster finds the same records as this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from quire.extraction.crawl import PageRecords, crawl_records
from quire.sources import Trouble, find
from tests.extraction.redesigns import first, rows

if TYPE_CHECKING:
    from quire.engines.spark.engine import SparkEngine

pytestmark = pytest.mark.timeout(600)


def _by_name(found: PageRecords | Trouble) -> str:
    return found.name


def test_a_cluster_finds_the_records_of_this_machine(spark: SparkEngine, tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"{number}.html").write_bytes(first(rows(number)))
    (tmp_path / "empty.html").write_bytes(b"")
    paths = find([str(tmp_path)])

    here = sorted(crawl_records(paths), key=_by_name)
    there = sorted(crawl_records(paths, engine=spark), key=_by_name)

    assert there == here
    assert sum(isinstance(one, PageRecords) for one in here) == 30
