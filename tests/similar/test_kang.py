"""Kang's measure is the program of the paper, to the last bit."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quire
from quire.similar import kang_normalised, kang_similar
from tests.similar.kang_program import layers, program
from tests.strategies import html

pages = html.map(lambda source: quire.encode(source, kind="html"))


@given(pages, pages, st.integers(1, 15))
def test_kang_is_the_program_of_the_paper(a: quire.Digest, b: quire.Digest, depth: int) -> None:
    assert quire.kang(a, b, depth=depth) == program(layers(a), layers(b), depth)


@given(pages, pages)
def test_the_normalised_form_and_the_layers_are_what_they_say(
    a: quire.Digest, b: quire.Digest
) -> None:
    found = quire.similarity(a, b, "kang", explain=True)
    lost = sum(layer.weight * (1 - layer.value) for layer in found.layers)
    most = sum(layer.weight for layer in found.layers)

    assert found.value == pytest.approx(1 - lost / 8)
    assert kang_normalised(a, b) == pytest.approx(1 - lost / most if most else 1)
    assert found.similar == kang_similar(a, b) == (found.value > 0.8)
    one, two = ([*map(len, layers(page)[:8])] for page in (a, b))
    sizes = list(itertools.zip_longest(one, two, fillvalue=0))
    assert [(layer.in_a, layer.in_b) for layer in found.layers] == sizes


def test_real_pages_score_as_in_the_program_of_the_paper(
    corpus_files: Callable[[str], list[Path]],
) -> None:
    files = [path for path in corpus_files("templates-swde-sites") if path.suffix == ".htm"][::6]
    known = [(page, layers(page)) for page in (quire.encode(file.read_bytes()) for file in files)]
    pick = random.Random(1)
    for _ in range(200):
        (a, one), (b, two) = pick.sample(known, 2)
        assert quire.kang(a, b) == program(one, two, 8)


def test_a_page_on_the_threshold_is_not_similar() -> None:
    # One place of layer 1 differs of five: P = 1/5 at D = 1.
    a, b = quire.encode(b"<p><p><p><p><p>"), quire.encode(b"<p><p><p><p><h1>")

    assert quire.kang(a, b, depth=1) == 0.8
    assert not kang_similar(a, b, depth=1)
    assert kang_similar(a, b, depth=1, threshold=0.79)


def test_the_least_value_is_not_zero() -> None:
    a, b = quire.encode(b"<section>" * 9), quire.encode(b"<article>" * 9)

    assert quire.kang(a, b) == pytest.approx(0.4375)
    assert kang_normalised(a, b) == pytest.approx(0)


def test_depth_is_at_least_one_and_may_be_any_larger_number() -> None:
    a, b = quire.encode(b"<p><b>"), quire.encode(b"<p><i>")

    assert quire.kang(a, b, depth=10**12) > 0.99
    with pytest.raises(ValueError, match="depth is 0; expected 1 or more"):
        quire.kang(a, b, depth=0)
