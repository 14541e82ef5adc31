"""What the benchmarks of paper 004 count and say, on examples with known answers."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks.corpora import Page
from benchmarks.fragments import invalidation, overlap_threshold
from benchmarks.fragments.slashdot import STORIES, slashdot
from benchmarks.papers import fragments_figures15_18 as caches
from benchmarks.papers import fragments_figures19_20 as hish
from benchmarks.papers import fragments_table2_figures12_13 as table_2


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


@pytest.mark.parametrize(("min_overlap", "expected"), [(0.2, (1, 8)), (0.5, (1, 1))])
def test_the_slashdot_example_is_split_only_if_its_lists_are_the_same_part(
    min_overlap: float, expected: tuple[int, int]
) -> None:
    assert overlap_threshold.slashdot_fragments(min_overlap) == expected


def test_notes_of_the_sweep_say_what_it_found() -> None:
    found = overlap_threshold.default_note(
        {"fitted": 0.2, "judged": 0.05}, {"fitted": 0.3, "judged": 0.2}
    )

    assert "F1 is best at 0.2 (the default) on the pages to fit on, and at 0.05 on" in found
    assert "transferred at 0.3 and 0.2 (the default)" in found
    steady = overlap_threshold.steady_note({"one": [0.1, 0.12], "other": [0.97, 0.52]})
    assert steady.endswith("on 1 of 2; not of other")


def test_one_page_of_ten_with_the_paper_s_ratio_is_not_enough() -> None:
    few = caches._as_the_paper("figure 17", [9.7, *([5.0] * 9)], 9.6)
    most = caches._as_the_paper("figure 17", [*([9.7] * 9), 5.0], 9.6)

    assert (few.met, few.measured) == (False, "5.0, 1 of 10 runs reach it")
    assert (most.met, most.measured) == (True, "9.7, 9 of 10 runs reach it")


def test_shape_and_height_of_figure_16_are_judged_apart() -> None:
    low, high = caches.Misses(), caches.Misses()
    rising = [float(ratio) for ratio in caches.RATIOS]
    low.add(rising, [one / 2 for one in rising])
    high.add([0.6] * len(rising), [0.1] * len(rising))
    crossed = caches.Misses()
    crossed.add([one / 2 for one in rising], rising)

    assert low.verdict().startswith("the shape holds, the height does not hold: pages miss 0.0%")
    assert high.verdict().startswith("the shape holds, the height holds")
    assert crossed.verdict().startswith("the shape does not hold")


def test_a_gain_that_stops_growing_does_not_grow_with_length() -> None:
    def documents(hashes: int) -> list[hish.Point]:
        return [hish.Point(1, 1, (1, hashes), (1.0, 1.0), right=True)]

    grows = {10: documents(2), 20: documents(3)}
    stops = {**grows, 30: documents(2)}

    assert hish._growing("", grows, hish._fewer).met
    found = hish._growing("", stops, hish._fewer)
    assert (found.met, found.measured) == (
        False,
        "at 1 of 2 steps; 2.0x at 10, 3.0x at 20, 2.0x at 30",
    )


def test_a_cache_fetches_a_shared_part_once_and_a_page_alone_as_a_whole(tmp_path: Path) -> None:
    def captures(name: str, *bodies: str) -> list[tuple[datetime, Page]]:
        found = []
        for day, body in enumerate(bodies, 1):
            path = tmp_path / f"{name}-{day}.html"
            path.write_text(body)
            found.append((datetime(2024, 5, day, tzinfo=UTC), Page(name, path.name, path)))
        return found

    def page(title: str, words: str) -> str:
        menu = "".join(f"<p>{words}, entry number {n} of the menu" for n in range(40))
        return f"<html><body><h1>{title}</h1><nav>{menu}</nav><p>The end of {title}</body></html>"

    days = ("of Monday", "of Tuesday")
    site = {f"//shop/{name}": captures(name, *(page(name, one) for one in days)) for name in "ab"}

    together = invalidation.replay(site, 5)
    alone = invalidation.replay({"//shop/a": site["//shop/a"]}, 5)

    assert (together.steps, together.purged, together.added) == (1, 1, 0)
    assert together.fetched_bytes < together.whole_bytes / 2
    assert (alone.purged, alone.fetched_bytes) == (1, alone.whole_bytes)
    assert (together.equal, alone.equal) == (4, 2)
