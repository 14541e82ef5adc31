"""Shared fragments of a crawl: those of its pages in memory, whoever reads them and in whatever order they come."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import quire
from quire import Digest, _core
from quire.engines.local import LocalData, LocalEngine
from quire.engines.seam import PathsToRows
from quire.errors import QuireError, SourceClash
from quire.fragments import FORMATTING, Shingling, algorithm_1, shared_fragments
from quire.fragments.shared import crawl_steps
from quire.fragments.shared.crawl import CrawlFragments, crawl_fragments
from quire.fragments.shared.crawl_output import as_bytes, as_json, as_table, sameness
from quire.fragments.trees.af_tree import AfTree
from quire.sources import Capture, Trouble, find, read
from tests.fragments.test_shared import same, site
from tests.sources.crawls import record, response, write

RULES: list[dict[str, Any]] = [
    {"min_bytes": 30},
    {"min_bytes": 50, "min_match": 0.5, "min_pages": 3},
    {"min_bytes": 1, "min_match": 0.7, "estimate": "unbiased", "size_ratio": 0.5},
    {"min_bytes": 30, "shingling": Shingling(window=8, sample=9), "formatting": ["b", "p"]},
]


def write_crawl(folder: Path, seed: int, pages: int = 18) -> list[str]:
    """A generated site: a third of it as files, a third as a WARC file, a third as a Parquet file."""
    bodies = [page.decode() for page in site(seed, pages) if page.decode()]
    folder.mkdir(exist_ok=True)
    for number, body in enumerate(bodies[0::3]):
        (folder / f"{number}.html").write_bytes(body)
    # More than ten records, so that their order is not that of their names.
    records = [
        record(response(body), url=f"https://a.example/{n}") for n, body in enumerate(bodies[1::3])
    ]
    write(folder / "crawl.warc.gz", [*records, *records, *records])
    rows = [{"url": f"https://b.example/{n}", "body": body} for n, body in enumerate(bodies[2::3])]
    pq.write_table(pa.Table.from_pylist(rows), folder / "rest.parquet", row_group_size=2)
    return find([str(folder)])


def captures(paths: Sequence[str]) -> list[Capture]:
    return [one for path in paths for one in read(path) if isinstance(one, Capture)]


def digests(paths: Sequence[str]) -> list[Digest]:
    """The pages of a crawl in memory, in the order of reading."""
    return [quire.encode(one.body, content_type=one.content_type) for one in captures(paths)]


@pytest.mark.parametrize("rules", RULES, ids=str)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_crawl_has_the_fragments_of_its_pages(
    tmp_path: Path, seed: int, rules: dict[str, Any]
) -> None:
    paths = write_crawl(tmp_path / "crawl", seed)
    pages = digests(paths)
    expected = shared_fragments(pages, **rules)
    found = [crawl_fragments(paths, **rules)]
    for threads in (1, 2, 3):
        with LocalEngine(threads) as engine:
            found.append(crawl_fragments(paths, engine=engine, **rules))

    assert len(expected) > 0
    assert same(expected, algorithm_1(pages, **rules))
    for one in found:
        assert same(one.fragments, expected)
        assert (one.fragments.pages, one.fragments.rules) == (len(pages), expected.rules)
        assert one.pages["name"].to_pylist() == [page.name for page in captures(paths)]
        assert one.pages["nodes"].to_pylist() == [page.n for page in pages]
        assert one.troubles == ()


class Shuffling(LocalEngine):
    """An engine that gives rows in any order, and cuts batches anywhere, as a cluster may."""

    def __init__(self, draw: random.Random) -> None:
        super().__init__(2)
        self._draw = draw

    def map_paths(
        self, paths: Sequence[str], fn: PathsToRows, schema: pa.Schema, *, step: str = "read"
    ) -> LocalData:
        """Turn paths into rows."""
        data = super().map_paths(paths, fn, schema, step=step)

        def shuffled() -> Iterator[pa.RecordBatch]:
            table = pa.Table.from_batches(list(data.batches()), data.schema)
            order = list(range(len(table)))
            self._draw.shuffle(order)
            size = self._draw.randint(1, 5)
            yield from (
                table.take(pa.array(order, pa.int64()))
                .combine_chunks()
                .to_batches(max_chunksize=size)
            )

        return LocalData(data.schema, shuffled)


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return write_crawl(tmp_path_factory.mktemp("crawls") / "crawl", seed=5)


@given(st.randoms(use_true_random=False))
def test_the_order_in_which_pages_come_changes_nothing(
    crawl: list[str], draw: random.Random
) -> None:
    here = crawl_fragments(crawl, min_bytes=30)
    with Shuffling(draw) as engine:
        there = crawl_fragments(crawl, min_bytes=30, engine=engine)

    assert same(there.fragments, here.fragments)
    assert there.pages.equals(here.pages)


def test_damage_is_named_and_the_rest_is_looked_at(tmp_path: Path) -> None:
    paths = write_crawl(tmp_path / "crawl", seed=4)
    expected = shared_fragments(digests(paths), min_bytes=30)
    folder = tmp_path / "crawl"
    (folder / "a-empty.html").write_bytes(b"")
    (folder / "b-lost.html").symlink_to(folder / "nowhere.html")
    (folder / "c-long.html").write_bytes(b"<p>x" * 50_000)
    starts = write(
        folder / "d.warc", [record(response(b"<p>One")), record(b"<p>", length=10**9), b"gone"]
    )
    found = crawl_fragments(find([str(folder)]), min_bytes=30, most_bytes=100_000)

    assert [(Path(one.name).name, one.reason) for one in found.troubles[:3]] == [
        ("a-empty.html", "empty: 0 bytes"),
        ("b-lost.html", "no such file"),
        ("c-long.html", "200000 bytes; at most 100000 are read"),
    ]
    assert [Path(one.name).name for one in found.troubles[3:]] == [f"d.warc#{starts[1]}"]
    assert found.fragments.pages == expected.pages + 1
    assert found.fragments.starts.tolist() == expected.starts.tolist()
    assert found.fragments.members.source_hash.tolist() == expected.members.source_hash.tolist()


def test_a_file_whose_name_is_not_utf_8_is_a_trouble_in_its_place(tmp_path: Path) -> None:
    paths = write_crawl(tmp_path / "crawl", seed=4)
    odd = os.fsdecode(os.fsencode(tmp_path / "crawl") + b"/a\xff.html")
    Path(odd).write_bytes(b"<p>One")
    (tmp_path / "crawl" / "z.html").write_bytes(b"")
    found = crawl_fragments(find([str(tmp_path)]), min_bytes=30)

    assert [one.reason for one in found.troubles] == [
        "its name is not UTF-8, and cannot be handed to a task",
        "empty: 0 bytes",
    ]
    assert found.troubles[0].name.endswith("a\\udcff.html")
    assert same(found.fragments, shared_fragments(digests(paths), min_bytes=30))


def test_a_crawl_without_pages_has_no_fragments(tmp_path: Path) -> None:
    (tmp_path / "void.html").write_bytes(b"")
    found = crawl_fragments([str(tmp_path / "void.html")])

    assert (len(found.fragments), found.fragments.pages, len(found.pages)) == (0, 0, 0)
    assert [one.reason for one in found.troubles] == ["empty: 0 bytes"]
    assert len(crawl_fragments([]).fragments) == 0


def test_a_path_that_is_there_twice_is_refused() -> None:
    with pytest.raises(SourceClash, match=r"a\.html: given 2 times; expected each path once"):
        crawl_fragments(["a.html", "b.html", "a.html"])


@pytest.mark.parametrize(
    "rules", [{"min_bytes": 0}, {"min_pages": 1}, {"shingling": Shingling(window=0)}], ids=str
)
def test_rules_are_refused_before_anything_is_read(rules: dict[str, Any]) -> None:
    def never(_path: str, /, *, most_bytes: int) -> Iterator[Capture | Trouble]:
        raise AssertionError(most_bytes)

    with pytest.raises(ValueError, match=r"min_bytes 0|min_pages 1|window is 0"):
        crawl_fragments(["a.html"], reader=never, **rules)


def made_twice(path: str, /, *, most_bytes: int) -> Iterator[Capture | Trouble]:
    """Read a path that is no file."""
    text = f"<p>{path} and {most_bytes}</p><p>a paragraph that all of these pages have</p>"
    for number in range(2):
        yield Capture(f"{path}#{number}", path, None, b"", text.encode())


def test_paths_may_be_anything_that_a_reader_knows() -> None:
    found = crawl_fragments(["one", "two"], min_bytes=30, reader=made_twice)

    assert found.pages["name"].to_pylist() == ["one#0", "one#1", "two#0", "two#1"]
    assert [one.pages.tolist() for one in found.fragments] == [[0, 1], [2, 3], [0, 1, 2, 3]]


def rows_of(paths: Sequence[str]) -> list[dict[str, Any]]:
    packing = crawl_steps.Packing(30, Shingling(), tuple(sorted(FORMATTING)))
    batch = pa.record_batch({"path": pa.array(paths, pa.string())})
    fn = partial(crawl_steps.packed_parts, packing=packing, reader=read, most_bytes=10**6)
    return [row for found in fn(batch) for row in found.to_pylist()]


def test_a_task_that_runs_twice_gives_the_same_rows(crawl: list[str]) -> None:
    assert rows_of(crawl) == rows_of(crawl) != []


def test_what_pages_share_is_sent_once_by_a_task(tmp_path: Path) -> None:
    page = "".join(f"<p>Paragraph {n} of a page that is there twice</p>" for n in range(9))
    for name in ("a.html", "b.html"):
        (tmp_path / name).write_text(page)
    first, second = (row["parts"] for row in rows_of(find([str(tmp_path)])))
    parts = AfTree.of(quire.encode(page.encode())).n

    assert parts == 10
    assert len(second) == 4 + 48 * parts
    assert len(first) > len(second) + 4 * parts


def test_bytes_that_no_packer_wrote_are_refused() -> None:
    pool = _core.FragmentPool(30, 20, 25, 32, [])
    for packed in (b"", b"\1\0\0\0", b"\0\0\0\0\0"):
        with pytest.raises(QuireError, match=f"packed parts of {len(packed)} bytes: "):
            pool.push_packed(packed)
    assert (pool.pages, len(pool)) == (0, 0)


def test_a_page_that_never_came_is_no_silent_loss(crawl: list[str]) -> None:
    parts = [row["parts"] for row in rows_of(crawl)]
    pool = _core.FragmentPool(30, 20, 25, 32, sorted(FORMATTING))
    for packed in parts[len(parts) // 2 :]:
        pool.push_packed(packed)

    with pytest.raises(
        ValueError, match="values have no shingles; expected the page they were packed"
    ):
        pool.fragments(0.9, 0.9, 2, False)  # noqa: FBT003 - the kernel's


@pytest.fixture(scope="module")
def found(crawl: list[str]) -> CrawlFragments:
    return crawl_fragments(crawl, min_bytes=30)


def test_the_table_has_every_place_with_its_bytes(found: CrawlFragments, crawl: list[str]) -> None:
    bodies = {page.name: page.body for page in captures(crawl)}
    rows = as_table(found).to_pylist()

    assert [row["fragment"] for row in rows] == found.fragments.fragment.tolist()
    for fragment in found.fragments:
        mine = [row for row in rows if row["fragment"] == fragment.number]
        assert {row["same"] for row in mine} == {sameness(fragment)}
        written = {bodies[row["name"]][row["byte_start"] : row["byte_end"]] for row in mine}
        assert (len(written) == 1) == (sameness(fragment) == "exact")
    assert {row["same"] for row in rows} > {"exact"}


def test_bytes_that_are_not_known_are_null(tmp_path: Path) -> None:
    text = "\ufeff<p>a text that is long enough to be a fragment"
    for name in ("a.html", "b.html"):
        (tmp_path / name).write_bytes(text.encode("utf-16-le"))
    found = crawl_fragments(find([str(tmp_path)]), min_bytes=30)
    (one,) = as_json(found)["fragments"]

    assert as_table(found)["byte_start"].to_pylist() == [None, None]
    assert (one["same"], one["first"]["byte_start"]) == ("same text", None)


def test_json_has_every_fragment_with_its_first_place(found: CrawlFragments) -> None:
    told = as_json(found)

    assert told["pages"] == len(found.pages)
    assert told["rules"]["min_bytes"] == 30
    assert [one["places"] for one in told["fragments"]] == [
        len(one.members) for one in found.fragments
    ]
    assert sum(one["places"] for one in told["fragments"]) == told["places"]
    first = found.fragments[0].members
    assert told["fragments"][0]["first"] == {
        "name": found.name(int(first.page[0])),
        "node": int(first.node[0]),
        "byte_start": int(first.byte_start[0]),
        "byte_end": int(first.byte_end[0]),
    }


def test_files_hold_the_table(found: CrawlFragments) -> None:
    read_back = pq.read_table(pa.BufferReader(as_bytes(found, ".parquet")))

    assert read_back.equals(as_table(found))
    assert as_bytes(found, ".csv").count(b"\n") == len(read_back) + 1
    with pytest.raises(ValueError, match=r"'\.xls': expected \.csv or \.parquet"):
        as_bytes(found, ".xls")
