"""Paper 003's clustering, against its procedure in the fewest words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from quire.errors import SketchError
from quire.similar import random_sampling, resemblance_matrix
from quire.similar.sketches import EMPTY
from tests.similar import cluster_program


def sketches(kinds: list[int], seed: int, noise: float) -> NDArray[np.uint32]:
    """Rows of forty bins: those of a kind, and some of their own."""
    draw = np.random.default_rng(seed)
    base = draw.integers(0, 2**31, (max(kinds, default=0) + 1, 40), dtype=np.uint32)
    rows = base[kinds].reshape(len(kinds), 40)
    own = draw.random(rows.shape) < noise
    rows[own] = draw.integers(0, 2**31, int(own.sum()), dtype=np.uint32)
    return rows


some = st.tuples(
    st.lists(st.integers(0, 8), max_size=60),
    st.integers(0, 2**32),
    st.sampled_from([0.0, 0.2, 0.5, 0.8]),
    st.integers(1, 12),
    st.sampled_from([0.2, 0.5, 0.9]),
)


@given(some)
@settings(max_examples=60)
def test_pages_are_more_alike_to_their_template_than_the_threshold(
    case: tuple[list[int], int, float, int, float],
) -> None:
    kinds, seed, noise, k, sim = case
    rows = sketches(kinds, seed, noise)

    found = random_sampling(rows, k=k, sim=sim, seed=seed).template_of

    alike = resemblance_matrix(rows)
    for i, template in enumerate(found.tolist()):
        if template >= 0:
            assert found[template] == template
            assert i == template or alike[i, template] > np.float32(sim)
    counts = np.bincount(found[found >= 0], minlength=len(kinds) or 1)
    assert not ((counts > 0) & (counts < 2)).any(), "a template has a page besides itself"


@given(some)
@settings(max_examples=60)
def test_with_patience_no_two_pages_left_are_alike(
    case: tuple[list[int], int, float, int, float],
) -> None:
    kinds, seed, noise, k, sim = case
    rows = sketches(kinds, seed, noise)

    found = random_sampling(rows, k=k, sim=sim, seed=seed, patience=1000).template_of

    # A template that stayed alone was compared with all that were left then.
    left = np.flatnonzero(found < 0)
    alike = resemblance_matrix(rows)[np.ix_(left, left)]
    np.fill_diagonal(alike, 0)
    assert (alike <= np.float32(sim)).all()


@given(case=some, patience=st.integers(1, 3), empty=st.sampled_from([0.0, 0.5, 1.0]))
@settings(max_examples=100)
def test_clusters_are_those_of_the_papers_procedure(
    case: tuple[list[int], int, float, int, float], patience: int, empty: float
) -> None:
    kinds, seed, noise, k, sim = case
    rows = sketches(kinds, seed, noise)
    # Short pages have bins without a value; some pages have nothing else.
    rows[np.random.default_rng(seed).random(rows.shape) < empty * (rows % 2)] = EMPTY

    found = random_sampling(rows, k=k, sim=sim, seed=seed, patience=patience).template_of

    expected = cluster_program.cluster(
        rows.tolist(), sim, k, cluster_program.splitmix(seed), patience
    )
    assert found.tolist() == expected


@given(some)
@settings(max_examples=60)
def test_templates_chosen_in_a_round_differ_from_each_other(
    case: tuple[list[int], int, float, int, float],
) -> None:
    kinds, seed, noise, k, sim = case
    rows = sketches(kinds, seed, noise).tolist()
    draw = cluster_program.splitmix(seed)

    chosen = cluster_program.select_template(list(range(len(rows))), rows, sim, k, draw)

    assert len(set(chosen)) == len(chosen) <= k
    alike = cluster_program.similarity
    assert all(alike(rows[a], rows[b]) < sim for a in chosen for b in chosen if a != b)
    if len(chosen) < k:
        # It gave up only after every page resembled one of them.
        others = set(range(len(rows))) - set(chosen)
        assert all(any(alike(rows[d], rows[t]) >= np.float32(sim) for t in chosen) for d in others)


def test_the_same_seed_gives_the_same_clusters() -> None:
    rows = sketches([i % 30 for i in range(300)], 5, 0.1)

    first, again, other = (random_sampling(rows, k=4, seed=seed) for seed in (1, 1, 2))

    assert np.array_equal(first.template_of, again.template_of)
    assert not np.array_equal(first.template_of, other.template_of)
    assert 0 < first.count <= 30


def test_coverage_and_count_are_the_papers() -> None:
    rows = np.vstack([sketches([0, 0, 0, 1, 1], 1, 0.0), sketches([0], 2, 0.0)])

    found = random_sampling(rows, patience=9)

    assert (found.count, found.coverage) == (2, 5 / 6)
    assert random_sampling(np.empty((0, 0), np.uint32)).coverage == 1.0


def test_parameters_out_of_range_are_refused() -> None:
    rows = sketches([0], 1, 0.0)
    with pytest.raises(ValueError, match="k is 0"):
        random_sampling(rows, k=0)
    with pytest.raises(ValueError, match="sim is 2"):
        random_sampling(rows, sim=2)
    with pytest.raises(ValueError, match="seed is -1"):
        random_sampling(rows, seed=-1)
    with pytest.raises(SketchError, match="2 dimensions"):
        random_sampling(rows[0])
