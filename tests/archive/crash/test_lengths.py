"""Lengths read from disk never allocate more memory than a writer would need."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from quire import _core
from quire.archive import Archive, ingest
from quire.archive.format import index as indexes
from quire.archive.format import page_meta as limits
from quire.archive.format.base_record import MOST_BASE_BYTES, Bases
from quire.archive.format.page_meta import Codec, about, pack
from quire.archive.format.record import (
    MOST_FILE_META_BYTES,
    MOST_META_BYTES,
    RecordKind,
    Source,
    file_record,
    record,
)
from quire.archive.format.rows import MOST_ROWS_BYTES
from quire.archive.format.warc_head import unfold
from quire.errors import ArchiveError, CodecError, DamagedRecord, SourceTooLarge
from tests.archive.crash.ingest import QUICK, START
from tests.sources.crawls import record as warc_record
from tests.sources.crawls import write

ALONE = _core.Base(b"")
URL = "https://a.example/"
#: A few kilobytes of this are gigabytes of zeros: a block of 128 KiB of one byte, four bytes each.
RUN = struct.pack("<I", (128 << 10) << 3 | 0b010)[:3] + b"\0"


def bomb(length: int) -> bytes:
    """Make a frame of zeros that is valid except for its length."""
    whole, rest = divmod(length, 128 << 10)
    last = struct.pack("<I", rest << 3 | 0b011)[:3] + b"\0"
    # No content size, no checksum, a window of 2 MiB.
    return b"\x00\x58" + RUN * whole + last


def journal(folder: Path, *records: bytes) -> Path:
    Archive.create(folder, disk=QUICK).close()
    tag = b"tag"
    (folder / "000001.journal").write_bytes(file_record("journal", tag) + b"".join(records))
    return folder


def journal_page(length: int, frame: bytes, *, codec: Codec = Codec.ZSTD) -> bytes:
    page = replace(about(URL, START, b""), length=length, frame=len(frame), codec=codec)
    return record(RecordKind.PAGE, pack([page]), len(frame), b"tag") + frame


def block(columns: bytes, length: int, payload: bytes = b"") -> bytes:
    meta = struct.pack("<II", 0, length) + columns
    return record(RecordKind.BLOCK, meta, len(payload), b"tag") + payload


def segment(folder: Path, *records: bytes) -> Path:
    Archive.create(folder, disk=QUICK).close()
    ends = [file_record("segment", b"tag", replaces=[], pages=pages) for pages in (None, 1)]
    path = folder / "000001.segment"
    path.write_bytes(ends[0] + b"".join(records) + ends[1])
    return folder


def test_a_bomb_is_what_it_should_be() -> None:
    assert ALONE.decode(bomb(300_000), 300_000) == bytes(300_000)
    assert len(bomb(limits.MOST_BODY_BYTES + 1)) < 10_000


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Log every length that is allocated for a frame."""
    lengths: list[int] = []

    class Watched:
        def decode(self, frame: bytes, length: int) -> bytes:
            lengths.append(length)
            return ALONE.decode(frame, length)

        encode = ALONE.encode

    for module in ("base_record", "journal", "page_meta", "segment"):
        monkeypatch.setattr(f"quire.archive.format.{module}.PLAIN_ZSTD", Watched())
    return lengths


def test_a_body_that_is_longer_than_any_is_refused_unread(
    tmp_path: Path, decoded: list[int]
) -> None:
    most = limits.MOST_BODY_BYTES
    for name, length in (("a", most + 1), ("b", 2**32 - 1)):
        folder = journal(tmp_path / name, journal_page(length, bomb(length)))
        with Archive.open(folder) as archive:
            assert len(archive) == 0
            assert len(archive.verify()) == 0, "never acknowledged: no commit follows"
    page = replace(about(URL, START, b""), length=most + 1, frame=9, codec=Codec.ZSTD)
    columns = pack([page])
    folder = segment(
        tmp_path / "c", block(ALONE.encode(columns, 3), len(columns), bomb(most + 1)[:9])
    )
    with Archive.open(folder) as archive:
        assert len(archive) == 0
        assert archive.verify()
    assert max(decoded) == len(columns)


def test_a_length_that_the_frame_cannot_hold_is_refused(tmp_path: Path) -> None:
    # The maximum page length in ten bytes: zstd needs four for 128 KiB.
    folder = journal(tmp_path / "a", journal_page(limits.MOST_BODY_BYTES, bomb(1)))
    with pytest.raises(CodecError, match="cannot hold"):
        ALONE.decode(bomb(1), limits.MOST_BODY_BYTES)
    with Archive.open(folder) as archive:
        assert list(archive) == []


@pytest.mark.parametrize("length", [limits.MOST_COLUMNS_BYTES + 1, 2**32 - 1])
def test_columns_that_are_longer_than_any_are_refused_unread(
    tmp_path: Path, decoded: list[int], length: int
) -> None:
    folder = segment(tmp_path / "a", block(bomb(length), length))
    with Archive.open(folder) as archive:
        assert len(archive) == 0
        assert archive.verify()
    assert decoded == []


def test_a_count_of_pages_is_not_believed() -> None:
    n = limits.MOST_PAGES + 1
    columns = struct.pack("<I", n) + bytes(76 * n)
    with pytest.raises(CodecError, match="65,537 pages in one block; at most 65,536"):
        limits.unpack(columns)
    assert len(limits.unpack(struct.pack("<I", 3) + bytes(60 * 3))) == 3
    with pytest.raises(CodecError, match="cut short"):
        limits.unpack(struct.pack("<I", limits.MOST_PAGES))


