"""Threads only make an ingest faster: same pages, same order, and no thread is left running."""

from __future__ import annotations

import errno
import sys
import threading
from pathlib import Path

import pytest

from quire.archive import Archive, StoredPage, ingest
from quire.archive.format.journal import Packed
from quire.archive.warc import pipeline as pipelines
from quire.errors import ArchiveError
from tests.archive.crash.faults import FaultyDisk
from tests.archive.crash.ingest import QUICK
from tests.sources.crawls import record, response, write

PAGES = 40


@pytest.fixture
def source(tmp_path: Path) -> str:
    """Pages of very different lengths, so that short ones are done before earlier long ones."""
    records = [
        record(
            response(b"<p>%d" % i * (200_000 if i % 7 == 0 else 3)), url=f"https://a.example/{i}"
        )
        for i in range(PAGES)
    ]
    write(tmp_path / "a.warc.gz", records)
    return str(tmp_path / "a.warc.gz")


@pytest.fixture(autouse=True)
def small_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shrink the limits, so that these few pages are many batches, and more than may wait."""
    monkeypatch.setattr(pipelines, "PORTION_PAGES", 2)
    monkeypatch.setattr(pipelines, "MOST_WAITING_BYTES", 1_000_000)


def helpers() -> list[str]:
    return [thread.name for thread in threading.enumerate() if "quire-ingest" in thread.name]


@pytest.mark.parametrize("threads", [1, 3, None])
def test_any_number_of_threads_stores_the_same_in_the_same_order(
    source: str, tmp_path: Path, threads: int | None
) -> None:
    stored: list[list[StoredPage]] = []
    for name, count in (("alone", 0), ("helped", threads)):
        with Archive.create(tmp_path / name, disk=QUICK) as archive:
            done = ingest(archive, [source], threads=count, commit_pages=11)
            assert done.pages == PAGES
            stored.append(list(archive))

    assert stored[0] == stored[1]
    assert [page.url for page in stored[0]] == [f"https://a.example/{i}" for i in range(PAGES)]
    assert helpers() == []


def test_no_more_waits_than_may(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A thread that is slower than the reader: nothing is done before the reader waits for it.
    may_go_on = threading.Event()
    pack = pipelines.Arrived.packed
    most = 0

    def slow(page: pipelines.Arrived) -> Packed:
        may_go_on.wait(240)
        return pack(page)

    class Watched(pipelines.Pipeline):
        def _write_next(self) -> None:
            may_go_on.set()
            super()._write_next()

        def add(self, page: pipelines.Arrived) -> None:
            nonlocal most
            super().add(page)
            most = max(most, self._waiting_bytes)

    monkeypatch.setattr(pipelines.Arrived, "packed", slow)
    # The function of that name hides its module.
    monkeypatch.setattr(sys.modules["quire.archive.warc.ingest"], "Pipeline", Watched)
    with Archive.create(tmp_path / "a", disk=QUICK) as archive:
        assert ingest(archive, [source], threads=1).pages == PAGES

    assert 0 < most <= pipelines.MOST_WAITING_BYTES


@pytest.mark.parametrize("call", [16, 25, 34])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
def test_a_disk_that_fails_stops_the_threads_and_leaves_the_first_pages(
    source: str, tmp_path: Path, call: int, code: int
) -> None:
    disk = FaultyDisk(call, code, is_sticky=True)
    archive = Archive.create(tmp_path / "a", disk=disk)
    with pytest.raises((ArchiveError, OSError)), archive:
        ingest(archive, [source], threads=2, commit_pages=5)

    assert disk.has_failed
    assert helpers() == []
    with Archive.open(tmp_path / "a") as found:
        urls = [page.url for page in found]
        assert urls == [f"https://a.example/{i}" for i in range(len(urls))]
        assert len(urls) < PAGES


def test_an_interrupt_stops_the_threads(source: str, tmp_path: Path) -> None:
    archive = Archive.create(tmp_path / "a", disk=QUICK)

    def interrupt(_step: str, _done: int, _of: int) -> None:
        if len(archive) >= 25:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), archive:
        ingest(archive, [source], threads=2, commit_pages=10, progress=interrupt)

    assert helpers() == []
    with Archive.open(tmp_path / "a") as found:
        assert len(found) >= 20, "committed pages are there"


def test_what_goes_wrong_in_a_thread_is_raised_where_the_page_is_written(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack = pipelines.Arrived.packed

    def failing(page: pipelines.Arrived) -> Packed:
        if page.url.endswith("/17"):
            raise MemoryError
        return pack(page)

    monkeypatch.setattr(pipelines.Arrived, "packed", failing)
    archive = Archive.create(tmp_path / "a", disk=QUICK)
    with pytest.raises(MemoryError), archive:
        ingest(archive, [source], threads=2)

    assert helpers() == []
