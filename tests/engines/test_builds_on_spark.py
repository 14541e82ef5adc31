"""A cluster builds the same archive as this machine, even if a worker is killed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from quire.archive import Archive, ingest
from quire.archive.build import encode as build_encoding
from quire.archive.build import plan as build_plan
from quire.archive.build import steps as build_steps
from quire.archive.build.build import build_archive
from quire.errors import EngineError
from quire.sources import find
from tests.archive.test_build import contents, page, segment_bytes
from tests.archive.test_ingest import revisit
from tests.engines import jobs
from tests.engines.cluster import Cluster
from tests.engines.test_spark_losing_workers import killed_meanwhile, marks
from tests.sources.crawls import record, response, write

if TYPE_CHECKING:
    from quire.engines.spark.engine import SparkEngine

pytestmark = pytest.mark.timeout(600)

TIME = datetime(2026, 6, 1, tzinfo=UTC)
FILES = 8


@pytest.fixture
def crawl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Three sites in eight files, with revisits, a damaged record and a folder; relative paths."""
    folder = tmp_path / "crawl"
    folder.mkdir()
    for number in range(FILES):
        found = [(site, n) for site in range(3) for n in range(number, 96, FILES)]
        records = [record(response(page(s, n)), url=f"https://s{s}.example/{n}") for s, n in found]
        again = revisit(f"https://z.example/{number}", page(1, 7), of="https://s1.example/7")
        write(folder / f"{number}.warc.gz", [again, *records, record(b"<p>", length=99)])
    (folder / "a.html").write_bytes(page(9, 9))
    monkeypatch.chdir(tmp_path)
    return find(["crawl"])


def test_a_cluster_builds_the_archive_of_this_machine(
    spark: SparkEngine, crawl: list[str], tmp_path: Path
) -> None:
    here = build_archive(crawl, tmp_path / "here", time=TIME)

    there = build_archive(crawl, tmp_path / "there", time=TIME, engine=spark)

    assert there == here
    assert (there.pages, there.trouble_count) == (3 * 96 + FILES + 1, FILES)
    assert contents(tmp_path / "there") == contents(tmp_path / "here")
    assert segment_bytes(tmp_path / "there") == segment_bytes(tmp_path / "here")


@pytest.mark.parametrize(
    ("module", "step", "phase"),
    [(build_steps, "fetch", "map"), (build_encoding, "encode_clusters", "reduce")],
)
def test_a_worker_killed_on_the_way_costs_no_page(
    *,
    both: SparkEngine,
    cluster: Cluster,
    crawl: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    module: object,
    step: str,
    phase: str,
) -> None:
    build_archive(crawl, tmp_path / "here", time=TIME)
    folder = tmp_path / "marks"
    folder.mkdir()
    monkeypatch.setattr(module, step, partial(getattr(jobs, f"marked_{step}"), folder=str(folder)))

    _, victim, at = killed_meanwhile(
        lambda: build_archive(crawl, tmp_path / "there", time=TIME, engine=both),
        cluster,
        folder,
        phase,
        least=1,
    )

    assert contents(tmp_path / "there") == contents(tmp_path / "here")
    begun = marks(folder, phase)
    assert any(mark.pid in victim for mark in begun)
    assert any(mark.time > at and mark.pid not in victim for mark in begun)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["crawl", "here", "marks", "there"]


def test_a_source_that_changes_meanwhile_ends_the_build(
    spark: SparkEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "a.warc", [record(response(b"<p>Cod"))])
    plan = build_plan.plan

    def changed(*arguments: Any) -> build_plan.Plan:  # noqa: ANN401 - whatever they are
        write(tmp_path / "a.warc", [record(response(b"<p>Hake"))])
        return plan(*arguments)

    monkeypatch.setattr(build_plan, "plan", changed)

    with pytest.raises(EngineError, match=r"a\.warc#0: changed while the archive was built"):
        build_archive([str(tmp_path / "a.warc")], tmp_path / "a", engine=spark)

    assert [path.name for path in tmp_path.iterdir()] == ["a.warc"]


def test_the_corpus_is_the_same_from_a_cluster(
    spark: SparkEngine, corpus_files: Callable[[str], list[Path]], tmp_path: Path
) -> None:
    names = ("templates-swde-sites", "warc")
    paths = sorted(str(path) for name in names for path in corpus_files(name))
    with Archive.create(tmp_path / "filled") as archive:
        filled = ingest(archive, paths, time=TIME)
        archive.compact()

    built = build_archive(paths, tmp_path / "built", time=TIME, engine=spark)

    assert built == filled
    assert contents(tmp_path / "built") == contents(tmp_path / "filled")
    size = segment_bytes(tmp_path / "filled")
    assert segment_bytes(tmp_path / "built") == pytest.approx(size, rel=0.03)
