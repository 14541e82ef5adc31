"""Damage in a base is found out once, without opening what cannot be right, and remembered."""

from __future__ import annotations

import struct
from datetime import UTC, datetime
from pathlib import Path

import pytest

from quire.archive import Archive
from quire.archive.compact.tiers import TierName
from quire.archive.format import base_record, segment
from quire.archive.format.base_record import Bases, OpenBase
from quire.archive.format.record import Head, RecordKind, Source, heads
from quire.archive.repair import repair
from quire.errors import DamagedRecord
from tests.archive.crash.ingest import QUICK

START = datetime(2026, 5, 1, tzinfo=UTC)
PAGES = 24


def filled(folder: Path, codec: TierName) -> Path:
    """An archive of two templates; in the dense tier, bases are on top of others."""
    with Archive.create(folder, disk=QUICK) as archive:
        for i in range(PAGES):
            rows = "".join(f"<li class=k{i % 2}>{i * j % 89} of {j}" for j in range(120))
            body = f"<title>{i}</title><ul class=t{i % 2}>{rows}</ul>".encode()
            archive.add(f"https://a{i % 2}.example/{i}", START, body)
        archive.compact(codec=codec)
    return folder


def bases_of(path: Path) -> list[Head]:
    source = Source(path)
    try:
        found = [one for one in heads(source) if isinstance(one, Head)]
    finally:
        source.close()
    return [one for one in found if one.kind == RecordKind.BASE]


def hurt(folder: Path, places: list[float]) -> int:
    """Flip a bit at these fractions of each base, and return the number of bases."""
    (path,) = folder.glob("*.segment")
    content = bytearray(path.read_bytes())
    found = bases_of(path)
    for head in found:
        for place in places:
            content[head.payload_offset + int(head.payload_bytes * place)] ^= 4
    path.write_bytes(content)
    return len(found)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the bases that are opened, which takes most of the time."""
    numbers: list[int] = []
    real = Bases._opened

    def counted(bases: Bases, stored: base_record._Stored, frame: bytes) -> OpenBase | None:
        numbers.append(stored.number)
        return real(bases, stored, frame)

    monkeypatch.setattr(Bases, "_opened", counted)
    return numbers


@pytest.mark.parametrize("codec", ["zstd", "dense"])
def test_a_base_beyond_repair_is_not_opened_at_all(
    tmp_path: Path, opened: list[int], codec: TierName
) -> None:
    folder = filled(tmp_path / "a", codec)
    # Further apart than a stripe, so that the guard cannot restore them.
    assert hurt(folder, [0.1, 0.7]) >= 1
    opened.clear()

    with Archive.open(folder) as archive:
        for _ in range(3):
            with pytest.raises(DamagedRecord, match="no copy of it is intact"):
                archive.get("https://a0.example/0")
        assert len(archive.verify()) >= PAGES
    assert repair(folder).pages == 0
    assert opened == []


@pytest.mark.parametrize("codec", ["zstd", "dense"])
def test_a_base_that_can_be_restored_is_opened_once(
    tmp_path: Path, opened: list[int], codec: TierName
) -> None:
    folder = filled(tmp_path / "a", codec)
    bases = hurt(folder, [0.3])
    opened.clear()

    with Archive.open(folder) as archive:
        found = archive.verify()
        assert len(list(archive)) == PAGES
    assert len(found) == bases
    assert all("another copy is intact" in one for one in found)
    assert sorted(opened) == sorted(set(opened))


@pytest.mark.parametrize("codec", ["zstd", "dense"])
def test_a_whole_archive_is_verified_with_one_opening_of_each_base(
    tmp_path: Path, opened: list[int], codec: TierName
) -> None:
    folder = filled(tmp_path / "a", codec)
    opened.clear()
    with Archive.open(folder) as archive:
        assert archive.verify() == []
    assert sorted(opened) == sorted(set(opened))


def test_a_guard_without_a_checksum_still_restores(
    tmp_path: Path, opened: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def old_guard(meta: bytes, place: int, frame: bytes) -> tuple[bytes, bytes]:
        more, stripe = base_record.guard_of(meta, place, frame)
        return more[: len(meta) + struct.calcsize("<QQ")], stripe

    monkeypatch.setattr(segment, "guard_of", old_guard)
    for name, places, pages in (("one", [0.3], PAGES), ("two", [0.1, 0.7], 0)):
        folder = filled(tmp_path / name, "zstd")
        hurt(folder, places)
        opened.clear()
        with Archive.open(folder) as archive:
            assert len(list(archive.read(on_damage=lambda _: None))) == pages
            tried = len(opened)
            assert len(list(archive.read(on_damage=lambda _: None))) == pages
        assert len(opened) == tried, "remembered"
