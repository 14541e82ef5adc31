"""After a power cut every acknowledged page is there, no false one, and writing can continue."""

from __future__ import annotations

import hashlib
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from quire.archive import Archive
from tests.archive.crash.ingest import PAGES, check, first, go_on, ingest, page
from tests.archive.crash.power import Cut, PowerDisk, State, lay_out
from tests.archive.crash.soak import IS_SOAK

STATES = 6000 if IS_SOAK else 510


def recorded(root: Path, disk: PowerDisk) -> PowerDisk:
    root.mkdir()
    # Two folders deep, so that the names of both have to be safe.
    ingest(root / "crawls" / "a.quire", disk, disk.acknowledge)
    return disk


def states(disk: PowerDisk, root: Path, wanted: int) -> Iterator[tuple[int, int, State]]:
    """Yield possible states after a cut, from all moments: moment, acknowledged pages, state."""
    rng = random.Random(5)
    seen: set[tuple[int, bytes]] = set()
    moments = list(range(len(disk.log) + 1))
    while len(seen) < wanted:
        for moment in rng.sample(moments, len(moments)):
            cut = Cut(disk.log[:moment], root)
            state = cut.state(rng)
            print_of = hashlib.sha256(repr(sorted(state.items())).encode()).digest()
            if (cut.acknowledged, print_of) in seen:
                continue
            seen.add((cut.acknowledged, print_of))
            yield moment, cut.acknowledged, state
            if len(seen) == wanted:
                return


def survive(disk: PowerDisk, root: Path, scratch: Path, wanted: int) -> int:
    """Check the given number of states, and return how many there were."""
    count = 0
    for count, (moment, acknowledged, state) in enumerate(states(disk, root, wanted), 1):
        place = scratch / str(count)
        place.mkdir(parents=True)
        lay_out(state, place)
        folder = place / "crawls" / "a.quire"
        try:
            found = check(folder, first(acknowledged))
            go_on(folder, found, compact=count % 3 == 0)
        except Exception as error:
            message = f"state {count}, power cut after call {moment}: {disk.log[moment - 1]}"
            raise AssertionError(message) from error
        shutil.rmtree(place)
    return count


def test_every_acknowledged_page_survives_a_power_cut_at_any_moment(tmp_path: Path) -> None:
    disk = recorded(tmp_path / "disk", PowerDisk())

    assert survive(disk, tmp_path / "disk", tmp_path / "after", STATES) == STATES >= 500


def test_all_that_an_archive_writes_goes_through_its_disk(tmp_path: Path) -> None:
    root = tmp_path / "disk"
    disk = recorded(root, PowerDisk())

    expected = Cut(disk.log, root).state(None)
    found = {
        str(path.relative_to(root)): None if path.is_dir() else path.read_bytes()
        for path in root.rglob("*")
        if path.name != "lock"
    }
    assert found == expected
    assert Cut(disk.log, root).acknowledged == len(PAGES)


class ForgetsFiles(PowerDisk):
    """Planted bug: files are never synced."""

    def sync(self, file: int) -> None:
        """Do nothing."""


class ForgetsFolders(PowerDisk):
    """Planted bug: names are never synced."""

    def sync_folder(self, path: Path) -> None:
        """Do nothing."""


class ForgetsRenames(PowerDisk):
    """Planted bug: a folder is not synced after a rename."""

    def sync_folder(self, path: Path) -> None:
        """Do nothing after a rename."""
        if self.log[-1][0] != "rename":
            super().sync_folder(path)


class RemovesTooEarly(PowerDisk):
    """Planted bug: a file is renamed before it is safe."""

    def sync(self, file: int) -> None:
        """Do nothing for files that will be renamed."""
        if file not in self._parts:
            super().sync(file)

    def create(self, path: Path) -> int:
        """Remember files that will be renamed."""
        file = super().create(path)
        (self._parts.add if path.suffix == ".part" else self._parts.discard)(file)
        return file

    _parts: set[int] = set()  # noqa: RUF012 - one disk at a time


@pytest.mark.parametrize("planted", [ForgetsFiles, ForgetsFolders, ForgetsRenames, RemovesTooEarly])
def test_a_planted_bug_is_found(tmp_path: Path, planted: Callable[[], PowerDisk]) -> None:
    disk = recorded(tmp_path / "disk", planted())

    with pytest.raises(AssertionError, match=r"^state \d+, power cut after call"):
        survive(disk, tmp_path / "disk", tmp_path / "after", STATES)


def test_a_second_power_cut_while_a_writer_mends_the_first_loses_nothing(tmp_path: Path) -> None:
    disk = recorded(tmp_path / "disk", PowerDisk())
    rng = random.Random(6)
    checked = 0
    for count, (_, acknowledged, state) in enumerate(states(disk, tmp_path / "disk", 40)):
        root = tmp_path / f"first{count}"
        root.mkdir()
        lay_out(state, root)
        folder = root / "crawls" / "a.quire"
        found = check(folder, first(acknowledged))
        if not found:
            continue
        second = PowerDisk()
        add_and_compact(folder, second)
        for attempt in range(4):
            moment = rng.randrange(len(second.log) + 1)
            place = tmp_path / f"second{count}-{attempt}"
            place.mkdir()
            lay_out(Cut(second.log[:moment], root, state).state(rng), place)
            kept = check(place / "crawls" / "a.quire", found, {**PAGES, **dict([page(20)])})
            go_on(place / "crawls" / "a.quire", kept, compact=attempt == 0)
            checked += 1
    assert checked >= 100


def add_and_compact(folder: Path, disk: PowerDisk) -> None:
    (url, time), body = page(20)
    with Archive.open(folder, write=True, disk=disk) as archive:
        archive.add(url, time, body)
        archive.compact()
