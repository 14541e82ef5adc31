"""A cluster finds the same groups as this machine, even if a worker is killed."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from quire.archive import Archive, ingest
from quire.captures import read_newest
from quire.similar.crawl import steps as crawl_steps
from quire.similar.crawl.templates import CrawlTemplates, crawl_templates
from quire.sources import find
from tests.engines import jobs
from tests.engines.cluster import Cluster
from tests.engines.test_spark_losing_workers import killed_meanwhile, marks
from tests.similar.test_templates import page

if TYPE_CHECKING:
    from quire.engines.spark.engine import SparkEngine

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Six sites in folders and a Parquet file, with an empty page and one unlike all others."""
    folder = tmp_path_factory.mktemp("crawl")
    draw = random.Random(5)
    pages = [(f"site{i % 6}/{i}.html", page(i % 6, draw.randrange(1, 40))) for i in range(180)]
    for name, body in [*pages[:120], ("site9/alone.html", page(9, 7)), ("site9/empty.html", b"")]:
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(body)
    rows = [{"url": f"https://a.example/{name}", "body": body} for name, body in pages[120:]]
    pq.write_table(pa.Table.from_pylist(rows), folder / "rest.parquet", row_group_size=20)
    return find([str(folder)])


def groups(found: CrawlTemplates) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in found.table().to_pylist()]


def test_a_cluster_finds_the_groups_of_this_machine(
    spark: SparkEngine, crawl: list[str], tmp_path: Path
) -> None:
    here = crawl_templates(crawl)

    there = crawl_templates(crawl, engine=spark, work=str(tmp_path / "work"))

    assert [group.size for group in here.templates.groups] == [30] * 6
    assert groups(there) == groups(here)
    assert there.troubles == here.troubles != ()


def test_a_cluster_reads_archives(spark: SparkEngine, crawl: list[str], tmp_path: Path) -> None:
    with Archive.create(tmp_path / "site.quire") as archive:
        ingest(archive, crawl)
    sources = [str(tmp_path / "site.quire"), crawl[0]]

    here = crawl_templates(sources, reader=read_newest)
    there = crawl_templates(sources, engine=spark, work=str(tmp_path / "work"), reader=read_newest)

    assert len(here.pages) == 181 + 60
    assert groups(there) == groups(here)


@pytest.mark.parametrize(("step", "phase"), [("sketch_pages", "map"), ("hubs", "reduce")])
def test_a_worker_killed_on_the_way_changes_no_group(
    *,
    both: SparkEngine,
    cluster: Cluster,
    crawl: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
    phase: str,
) -> None:
    here = crawl_templates(crawl)
    folder = tmp_path / "marks"
    folder.mkdir()
    marked = partial(getattr(jobs, f"marked_{step}"), folder=str(folder))
    monkeypatch.setattr(crawl_steps, step, marked)

    there, victim, at = killed_meanwhile(
        lambda: crawl_templates(crawl, engine=both, work=str(tmp_path / "work")),
        cluster,
        folder,
        phase,
        least=1,
    )

    assert groups(there) == groups(here)
    begun = marks(folder, phase)
    lost = {mark.task for mark in begun if mark.pid in victim}
    assert lost
    assert any(mark.time > at and mark.pid not in victim for mark in begun)


def test_the_corpus_has_the_same_groups_on_a_cluster(
    spark: SparkEngine, corpus_files: Callable[[str], list[Path]], tmp_path: Path
) -> None:
    names = ("templates-types", "templates-swde-sites", "warc", "records")
    paths = sorted(str(path) for name in names for path in corpus_files(name))

    here = crawl_templates(paths)
    there = crawl_templates(paths, engine=spark, work=str(tmp_path / "work"))

    assert groups(there) == groups(here)
    assert there.troubles == here.troubles
    assert len(here.templates.groups) >= 45
