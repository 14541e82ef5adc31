"""Small pages share frames: histories of them are small, and any page still comes back alone."""

from __future__ import annotations

import lzma
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from quire import _core
from quire.archive import Archive
from quire.archive.compact.tiers.zstd import TOGETHER_BYTES, ZstdTier
from quire.archive.disk.storage import DISK
from quire.archive.format.page_meta import About, Codec, about
from quire.archive.format.segment import MOST_TOGETHER_BYTES, SegmentWriter
from quire.archive.format.stored_file import StoredFile
from quire.errors import DamagedRecord
from tests.archive.test_archive import at
from tests.archive.test_labels import Pages, stored_bytes
from tests.archive.test_tiers import compacted, segment, sentence

ADDRESS = "https://prices.example/"


def history(versions: int) -> Pages:
    """Versions of a price list of 10 KB: some prices change, sometimes an item is new."""
    chance = random.Random(3)
    items = [[sentence(("item", n), 12), str(chance.randrange(10_000))] for n in range(80)]
    found = []
    for number in range(versions):
        for _ in range(chance.randint(1, 5)):
            chance.choice(items)[1] = str(chance.randrange(10_000))
        if chance.random() < 0.3:
            items = [[sentence((number, "new"), 12), "1"], *items[:-1]]
        rows = "".join(f'<tr class="item"><td>{name}<td>{price}' for name, price in items)
        found.append((ADDRESS, at(number), f"<h1>Prices</h1><table>{rows}</table>".encode()))
    return found


def shared_frames(folder: Path) -> list[list[tuple[int, About]]]:
    """The pages of each shared frame, with the offset of the frame."""
    file = StoredFile(segment(folder))
    frames: dict[tuple[int, int], list[tuple[int, About]]] = defaultdict(list)
    for offset, slot in file.index.places():
        page = file.about(offset, slot)
        if page.codec == Codec.TOGETHER:
            block = file._block(offset)
            frames[offset, page.same_as].append((block.offsets[page.same_as], page))
    file.close()
    return list(frames.values())