def base_record(length: int, frame: bytes, payload_bytes: int | None = None) -> bytes:
    meta = struct.pack("<IIQ", 1, length, 0)
    return (
        record(RecordKind.BASE, meta, len(frame) if payload_bytes is None else payload_bytes)
        + frame
    )


def guard_record(length: int, frame_bytes: int, stripe: bytes, payload_bytes: int) -> bytes:
    meta = struct.pack("<IIQQQ", 1, length, 0, 0, frame_bytes)
    return record(RecordKind.GUARD, meta, payload_bytes) + stripe


@pytest.mark.parametrize(
    "made",
    [
        lambda: base_record(MOST_BASE_BYTES + 1, bomb(MOST_BASE_BYTES + 1)),
        lambda: base_record(2**32 - 1, bomb(2**32 - 1)),
        lambda: base_record(5, bomb(5), payload_bytes=1 << 40),
        lambda: guard_record(5, 1 << 40, bytes(600), 1 << 39),
        lambda: guard_record(2**32 - 1, 600, bytes(600), 600),
    ],
    ids=["base", "longest base", "frame", "guard", "guarded"],
)
def test_a_base_that_is_longer_than_any_is_refused_unread(
    tmp_path: Path,
    decoded: list[int],
    monkeypatch: pytest.MonkeyPatch,
    made: Callable[[], bytes],
) -> None:
    path = tmp_path / "x"
    path.write_bytes(made())
    with path.open("r+b") as file:
        file.truncate(1 << 41)  # costs no disk, and no length is beyond its end
    asked: list[int] = []
    source = Source(path)
    real = source.at

    def at(offset: int, length: int) -> bytes:
        asked.append(length)
        return real(offset, min(length, 1 << 16))

    monkeypatch.setattr(source, "at", at)
    with pytest.raises(DamagedRecord, match="no copy of it is intact"):
        Bases(source, lambda _: [0]).get(1)
    assert max(asked) <= MOST_BASE_BYTES
    assert max(decoded, default=0) <= MOST_BASE_BYTES


def test_an_index_that_is_longer_than_any_is_not_believed(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    with Archive.create(folder, disk=QUICK) as archive:
        archive.add(URL, START, b"<p>Open")
    (path,) = folder.glob("*.index")
    source = Source(folder / "000001.journal")
    about = {"length": source.length(), "check": 0, "bases": [], "torn": [], "packed": False}
    about |= {"pages": MOST_ROWS_BYTES // 28 + 1, "companions": 0}
    meta = json.dumps(about).encode()
    head = record(RecordKind.FILE, meta, MOST_ROWS_BYTES + 28, indexes.tag_of(source) or b"")
    path.write_bytes(head)
    with path.open("r+b") as file:
        file.truncate(len(head) + MOST_ROWS_BYTES + 28)

    assert indexes.known(path, source, lambda: pytest.fail("no need to make it anew")) is None
    with Archive.open(folder) as archive:
        assert archive.get(URL).body == b"<p>Open"
    source.close()


def test_what_a_file_says_of_itself_is_short(tmp_path: Path) -> None:
    folder = journal(tmp_path / "a")
    long = b'{"format": "quire archive", "version": 1, "kind": "journal", "x": ['
    long += b"0," * (MOST_FILE_META_BYTES // 2) + b"0]}"
    (folder / "000002.journal").write_bytes(record(RecordKind.FILE, long, 0))
    with pytest.raises(ArchiveError, match="not part of an archive"):
        Archive.open(folder)


def test_nothing_is_taken_in_that_would_not_be_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert 128 * (limits.MOST_ABOUT_BYTES + 76) + 4 < limits.MOST_COLUMNS_BYTES <= MOST_META_BYTES
    most = limits.MOST_ABOUT_BYTES - len(URL)
    monkeypatch.setattr(limits, "MOST_BODY_BYTES", 1000)
    with Archive.create(tmp_path / "a", disk=QUICK) as archive:
        archive.add(URL, START, b"x" * 1000, b"h" * (most - 5), extra=b"extra")
        for body, head in ((b"x" * 1001, b""), (b"", b"h" * (most + 1))):
            with pytest.raises(SourceTooLarge, match=r"^https://a\.example/: its .* at most"):
                archive.add(URL, START, body, head)
        archive.compact()
        assert archive.verify() == []
        assert len(archive.get(URL).head) == most - 5


def test_a_head_full_of_marks_is_not_put_together() -> None:
    url = "https://a.example/" + "x" * 100_000
    few, many = (b"\x01W" + b"\x01u" * count for count in (10, 30))

    assert unfold(few, url, START, b"", b"") == url.encode() * 10
    assert unfold(many, url, START, b"", b"") is None
    assert unfold(b"\x01W" + b"sha512:\x01B" * 20_000, URL, START, b"", b"") is None


def test_a_record_with_a_head_that_is_too_long_has_it_in_its_body(tmp_path: Path) -> None:
    endless = b"HTTP/1.1 200 OK\r\nX: " + b"x" * limits.MOST_ABOUT_BYTES
    write(tmp_path / "a.warc", [warc_record(endless), warc_record(b"HTTP/1.1 200 OK\r\n\r\n<p>")])
    with Archive.create(tmp_path / "a", disk=QUICK) as archive:
        done = ingest(archive, [str(tmp_path / "a.warc")])

        assert (done.pages, done.trouble_count, len(archive)) == (2, 0, 2)
        assert [(page.head, page.body) for page in archive] == [
            (b"", endless),
            (b"HTTP/1.1 200 OK\r\n\r\n", b"<p>"),
        ]
