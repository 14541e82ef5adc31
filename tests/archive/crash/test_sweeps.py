"""Every byte changed, and every length cut: no wrong byte comes out, and little is lost."""

from __future__ import annotations

import random
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path

import pytest

from quire.archive import Archive
from quire.archive.format.record import HEAD_BYTES, read_head
from tests.archive.crash.damage import data, readable
from tests.archive.crash.ingest import QUICK, START, Key
from tests.archive.crash.soak import IS_SOAK

SAMPLE = 300
BLOCK = 5
SECTOR = 512
KINDS = pytest.mark.parametrize("kind", ["journal", "segment"])


def pages() -> dict[Key, bytes]:
    """Make pages that fill an archive of at least 64 KB."""
    found = {}
    for i in range(34):
        rng = random.Random(i)
        head = f"<title>{i}</title>" + "".join(f"<p class=c{j % 5}>line {j}" for j in range(40))
        body = head.encode() + rng.randbytes(2000)
        found[f"https://a{i % 2}.example/{i}", START + timedelta(seconds=i)] = body
    return found


PAGES = pages()


@pytest.fixture
def file(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A journal or a segment of 64 KB, alone in its archive."""
    monkeypatch.setattr("quire.archive.compact.write_cluster.BLOCK_PAGES", BLOCK)
    with Archive.create(tmp_path / "a", disk=QUICK) as archive:
        for i, ((url, time), body) in enumerate(PAGES.items()):
            archive.add(url, time, body)
            if i % 5 == 0:
                archive.commit()
        if kind == "segment":
            archive.compact()
    (found,) = data(tmp_path / "a")
    assert found.stat().st_size >= 1 << 16
    return found


def places(length: int) -> Iterable[int]:
    """Choose bytes of a file: by default those of its first and last records, and some between."""
    if IS_SOAK:
        return range(length)
    rng = random.Random(length)
    ends = [*range(100), *range(length - 100, length)]
    return sorted({*ends, *(rng.randrange(length) for _ in range(SAMPLE - len(ends)))})


@KINDS
def test_a_changed_byte_costs_a_page_or_a_block_and_no_wrong_byte_comes_out(
    file: Path, kind: str
) -> None:
    folder = file.parent
    original = file.read_bytes()
    index = file.with_name(file.name + ".index")
    kept = index.read_bytes()
    most = 1 if kind == "journal" else BLOCK
    unseen = 0
    for at in places(len(original)):
        changed = bytearray(original)
        changed[at] ^= 1 << at % 8
        file.write_bytes(changed)
        index.unlink()
        without = readable(folder)
        index.write_bytes(kept)
        for found in (without, readable(folder)):
            assert found.items() <= PAGES.items(), f"wrong bytes after a change at {at}"
            assert len(found) >= len(PAGES) - most, f"too much lost by a change at {at}"
        with Archive.open(folder) as archive:
            if not archive.verify():
                # zstd does not use every bit of a frame: the page is the same.
                assert readable(folder) == PAGES
                unseen += 1
    assert unseen <= len(list(places(len(original)))) // 100


@KINDS
def test_a_lost_sector_costs_what_is_in_it(file: Path, kind: str) -> None:
    original = file.read_bytes()
    file.with_name(file.name + ".index").unlink()
    most = 2 if kind == "journal" else 2 * BLOCK
    for at in range(0, len(original), 64 if IS_SOAK else SECTOR):
        file.write_bytes(original[:at] + bytes(SECTOR) + original[at + SECTOR :])
        found = readable(file.parent)
        assert found.items() <= PAGES.items(), f"wrong bytes after losing 512 bytes at {at}"
        assert len(found) >= len(PAGES) - most, f"too much lost by losing 512 bytes at {at}"


@KINDS
def test_a_file_cut_to_any_length_loses_only_what_is_behind_the_cut(file: Path) -> None:
    folder = file.parent
    original = file.read_bytes()
    with Archive.open(folder) as archive:
        (stored,) = archive._open_files()
        ends: dict[Key, int] = {}
        for offset, slot in stored.index.places():
            about = stored.about(offset, slot)
            key = next(key for key in PAGES if key[0] == about.url)
            head = read_head(stored.source.at(offset, HEAD_BYTES), offset)
            assert head is not None
            ends[key] = head.end
    for length in places(len(original) + 1):
        file.write_bytes(original[:length])
        found = readable(folder)
        assert found.items() <= PAGES.items()
        assert found.keys() == {key for key, end in ends.items() if end <= length}
        with Archive.open(folder) as archive:
            assert len(archive) == len(found)
            wrong = archive.verify(every_byte=False)
            assert bool(wrong) >= (len(found) < len(PAGES)), f"cut to {length} and not noticed"


@KINDS
def test_a_changed_byte_of_an_index_changes_no_answer(file: Path) -> None:
    index = file.with_name(file.name + ".index")
    original = index.read_bytes()
    for at in range(len(original)) if IS_SOAK else range(0, len(original), 9):
        changed = bytearray(original)
        changed[at] ^= 1 << at % 8
        index.write_bytes(changed)
        assert readable(file.parent) == PAGES
    for length in range(0, len(original), 9):
        index.write_bytes(original[:length])
        assert readable(file.parent) == PAGES
    index.unlink()
    assert readable(file.parent) == PAGES
