"""TBC of a crawl on the local engine: every page comes back, and clusters are the paper's."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import quire
from quire import _core
from quire.archive.tbc import Packing, steps, tbc_encode
from quire.archive.tbc.crawl import CrawlTbc, crawl_tbc
from quire.engines.local import LocalEngine
from quire.engines.tables import read_table
from quire.errors import SourceClash
from quire.similar import Clusters, token_sketches
from quire.sources import Capture, find, read
from tests.similar import cluster_program
from tests.similar.test_templates import page


def crawl(folder: Path, pages: int = 60, sites: int = 5, seed: int = 5) -> dict[str, bytes]:
    """Write pages of some sites, with two that are like no other; return them by name."""
    draw = random.Random(seed)
    bodies = {
        f"site{i % sites}/{i}.html": page(i % sites, draw.randrange(1, 40)) for i in range(pages)
    }
    bodies["alone/one.html"] = b"<table><tr><td>Cod<td>Eel</table>"
    bodies["alone/two.html"] = b"plain \xff\x00 bytes"
    for name, body in bodies.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
    return {str(folder / name): body for name, body in bodies.items()}


def references(found: CrawlTbc) -> dict[int, int | None]:
    """Return the reference of every page, by their hashes."""
    rows = [
        row for path in found.files for row in read_table(path, ["page", "reference"]).to_pylist()
    ]
    return {row["page"]: row["reference"] for row in rows}


@pytest.mark.parametrize("packing", ["gzip", "zstd", None])
def test_every_page_of_a_crawl_comes_back(packing: Packing | None, tmp_path: Path) -> None:
    pages = crawl(tmp_path / "crawl")

    found = crawl_tbc(find([str(tmp_path / "crawl")]), str(tmp_path / "stored"), packing=packing)

    assert dict(found.bodies()) == pages
    used = {reference for reference in references(found).values() if reference is not None}
    assert (found.pages, found.clusters, found.covered) == (62, len(used), 60)
    assert found.troubles == ()
    assert found.sizes.pages == sum(map(len, pages.values()))
    assert 0 < found.sizes.deltas < found.sizes.pages
    rows = [row for path in found.files for row in read_table(path, ["packed"]).to_pylist()]
    assert sum(row["packed"] for row in rows) == found.sizes.stored - found.sizes.directory


def by_tickets(ids: list[int], seed: int) -> cluster_program.Draw:
    """Draw as the crawl does: by the tickets of pages."""
    ticket = steps.tickets(np.array(ids, np.uint64), seed).tolist()

    def draw(pages: list[int]) -> Iterator[int]:
        yield from sorted(pages, key=ticket.__getitem__)

    return draw


@given(
    sites=st.integers(1, 12),
    k=st.sampled_from([1, 2, 3, 30]),
    sim=st.sampled_from([0.1, 0.5, 0.9]),
    seed=st.integers(0, 2**64 - 1),
)
@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_clusters_of_a_crawl_are_those_of_the_papers_procedure(
    sites: int, k: int, sim: float, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("crawl")
    pages = crawl(folder / "crawl", 40, sites, seed)

    with LocalEngine(threads=2) as engine:
        found = crawl_tbc(
            find([str(folder / "crawl")]),
            str(folder / "stored"),
            engine=engine,
            k=k,
            sim=sim,
            seed=seed,
        )

    ids = [_core.hash64(name.encode()) for name in pages]
    matrix = token_sketches(quire.encode(body) for body in pages.values())
    expected = cluster_program.cluster(matrix.tolist(), sim, k, by_tickets(ids, seed))
    template = {ids[i]: ids[of] for i, of in enumerate(expected) if of not in (-1, i)}
    assert {page: of for page, of in references(found).items() if of is not None} == template
    assert found.covered == sum(of >= 0 for of in expected)


def test_the_same_clusters_store_the_same_bytes_as_in_memory(tmp_path: Path) -> None:
    pages = crawl(tmp_path / "crawl")
    found = crawl_tbc(find([str(tmp_path / "crawl")]), str(tmp_path / "stored"))
    place = {_core.hash64(name.encode()): i for i, name in enumerate(pages)}
    of = references(found)
    used = {reference for reference in of.values() if reference is not None}
    template_of = [
        place[of[page]] if of[page] is not None else place[page] if page in used else -1  # type: ignore[index] # checked
        for page in place
    ]

    stored = tbc_encode(list(pages.values()), clusters=Clusters(np.array(template_of, np.int32)))

    assert stored.sizes == found.sizes


def test_what_cannot_be_read_is_a_trouble_and_the_rest_is_stored(tmp_path: Path) -> None:
    pages = crawl(tmp_path / "crawl")
    (tmp_path / "crawl" / "large.html").write_bytes(b"<p>" * 40_000)

    found = crawl_tbc(find([str(tmp_path / "crawl")]), str(tmp_path / "stored"), most_bytes=100_000)

    assert dict(found.bodies()) == pages
    assert [Path(trouble.name).name for trouble in found.troubles] == ["large.html"]


def test_no_pages_are_a_crawl_too(tmp_path: Path) -> None:
    found = crawl_tbc([], str(tmp_path / "stored"))

    assert (found.pages, found.clusters, found.rounds, found.coverage) == (0, 0, 0, 1.0)
    assert list(found.bodies()) == []


def twice(path: str, *, most_bytes: int) -> Iterator[object]:
    """Read every page twice, under the same name."""
    for found in read(path, most_bytes=most_bytes):
        yield found
        if isinstance(found, Capture):
            yield found


def test_two_pages_with_one_name_are_refused(tmp_path: Path) -> None:
    crawl(tmp_path / "crawl", 4)

    with pytest.raises(SourceClash, match="rename one of them"):
        crawl_tbc(find([str(tmp_path / "crawl")]), str(tmp_path / "stored"), reader=twice)  # type: ignore[arg-type] # yields the same


def test_parameters_are_checked_before_anything_is_read(tmp_path: Path) -> None:
    for options, words in (
        ({"k": 0}, "k is 0"),
        ({"sim": 2.0}, "sim is 2"),
        ({"window": -1}, "window -1"),
        ({"packing": "xz"}, "'xz' is not known"),
    ):
        with pytest.raises(ValueError, match=words):
            crawl_tbc(["missing.html"], str(tmp_path / "stored"), **options)
    assert not (tmp_path / "stored").exists()


def test_tickets_of_different_pages_differ() -> None:
    pages = np.arange(100_000, dtype=np.uint64)

    assert len(np.unique(steps.tickets(pages, 2**64 - 1))) == len(pages)
