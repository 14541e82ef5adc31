"""Table 2 of paper 004 as the benchmark fills it by the paper's own rules, on the paper's Slashdot example."""

from __future__ import annotations

import pytest

from benchmarks.papers import fragments_table2_figures12_13 as table_2
from tests.fragments.test_paper_examples import STORIES, slashdot


@pytest.mark.parametrize(("threshold", "expected"), [(0.5, 1), (0.7, 8)])
def test_the_fragments_of_the_slashdot_example_are_counted_once_in_all_versions(
    threshold: float, expected: int
) -> None:
    pages = [slashdot(STORIES[4:]), slashdot(STORIES[:8]), slashdot(STORIES[:8])]

    found = table_2._by_rules(pages, threshold)

    assert found.statistics.fragments == expected
    assert found.statistics.total == sum(len(story) + 1 for story in STORIES[:8])
    assert found.statistics.depth == 2


def test_a_list_with_half_of_its_items_changed_is_where_the_thresholds_decide_differently() -> None:
    found = table_2._by_rules([slashdot(STORIES[4:]), slashdot(STORIES[:8])], 0.7)

    # The page and the list differ; of the page's four parts one changed.
    assert (found.inner, found.between) == (2, 1)


def test_growth_is_judged_page_by_page() -> None:
    few, many = table_2.Statistics.of([400], 2), table_2.Statistics.of([50] * 4, 2)
    found = {
        who: {("steady", 0.5): few, ("steady", 0.7): few, ("split", 0.5): few, ("split", 0.7): many}
        for who in (table_2.OURS, table_2.RULES)
    }

    judged = table_2._judged(found, ["steady", "split"])

    assert [row[3:5] for row in judged.rows] == [
        ["1 of 2", "1.00 to 4.00"],
        ["1 of 2", "0.12 to 1.00"],
        ["2 of 2", "1.00 to 1.00"],
        ["1 of 2", "0.50 to 1.00"],
    ]
