"""Damages archives in every way in which files get damaged."""

from __future__ import annotations

import random
import shutil
from contextlib import suppress
from pathlib import Path

from quire.archive import Archive
from quire.archive.format.page_meta import to_time
from quire.errors import ArchiveError
from tests.archive.crash.faults import Killed
from tests.archive.crash.ingest import PAGES, QUICK, Key, Quick, ingest


def samples(folder: Path) -> list[Path]:
    """Make archives to damage: a journal with commits, a segment, both, and a crashed one."""
    folder.mkdir()
    with Archive.create(folder / "journal", disk=QUICK) as archive:
        for i, ((url, time), body) in enumerate(PAGES.items()):
            archive.add(url, time, body)
            if i % 4 == 0:
                archive.commit()
    shutil.copytree(folder / "journal", folder / "segment")
    with Archive.open(folder / "segment", write=True, disk=QUICK) as archive:
        archive.compact()
    ingest(folder / "both", QUICK)
    # Killed after a segment got its name, and before the files it replaces were removed.
    shutil.copytree(folder / "both", folder / "crashed")
    archive = Archive.open(folder / "crashed", write=True, disk=DiesRemoving())
    with suppress(Killed):
        archive.compact()
    archive._release()
    assert len(data(folder / "crashed")) == 1 + len(data(folder / "both"))
    return sorted(folder.iterdir())


class DiesRemoving(Quick):
    """A disk on which the process dies when it is about to remove replaced files."""

    def remove(self, path: Path) -> None:
        """Die."""
        if path.suffix in {".journal", ".segment"}:
            raise Killed
        super().remove(path)


def data(folder: Path) -> list[Path]:
    """List journals and segments."""
    return sorted(path for path in folder.iterdir() if path.suffix in {".journal", ".segment"})


def flip(content: bytearray, at: int, _length: int, rng: random.Random) -> None:
    """Flip a bit."""
    content[at] ^= 1 << rng.randrange(8)


def zero(content: bytearray, at: int, length: int, _rng: random.Random) -> None:
    """Zero a stretch."""
    content[at : at + length] = bytes(length)


def noise(content: bytearray, at: int, length: int, rng: random.Random) -> None:
    """Overwrite a stretch."""
    content[at : at + length] = rng.randbytes(length)


def cut_out(content: bytearray, at: int, length: int, _rng: random.Random) -> None:
    """Delete a stretch."""
    del content[at : at + length]


def put_in(content: bytearray, at: int, length: int, rng: random.Random) -> None:
    """Insert a stretch."""
    content[at:at] = rng.randbytes(length)


def swap(content: bytearray, at: int, length: int, rng: random.Random) -> None:
    """Swap two stretches."""
    other = rng.randrange(len(content) - length + 1)
    here, there = content[at : at + length], content[other : other + length]
    content[at : at + length], content[other : other + length] = there, here


def end(content: bytearray, at: int, _length: int, _rng: random.Random) -> None:
    """Cut off the rest."""
    del content[at:]


DAMAGES = [flip, flip, zero, noise, cut_out, put_in, swap, end]


def hurt(folder: Path, rng: random.Random) -> None:
    """Damage an archive in one or a few places."""
    if rng.random() < 0.5:
        for path in folder.glob("*.index"):
            path.unlink()
    if rng.random() < 0.03:
        rng.choice(data(folder)).unlink()
    for _ in range(rng.randint(1, 4)):
        path = rng.choice(data(folder) or [folder / "000001.journal"])
        content = bytearray(path.read_bytes()) if path.exists() else bytearray(100)
        if content:
            at = rng.randrange(len(content))
            length = min(rng.choice([1, 1, 8, 64, 512, 4096]), len(content) - at)
            rng.choice(DAMAGES)(content, at, length, rng)
        path.write_bytes(content)


def readable(folder: Path) -> dict[Key, bytes]:
    """Read every readable page."""
    found: dict[Key, bytes] = {}
    with Archive.open(folder) as archive:
        for file in archive._open_files():
            for offset, slot in file.index.places():
                try:
                    about, body = file.page(offset, slot)
                except ArchiveError:
                    continue
                found[about.url, to_time(about.time)] = body
    return found
