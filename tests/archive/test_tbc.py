"""TBC returns every page, and its deltas match the steps of the paper."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.peers import xdelta
from quire import _core
from quire.archive import Packing, TbcArchive, tbc_encode
from quire.errors import CodecError
from quire.similar import Clusters
from tests import corpus
from tests.archive import tbc_program as program
from tests.conftest import require

# Few tokens in many orders, so that windows repeat, and ends of tags and comments that are missing.
PARTS = [b"<p>", b"</p>", b"<br>", b"Cod", b" Ham ", b"<a href='x'>", b"</a>", b"<", b"<!-- - -->"]
PARTS += [b"<!--", b"-->", b"<p", b"\xff\x00", b"<?x?>", b"1 < 2"]
parts = st.lists(st.sampled_from(PARTS), max_size=40).map(b"".join)
page = parts | st.binary(max_size=60)
windows = st.sampled_from([0, 1, 2, 3, 7, 14])
packings = st.sampled_from(["gzip", "zstd", None])


def site(count: int, kinds: int = 2) -> list[bytes]:
    """Pages of some templates, with texts of their own."""
    frames = [
        b"".join(f"<div class=k{kind}><p>part {kind} {i}</p></div>".encode() for i in range(20))
        for kind in range(kinds)
    ]
    return [
        frames[i % kinds] + f"<h1>Page {i}</h1><p>{'word ' * i}</p>".encode() for i in range(count)
    ]


@given(st.lists(page, max_size=12), windows, packings, st.integers(0, 2**32), st.floats(0, 1))
@settings(max_examples=150, deadline=None)
def test_every_page_comes_back(
    pages: list[bytes], window: int, packing: Packing | None, seed: int, sim: float
) -> None:
    stored = tbc_encode(pages, window=window, packing=packing, seed=seed, sim=sim, k=3)

    assert [stored.decode(i) for i in range(len(stored))] == pages


@given(page, page, windows)
@settings(max_examples=300, deadline=None)
def test_a_delta_is_what_the_papers_steps_make(a: bytes, b: bytes, window: int) -> None:
    expected = program.steps(a, b, window)

    delta, told = _core.tbc_delta(a, b, window)

    one, other = program.tokens(a), program.tokens(b)
    kept = program.kept(one, other, window), program.kept(other, one, window)
    assert b"".join(one) == a
    assert told[:4] == (len(one), len(other), len(kept[0]), len(kept[1]))
    pairs = program.common([one[i] for i in kept[0]], [other[j] for j in kept[1]])
    assert told[4] == len(kept[0]) + len(kept[1]) - 2 * len(pairs)
    assert told[5]
    # Several scripts may be shortest, so each side must read the other's output.
    assert program.apply(a, list(program.read(delta))) == b
    assert _core.tbc_apply(a, program.write(expected), len(b)) == b


@given(page, st.lists(page, max_size=5), windows)
@settings(max_examples=100, deadline=None)
def test_a_reference_that_is_cut_once_gives_the_same_deltas(
    a: bytes, others: list[bytes], window: int
) -> None:
    reference = _core.TbcReference(a, window)

    for other in others:
        delta, told, spent = reference.delta(other)
        assert (delta, told) == _core.tbc_delta(a, other, window)
        assert len(spent) == 4


def test_pages_of_a_cluster_lean_on_one_reference_and_others_stand_alone() -> None:
    pages = [*site(20), b"<table><tr><td>like<td>no<td>other</table>"]

    stored = tbc_encode(pages, packing=None)

    references = [stored.reference(i) for i in range(len(pages))]
    assert stored.clusters.count == 2
    assert references[20] is None
    assert references[:20].count(None) == 2
    for kind in range(2):
        leaned_on = {references[i] for i in range(kind, 20, 2)} - {None}
        assert len(leaned_on) == 1
    assert stored.sizes.alone == len(pages[20])
    assert stored.sizes.ratio < 0.3
    assert stored.steps.deltas == 18 == stored.steps.shortest


def test_sizes_are_those_of_what_is_stored() -> None:
    pages = site(30)
    for packing in ("gzip", "zstd", None):
        stored = tbc_encode(pages, packing=packing)

        sizes = stored.sizes
        assert sizes.pages == sum(map(len, pages))
        frames = sum(len(one.frame) for one in stored._stored)
        assert sizes.stored == frames + 12 * len(pages)
        assert sizes.ratio == pytest.approx(1 - sizes.saved)


def test_the_reference_may_be_another_draw_among_the_pages() -> None:
    pages = site(40)
    drawn = [tbc_encode(pages, reference="random", seed=seed) for seed in range(6)]

    assert all(
        [stored.decode(i) for i in range(len(pages))] == pages
        and sum(stored.reference(i) is None for i in range(40)) == 2
        for stored in drawn
    )
    assert len({frozenset(filter(None, map(stored.reference, range(40)))) for stored in drawn}) > 1


def test_the_same_seed_stores_the_same_bytes() -> None:
    pages = site(40)

    first, again = (tbc_encode(pages, seed=5, reference="random") for _ in range(2))

    assert first._stored == again._stored


def test_clusters_made_before_are_used() -> None:
    pages = site(4, kinds=1)
    clusters = Clusters(np.array([1, 1, -1, 1], np.int32))

    stored = tbc_encode(pages, clusters=clusters)

    assert [stored.reference(i) for i in range(4)] == [1, None, None, 1]
    assert stored.times.sketch == 0
    with pytest.raises(ValueError, match="of 4 pages, but there are 3"):
        tbc_encode(pages[:3], clusters=clusters)


def test_w_changes_the_sketches() -> None:
    pages = site(20)
    wide = tbc_encode(pages, w=105, sim=0.6)
    narrow = tbc_encode(pages, w=1, sim=0.6)

    assert wide.clusters.coverage < narrow.clusters.coverage == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"window": -1}, "window -1"),
        ({"packing": "xz"}, "packing 'xz'"),
        ({"reference": "first"}, "reference 'first'"),
        ({"k": 0}, "k is 0"),
        ({"m": 0}, "m is 0"),
        ({"w": 0}, "w is 0"),
        ({"sim": 2}, "sim is 2"),
    ],
)
def test_parameters_out_of_range_are_named(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        tbc_encode(site(3), **options)


def test_no_pages_are_an_empty_archive() -> None:
    stored = tbc_encode([])

    assert len(stored) == 0
    assert stored.sizes.ratio == 1
    with pytest.raises(IndexError):
        stored.decode(0)


def test_a_damaged_delta_is_refused() -> None:
    a, b = site(2, kinds=1)
    delta, _ = _core.tbc_delta(a, b, 7)

    for wrong in (delta[:-1], delta + b"\0", b""):
        with pytest.raises(CodecError):
            _core.tbc_apply(a, wrong, len(b))


@pytest.mark.skipif(not corpus.available(), reason=corpus.ABSENT)
def test_real_pages_come_back_and_are_smaller_than_under_gzip_alone() -> None:
    pages = [path.read_bytes() for path in corpus.files("templates-swde-sites")[::3]]

    stored = tbc_encode(pages)
    alone = tbc_encode(pages, clusters=Clusters(np.full(len(pages), -1, np.int32)))

    assert [stored.decode(i) for i in range(len(pages))] == pages
    assert stored.sizes.stored < alone.sizes.stored
    assert isinstance(stored, TbcArchive)


def test_the_bytes_stored_for_a_page_are_its_delta_or_the_page() -> None:
    pages = site(6)
    stored = tbc_encode(pages, packing=None)

    for i, body in enumerate(pages):
        reference = stored.reference(i)
        if reference is None:
            assert stored.stored_bytes(i) == body
        else:
            delta = stored.stored_bytes(i)
            assert _core.tbc_apply(pages[reference], delta, len(body)) == body
    assert sum(len(stored.stored_bytes(i)) for i in range(6)) == (
        stored.sizes.stored - stored.sizes.directory
    )


def test_the_deltas_that_ours_are_compared_with_restore_their_pages() -> None:
    require("xdelta3", "compare TBC with VCDIFF")
    pages = [*site(4), b"", b"a"]
    pairs = [(one, other) for one in pages for other in pages]

    made = xdelta.encode(pairs)

    assert all(delta[:3] == b"\xd6\xc3\xc4" for delta in made.deltas)  # VCDIFF, RFC 3284
    restored = [
        xdelta.decode(one, delta) for (one, _), delta in zip(pairs, made.deltas, strict=True)
    ]
    assert restored == [other for _, other in pairs]
    assert 0 <= made.without_starts <= made.seconds
