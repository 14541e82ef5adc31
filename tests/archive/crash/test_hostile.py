"""Misleading files and unreadable disks give a clear error at most, and never a false page."""

from __future__ import annotations

import errno
import json
import os
import random
import struct
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from quire import _core
from quire.archive import Archive
from quire.archive.format import index as indexes
from quire.archive.format.base_record import Bases, base_meta, guard_of
from quire.archive.format.page_meta import Codec, about, pack
from quire.archive.format.record import NO_TAG, SYNC, RecordKind, Source, file_record, record
from quire.archive.format.rows import ROW
from quire.archive.format.segment import SegmentWriter, block_piece
from quire.archive.format.stored_file import data_files
from quire.errors import ArchiveError, DamagedRecord
from tests.archive.crash.damage import data, readable
from tests.archive.crash.ingest import PAGES, QUICK, START, check, ingest
from tests.archive.crash.soak import IS_SOAK

EVIL = "https://bank.example/"


def evil_record() -> bytes:
    """Make a journal record of a page that was never fetched."""
    body = b"<p>Your account is closed"
    page = replace(about(EVIL, START, body), frame=len(body))
    commit = record(RecordKind.COMMIT, struct.pack("<Q", 99), 0)
    return record(RecordKind.PAGE, pack([page]), len(body)) + body + commit


@pytest.mark.parametrize("tag", [None, NO_TAG], ids=["as it is", "without tags"])
def test_a_page_full_of_records_is_a_page_also_when_its_own_record_is_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tag: bytes | None
) -> None:
    if tag is not None:
        monkeypatch.setattr("quire.archive.format.journal.new_tag", lambda: tag)
    rng = random.Random(2)
    body = b"".join(evil_record() + rng.randbytes(50) for _ in range(300)) + SYNC * 10_000
    folder = tmp_path / "a"
    with Archive.create(folder, disk=QUICK) as archive:
        archive.add("https://a.example/1", START, b"first")
        archive.add("https://a.example/2", START, body)
        archive.add("https://a.example/3", START, b"third")
        # It hardly compresses, so it is stored as it is.
        archive.add("https://a.example/4", START, evil_record() + rng.randbytes(5000))
    with Archive.open(folder) as archive:
        assert archive.get("https://a.example/2").body == body
        (file,) = archive._open_files()
        places = [offset for offset, _ in file.index.places()]
    (path,) = data(folder)
    content = bytearray(path.read_bytes())
    assert evil_record() in content
    for offset in (places[1], places[3]):
        content[offset + 10] ^= 1
    path.write_bytes(content)
    for index in folder.glob("*.index"):
        index.unlink()

    with Archive.open(folder) as archive:
        is_fooled = EVIL in {page.url for page in archive}
        assert is_fooled == (tag is not None), "without tags, the attack would succeed"
        if tag is None:
            assert {page.url for page in archive} == {"https://a.example/1", "https://a.example/3"}
            assert len(archive.verify()) == 3  # two records, and that two pages are gone


def test_a_sector_that_the_disk_cannot_read_costs_what_is_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "a"
    with Archive.create(folder, disk=QUICK) as archive:
        for i in range(40):
            body = random.Random(i).randbytes(1000)
            archive.add(f"https://a.example/{i}", START, body)
    real = os.pread

    def pread(file: int, length: int, offset: int) -> bytes:
        if offset < 16384 and offset + length > 12288:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(file, length, offset)

    monkeypatch.setattr(os, "pread", pread)
    for index in folder.glob("*.index"):
        index.unlink()
    with Archive.open(folder) as archive:
        assert 33 <= len(archive) <= 36
        assert archive.verify()
    for (url, _), body in readable(folder).items():
        assert body == random.Random(int(url.rpartition("/")[2])).randbytes(1000)
    assert 33 <= len(readable(folder)) <= 35


@pytest.mark.parametrize("length", [1, 200, 500])
def test_a_base_with_a_damaged_stretch_is_made_anew_wherever_it_is(
    tmp_path: Path, length: int
) -> None:
    content = random.Random(7).randbytes(1700)
    frame = _core.Base(b"").encode(content, 3)
    meta = base_meta(1, content)
    head = record(RecordKind.BASE, meta, len(frame))
    guard, stripe = guard_of(meta, len(head), frame)
    whole = head + frame + record(RecordKind.GUARD, guard, len(stripe)) + stripe
    places = [0, len(head) + len(frame)]
    path = tmp_path / "x"
    for at in range(0, len(head) + len(frame) - length, 1 if IS_SOAK else 7):
        path.write_bytes(
            whole[:at]
            + bytes(byte ^ 0x55 for byte in whole[at : at + length])
            + whole[at + length :]
        )
        source = Source(path)
        assert Bases(source, lambda _: places).get(1).content == content
        source.close()


