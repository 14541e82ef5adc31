"""An interrupted build leaves no archive, or the old one unchanged; a second run completes it."""

from __future__ import annotations

import errno
import hashlib
import random
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from quire.archive import Archive
from quire.archive.build.build import build_archive
from quire.archive.disk.storage import Disk
from quire.errors import ArchiveError, StorageFailed
from tests.archive.crash.faults import FaultyDisk, Killed
from tests.archive.crash.ingest import PAGES, QUICK
from tests.archive.crash.power import Cut, PowerDisk, lay_out
from tests.archive.crash.soak import IS_SOAK
from tests.sources.crawls import record, response, write

NEVER = 1 << 30
FAULTS = [(None, True), (errno.EIO, False), (errno.ENOSPC, True)]
STATES = 2000 if IS_SOAK else 150
OLD = 12


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Twenty pages in two files; one of them is the empty page, and one a copy."""
    folder = tmp_path_factory.mktemp("crawl")
    records = [
        record(response(body), url=url).replace(
            b"2026-05-17T11:02:33", time.isoformat()[:19].encode()
        )
        for (url, time), body in PAGES.items()
    ]
    write(folder / "a.warc", records[:OLD])
    write(folder / "b.warc", records[OLD:])
    return [str(folder / "a.warc"), str(folder / "b.warc")]


def pages_in(folder: Path) -> int:
    """Count the pages of an archive and check them; 0 if there is none."""
    try:
        archive = Archive.open(folder)
    except ArchiveError:
        return 0
    with archive:
        assert archive.verify() == []
        found = [((one.url, one.time), one.body) for one in archive]
    assert len(dict(found)) == len(found)
    assert dict(found).items() <= PAGES.items()
    return len(found)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def build(paths: list[str], folder: Path, disk: Disk) -> None:
    build_archive(paths, folder, skip_known=True, disk=disk)


@pytest.mark.parametrize("is_new", [True, False])
def test_every_call_of_the_disk_may_fail_or_be_the_last(
    crawls: list[str], tmp_path: Path, *, is_new: bool
) -> None:
    old = tmp_path / "old"
    if not is_new:
        build(crawls[:1], old, QUICK)

    def begin(name: str) -> Path:
        folder = tmp_path / name / "a.quire"
        folder.parent.mkdir()
        if not is_new:
            shutil.copytree(old, folder)
        return folder

    disk = FaultyDisk(NEVER, None)
    build(crawls, begin("whole"), disk)
    assert pages_in(tmp_path / "whole" / "a.quire") == len(PAGES)
    assert len(disk.calls) > 15
    unharmed = 0 if is_new else OLD

    for call in range(1, len(disk.calls) + 1):
        for error, is_sticky in FAULTS:
            name = f"{call}-{error}"
            folder = begin(name)
            faulty = FaultyDisk(call, error, is_sticky=is_sticky)
            try:
                build(crawls, folder, faulty)
            except (Killed, StorageFailed, ArchiveError):
                # Only the last confirmation may have been missing.
                assert pages_in(folder) in {unharmed, len(PAGES)}, name
            else:
                assert pages_in(folder) == len(PAGES), name
            assert faulty.has_failed, name
            build(crawls, folder, QUICK)
            assert pages_in(folder) == len(PAGES), name
            assert names(folder.parent) == ["a.quire"], name
            assert not list(folder.glob("*.part")), name
            shutil.rmtree(folder.parent)


def test_a_power_cut_at_any_moment_leaves_all_of_a_build_or_nothing(
    crawls: list[str], tmp_path: Path
) -> None:
    root = tmp_path / "disk"
    root.mkdir()
    disk = PowerDisk()
    build(crawls[:1], root / "crawls" / "a.quire", disk)
    disk.acknowledge(OLD)
    build(crawls, root / "crawls" / "a.quire", disk)
    disk.acknowledge(len(PAGES))

    rng = random.Random(5)
    seen: set[bytes] = set()
    counts = set()
    while len(seen) < STATES:
        moment = rng.randrange(len(disk.log) + 1)
        cut = Cut(disk.log[:moment], root)
        state = cut.state(rng)
        known = repr((cut.acknowledged, sorted(state.items()))).encode()
        if hashlib.sha256(known).digest() in seen:
            continue
        seen.add(hashlib.sha256(known).digest())
        place = tmp_path / "after"
        place.mkdir()
        lay_out(state, place)
        folder = place / "crawls" / "a.quire"
        found = pages_in(folder)
        assert found in {0, OLD, len(PAGES)}, moment
        assert found >= cut.acknowledged, moment
        counts.add(found)
        build(crawls, folder, QUICK)
        assert pages_in(folder) == len(PAGES), moment
        shutil.rmtree(place)
    assert counts == {0, OLD, len(PAGES)}


KILLED_AT = [
    "steps.look",
    "plan.plan",
    "encode.piece_of",
    "segment.SegmentWriter.finish",
    "archive.Archive._save_indexes",
    "storage.Disk.rename",
    "archive.Archive.close",
]


@pytest.mark.parametrize("place", KILLED_AT)
def test_a_build_killed_on_its_way_can_be_run_again(
    crawls: list[str], tmp_path: Path, place: str
) -> None:
    program = f"""
import os, signal
from quire.archive import archive
from quire.archive.build import build, encode, plan, steps
from quire.archive.disk import storage
from quire.archive.format import segment
def killed(*_arguments, **_options):
    os.kill(os.getpid(), signal.SIGKILL)
{place} = killed
build.build_archive({crawls!r}, "a.quire")
"""
    died = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=False, timeout=240)

    assert died.returncode == -signal.SIGKILL
    assert not (tmp_path / "a.quire").exists()
    (left,) = names(tmp_path)
    assert re.fullmatch(r"\.a\.quire\.[0-9a-f]{16}\.part", left)
    build(crawls, tmp_path / "a.quire", QUICK)
    assert pages_in(tmp_path / "a.quire") == len(PAGES)
    assert names(tmp_path) == ["a.quire"]
