"""Node buckets: they hold every node once, in order, and change no fragment."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.fragments import BucketRules, algorithm_1, shared_fragments
from quire.fragments.shared.buckets import NodeBuckets
from tests.fragments.test_shared import same, site


@dataclass(frozen=True)
class Stone:
    """A node that has only a size and a number."""

    value_bytes: int
    number: int

    @property
    def order(self) -> tuple[int, ...]:
        """Return the order among stones of one size."""
        return (-self.number,)


def filled(sizes: list[int], rules: BucketRules) -> NodeBuckets[Stone]:
    pool: NodeBuckets[Stone] = NodeBuckets(rules, 30)
    for number, size in enumerate(sizes):
        pool.put(Stone(size, number))
    pool.sort_and_merge()
    return pool


# Sizes at the bounds of ranges, and many of one size, are where buckets go wrong.
sizes = st.lists(st.integers(1, 300) | st.sampled_from([30, 59, 60, 61, 120, 5000]), max_size=80)
rules = st.builds(BucketRules, st.integers(1, 9), st.integers(1, 20))


@given(sizes, rules)
def test_nodes_come_out_largest_first_and_the_first_of_equal_size_first(
    given_sizes: list[int], how: BucketRules
) -> None:
    pool = filled(given_sizes, how)
    expected = sorted(
        (Stone(size, number) for number, size in enumerate(given_sizes)),
        key=lambda one: (-one.value_bytes, one.number),
    )

    assert list(pool.at_least(0)) == expected
    assert len(pool) == len(expected)
    assert pool.largest() == (expected[0] if expected else None)


@given(sizes, rules, st.integers(0, 400))
def test_only_nodes_that_are_large_enough_are_compared(
    given_sizes: list[int], how: BucketRules, least: int
) -> None:
    found = list(filled(given_sizes, how).at_least(least))

    assert sorted(one.value_bytes for one in found) == sorted(s for s in given_sizes if s >= least)


@given(sizes, rules)
def test_a_bucket_holds_more_than_its_capacity_only_if_all_sizes_are_equal(
    given_sizes: list[int], how: BucketRules
) -> None:
    for bucket in filled(given_sizes, how).buckets:
        if len(bucket.nodes) > how.capacity:
            assert len({node.value_bytes for node in bucket.nodes}) == 1


@given(sizes, rules, st.data())
def test_removed_nodes_are_gone_and_no_others(
    given_sizes: list[int], how: BucketRules, data: st.DataObject
) -> None:
    pool = filled(given_sizes, how)
    everything = list(pool.at_least(0))
    removed = data.draw(
        st.lists(st.sampled_from(everything), unique=True) if everything else st.just([])
    )
    pool.remove(removed)

    assert list(pool.at_least(0)) == [one for one in everything if one not in removed]


@given(st.integers(0, 10_000), rules)
def test_the_parameters_of_buckets_change_no_fragment(seed: int, how: BucketRules) -> None:
    pages = site(seed)

    assert same(
        algorithm_1(pages, min_bytes=30, buckets=how), shared_fragments(pages, min_bytes=30)
    )


def test_crowded_buckets_are_split_and_sparse_ones_merged() -> None:
    """As in figure 5: five buckets, of which the last three are merged."""
    how = BucketRules(count=5, capacity=4, bounds=(100, 200, 300, 400))
    pool = filled([10, 20, 30, 40, 110, 120, 130, 210, 310, 410], how)

    assert (len(pool.buckets), pool.splits, pool.merges) == (3, 0, 2)
    assert [[one.value_bytes for one in bucket.nodes] for bucket in pool.buckets] == [
        [10, 20, 30, 40],
        [110, 120, 130, 210],
        [310, 410],
    ]
    assert filled([10, 20, 30, 40, 50, 60], how).splits == 1


@pytest.mark.parametrize(
    ("given_rules", "message"),
    [
        ({"count": 0}, "count 0: expected at least 1"),
        ({"capacity": 0}, "capacity 0: expected at least 1"),
        ({"count": 3, "bounds": (9,)}, r"bounds \[9\]: expected 2 sizes in ascending order"),
        ({"count": 3, "bounds": (9, 9)}, r"bounds \[9, 9\]: expected 2 sizes"),
    ],
)
def test_rules_out_of_range_are_named(given_rules: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BucketRules(**given_rules)  # type: ignore[arg-type]
