"""Readers see every acknowledged page whatever a writer does; there is one writer at a time."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from quire.archive import Archive
from quire.errors import ArchiveError, ArchiveLocked
from tests.archive.crash.children import Child, Children
from tests.archive.crash.ingest import PAGES, QUICK, ingest, page

SECONDS = 2.0


@contextmanager
def writing(tmp_path: Path) -> Iterator[Child]:
    """A process that adds pages and compacts, forever."""
    with Children() as children:
        child = children.start("write_on", tmp_path / "a", tmp_path / "acks")
        children.go()
        try:
            while child.acknowledged() < 3:
                time.sleep(0.01)
            yield child
        finally:
            os.kill(child.number, signal.SIGKILL)
            children.wait()


def test_a_reader_finds_every_acknowledged_page_while_another_process_writes_and_compacts(
    tmp_path: Path,
) -> None:
    with writing(tmp_path) as child, Archive.open(tmp_path / "a") as lasting:
        segments: set[str] = set()
        first = len(lasting)
        start = time.monotonic()
        rounds = 0
        while time.monotonic() - start < SECONDS or len(segments) < 2 or rounds < 4:
            assert time.monotonic() - start < 120 * SECONDS, "nothing is compacted meanwhile"
            known = child.acknowledged()
            with Archive.open(tmp_path / "a") as fresh:
                for i in range(known):
                    (url, when), body = page(i)
                    assert fresh.get(url, when).body == body
                assert len(fresh) >= known
                segments |= {file.path.name for file in fresh._open_files() if file.is_segment}
            # Open files stay readable, however often they were replaced meanwhile. Compared by
            # key: the writer may have compacted before `lasting` was opened, which reorders pages.
            found = {(stored.url, stored.time): stored.body for stored in lasting}
            assert len(lasting) == first
            assert found == dict(page(i) for i in range(first))
            rounds += 1


def test_threads_read_on_while_their_archive_is_refreshed_and_compacted(tmp_path: Path) -> None:
    ingest(tmp_path / "a", QUICK)
    wrong: list[str] = []
    reads = 0
    stop = threading.Event()
    reader = Archive.open(tmp_path / "a")

    def read() -> None:
        nonlocal reads
        while not stop.is_set():
            for (url, when), body in PAGES.items():
                try:
                    if reader.get(url, when).body != body:
                        wrong.append(f"{url}: other bytes")
                except (ArchiveError, OSError, IndexError) as error:
                    wrong.append(repr(error))
                reads += 1

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    with Archive.open(tmp_path / "a", write=True, disk=QUICK) as writer:
        rounds = 0
        while rounds < 20 or reads <= len(PAGES):
            writer.compact()
            reader.refresh()
            rounds += 1
    stop.set()
    for thread in threads:
        thread.join()
    reader.close()
    assert wrong == []
    assert reads > len(PAGES)


def test_a_writer_is_not_robbed_while_it_sleeps_and_its_lock_ends_with_it(tmp_path: Path) -> None:
    with writing(tmp_path) as child:
        for stop in (None, signal.SIGSTOP):
            if stop is not None:
                os.kill(child.number, stop)
            with pytest.raises(
                ArchiveLocked,
                match=rf"another writer \(process {child.number}\) has this archive open",
            ):
                Archive.open(tmp_path / "a", write=True)
    with Archive.open(tmp_path / "a", write=True) as archive:
        assert len(archive) >= 3


def test_a_closed_archive_says_so_and_not_that_it_has_no_pages(tmp_path: Path) -> None:
    ingest(tmp_path / "a", QUICK)
    archive = Archive.open(tmp_path / "a")
    pages = iter(archive)
    next(pages)
    archive.close()

    with pytest.raises(ArchiveError, match="this archive is closed"):
        archive.get("https://a0.example/0")
    with pytest.raises(ArchiveError, match="this archive is closed"):
        len(archive)
    assert repr(archive).endswith("closed>")
    assert len(list(pages)) == len(PAGES) - 1, "a reader that has started continues"
