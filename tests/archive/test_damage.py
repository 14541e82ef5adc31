"""Damage costs only the page or block it is in, and is never returned as a page."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from quire.archive import Archive
from quire.archive.format.record import SYNC
from quire.archive.repair import repair
from quire.errors import ArchiveError
from tests.archive.test_archive import filled, site

BLOCK = 5


def readable(folder: Path) -> int:
    """Read every page, and count the readable ones; a wrong byte fails the test."""
    expected = {(url, time): body for url, time, body in site()}
    whole = 0
    with Archive.open(folder) as archive:
        for (url, time), body in expected.items():
            try:
                page = archive.get(url, time)
            except ArchiveError:
                continue
            if page.time == time:
                assert page.body == body
                whole += 1
    return whole


def data_file(folder: Path) -> Path:
    return next(path for path in folder.iterdir() if path.suffix in {".journal", ".segment"})


@pytest.mark.parametrize("compact", [False, True], ids=["journal", "segment"])
def test_a_flipped_byte_costs_a_page_or_a_block_and_no_wrong_byte_comes_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, compact: bool
) -> None:
    monkeypatch.setattr("quire.archive.compact.write_cluster.BLOCK_PAGES", BLOCK)
    folder = filled(tmp_path / "a", site(), compact=compact)
    for path in folder.glob("*.index"):
        path.unlink()
    file = data_file(folder)
    original = file.read_bytes()
    every = len(site())
    # A journal stores the copy of the first page as a pointer to it.
    second = original.index(SYNC, original.index(SYNC, 1) + 1)
    for at in range(0, len(original), max(1, len(original) // 100)):
        changed = bytearray(original)
        changed[at] ^= 0x10
        file.write_bytes(changed)
        lost = BLOCK if compact else 2 if at < second else 1
        assert readable(folder) >= every - lost, f"byte {at} of {len(original)}"
    file.write_bytes(original)
    assert readable(folder) == every


@pytest.mark.parametrize("compact", [False, True], ids=["journal", "segment"])
def test_a_cut_file_gives_all_pages_before_the_cut(tmp_path: Path, *, compact: bool) -> None:
    folder = filled(tmp_path / "a", site(), compact=compact)
    file = data_file(folder)
    original = file.read_bytes()
    last = 0
    for length in range(0, len(original) + 1, max(1, len(original) // 100)):
        file.write_bytes(original[:length])
        found = readable(folder)
        assert found >= last
        last = found
    file.write_bytes(original)
    assert readable(folder) == len(site())


@pytest.mark.parametrize("compact", [False, True], ids=["journal", "segment"])
def test_indexes_and_marks_are_not_needed(tmp_path: Path, *, compact: bool) -> None:
    folder = filled(tmp_path / "a", site(), compact=compact)
    for path in [*folder.glob("*.index"), folder / "archive.json", folder / "lock"]:
        path.unlink()

    assert readable(folder) == len(site())


def test_a_damaged_or_foreign_index_is_not_believed(tmp_path: Path) -> None:
    folder = filled(tmp_path / "a", site(), compact=True)
    (index,) = folder.glob("*.index")
    original = index.read_bytes()
    for at in range(0, len(original), 7):
        changed = bytearray(original)
        changed[at] ^= 0x04
        index.write_bytes(changed)
        assert readable(folder) == len(site())
    other = filled(tmp_path / "b", site(60), compact=True)
    shutil.copy(next(other.glob("*.index")), index)
    assert readable(folder) == len(site())


def test_verify_names_the_file_and_the_place(tmp_path: Path) -> None:
    folder = filled(tmp_path / "a", site(), compact=False)
    file = data_file(folder)
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(data)

    with Archive.open(folder) as archive:
        findings = archive.verify()

    assert findings
    assert all(finding.startswith(str(file)) for finding in findings)


def test_compacting_keeps_the_files_that_have_damage(tmp_path: Path) -> None:
    folder = filled(tmp_path / "a", site(), compact=False)
    file = data_file(folder)
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(data)
    before = readable(folder)

    with Archive.open(folder, write=True) as archive:
        archive.compact()

    assert file.exists(), "it may still be repaired"
    assert readable(folder) == before == len(site()) - 1


MARKS = {
    "missing": (None, "is missing"),
    "empty": (b"", "is damaged: it does not identify an archive"),
    "cut": (b'{"format": "quire arch', "is damaged: it does not identify an archive"),
    "deep": (b"[" * 4000, "is damaged: it does not identify an archive"),
    "long": (b" " * 5000 + b"{}", "is damaged: it does not identify an archive"),
    "later": (
        b'{"format": "quire archive", "version": 3, "id": "00000000000000000000000000000000"}',
        "says archive format 3, but this version reads up to 2",
    ),
    "no id": (b'{"format": "quire archive", "version": 1}', "has no id of 32 hexadecimal digits"),
}


@pytest.mark.parametrize("case", MARKS)
def test_a_mark_that_is_wrong_is_found_and_made_anew(tmp_path: Path, case: str) -> None:
    content, finding = MARKS[case]
    folder = filled(tmp_path / "a", site(), compact=True)
    mark = folder / "archive.json"
    if content is None:
        mark.unlink()
    else:
        mark.write_bytes(content)

    with Archive.open(folder) as archive:
        assert archive.verify(every_byte=False) == [f"{mark}: at 0: {finding}"]
    done = repair(folder, tmp_path / "b")

    assert done.pages == len(site())
    assert [found.what for found in done.findings] == [finding]
    assert done.lost == ()
    with Archive.open(tmp_path / "b", write=True) as archive:
        assert archive.verify() == []


def test_nobody_writes_into_an_archive_of_a_later_version(tmp_path: Path) -> None:
    Archive.create(tmp_path / "a").close()
    mark = tmp_path / "a" / "archive.json"
    mark.write_bytes(MARKS["later"][0] or b"")

    with pytest.raises(ArchiveError, match=r"archive\.json: archive format 3, but this version"):
        Archive.open(tmp_path / "a", write=True)
