"""Shingles: folding is shingling, and hashes are counted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import quire
from quire import AfTree
from quire.fragments import Shingling, overlap, window_hashes
from tests import strategies
from tests.fragments import oracles

# Children shorter than the window, and just as long, are where folding goes wrong.
WINDOW = 6
TEXTS = st.text("abc", min_size=1, max_size=2 * WINDOW)
PAGES = st.recursive(
    TEXTS.map(lambda text: f"<p>{text}</p>"),
    lambda inner: st.lists(inner, min_size=1, max_size=4).map(
        lambda parts: f"<div>{''.join(parts)}</div>"
    ),
    max_leaves=25,
)
SETTINGS = st.sampled_from(
    [Shingling(WINDOW, 4, 32), Shingling(1, 2, 32), Shingling(WINDOW, 50, 6), Shingling()]
)


@given(PAGES, SETTINGS)
def test_folding_children_equals_shingling_the_whole(source: str, how: Shingling) -> None:
    tree = AfTree.of(quire.encode(source.encode()))
    folded, direct = tree.shingles(how), tree.direct_shingles(how)

    for node in range(tree.n):
        expected = oracles.shingles(tree.value(node), how)
        assert folded.of(node).tolist() == direct.of(node).tolist() == expected
    assert folded.hashes <= direct.hashes


@given(strategies.html)
def test_folding_holds_on_any_page(source: bytes) -> None:
    how = Shingling(3, 5)
    tree = AfTree.of(quire.encode(source))
    folded, direct = tree.shingles(how), tree.direct_shingles(how)

    for node in range(tree.n):
        assert folded.of(node).tolist() == direct.of(node).tolist()


@given(PAGES)
def test_every_window_is_hashed_once(source: str) -> None:
    how = Shingling(WINDOW)
    tree = AfTree.of(quire.encode(source.encode()))
    short = int((tree.value_bytes < WINDOW).sum())
    windows = max(len(tree.text) - WINDOW + 1, 0)

    assert tree.shingles(how).hashes == windows + short


@given(st.binary(max_size=80), st.integers(1, 30), st.integers(1, 32))
def test_a_window_has_the_same_hash_wherever_it_is(data: bytes, window: int, bits: int) -> None:
    how = Shingling(window, bits=bits)
    parts = [data[at : at + window] for at in range(max(len(data) - window + 1, bool(data)))]

    assert window_hashes(data, how).tolist() == [int(window_hashes(p, how)[0]) for p in parts]
    assert all(value < 2**bits for value in window_hashes(data, how).tolist())


def test_hashes_are_spread_evenly() -> None:
    text = " ".join(f"word{i}" for i in range(20_000)).encode()
    hashes = window_hashes(text) >> 28
    counts = np.bincount(hashes, minlength=16)

    assert abs(counts / counts.mean() - 1).max() < 0.05


def test_an_overlap_is_what_both_have_of_what_either_has() -> None:
    one, other = np.array([1, 2, 3, 9], np.uint32), np.array([2, 3, 4, 5], np.uint32)

    assert overlap(one, other) == 2 / 6
    assert overlap(one, other, "unbiased", sample=4) == 2 / 4
    assert overlap(one, one) == 1
    assert overlap(one[:0], other) == 0


@pytest.mark.parametrize(
    "how", [Shingling(0), Shingling(20, 0), Shingling(bits=33), Shingling(1025)]
)
def test_settings_out_of_range_are_refused(how: Shingling) -> None:
    tree = AfTree.of(quire.encode(b"<p>a"))

    with pytest.raises(ValueError, match=r"expected 1 to"):
        tree.shingles(how)
    with pytest.raises(ValueError, match=r"expected 1 to"):
        quire.shared_fragments([], shingling=how)
