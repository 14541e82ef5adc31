"""Whichever disk call fails or is the last, acknowledged pages are safe."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import pytest

from quire.archive import Archive
from quire.errors import ArchiveError, StorageFailed
from tests.archive.crash.faults import FaultyDisk, Killed
from tests.archive.crash.ingest import PAGES, START, check, first, go_on, ingest
from tests.archive.crash.soak import IS_SOAK

NEVER = 1 << 30
FAULTS = [
    (None, False),
    (errno.EIO, False),
    (errno.ENOSPC, True),
    (errno.ENOSPC, False),
    (errno.EIO, True),
]


def crashed(folder: Path, disk: FaultyDisk) -> int:
    """Ingest on a faulty disk, and return how many pages were acknowledged."""
    acknowledged = [0]
    try:
        ingest(folder, disk, acknowledged.append)
    except (Killed, StorageFailed, ArchiveError):
        assert disk.has_failed
    return acknowledged[-1]


def test_every_call_of_the_disk_may_fail_or_be_the_last(tmp_path: Path) -> None:
    disk = FaultyDisk(NEVER, None)
    ingest(tmp_path / "whole", disk)
    calls = len(disk.calls)
    assert calls > 100

    for call in range(1, calls + 1):
        # Under `make test` kill every time, and each of the errors every eighth time.
        sample = [FAULTS[0]] if call % 2 else [FAULTS[0], FAULTS[1 + call // 2 % 4]]
        for error, is_sticky in FAULTS if IS_SOAK else sample:
            name = f"{call}-{error}-{is_sticky}"
            folder = tmp_path / name
            disk = FaultyDisk(call, error, is_sticky=is_sticky)
            acknowledged = crashed(folder, disk)
            assert disk.has_failed, name
            found = check(folder, first(acknowledged))
            go_on(folder, found, compact=call % 3 == 0)
            shutil.rmtree(folder)


@pytest.mark.parametrize("what", ["append", "sync"])
def test_after_an_error_a_writer_takes_nothing_until_it_is_opened_again(
    tmp_path: Path, what: str
) -> None:
    disk = FaultyDisk(NEVER, errno.EIO)
    archive = Archive.create(tmp_path / "a", disk=disk)
    archive.add("https://a.example", START, b"first")
    archive.commit()
    archive.add("https://a.example", START, b"second")
    disk._call = len(disk.calls) + (1 if what == "sync" else 2)
    if what == "append":
        disk._call = len(disk.calls) + 1
        with pytest.raises(StorageFailed, match=r"000001\.journal: could not be written: Input"):
            archive.add("https://a.example", START, b"third")
    else:
        with pytest.raises(
            StorageFailed, match=r"journal: was not confirmed by the disk"
        ) as caught:
            archive.commit()
        assert (caught.value.code, caught.value.is_final) == (errno.EIO, True)

    # The disk works again, and would report success.
    for act in (archive.commit, archive.compact, archive.close):
        with pytest.raises(ArchiveError, match="open the archive again"):
            act()
    with Archive.open(tmp_path / "a", write=True) as again:
        again.add("https://a.example/b", START, b"fourth")
    with Archive.open(tmp_path / "a") as again:
        assert again.get("https://a.example/b").body == b"fourth"


@pytest.mark.parametrize("call", ["sync", "sync_folder"])
def test_a_disk_that_does_not_confirm_a_new_file_is_not_asked_again(
    tmp_path: Path, call: str
) -> None:
    disk = FaultyDisk(NEVER, errno.EIO)
    archive = Archive.create(tmp_path / "a", disk=disk)
    ahead = ["create", "append", "sync", "sync_folder"].index(call) + 1
    disk._call = len(disk.calls) + ahead
    with pytest.raises(StorageFailed, match="was not confirmed"):
        archive.add("https://a.example", START, b"first")
    with pytest.raises(ArchiveError, match="its confirmations cannot be trusted"):
        archive.add("https://a.example", START, b"first")
    archive.close()
    assert [path.name for path in (tmp_path / "a").glob("*.journal")] == []


def test_a_full_disk_leaves_compaction_undone_and_the_writer_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    plain = FaultyDisk(NEVER, None)
    ingest(folder, plain)
    with Archive.open(folder, write=True, disk=plain) as archive:
        (url, time), body = next(iter(PAGES.items()))
        archive.add(url, time.replace(year=2030), body)
    disk = FaultyDisk(NEVER, errno.ENOSPC)
    with Archive.open(folder, write=True, disk=disk) as archive:
        before = sorted(path.name for path in folder.iterdir())
        fails = 0
        for ahead in range(2, 6):
            disk._call = len(disk.calls) + ahead
            with pytest.raises(StorageFailed, match="No space left") as caught:
                archive.compact()
            fails += 1
            assert not caught.value.is_final
            assert sorted(path.name for path in folder.iterdir()) == before
            assert len(archive) == len(PAGES) + 1
        assert fails == 4
        archive.add("https://a.example", START, b"goes on")
        archive.commit()
        assert archive.compact().pages == len(PAGES) + 2
        assert archive.verify() == []


def test_an_interrupted_write_takes_no_page_behind_it(tmp_path: Path) -> None:
    disk = FaultyDisk(NEVER, None)
    archive = Archive.create(tmp_path / "a", disk=disk)
    archive.add("https://a.example/1", START, b"first" * 100)
    disk._call = len(disk.calls) + 1
    with pytest.raises(Killed):  # as Ctrl-C would, in the middle of a record
        archive.add("https://a.example/2", START, b"second" * 100)
    disk._call = NEVER
    with pytest.raises(ArchiveError, match="an earlier write failed"):
        archive.add("https://a.example/3", START, b"third" * 100)
    archive._release()


def test_an_index_that_does_not_fit_on_the_disk_is_no_error(tmp_path: Path) -> None:
    disk = FaultyDisk(NEVER, errno.ENOSPC, is_sticky=True)
    archive = Archive.create(tmp_path / "a", disk=disk)
    archive.add("https://a.example", START, b"first")
    archive.commit()
    disk._call = len(disk.calls) + 3  # sync and close of the journal go well
    archive.close()
    assert disk.has_failed
    assert not list((tmp_path / "a").glob("*.index*"))
    with Archive.open(tmp_path / "a") as again:
        assert again.get("https://a.example").body == b"first"


def test_pages_of_an_archive_that_was_removed_are_not_acknowledged(tmp_path: Path) -> None:
    archive = Archive.create(tmp_path / "a")
    archive.add("https://a.example", START, b"first")
    shutil.rmtree(tmp_path / "a")

    with pytest.raises(StorageFailed, match="No such file"):
        archive.commit()
    with pytest.raises(ArchiveError, match="open the archive again"):
        archive.close()
