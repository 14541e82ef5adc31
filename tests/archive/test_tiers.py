"""Pages come back whichever tier wrote them; the dense tier is smaller, and survives damage."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire import _core
from quire.archive import Archive
from quire.archive.compact.choose_base import joined_within
from quire.archive.compact.compaction import PageSlot
from quire.archive.compact.tiers import TierName, zstd
from quire.archive.compact.tiers.tier import RUN_PAGES
from quire.archive.compact.write_cluster import duplicates_together
from quire.archive.disk.storage import DISK
from quire.archive.format.base_record import dense_frame
from quire.archive.format.page_meta import Codec, about, pack_delta, unpack_delta
from quire.archive.format.record import Head, RecordKind, heads
from quire.archive.format.segment import SegmentWriter
from quire.archive.format.stored_file import StoredFile
from quire.errors import CodecError, DamagedRecord
from tests.archive.test_archive import at, site

TIERS: list[TierName] = ["zstd", "dense", "tbc"]
EACH = pytest.mark.parametrize("codec", TIERS)
WORDS = [f"{a}{b}{c}" for a in ("ka", "lo", "mi") for b in "aeiou" for c in ("n", "rt", "ss")]


def sentence(seed: object, words: int) -> str:
    chance = random.Random(str(seed))
    return " ".join(chance.choice(WORDS) for _ in range(words))


def manual(pages: int = 7 * RUN_PAGES) -> list[tuple[str, datetime, bytes]]:
    """Chapters whose neighbours repeat each other, more than one base can hold, in one template."""
    found = []
    for i in range(pages):
        chapter = random.Random(i // RUN_PAGES).randbytes(7000).hex()
        body = f"<title>{i}</title>{sentence('head', 300)}<p>{chapter}<p>{sentence(i, 60)}"
        found.append((f"https://m.example/{i:04}", at(i), body.encode()))
    return found


def compacted(
    folder: Path, pages: list[tuple[str, datetime, bytes]], codec: TierName = "dense"
) -> Path:
    with Archive.create(folder) as archive:
        for url, time, body in pages:
            archive.add(url, time, body)
        archive.compact(codec=codec)
    return folder


def segment(folder: Path) -> Path:
    return next(folder.glob("*.segment"))


def codecs(folder: Path) -> set[tuple[Codec, bool]]:
    """List how pages are stored, and whether with a base of their run."""
    file = StoredFile(segment(folder))
    known = [file.about(*place) for place in file.index.places()]
    file.close()
    return {
        (page.codec, page.same_as > 0 and page.codec in {Codec.DENSE, Codec.ZSTD_BASE})
        for page in known
    }


@EACH
def test_every_page_comes_back(tmp_path: Path, codec: TierName) -> None:
    pages = [*site(), *manual()]
    with Archive.open(compacted(tmp_path / "a", pages, codec)) as archive:
        assert sorted((page.url, page.time, page.body) for page in archive) == sorted(pages)
        assert archive.verify() == []


def test_archives_go_from_tier_to_tier(tmp_path: Path) -> None:
    pages = [*site(), *manual(40)]
    folder = compacted(tmp_path / "a", pages, "tbc")
    for codec in (*TIERS, *TIERS[::-1]):
        with Archive.open(folder, write=True) as archive:
            assert archive.compact(codec=codec).pages == len(pages)
            assert sorted((page.url, page.time, page.body) for page in archive) == sorted(pages)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.binary(max_size=300), max_size=24), st.sampled_from(TIERS))
def test_any_bytes_come_back(
    tmp_path_factory: pytest.TempPathFactory, bodies: list[bytes], codec: TierName
) -> None:
    pages = [(f"https://a.example/{i % 7}", at(i), body * 9) for i, body in enumerate(bodies)]
    folder = compacted(tmp_path_factory.mktemp("any") / "a", pages, codec)
    with Archive.open(folder) as archive:
        assert sorted((page.url, page.time, page.body) for page in archive) == sorted(pages)


def test_dense_is_smaller_and_neighbours_have_a_base_of_their_own(tmp_path: Path) -> None:
    sizes = {
        codec: segment(compacted(tmp_path / codec, manual(), codec)).stat().st_size
        for codec in TIERS
    }
    assert sizes["dense"] < 0.9 * sizes["zstd"] < 0.9 * sizes["tbc"]
    assert (Codec.DENSE, True) in codecs(tmp_path / "dense")
    assert (Codec.TBC, False) in codecs(compacted(tmp_path / "site", site(), "tbc"))


def test_an_unknown_codec_is_refused(tmp_path: Path) -> None:
    with Archive.create(tmp_path / "a") as archive:
        archive.add("https://a.example", at(0), b"x")
        with pytest.raises(ValueError, match="expected zstd, dense or tbc"):
            archive.compact(codec="rar")  # type: ignore[arg-type]


def test_pages_that_would_be_slow_to_read_are_left_to_zstd(tmp_path: Path) -> None:
    own = random.Random(5).randbytes(40_000)
    pages = [*manual(10), ("https://m.example/own", at(99), own.hex().encode())]
    folder = compacted(tmp_path / "a", pages)
    with Archive.open(folder) as archive:
        assert archive.get("https://m.example/own").body == own.hex().encode()
    file = StoredFile(segment(folder))
    (slow,) = [
        page.codec
        for page in (file.about(*place) for place in file.index.places())
        if page.url.endswith("own")
    ]
    assert slow in {Codec.ZSTD, Codec.ZSTD_BASE}


def test_a_base_is_cut_to_its_budget() -> None:
    pages = [(sentence("all", 3000) + sentence(i // 2, 2000)).encode() for i in range(6)]
    whole = joined_within(pages, 3, b"", 1 << 20)
    assert len(whole) > max(map(len, pages))
    small = joined_within(pages, 3, b"", 1000)
    assert 0 < len(small) < len(pages[0])
    assert len(_core.DenseBase.create(small)[1]) < 1500
    assert joined_within(pages, 3, b"".join(pages), 1 << 20) == b"", "everything is known already"


def test_a_damaged_base_is_made_anew_and_costs_its_own_pages_at_most(tmp_path: Path) -> None:
    pages = manual()
    folder = compacted(tmp_path / "a", pages)
    whole = segment(folder).read_bytes()
    file = StoredFile(segment(folder))
    bases = [
        head
        for head in heads(file.source)
        if isinstance(head, Head) and head.kind == RecordKind.BASE
    ]
    file.close()
    parts = [head for head in bases if whole[head.payload_offset + 4] != 0]
    assert len(parts) >= 2, "chapters that the shared base lacks have a base of their own"
    part = max(parts, key=lambda head: head.payload_bytes)

    def read(damaged: bytes) -> int:
        segment(folder).write_bytes(damaged)
        with Archive.open(folder) as archive:
            bodies = {(page.url, page.body) for page in archive.read(on_damage=lambda _: None)}
        assert bodies <= {(url, body) for url, _, body in pages}
        return len(bodies)

    def spoilt(*places: tuple[int, int]) -> bytes:
        damaged = bytearray(whole)
        for start, length in places:
            damaged[start : start + length] = bytes(length)
        return bytes(damaged)

    copies = [head for head in parts if head.meta_hash == part.meta_hash]
    middles = [(head.payload_offset + head.payload_bytes // 2, 40) for head in copies]
    assert read(spoilt(*middles)) == len(pages), "its guard restores it"
    all_of_it = [(head.payload_offset + 8, head.payload_bytes - 8) for head in copies]
    assert 0 < len(pages) - read(spoilt(*all_of_it)) <= RUN_PAGES, "only its run is lost"


def hostile(folder: Path, bases: list[tuple[bytes, bytes]], page: tuple[Codec, int, bytes]) -> None:
    """An archive of one page that uses the last of some bases."""
    Archive.create(folder).close()
    writer = SegmentWriter(folder / "000001.segment", DISK, [])
    for content, frame in bases:
        writer.add_base(content, frame)
    codec, after, frame = page
    known = replace(about("https://a.example/", at(0), b"<p>Hello"), codec=codec, same_as=after)
    writer.add_block(1, [known], [frame])
    writer.finish()


def test_bases_and_pages_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    content = b"<p>Hello, hello"
    learned, frame = _core.DenseBase.create(content)
    more, on_top = learned.learn_more(content)
    third, above = more.learn_more(content)
    zstd = (content, _core.Base(b"").encode(content, 3))
    root, second = (content, dense_frame(frame, 0)), (content, dense_frame(on_top, 1))
    dense_page = learned.encode(b"<p>Hello")
    hostile(tmp_path / "good", [root, second], (Codec.DENSE, 1, more.encode(b"<p>Hello")))
    with Archive.open(tmp_path / "good") as archive:
        assert archive.get("https://a.example/").body == b"<p>Hello"
        assert archive.verify() == []
    wrong = {
        "dense page on zstd": ([zstd], (Codec.DENSE, 0, dense_page)),
        "of another base": ([root, second], (Codec.DENSE, 0, b"\xff" * 9)),
        "on itself": ([(content, dense_frame(on_top, 1))], (Codec.DENSE, 0, dense_page)),
        "on a later one": ([(content, dense_frame(on_top, 2)), root], (Codec.DENSE, 0, dense_page)),
        "on zstd": ([zstd, second], (Codec.DENSE, 1, dense_page)),
        "on one that is on another": (
            [root, second, (content, dense_frame(above, 2))],
            (Codec.DENSE, 2, third.encode(b"<p>Hello")),
        ),
        "a mark alone": ([(content, b"qdns")], (Codec.DENSE, 0, dense_page)),
        "no delta": ([zstd], (Codec.TBC, 0, b"\1")),
    }
    for name, (bases, page) in wrong.items():
        hostile(tmp_path / name, bases, page)
        with Archive.open(tmp_path / name) as archive:
            with pytest.raises(DamagedRecord):
                archive.get("https://a.example/")
            assert archive.verify(), name


def test_a_delta_that_claims_too_much_is_refused() -> None:
    frame = pack_delta(b"delta" * 10, 3)
    assert unpack_delta(frame, 50) == b"delta" * 10
    with pytest.raises(CodecError, match="the delta of a page"):
        unpack_delta(b"\xff\xff\xff\xff" + frame[4:], 50)


def test_twins_stand_side_by_side() -> None:
    def place(url: str, time: int, body: bytes) -> PageSlot:
        return PageSlot(None, 0, 0, url, time, 0, body)  # type: ignore[arg-type]

    order = [("a", 1, b"1"), ("a", 2, b"2"), ("b", 1, b"3"), ("c", 1, b"4"), ("c", 2, b"1")]
    found = duplicates_together([place(*page) for page in order])
    assert [(one.url, one.digest) for one in found] == [
        ("a", b"1"),
        ("a", b"2"),
        ("c", b"4"),
        ("c", b"1"),
        ("b", b"3"),
    ]


def test_pages_that_share_little_with_their_base_are_written_at_a_faster_level() -> None:
    words = random.Random(14)
    pages = [b" ".join(b"%x" % words.getrandbits(12) for _ in range(100_000)) for _ in range(8)]
    little, much = (zstd.ZstdBase(base, zstd.LEVEL, zstd.LEVEL) for base in (pages[0], pages[-1]))
    for page in pages[1:-1]:
        little.write(page)
        much.write(pages[-1])

    thorough = _core.Base(pages[0]).encode(pages[-1], zstd.LEVEL)
    fast = _core.Base(pages[0]).encode(pages[-1], zstd.FAST_LEVEL)
    assert fast != thorough
    assert little.write(pages[-1])[0] == fast
    assert much.write(pages[0])[0] == _core.Base(pages[-1]).encode(pages[0], zstd.LEVEL)


def test_the_search_that_gave_smaller_frames_in_the_trial_encodes_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = [sentence(i, 40) for i in range(60)]
    template = [
        "\n".join(f"<p>{line} {sentence((n, i), 2)}" for i, line in enumerate(lines)).encode()
        for n in range(24)
    ]
    prose = [sentence(n, 2000).encode() for n in range(20)]
    monkeypatch.setattr(zstd, "TRIAL_BYTES", 5 * len(prose[0]))
    winners = []
    for base, pages in ((b"".join(template[:8]), template[8:]), (prose[0], prose[1:])):
        bare = _core.Base(base)
        usual = [bare.encode(page, zstd.LEVEL) for page in pages]
        long = [bare.encode_long(page, zstd.LEVEL) for page in pages]
        tried = next(n for n in range(20) if sum(map(len, pages[:n])) >= zstd.TRIAL_BYTES)
        winner = min(long, usual, key=lambda frames: sum(map(len, frames[:tried])))
        winners.append(winner is long)
        best = [min(pair, key=len) for pair in zip(usual, long, strict=True)]

        cluster = zstd.ZstdBase(base, zstd.LEVEL, zstd.LEVEL, zstd.TRIAL_SHARE * zstd.TRIAL_BYTES)
        assert [cluster.write(page)[0] for page in pages] == best[:tried] + winner[tried:]

        short = zstd.ZstdBase(base, zstd.LEVEL, zstd.LEVEL, zstd.TRIAL_BYTES)
        assert [short.write(page)[0] for page in pages] == usual
    assert winners == [True, False]