def test_a_history_of_small_pages_is_near_a_solid_stream(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = history(300)
    solid = len(lzma.compress(b"".join(body for _, _, body in pages), preset=9))
    together = stored_bytes(tmp_path / "together", pages, "zstd")
    monkeypatch.setattr(ZstdTier, "together_bytes", 0)
    apart = stored_bytes(tmp_path / "apart", pages, "zstd")

    assert together < 1.6 * solid, (together, solid)
    assert together < 0.75 * apart, (together, apart)


def test_a_shared_frame_has_a_limit(tmp_path: Path) -> None:
    frames = shared_frames(compacted(tmp_path / "a", history(100), "zstd"))

    assert sum(map(len, frames)) == 100
    for frame in frames:
        assert len(frame) > 1
        assert sum(page.length for _, page in frame) <= TOGETHER_BYTES


@pytest.mark.parametrize("lengths", [[10], [40_000], [10, 40_000, 10], [0, 0, 0], [32_768] * 9])
def test_pages_of_any_lengths_come_back(tmp_path: Path, lengths: Sequence[int]) -> None:
    bodies = [random.Random(n).randbytes(length) for n, length in enumerate(lengths)]
    pages = [(f"https://a.example/{n}", at(n), body) for n, body in enumerate(bodies)]
    with Archive.open(compacted(tmp_path / "a", pages, "zstd")) as archive:
        assert [archive.get(url).body for url, _, _ in pages] == bodies
        assert archive.verify() == []


def test_damage_to_a_shared_frame_costs_its_pages_and_no_others(tmp_path: Path) -> None:
    pages = history(100)
    folder = compacted(tmp_path / "a", pages, "zstd")
    frame = shared_frames(folder)[2]
    data = bytearray(segment(folder).read_bytes())
    data[frame[0][0] + 20] ^= 0x10
    segment(folder).write_bytes(data)
    lost = {page.time for _, page in frame}

    damaged: list[Exception] = []
    with Archive.open(folder) as archive:
        read = {(page.time, page.body) for page in archive.read(on_damage=damaged.append)}
        assert len(archive.verify()) >= 1
    assert read <= {(time, body) for _, time, body in pages}
    assert 1 <= len(damaged) <= len(lost)
    assert len(read) == len(pages) - len(damaged)


def forged(folder: Path, change: Callable[[list[About]], list[About]]) -> None:
    """Write three pages that share a frame, with their metadata changed."""
    bodies = [b"<p>one", b"<p>two", b"<p>three"]
    known = [
        replace(about(f"https://a.example/{n}", at(n), body), codec=Codec.TOGETHER, same_as=0)
        for n, body in enumerate(bodies)
    ]
    Archive.create(folder).close()
    writer = SegmentWriter(folder / "000001.segment", DISK, [])
    frame = _core.Base(b"").encode(b"".join(bodies), 3)
    writer.add_block(0, change(known), [frame, b"", b""])
    writer.finish()


FORGERIES: dict[str, Callable[[list[About]], list[About]]] = {
    "longer than the frame": lambda pages: [*pages[:2], replace(pages[2], length=9)],
    "longer than any": lambda pages: [*pages[:2], replace(pages[2], length=MOST_TOGETHER_BYTES)],
    "without the first": lambda pages: [
        replace(pages[0], codec=Codec.RAW),
        *(replace(page, same_as=0) for page in pages[1:]),
    ],
    "of a page that is not there": lambda pages: [*pages[:2], replace(pages[2], same_as=9)],
    "in another order": lambda pages: [pages[0], pages[2], pages[1]],
}


def test_a_frame_that_holds_more_than_any_writer_puts_together_is_refused(tmp_path: Path) -> None:
    """The frame is right in itself: only the limit refuses it, before it is decoded."""
    bodies = [bytes(MOST_TOGETHER_BYTES // 2 + 1)] * 2
    known = [
        replace(about(f"https://a.example/{n}", at(n), body), codec=Codec.TOGETHER, same_as=0)
        for n, body in enumerate(bodies)
    ]
    Archive.create(tmp_path / "a").close()
    writer = SegmentWriter(tmp_path / "a" / "000001.segment", DISK, [])
    writer.add_block(0, known, [_core.Base(b"").encode(b"".join(bodies), 3), b""])
    writer.finish()

    with Archive.open(tmp_path / "a") as archive, pytest.raises(DamagedRecord, match="cannot have"):
        archive.get("https://a.example/1")


def test_a_block_of_thousands_of_pages_in_one_frame_is_read_in_linear_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A forged block may have 65,536 pages: no page may look at all others."""
    count = 2000
    bodies = [b"%d" % n for n in range(count)]
    known = [
        replace(about(f"https://a.example/{n}", at(0), body), codec=Codec.TOGETHER, same_as=0)
        for n, body in enumerate(bodies)
    ]
    Archive.create(tmp_path / "a").close()
    writer = SegmentWriter(tmp_path / "a" / "000001.segment", DISK, [])
    frame = _core.Base(b"").encode(b"".join(bodies), 3)
    writer.add_block(0, known, [frame, *[b""] * (count - 1)])
    writer.finish()
    asked = 0

    class Counted(list[About]):
        def __getitem__(self, place: Any) -> Any:  # noqa: ANN401 - as a list has it
            nonlocal asked
            asked += 1
            return super().__getitem__(place)

        def __iter__(self) -> Iterator[About]:
            nonlocal asked
            asked += len(self)
            return super().__iter__()

    with Archive.open(tmp_path / "a") as archive:
        (file,) = archive.files()
        offset = file.index.places()[0][0]
        block = file._block(offset)
        monkeypatch.setitem(file._blocks, offset, replace(block, pages=Counted(block.pages)))
        assert {page.body for page in archive} == set(bodies)
    assert asked < 20 * count


def test_three_pages_share_a_frame(tmp_path: Path) -> None:
    forged(tmp_path / "a", lambda pages: pages)
    with Archive.open(tmp_path / "a") as archive:
        assert archive.get("https://a.example/2").body == b"<p>three"
        assert archive.verify() == []


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_frame_is_refused(tmp_path: Path, name: str) -> None:
    forged(tmp_path / "a", FORGERIES[name])
    with Archive.open(tmp_path / "a") as archive:
        with pytest.raises(DamagedRecord):
            archive.get("https://a.example/2")
        assert archive.verify()
