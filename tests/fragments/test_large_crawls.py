"""Grouping on the engine finds the fragments that the driver finds, with every place."""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire.engines.local import LocalData
from quire.engines.seam import Data, GroupsToRows
from quire.errors import SourceClash
from quire.fragments import Shingling
from quire.fragments.shared.crawl import CrawlFragments, crawl_fragments
from quire.fragments.shared.crawl_output import as_table, sameness
from quire.fragments.shared.large import components, grouping, meetings, nesting, records
from quire.fragments.shared.large.components import Components
from quire.fragments.shared.large.crawl import WrittenFragments, write_crawl_fragments
from quire.fragments.shared.large.decisions import accepted_groups
from quire.fragments.shared.large.listing import ListedFragment, list_longest
from quire.fragments.shared.rules import SharingRules
from quire.sources import Capture, Trouble, find
from tests.fragments.test_crawls import RULES, Shuffling, write_crawl
from tests.fragments.test_shared import site


def equal(written: WrittenFragments, crawl: CrawlFragments) -> bool:
    """Whether every place of every fragment is the same, in order, and all pages and troubles."""
    expected = as_table(crawl).drop(["name", "url"])
    expected = expected.add_column(2, "page", pa.array(crawl.fragments.members.page))
    pages = pa.concat_tables(pq.read_table(file) for file in written.pages).sort_by("page")
    return (
        bool(written.table().equals(expected.cast(written.table().schema)))
        and written.n_fragments == len(crawl.fragments)
        and pages["page"].to_pylist() == list(range(written.n_pages))
        and bool(pages.drop(["page"]).equals(crawl.pages))
        and written.troubles == crawl.troubles
        and (written.n_pages, written.total_bytes) == (crawl.fragments.pages, crawl.total_bytes)
    )


@pytest.mark.parametrize("rules", RULES, ids=str)
@pytest.mark.parametrize("seed", [1, 2])
def test_the_engine_finds_the_fragments_of_the_driver(
    tmp_path: Path, seed: int, rules: dict[str, Any]
) -> None:
    paths = write_crawl(tmp_path / "crawl", seed)
    expected = crawl_fragments(paths, **rules)

    found = write_crawl_fragments(paths, str(tmp_path / "shared"), **rules)

    assert len(expected.fragments) > 0
    assert equal(found, expected)
    assert list_longest(found, 5) == listed(expected, 5)


def listed(crawl: CrawlFragments, most: int) -> list[ListedFragment]:
    """The first fragments of a result in memory."""
    return [
        ListedFragment(
            number=one.number,
            same=sameness(one),
            text_bytes=one.value_bytes,
            pages=len(one.pages),
            places=len(one.members),
            name=crawl.name(int(one.members.page[0])),
            byte_start=int(one.members.byte_start[0]) if one.members.byte_start[0] >= 0 else None,
        )
        for one in crawl.fragments[:most]
    ]


def generated(path: str, /, *, most_bytes: int) -> Iterator[Capture | Trouble]:
    """The pages of a generated site: paths are a seed and a number of pages."""
    seed, pages = map(int, path.split())
    for number, page in enumerate(site(seed, pages)):
        body = page.decode()
        if len(body) <= most_bytes:
            yield Capture(f"{path}#{number}", path, None, b"", body)


class Anywhere(Shuffling):
    """An engine that gives rows in any order, also those of groups."""

    def group_by_key(
        self,
        data: Data,
        key: str,
        fn: GroupsToRows,
        schema: pa.Schema,
        *,
        step: str = "group",
        tasks: int = 1,
    ) -> LocalData:
        """Bring rows with the same key together."""
        rows = super().group_by_key(data, key, fn, schema, step=step, tasks=tasks)

        def shuffled() -> Iterator[pa.RecordBatch]:
            table = pa.Table.from_batches(list(rows.batches()), schema)
            order = list(range(len(table)))
            self._draw.shuffle(order)
            yield from (
                table.take(pa.array(order, pa.int64())).combine_chunks().to_batches(max_chunksize=3)
            )

        # Rows of a fragment stay together in the last step.
        return rows if step == "places" else LocalData(schema, shuffled)


@given(
    st.lists(st.integers(0, 10_000), min_size=1, max_size=4, unique=True),
    st.randoms(use_true_random=False),
    st.fixed_dictionaries(
        {
            "min_match": st.sampled_from([0.05, 0.3, 0.5, 0.7, 0.9, 1.0]),
            "min_bytes": st.sampled_from([1, 30, 50, 200]),
            "min_pages": st.sampled_from([2, 3, 5]),
            "estimate": st.sampled_from(["paper", "unbiased"]),
            "size_ratio": st.sampled_from([0.0, 0.5, 0.9, 1.0]),
        }
    ),
)
@settings(max_examples=30)
def test_it_does_so_by_any_rules_in_any_order(
    seeds: list[int], draw: random.Random, rules: dict[str, Any]
) -> None:
    paths = [f"{seed} {3 + seed % 7}" for seed in seeds]
    expected = crawl_fragments(paths, reader=generated, **rules)

    with tempfile.TemporaryDirectory() as folder, Anywhere(draw) as engine:
        found = write_crawl_fragments(paths, folder, engine=engine, reader=generated, **rules)

        assert equal(found, expected)


