"""Repair keeps every readable page, reports the rest, and never touches the damaged archive."""

from __future__ import annotations

import errno
import random
import shutil
from pathlib import Path

import pytest

from quire.archive import Archive
from quire.archive.repair import repair
from quire.errors import ArchiveError, StorageFailed
from tests.archive.crash.damage import data, hurt, readable, samples
from tests.archive.crash.faults import FaultyDisk, Killed
from tests.archive.crash.ingest import PAGES, QUICK, check, go_on
from tests.archive.crash.soak import IS_SOAK

DAMAGED = 1000 if IS_SOAK else 300


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_every_page_that_was_readable_before_is_readable_after(tmp_path: Path) -> None:
    rng = random.Random(11)
    whole = samples(tmp_path / "whole")
    harmed = lost = 0
    for count in range(DAMAGED):
        folder, target = tmp_path / f"{count}", tmp_path / f"{count}.repaired"
        shutil.copytree(rng.choice(whole), folder)
        hurt(folder, rng)
        source = contents(folder)
        before = readable(folder)
        assert before.items() <= PAGES.items()

        planned = repair(folder)
        assert planned.target is None
        assert not target.exists()
        done = repair(folder, target, disk=QUICK)

        assert contents(folder) == source
        assert (done.pages, done.findings) == (planned.pages, planned.findings)
        after = check(target, before)
        assert len(after) == done.pages
        harmed += bool(done.lost)
        lost += len(PAGES) - len(after)
        if count % 10 == 0:
            go_on(target, after, compact=True)
        shutil.rmtree(folder)
        shutil.rmtree(target)
    assert harmed > DAMAGED // 2
    assert lost > 0


def test_what_was_lost_is_named_with_file_and_offset(tmp_path: Path) -> None:
    folder = samples(tmp_path / "whole")[2]
    assert folder.name == "journal"
    (file,) = data(folder)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0xFF
    file.write_bytes(content)

    (finding,) = repair(folder).lost

    assert finding.file == file
    assert 0 < finding.offset <= len(content) // 2
    assert str(finding).startswith(f"{file}: at {finding.offset:,}: ")


def test_files_that_were_taken_over_give_what_is_readable_nowhere_else(tmp_path: Path) -> None:
    folder = next(path for path in samples(tmp_path / "whole") if path.name == "crashed")
    newest = data(folder)[-1]
    assert newest.suffix == ".segment"
    content = newest.read_bytes()
    newest.write_bytes(content[: len(content) // 2])

    done = repair(folder, tmp_path / "b", disk=QUICK)

    assert done.pages == len(PAGES)
    assert check(tmp_path / "b", PAGES) == PAGES


def test_repair_killed_half_way_is_done_again_with_the_same_result(tmp_path: Path) -> None:
    folder = next(path for path in samples(tmp_path / "whole") if path.name == "both")
    hurt(folder, random.Random(4))
    source = contents(folder)
    disk = FaultyDisk(1 << 30, None)
    wanted = repair(folder, tmp_path / "whole-repair", disk=disk)
    for call in range(1, len(disk.calls) + 1):
        target = tmp_path / f"{call}"
        with pytest.raises(Killed):
            repair(folder, target, disk=FaultyDisk(call, None))
        if not target.exists():
            with pytest.raises(StorageFailed, match="No space left"):
                repair(folder, target, disk=FaultyDisk(call, errno.ENOSPC, is_sticky=True))
        if not target.exists():
            assert repair(folder, target, disk=QUICK).findings == wanted.findings
        assert readable(target) == readable(tmp_path / "whole-repair")
        assert contents(folder) == source
        assert not list(tmp_path.glob(".*.part"))


def test_repair_refuses_a_target_that_is_there_or_inside(tmp_path: Path) -> None:
    folder = samples(tmp_path / "whole")[0]
    with pytest.raises(FileExistsError, match="already exists"):
        repair(folder, folder)
    with pytest.raises(ArchiveError, match="inside the damaged archive"):
        repair(folder, folder / "new")
    with pytest.raises(ArchiveError, match="no archive here"):
        repair(tmp_path / "nothing")


def test_a_whole_archive_is_copied_file_by_file(tmp_path: Path) -> None:
    for folder in samples(tmp_path / "whole"):
        if folder.name == "crashed":
            continue
        repair(folder, tmp_path / folder.name, disk=QUICK)
        for file in data(folder):
            assert (tmp_path / folder.name / file.name).read_bytes() == file.read_bytes()
        with Archive.open(tmp_path / folder.name) as archive:
            assert len(archive) == len(PAGES)
