"""The size of an archive does not depend on addresses; pages made to trick the sketches come back."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from quire.archive import Archive, ingest
from quire.archive.build import build_archive
from quire.archive.compact import choose_base, clusters, write_cluster
from quire.archive.compact.tiers import TierName
from quire.archive.format.page_meta import Codec
from quire.archive.format.segment import MOST_DEPTH
from quire.archive.format.stored_file import StoredFile
from tests.archive.test_archive import at
from tests.archive.test_tiers import sentence

SITES, PAGES = 6, 24
Pages = list[tuple[str, datetime, bytes]]


def body(site: int, number: int) -> bytes:
    """A page with the frame of its site, a text of its own, and a bit of the page before."""
    frame = random.Random(site).randbytes(6000).hex()
    return f"<title>{number}</title>{frame}<p>{sentence((site, number), 80)}".encode()


BODIES = [(site, number) for site in range(SITES) for number in range(PAGES)]
LABELS: dict[str, Callable[[int, int], tuple[str, datetime]]] = {
    "a host each": lambda site, number: (f"https://s{site}.example/{number}", at(number)),
    "one host": lambda site, number: (f"https://x.example/{site}/{number}", at(number)),
    "a folder": lambda site, number: (f"crawl/{site}/{number}.html", at(number)),
    "versions": lambda site, number: (f"https://s{site}.example/", at(number)),
    "mixed up": lambda site, number: (f"https://{number % 5}.example/{site}{number}", at(number)),
}


def stored_bytes(folder: Path, pages: Pages, codec: TierName) -> int:
    """Size of a compacted archive, without its addresses, after reading every page."""
    with Archive.create(folder) as archive:
        for page in pages:
            archive.add(*page)
        archive.compact(codec=codec)
    with Archive.open(folder) as archive:
        assert sorted((page.url, page.time, page.body) for page in archive) == sorted(pages)
        parts = archive.stats().parts
    beside = {"addresses and heads", "indexes", "other files", "other records"}
    return sum(size for part, size in parts.items() if part not in beside)


@pytest.mark.parametrize("codec", ["zstd", "dense"])
def test_the_size_does_not_depend_on_addresses(tmp_path: Path, codec: TierName) -> None:
    sizes = {}
    for name, label in LABELS.items():
        pages = [(*label(*one), body(*one)) for one in BODIES]
        sizes[name] = stored_bytes(tmp_path / name, pages, codec)

    assert max(sizes.values()) <= 1.1 * min(sizes.values()), sizes


def test_adding_and_compacting_gives_the_size_of_a_build(tmp_path: Path) -> None:
    paths = []
    for site, number in BODIES:
        path = tmp_path / "crawl" / f"{site}-{number}.html"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(body(site, number))
        paths.append(str(path))
    build_archive(paths, tmp_path / "built")
    with Archive.create(tmp_path / "added") as archive:
        ingest(archive, paths)
        archive.compact()

    with Archive.open(tmp_path / "built") as built, Archive.open(tmp_path / "added") as added:
        sizes = built.stats().stored_bytes, added.stats().stored_bytes
    assert max(sizes) <= 1.05 * min(sizes), sizes


ODD: dict[str, list[bytes]] = {
    "empty": [b""] * 40,
    "of one byte": [bytes([n % 256]) * (n * 300) for n in range(300)],
    "that all collide": [random.Random(1).randbytes(9000) + b"%d" % n for n in range(300)],
    "that each have half of the one before": [
        b"".join(random.Random(n + k).randbytes(600) for k in range(2)) for n in range(300)
    ],
    "shorter than a gram": [bytes([n, n]) for n in range(200)],
    "with nothing in common": [random.Random(n).randbytes(700) for n in range(200)],
}


@pytest.mark.parametrize("codec", ["zstd", "dense"])
@pytest.mark.parametrize("kind", ODD)
def test_odd_pages_come_back(tmp_path: Path, kind: str, codec: TierName) -> None:
    pages = [(f"https://{n % 3}.example/{n}", at(n), one) for n, one in enumerate(ODD[kind])]

    assert stored_bytes(tmp_path / "a", pages, codec) <= sum(map(len, ODD[kind])) + 4000


def test_a_chain_of_pages_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each page resembles the one before more than any base: no page may depend on too many."""
    monkeypatch.setattr(choose_base, "BASE_BYTES", 60_000)
    chunks = [random.Random(n).randbytes(4500) for n in range(140)]
    pages = [("https://a.example/", at(n), b"".join(chunks[n : n + 12])) for n in range(120)]
    stored_bytes(tmp_path / "a", pages, "zstd")

    file = StoredFile(next((tmp_path / "a").glob("*.segment")))
    depths: dict[tuple[int, int], int] = {}
    for offset, slot in file.index.places():
        page = file.about(offset, slot)
        depends = page.codec in {Codec.ZSTD_PAGE, Codec.DUPLICATE}
        depths[offset, slot] = 1 + depths[offset, page.same_as] if depends else 0
    assert 2 <= max(depths.values()) < MOST_DEPTH


def test_a_block_does_not_hold_more_than_its_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_cluster, "HELD_BYTES", 50_000)
    pages = [(*LABELS["one host"](0, n), body(0, n)) for n in range(60)]
    stored_bytes(tmp_path / "a", pages, "zstd")

    file = StoredFile(next((tmp_path / "a").glob("*.segment")))
    assert len({offset for offset, _ in file.index.places()}) >= 60 * len(pages[0][2]) // 70_000


def test_clusters_are_cut_between_addresses_but_not_within_a_time() -> None:
    group = np.arange(40)
    keys = [(f"{n // 10}", 0 if n < 10 else n) for n in range(40)]

    def cut(most: int, lengths: list[int]) -> list[int]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(clusters, "CUT_BYTES", most)
            parts = clusters.split([group], keys, lengths)
        assert np.concatenate(parts).tolist() == group.tolist()
        return [len(part) for part in parts]

    assert cut(1 << 30, [5000] * 40) == [40]
    assert cut(60_000, [5000] * 40) == [10, 10, 10, 10]
    assert cut(1, [5000] * 40)[0] == 10, "one address and time"
    assert cut(20_000, [5000] * 40)[0] == 10
    assert len(cut(1, [5000] * 40)) > 20
