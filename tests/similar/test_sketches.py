"""Sketches estimate what is known, merge, and are stored for good."""

from __future__ import annotations

import math
import pickle
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import quire
from quire import Sketch, SketchError, resemblance_matrix, resemblances, sketches_to_matrix
from quire.similar import BAG_MEASURES, Bag, BagMeasure
from quire.similar.sketches import EMPTY, SketchKind
from tests.strategies import html

KINDS: tuple[SketchKind, ...] = ("min-wise", "bottom-k")
pages = html.map(lambda source: quire.encode(source, kind="html"))
kinds = st.sampled_from(KINDS)


def rows(numbers: list[int]) -> quire.Digest:
    """A page of elements that all have names of their own; with ``nodes="body > *"`` a set of them."""
    return quire.encode(
        "".join(f"<x-{number}></x-{number}>" for number in numbers).encode(), kind="html"
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("known", [0.1, 0.5, 0.9])
def test_estimates_are_unbiased_and_as_far_off_as_they_say(kind: SketchKind, known: float) -> None:
    size = 400
    shared = round(2 * size * known / (1 + known))
    known = shared / (2 * size - shared)
    draw = random.Random(known)
    off = []
    for _ in range(60):
        numbers = draw.sample(range(10**6), 2 * size - shared)
        pages = rows(numbers[:size]), rows(numbers[size - shared :])
        a, b = (Sketch.of(page, nodes="body > *", kind=kind) for page in pages)
        assert quire.similarity(*pages, nodes="body > *") == pytest.approx(known)
        estimate = a.resemblance(b)
        off.append((estimate.value - known) / estimate.error)

    assert abs(sum(off)) / len(off) < 3 / math.sqrt(len(off))
    assert 0.5 < math.sqrt(sum(x * x for x in off) / len(off)) < 1.4


@given(st.sets(st.integers(0, 60)), st.sets(st.integers(0, 60)), kinds, st.sampled_from([1, 5, 99]))
def test_merging_is_sketching_the_union(
    one: set[int], two: set[int], kind: SketchKind, m: int
) -> None:
    a, b, both = (
        Sketch.of(rows(sorted(numbers)), m=m, nodes="body > *", kind=kind)
        for numbers in (one, two, one | two)
    )

    assert a | b == b | a == a.merge(b) == both
    assert a | a == a


@given(pages, pages, st.sampled_from(BAG_MEASURES))
def test_a_bottom_k_sketch_of_a_small_page_is_exact(
    a: quire.Digest, b: quire.Digest, on: BagMeasure
) -> None:
    one, two = (Sketch.of(page, on, m=2000, kind="bottom-k") for page in (a, b))
    estimate = one.resemblance(two)

    assert estimate.error == 0
    assert estimate.value == pytest.approx(quire.similarity(a, b, on))
    assert one.overlap(two) == estimate.value
    counted = on in {"structure", "structure+class", "paths+counts"}
    bag = Bag.of(a, on)
    assert len(one.values) == (bag.total if counted else len(bag))


@given(pages, pages, st.sampled_from(BAG_MEASURES), st.integers(1, 40))
def test_a_matrix_says_the_same_as_its_rows(
    a: quire.Digest, b: quire.Digest, on: BagMeasure, m: int
) -> None:
    sketches = [Sketch.of(page, on, m=m) for page in (a, b, a)]
    matrix = sketches_to_matrix(sketches)
    expected = [[x.resemblance(y).value for y in sketches] for x in sketches]

    assert resemblance_matrix(matrix).tolist() == pytest.approx(np.array(expected))
    assert resemblances(sketches[1], matrix).tolist() == pytest.approx(expected[1])


@given(
    pages, st.sampled_from(BAG_MEASURES), st.integers(1, 300), kinds, st.sampled_from([None, "p"])
)
def test_stored_sketches_come_back(
    page: quire.Digest, on: BagMeasure, m: int, kind: SketchKind, nodes: str | None
) -> None:
    sketch = Sketch.of(page, on, m=m, kind=kind, nodes=nodes)
    again = Sketch.from_bytes(sketch.to_bytes())

    assert (again, again.on, again.m, again.kind) == (sketch, on, m, kind)
    assert pickle.loads(pickle.dumps(sketch)) == sketch  # noqa: S301 - what was just made
    assert len({sketch, again}) == 1


@given(st.binary(max_size=80) | st.binary(max_size=60).map(lambda tail: b"qsk\x01\x01\x02" + tail))
def test_bytes_are_a_sketch_or_refused(data: bytes) -> None:
    try:
        sketch = Sketch.from_bytes(data)
    except SketchError:
        return
    assert sketch.to_bytes() == data


# Sketches are kept for years: these bytes were written by the first version.
GOLDEN: dict[tuple[BagMeasure, SketchKind], str] = {
    ("structure", "min-wise"): "71736b01010103000000000000000000f78834481e7642556df6b110",
    (
        "structure",
        "bottom-k",
    ): "71736b01010203000000000000000000f7883448ca9032401e764255952edea06df6b11085b4fee2",
    ("structure+class", "min-wise"): "71736b010201030000000000000000004bede01b952579204b829e2f",
    (
        "structure+class",
        "bottom-k",
    ): "71736b01020203000000000000000000899fa04d6df3723b4bede01bfbe77a3d95257920d586627a",
    ("content", "min-wise"): "71736b010301030000000000000000009afc046f82bcb9c3ffffffff",
    (
        "content",
        "bottom-k",
    ): "71736b010302030000000000000000008e8b187e37c1c706f61cf1b8d8a5ae15cf4e099786108324",
    ("paths", "min-wise"): "71736b01040103000000000000000000b33b663d6a39cfd77512c062",
    (
        "paths",
        "bottom-k",
    ): "71736b01040203000000000000000000b33b663dad0be83b6a39cfd7969cfa60f9a988d5101a11ae",
    ("paths+counts", "min-wise"): "71736b01050103000000000000000000b33b663d890324d77512c062",
    (
        "paths+counts",
        "bottom-k",
    ): "71736b01050203000000000000000000b33b663dad0be83b6a39cfd7969cfa60890324d7c7c44d6e",
    ("tokens", "min-wise"): "71736b010601030000000000000000007aac7c44af9d150840bca906",
    (
        "tokens",
        "bottom-k",
    ): "71736b010602030000000000000000008feed268b24381004b3038e11585d9153e601adb7aca942e",
}


@pytest.mark.parametrize("on", BAG_MEASURES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_stored_form_never_changes(on: BagMeasure, kind: SketchKind) -> None:
    page = quire.encode(
        b"<!doctype html><title>Fish</title><h1 class='b a'>Fish market</h1>"
        b"<ul><li>Cod, fresh from the boat<li>Haddock<li>Plaice</ul>"
    )

    assert Sketch.of(page, on, m=3, kind=kind).to_bytes().hex() == GOLDEN[on, kind]


def test_empty_bins_are_marked() -> None:
    sketch = Sketch.of(quire.encode(b"", kind="bytes"), m=4)

    assert sketch.values.tolist() == [EMPTY] * 4
    assert sketch.resemblance(sketch) == quire.Estimate(value=1.0, error=0.0)
    assert sketch.resemblance(Sketch.of(quire.encode(b"<p>"), m=4)).value == 0


def test_what_cannot_be_compared_is_refused() -> None:
    page = quire.encode(b"<p>fish")
    sketch, bottom = Sketch.of(page), Sketch.of(page, kind="bottom-k")

    with pytest.raises(SketchError, match="a sketch of structure with a sketch of paths"):
        sketch.resemblance(Sketch.of(page, "paths"))
    with pytest.raises(SketchError, match="a sketch of 100 values with one of 50"):
        sketch.merge(Sketch.of(page, m=50))
    with pytest.raises(SketchError, match="different selectors"):
        sketch.resemblance(Sketch.of(page, nodes="p"))
    with pytest.raises(SketchError, match="a min-wise sketch with a bottom-k"):
        sketch.resemblance(bottom)
    with pytest.raises(SketchError, match="overlap expects bottom-k"):
        sketch.overlap(sketch)
    with pytest.raises(SketchError, match="no bins"):
        sketches_to_matrix([bottom])
    with pytest.raises(SketchError, match="no bins"):
        resemblances(bottom, sketches_to_matrix([sketch]))
    with pytest.raises(SketchError, match="row 1 is a sketch of paths"):
        sketches_to_matrix([sketch, Sketch.of(page, "paths")])
    with pytest.raises(SketchError, match="rows have 100 values, but the sketch has 50"):
        resemblances(Sketch.of(page, m=50), sketches_to_matrix([sketch]))
    with pytest.raises(SketchError, match="2 dimensions, not 1"):
        resemblance_matrix(sketch.values)
    for m in (0, -1, 2**16):
        with pytest.raises(ValueError, match="1 to 65,535"):
            Sketch.of(page, m=m)
    with pytest.raises(ValueError, match="unknown kind 'top'"):
        Sketch.of(page, kind="top")  # type: ignore[arg-type]


def test_no_sketches_are_a_matrix_too() -> None:
    matrix = sketches_to_matrix([])

    assert resemblance_matrix(matrix).shape == (0, 0)
    assert resemblances(Sketch.of(quire.encode(b"<p>")), matrix).tolist() == []


def test_too_many_rows_are_refused() -> None:
    with pytest.raises(MemoryError, match="not enough memory for 8000000 times"):
        resemblance_matrix(np.zeros((8_000_000, 1), np.uint32))
