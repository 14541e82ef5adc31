"""A cluster finds the same shared fragments as in memory, even if a worker is killed."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from quire.fragments import algorithm_1, shared_fragments
from quire.fragments.shared import crawl_steps
from quire.fragments.shared.crawl import CrawlFragments, crawl_fragments
from quire.fragments.shared.large.crawl import write_crawl_fragments
from tests.engines import jobs
from tests.engines.cluster import Cluster
from tests.engines.test_spark_losing_workers import killed_meanwhile, marks
from tests.fragments.test_crawls import digests, write_crawl
from tests.fragments.test_large_crawls import equal as same_places
from tests.fragments.test_shared import same
from tests.sources.crawls import record, response, write

if TYPE_CHECKING:
    from quire.engines.spark.engine import SparkEngine

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """A generated site as files, a WARC and a Parquet file, with an empty page and a damaged record."""
    folder = tmp_path_factory.mktemp("crawl")
    paths = write_crawl(folder / "crawl", seed=7, pages=120)
    (folder / "empty.html").write_bytes(b"")
    write(folder / "cut.warc", [record(response(b"<p>Whole")), record(b"<p>", length=10**9)])
    return [*paths, str(folder / "cut.warc"), str(folder / "empty.html")]


def equal(one: CrawlFragments, other: CrawlFragments) -> bool:
    return (
        same(one.fragments, other.fragments)
        and bool(one.pages.equals(other.pages))
        and one.troubles == other.troubles
    )


def test_a_cluster_finds_the_fragments_of_this_machine(
    spark: SparkEngine, crawl: list[str]
) -> None:
    pages = digests(crawl)
    here = crawl_fragments(crawl, min_bytes=30)

    there = crawl_fragments(crawl, engine=spark, min_bytes=30)

    assert equal(there, here)
    assert same(there.fragments, shared_fragments(pages, min_bytes=30))
    assert same(there.fragments, algorithm_1(pages, min_bytes=30))
    assert len(there.fragments) > 10
    assert len(there.troubles) == 2


def test_a_cluster_groups_as_the_driver_does(
    spark: SparkEngine, crawl: list[str], tmp_path: Path
) -> None:
    here = crawl_fragments(crawl, min_bytes=30)

    there = write_crawl_fragments(crawl, str(tmp_path / "shared"), engine=spark, min_bytes=30)

    assert same_places(there, here)
    assert there.n_fragments > 10
    assert len(there.troubles) == 2


def test_a_worker_killed_on_the_way_changes_no_fragment(
    *,
    both: SparkEngine,
    cluster: Cluster,
    crawl: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = crawl_fragments(crawl, min_bytes=30)
    folder = tmp_path / "marks"
    folder.mkdir()
    marked = partial(jobs.marked_packed_parts, folder=str(folder))
    monkeypatch.setattr(crawl_steps, "packed_parts", marked)

    there, victim, at = killed_meanwhile(
        lambda: crawl_fragments(crawl, engine=both, min_bytes=30), cluster, folder, "map", least=1
    )

    assert equal(there, here)
    begun = marks(folder, "map")
    assert {mark.task for mark in begun if mark.pid in victim}
    assert any(mark.time > at and mark.pid not in victim for mark in begun)


def test_real_pages_have_the_same_fragments_on_a_cluster(
    spark: SparkEngine, corpus_files: Callable[[str], list[Path]]
) -> None:
    names = ("templates-helsingborg", "templates-types")
    files = [path for name in names for path in random.Random(3).sample(corpus_files(name), 40)]
    paths = sorted(str(path) for path in files)

    there = crawl_fragments(paths, engine=spark)

    assert same(there.fragments, shared_fragments(digests(paths)))
    assert len(there.fragments) > 50