def test_a_guard_with_false_lengths_is_refused(tmp_path: Path) -> None:
    content = b"<p>base" * 20
    for place, length, stripe in [(0, 1 << 60, 10), (1 << 62, 100, 7), (0, 0, 0), (5, 160, 10)]:
        guard = base_meta(1, content) + struct.pack("<QQ", place, length)
        path = tmp_path / "x"
        path.write_bytes(record(RecordKind.GUARD, guard, stripe) + bytes(stripe))
        source = Source(path)
        with pytest.raises(DamagedRecord, match="no copy of it is intact"):
            Bases(source, lambda _: [0]).get(1)
        source.close()


def segment_of(folder: Path, pages: list[tuple[Codec, int]]) -> None:
    Archive.create(folder, disk=QUICK).close()
    writer = SegmentWriter(folder / "000001.segment", QUICK, [])
    known = []
    for i, (codec, same_as) in enumerate(pages):
        page = about(f"https://a.example/{i}", START + timedelta(seconds=i), b"x")
        known.append(replace(page, codec=codec, same_as=same_as))
    frames = [b"x" if codec == Codec.RAW else b"" for codec, _ in pages]
    writer.add_block(0, known, frames)
    writer.finish()


def test_a_long_chain_of_duplicates_is_refused_and_not_followed(tmp_path: Path) -> None:
    n = 5000
    segment_of(tmp_path / "a", [(Codec.RAW, 0)] + [(Codec.DUPLICATE, i) for i in range(n)])
    with Archive.open(tmp_path / "a") as archive:
        assert archive.get("https://a.example/1").body == b"x"
        with pytest.raises(DamagedRecord, match="depend on a page that it cannot use"):
            archive.get(f"https://a.example/{n}")


#: Python reads this as JSON, and it is not an integer.
NO_NUMBER = {"length": 1, "check": 1, "bases": [], "torn": [], "packed": True} | {
    "pages": float("inf"),
    "companions": 0,
}


def test_an_index_that_names_pages_that_are_none_is_no_more_than_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    segment_of(folder, [(Codec.RAW, 0)])
    with Archive.open(folder) as archive:
        (file,) = archive._open_files()
        url = "https://a.example/0"
        for offset, slot in [(file.index.places()[0][0], 9), (1 << 40, 0), (3, 0)]:
            rows = indexes.rows_of([(indexes.url_hash(url), 0, offset, slot)])
            indexes.save(
                indexes.Index(rows, file.index.length), file.index_path, file.source, QUICK
            )
            with Archive.open(folder) as other, pytest.raises(DamagedRecord):
                other.get(url)
        columns = np.zeros(3, ROW).tobytes()
        for wrong in ({}, {"length": "x"}, [1], {"length": 1, "check": 1, "bases": 7}, NO_NUMBER):
            meta = json.dumps(wrong).encode()
            file.index_path.write_bytes(
                record(RecordKind.FILE, meta, len(columns), indexes.tag_of(file.source) or b"")
                + columns
            )
            assert readable(folder) == {(url, START): b"x"}


