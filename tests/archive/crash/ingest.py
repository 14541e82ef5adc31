"""The ingest used in crash tests: twenty pages, several commits, two compactions, a second writer.

Also the checks that must hold for an archive afterwards, whatever happened to it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from quire.archive import Archive
from quire.archive.disk.storage import DISK, Disk
from quire.errors import ArchiveError

Key = tuple[str, datetime]
Pages = Mapping[Key, bytes]

START = datetime(2026, 5, 1, 12, tzinfo=UTC)


class Quick(Disk):
    """A disk that never waits, for the time after a simulated crash."""

    def sync(self, file: int) -> None:
        """Do nothing."""

    def sync_folder(self, path: Path) -> None:
        """Do nothing."""


QUICK = Quick()


def page(i: int) -> tuple[Key, bytes]:
    """Make a page: two templates, versions, copies, one random, one empty."""
    key = (f"https://a{i % 2}.example/{i % 7}", START + timedelta(seconds=i))
    if i % 20 == 8:
        return key, random.Random(i).randbytes(2500)
    if i % 20 == 13:
        return key, b""
    n = 4 if i % 20 == 17 else i  # one page is a copy of another
    noise = random.Random(n).randbytes(300).hex()
    rows = "".join(f"<tr class=r{n % 2}><td>{j}<td>{n * j % 97}</tr>" for j in range(12))
    return key, f"<title>{n}</title><table class=t{n % 2}>{rows}</table><p>{noise}".encode()


PAGES: dict[Key, bytes] = dict(page(i) for i in range(20))


def ingest(folder: Path, disk: Disk = DISK, said: Callable[[int], None] = lambda _n: None) -> None:
    """Store the pages, and report after each commit how many are safe."""
    pages = iter(PAGES.items())
    done = 0

    def add(archive: Archive, n: int) -> None:
        nonlocal done
        for _ in range(n):
            (url, time), body = next(pages)
            archive.add(url, time, body, {"Content-Type": "text/html"})
            done += 1

    def commit(archive: Archive) -> None:
        archive.commit()
        said(done)

    with Archive.create(folder, disk=disk) as archive:
        for n in (1, 3, 2):
            add(archive, n)
            commit(archive)
        add(archive, 1)
        archive.compact()
        said(done)
        add(archive, 4)
    said(done)
    with Archive.open(folder, write=True, disk=disk) as archive:
        add(archive, 5)
        commit(archive)
        add(archive, 2)
        commit(archive)
    with Archive.open(folder, write=True, disk=disk) as archive:
        add(archive, 1)
        archive.compact()
        said(done)
        add(archive, 1)
        commit(archive)
    assert done == len(PAGES)


def first(n: int) -> dict[Key, bytes]:
    """Return the first pages of the ingest."""
    return dict(list(PAGES.items())[:n])


def check(folder: Path, acknowledged: Pages, added: Pages = PAGES) -> dict[Key, bytes]:
    """Read an archive after a crash: all acknowledged pages are there, and every page is right."""
    try:
        archive = Archive.open(folder)
    except ArchiveError:
        assert not acknowledged, "the archive is gone"
        return {}
    with archive:
        found = {}
        for stored in archive:
            key = (stored.url, stored.time)
            assert key not in found, f"{key} is there twice"
            found[key] = stored.body
        for key, body in found.items():
            assert added[key] == body, f"{key} has wrong bytes"
        missing = acknowledged.keys() - found.keys()
        assert not missing, f"lost {missing}"
        for url, time in acknowledged:
            assert archive.get(url, time).body == added[url, time]
        assert archive.verify() == []
    return found


def go_on(folder: Path, before: Pages, *, compact: bool) -> None:
    """Open an archive for writing after a crash: it accepts new pages and keeps all it had."""
    new = ("https://a.example/later", START + timedelta(days=1)), b"<p>Later"
    try:
        archive = Archive.open(folder, write=True, disk=QUICK)
    except ArchiveError:
        assert not before
        archive = Archive.create(folder, disk=QUICK)
    with archive:
        archive.add(*new[0], new[1])
        archive.commit()
        assert archive.get(new[0][0]).body == new[1]
        if compact:
            archive.compact()
    assert not list(folder.glob("*.part"))
    if compact:
        assert len(list(folder.glob("*.segment"))) == 1
        assert not list(folder.glob("*.journal"))
    expected = {**before, new[0]: new[1]}
    assert check(folder, expected, expected) == expected