def test_small_buckets_and_portions_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Large crawls have many buckets, and components that go through the kernel in portions."""
    paths = [f"{seed} 12" for seed in range(6)]
    monkeypatch.setattr(records, "BUCKET_BYTES", 1 << 10)
    monkeypatch.setattr(records, "MOST_BYTES", 1 << 10)
    monkeypatch.setattr(nesting, "MOST_RECORDS", 5)
    plain = grouping.group
    for number, rules in enumerate(RULES[:2]):
        for portion in (1, 7):
            fn = partial(plain, portion=portion)
            monkeypatch.setattr(grouping, "group", fn)
            found = write_crawl_fragments(
                paths, str(tmp_path / f"{number}-{portion}"), reader=generated, **rules
            )

            assert equal(found, crawl_fragments(paths, reader=generated, **rules))


@pytest.mark.parametrize("name", ["templates-types", "templates-helsingborg", "templates-docs"])
def test_it_does_so_on_real_pages(
    name: str, tmp_path: Path, corpus_files: Callable[[str], list[Path]]
) -> None:
    files = random.Random(8).sample(corpus_files(name), 60)
    paths = sorted(str(path) for path in files)
    choices: list[dict[str, Any]] = [{}, {"min_bytes": 30, "min_match": 0.7}]
    for number, rules in enumerate(choices):
        expected = crawl_fragments(paths, **rules)

        found = write_crawl_fragments(paths, str(tmp_path / str(number)), **rules)

        assert len(expected.fragments) > 10
        assert equal(found, expected)


def test_troubles_and_crawls_without_pages(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    write_crawl(folder, seed=4)
    (folder / "a-empty.html").write_bytes(b"")
    (folder / "b-long.html").write_bytes(b"<p>x" * 50_000)
    odd = os.fsdecode(os.fsencode(folder) + b"/c\xff.html")
    Path(odd).write_bytes(b"<p>One")
    paths = find([str(folder)])
    found = write_crawl_fragments(paths, str(tmp_path / "shared"), most_bytes=100_000)

    assert equal(found, crawl_fragments(paths, most_bytes=100_000))
    assert len(found.troubles) == 3
    none = write_crawl_fragments([], str(tmp_path / "none"))
    assert (none.n_pages, none.n_fragments, len(none.table())) == (0, 0, 0)
    only = [str(folder / "a-empty.html")]
    empty = write_crawl_fragments(only, str(tmp_path / "empty"))
    assert equal(empty, crawl_fragments(only))


def test_paths_rules_and_folders_are_checked_first(tmp_path: Path) -> None:
    with pytest.raises(SourceClash, match=r"a\.html: given 2 times"):
        write_crawl_fragments(["a.html", "a.html"], str(tmp_path / "new"))
    with pytest.raises(ValueError, match="min_pages 1"):
        write_crawl_fragments(["a.html"], str(tmp_path / "new"), min_pages=1)
    with pytest.raises(ValueError, match="window is 0"):
        write_crawl_fragments(["a.html"], str(tmp_path / "new"), shingling=Shingling(window=0))
    assert not (tmp_path / "new").exists()
    (tmp_path / "full" / "pages").mkdir(parents=True)
    (tmp_path / "full" / "pages" / "a").touch()
    with pytest.raises(FileExistsError, match="pages: holds a; expected a new or empty folder"):
        write_crawl_fragments(["no such file"], str(tmp_path / "full"))


@given(st.lists(st.tuples(st.integers(0, 39), st.integers(0, 39)), max_size=60))
def test_components_are_what_links_connect(links: list[tuple[int, int]]) -> None:
    expected = list(range(40))
    for one, other in links:
        low, high = sorted((expected[one], expected[other]))
        expected = [low if root == high else root for root in expected]
    found = Components(40)
    for half in (links[::2], links[1::2]):
        pairs = np.array(half, np.uint32).reshape(-1, 2)
        found.link(pairs[:, 0], pairs[:, 1])

    assert found.root.tolist() == expected


@given(
    st.lists(st.tuples(st.integers(0, 39), st.integers(0, 39)), max_size=40),
    st.integers(1, 50),
    st.integers(1, 12),
)
def test_components_go_whole_into_buckets_of_about_one_size(
    links: list[tuple[int, int]], most: int, portion: int
) -> None:
    found = Components(40)
    pairs = np.array(links, np.uint32).reshape(-1, 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(components, "_PORTION", portion)
        found.link(pairs[:, 0], pairs[:, 1])
        buckets = found.buckets(most).tolist()

    root = found.root.tolist()
    expected, before = dict.fromkeys(root, -1), 0
    for one in sorted(set(root)):
        if root.count(one) > 1:
            expected[one] = before // most
            before += root.count(one)
    assert buckets == [expected[one] for one in root]


def keyed(values: list[tuple[int, set[int]]], min_match: float) -> pa.Table:
    """The keys of values, given by length and shingles: the smallest ones."""
    number = meetings.Keys("", 1, 1, min_match).number()
    counts = np.array([len(shingles) for _, shingles in values])
    flat = np.array([one for _, some in values for one in sorted(some)], np.uint32)
    sketches = meetings.sketches(flat, counts)
    rows = [
        (shingle, value, length, len(some), sketches[value])
        for value, (length, some) in enumerate(values)
        for shingle in sorted(some)[: number[len(some)]]
    ]
    keys = np.array(rows, meetings.KEY)
    return pa.Table.from_batches([records.bucketed(np.zeros(len(keys), np.int64), keys)])


@st.composite
def edited(draw: st.DrawFn) -> list[tuple[int, set[int]]]:
    """Values of a few families: copies with some shingles replaced, since others never match."""
    found = []
    for _ in range(draw(st.integers(1, 3))):
        base = draw(st.sets(st.integers(0, 60), min_size=1, max_size=25))
        for _ in range(draw(st.integers(1, 5))):
            away = draw(st.sets(st.sampled_from(sorted(base)), max_size=4))
            new = draw(st.sets(st.integers(0, 200), max_size=4))
            found.append((draw(st.integers(80, 100)), ((base - away) | new) or base))
    return found


@given(
    edited(),
    st.sampled_from([0.05, 0.5, 0.7, 0.9, 1.0]),
    st.sampled_from([0.0, 0.9, 1.0]),
    st.sampled_from([1, 3, 64]),
)
@settings(max_examples=300)
def test_values_that_match_are_linked(
    values: list[tuple[int, set[int]]], min_match: float, size_ratio: float, compared: int
) -> None:
    rules = SharingRules.checked(200, 2, min_match, size_ratio, "paper")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(meetings, "MOST_COMPARED", compared)
        batches = list(meetings.link(keyed(values, min_match), rules=rules))
    found = Components(len(values))
    for batch in batches:
        links = records.unpacked(batch["records"], meetings.LINK)
        found.link(links["one"], links["other"])

    for i, (length, some) in enumerate(values):
        for j, (other, others) in enumerate(values):
            is_long = min(length, other) >= size_ratio * max(length, other)
            if is_long and len(some & others) / len(some | others) >= min_match:
                assert found.root[i] == found.root[j]


def test_a_teaser_in_common_does_not_link_pages() -> None:
    """Each page shares one rare shingle with the next. They were one component of all pages."""
    own = [set(range(1_000 * page, 1_000 * page + 23)) for page in range(1, 40)]
    values = [(900, {page, page + 1} | some) for page, some in enumerate(own)]
    rules = SharingRules.checked(200, 2, 0.9, 0.9, "paper")

    (batch,) = meetings.link(keyed(values, 0.9), rules=rules)

    assert len(records.unpacked(batch["records"], meetings.LINK)) == 0


trees: st.SearchStrategy[list[Any]] = st.recursive(
    st.just([]), lambda below: st.lists(below, max_size=4), max_leaves=20
)


def rows_of(tree: list[Any], parent: int, found: list[list[int]]) -> int:
    """Add a tree in pre-order: the parent and the size of each node."""
    place = len(found)
    found.append([parent, 1])
    found[place][1] += sum(rows_of(below, place, found) for below in tree)
    return found[place][1]


@given(st.lists(trees, max_size=4), st.randoms(use_true_random=False))
def test_parents_and_outermost_parts_are_those_of_the_tree(
    forest: list[list[Any]], draw: random.Random
) -> None:
    found: list[list[int]] = []
    for tree in forest:
        rows_of(tree, -1, found)
    groups = np.array([draw.randint(0, 3) for _ in found])

    def around(row: int) -> set[int]:
        above = found[row][0]
        return set() if above < 0 else {above} | around(above)

    parent = nesting.parents(np.array([size for _, size in found], np.uint32))

    assert parent.tolist() == [above for above, _ in found]
    assert nesting.outermost(parent, groups).tolist() == [
        all(groups[other] != groups[row] for other in around(row)) for row in range(len(found))
    ]


@given(st.lists(st.lists(st.sets(st.integers(0, 11)), max_size=4), min_size=12, max_size=12))
def test_groups_are_accepted_by_the_rule_about_ancestors(sets: list[list[set[int]]]) -> None:
    around = [[{one for one in some if one < rank} for some in of] for rank, of in enumerate(sets)]
    expected: list[bool] = []
    for of in around:
        left = [{one for one in some if expected[one]} for some in of]
        expected.append(not left or not left[0] or any(some != left[0] for some in left))
    sent = [(rank, some) for rank, of in enumerate(around) if of and all(of) for some in of]
    surroundings = np.zeros(len(sent), nesting.SURROUNDINGS)
    surroundings["rank"] = [rank for rank, _ in sent]
    surroundings["count"] = [len(some) for _, some in sent]
    lists = np.array([one for _, some in sent for one in sorted(some)], np.uint32)

    assert accepted_groups(12, surroundings, lists).tolist() == expected