def test_what_a_file_says_of_itself_may_be_nonsense(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    ingest(folder, QUICK)
    rest = b"[" * 100_000
    for meta in (b"", b"7", b'{"format": "other"}', b"\xff", rest):
        (folder / "000099.journal").write_bytes(record(RecordKind.FILE, meta, 0))
        with pytest.raises(ArchiveError, match="not part of an archive"):
            Archive.open(folder)
    (folder / "000099.journal").write_bytes(
        file_record("journal", bytes(3)).replace(b'"version": 1', b'"version": 2')
    )
    assert readable(folder) == PAGES, (
        "a version whose check is wrong is damage, and costs its record"
    )


def test_two_segments_that_took_over_each_other_are_both_kept(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    Archive.create(folder, disk=QUICK).close()
    for number, other in ((1, 2), (2, 1)):
        writer = SegmentWriter(
            folder / f"{number:06}.segment",
            QUICK,
            [f"{other:06}.segment", f"{number:06}.segment", "../../etc/passwd"],
        )
        page = about(f"https://a.example/{number}", START, b"x")
        writer.add_block(0, [page], [b"x"])
        writer.finish()
    with Archive.open(folder) as archive:
        # The later file may replace the earlier one; not both each other, and none itself.
        assert [page.url for page in archive] == ["https://a.example/2"]


def test_files_are_read_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    Archive.create(folder, disk=QUICK).close()
    for name in ("999999.journal", "1000000.journal", "000002.segment", "x.journal", "1.journal"):
        (folder / name).touch()
    assert [path.name for path in data_files(folder)] == [
        "000002.segment",
        "999999.journal",
        "1000000.journal",
    ]


@pytest.mark.parametrize("kind", ["journal", "segment"])
def test_no_page_is_taken_into_a_file_whose_number_readers_do_not_know(
    tmp_path: Path, kind: str
) -> None:
    folder = tmp_path / "a"
    with Archive.create(folder, disk=QUICK) as archive:
        archive.add("https://a.example/1", START, b"first")
        if kind == "segment":
            archive.compact()
    (old,) = data(folder)
    last = old.rename(folder / f"999999999999.{kind}")
    before = readable(folder)
    piece = block_piece(0, [about("https://a.example/2", START, b"second")], [b"second"])
    adding: list[Callable[[Archive], object]] = [
        lambda archive: archive.add("https://a.example/2", START, b"second"),
        lambda archive: archive.compact(),
        lambda archive: archive.add_pieces([piece]),
    ]
    for add in adding:
        with (
            pytest.raises(ArchiveError, match=r"highest number.*quire archive export"),
            Archive.open(folder, write=True, disk=QUICK) as archive,
        ):
            add(archive)
        assert readable(folder) == before
        assert data(folder) == [last]


def test_the_last_number_can_be_used(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    Archive.create(folder, disk=QUICK).close()
    (folder / "999999999998.journal").write_bytes(file_record("journal", bytes(3)))
    with Archive.open(folder, write=True, disk=QUICK) as archive:
        archive.add("https://a.example/2", START, b"second")
    assert (folder / "999999999999.journal").exists()
    assert readable(folder) == {("https://a.example/2", START): b"second"}


def test_a_segment_that_came_to_harm_does_not_hide_what_it_took_over(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    ingest(folder, QUICK)
    kept = {path: path.read_bytes() for path in data(folder)}
    with Archive.open(folder, write=True, disk=QUICK) as archive:
        archive.compact()
    (segment,) = data(folder)
    content = segment.read_bytes()
    for path, old in kept.items():
        path.write_bytes(old)
    check(folder, PAGES)
    segment.write_bytes(content[: len(content) // 2])
    for index in folder.glob("*.index"):
        index.unlink()

    assert readable(folder) == PAGES
    with Archive.open(folder, write=True, disk=QUICK) as archive:
        archive.compact()
    assert readable(folder) == PAGES


def test_an_archive_that_was_never_finished_can_be_made_again(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "archive.json.part").write_bytes(b"{")
    with Archive.create(tmp_path / "a", disk=QUICK) as archive:
        archive.add("https://a.example", START, b"x")
    assert not list((tmp_path / "a").glob("*.part"))


def test_damaged_files_are_not_compacted_again_and_again(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    ingest(folder, QUICK)
    segment = next(folder.glob("*.segment"))
    content = bytearray(segment.read_bytes())
    content[len(content) // 2] ^= 1
    segment.write_bytes(content)
    before = readable(folder)
    for _ in range(3):
        with Archive.open(folder, write=True, disk=QUICK) as archive:
            done = archive.compact()
            assert done.damaged
            assert len(archive) == len(PAGES)
    assert readable(folder) == before
    assert len(data(folder)) == 2


@pytest.mark.parametrize("place", ["itself", "later", "another pointer", "no record", "far away"])
def test_a_forged_pointer_in_a_journal_is_damage(tmp_path: Path, place: str) -> None:
    body = random.Random(1).randbytes(400)
    start = file_record("journal", b"tag")
    page = replace(about("https://a.example/1", START, body), frame=len(body))
    first = record(RecordKind.PAGE, pack([page]), len(body), b"tag") + body
    where = len(start) + len(first)
    copy = replace(page, url="https://a.example/2", codec=Codec.DUPLICATE, frame=8)

    def pointer(to: int) -> bytes:
        return record(RecordKind.PAGE, pack([copy]), 8, b"tag") + struct.pack("<Q", to)

    right = pointer(len(start))
    wrong = pointer(
        {
            "itself": where + len(right),
            "later": where + 2 * len(right),
            "another pointer": where,
            "no record": len(start) + 5,
            "far away": 2**64 - 1,
        }[place]
    )
    folder = tmp_path / "a"
    Archive.create(folder, disk=QUICK).close()
    commit = record(RecordKind.COMMIT, struct.pack("<Q", 4), 0, b"tag")
    (folder / "000001.journal").write_bytes(start + first + right + wrong + first + commit)

    with Archive.open(folder) as archive:
        (finding,) = archive.verify()
        assert "points to a page that is not there" in finding
        errors: list[ArchiveError] = []
        assert [page.body for page in archive.read(on_damage=errors.append)] == [body] * 3
        assert len(errors) == 1
