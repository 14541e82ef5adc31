"""Rows of indexes: the same answers whether packed, in chunks or in memory; damage is repaired."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.archive import Archive
from quire.archive.format import index as indexes
from quire.archive.format import rows as of_rows
from quire.archive.format.record import Source
from quire.archive.format.rows import ROW, Rows, chunk_table, pack, sorted_rows, stored_rows, unpack
from quire.archive.format.stored_file import StoredFile
from tests.archive.test_archive import at

HASHES = st.integers(0, 12) | st.integers(0, 2**64 - 1)
ROWS = st.lists(
    st.tuples(
        HASHES, st.integers(-(2**63), 2**63 - 1), st.integers(0, 2**60), st.integers(0, 2**32 - 1)
    ),
    max_size=60,
)


@given(ROWS)
def test_packed_rows_come_back(entries: list[tuple[int, int, int, int]]) -> None:
    rows = sorted_rows(entries)

    assert unpack(pack(rows), len(rows)).tolist() == rows.tolist()


@pytest.fixture
def short_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_rows, "CHUNK_ROWS", 8)
    monkeypatch.setattr(indexes, "MOST_PACKED_ROWS", 20)


@pytest.mark.usefixtures("short_chunks")
def test_a_search_in_chunks_finds_what_a_search_in_memory_finds(tmp_path: Path) -> None:
    chance = np.random.default_rng(5)
    for number in range(300):
        count = int(chance.integers(0, 60))
        entries = [(int(chance.integers(0, 12)), n, n, 0) for n in range(count)]
        rows = sorted_rows(entries)
        (tmp_path / "rows").write_bytes(b"head" + rows.tobytes())
        stored = Rows(
            None,
            stored_rows(Source(tmp_path / "rows"), 4, chunk_table(rows), count),
            lambda: pytest.fail("not damaged"),
        )
        assert len(stored) == count
        for url in range(-1 % 12, 13):
            expected = [row for row in rows.tolist() if row[0] == url]
            assert stored.find(url).tolist() == expected, (number, url)
        assert stored.array().tolist() == rows.tolist()


def filled(folder: Path, pages: int = 100) -> StoredFile:
    with Archive.create(folder) as archive:
        for n in range(pages):
            archive.add(f"https://a.example/{n}", at(n), b"%d" % n)
        archive.compact()
    (path,) = folder.glob("*.segment")
    return StoredFile(path)


@pytest.mark.usefixtures("short_chunks")
def test_a_damaged_chunk_is_made_anew_and_written_again(tmp_path: Path) -> None:
    file = filled(tmp_path / "a")
    good = file.index_path.read_bytes()
    start = len(good) - 13 * 16 - 100 * ROW.itemsize
    for place in range(start + 3, len(good), 97):
        damaged = bytearray(good)
        damaged[place] ^= 0x20
        file.index_path.write_bytes(damaged)
        with Archive.open(tmp_path / "a") as archive:
            assert len(archive) == 100
            for n in range(0, 100, 9):
                assert archive.get(f"https://a.example/{n}").body == b"%d" % n
            assert archive.verify() == []
            assert len(list(archive.pages())) == 100
    with Archive.open(tmp_path / "a", write=True) as archive:
        archive.add("https://a.example/new", at(0), b"new")
        for n in range(100):
            archive.get(f"https://a.example/{n}")
    again = file.index_path.read_bytes()
    assert again[start:] == good[start:]
    file.close()


@pytest.mark.usefixtures("short_chunks")
def test_one_page_takes_the_table_and_one_chunk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(tmp_path / "a", 400).close()
    read: list[int] = []

    plain = Source.at

    def counted(source: Source, offset: int, length: int) -> bytes:
        found = plain(source, offset, length)
        read.append(len(found) if source.name.endswith(".index") else 0)
        return found

    monkeypatch.setattr(Source, "at", counted)
    with Archive.open(tmp_path / "a") as archive:
        assert archive.get("https://a.example/77").body == b"77"
        assert len(archive) == 400
    assert sum(read) < 400 * ROW.itemsize / 4


def test_a_history_has_short_rows(tmp_path: Path) -> None:
    with Archive.create(tmp_path / "a") as archive:
        for n in range(1000):
            archive.add("https://a.example/", at(n), b"%d" % n)
        archive.compact()
    (path,) = (tmp_path / "a").glob("*.index")
    assert path.stat().st_size < 1000 * ROW.itemsize / 3
