"""The promises of the engine interface, checked on every engine."""

from __future__ import annotations

import random
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from quire.engines import Data, Engine
from quire.errors import EngineError
from tests.engines import jobs

VOCABULARY = [
    f"{kind} {number}".replace(" ", "") for kind in ("cod", "žába") for number in range(40)
]


@pytest.fixture
def texts(tmp_path: Path) -> list[str]:
    """Thirty files of words."""
    chance = random.Random(1)
    folder = tmp_path / "texts"
    folder.mkdir()
    for number in range(30):
        (folder / f"{number}.txt").write_text(
            " ".join(chance.choices(VOCABULARY, k=50)), encoding="utf-8"
        )
    return sorted(str(path) for path in folder.iterdir())


def rows(data: Data) -> list[dict[str, object]]:
    """All rows, sorted."""
    found = [row for batch in data.batches() for row in batch.to_pylist()]
    return sorted(found, key=lambda row: [str(value) for value in row.values()])


def counted(texts: list[str]) -> list[dict[str, object]]:
    found = Counter(
        word for path in texts for word in Path(path).read_text(encoding="utf-8").split()
    )
    return [{"word": word, "n": n} for word, n in sorted(found.items())]


def as_numbers(engine: Engine, n_paths: int, rows: int, keys: int) -> Data:
    """Rows of numbers, of an engine."""
    work = partial(jobs.numbers, rows=rows, keys=keys)
    return engine.map_paths([str(i) for i in range(n_paths)], work, jobs.NUMBERS)


def expected_totals(n: int, keys: int) -> dict[int, tuple[int, int]]:
    """The number of rows and the sum of their values for each key."""
    values = np.arange(n, dtype=np.uint64)
    key_of = jobs.spread(values % np.uint64(keys))
    names, at = np.unique(key_of, return_inverse=True)
    sums = np.zeros(len(names), np.uint64)
    np.add.at(sums, at, values)
    counts = np.bincount(at)
    return {int(k): (int(c), int(s)) for k, c, s in zip(names, counts, sums, strict=True)}


def found_totals(data: Data) -> dict[int, tuple[int, int]]:
    return totals_of(pa.Table.from_batches(data.batches(), data.schema))


def totals_of(table: pa.Table) -> dict[int, tuple[int, int]]:
    columns = [table[name].to_pylist() for name in jobs.GROUPS.names]
    found = {key: (n, value) for key, n, value in zip(*columns, strict=True)}
    assert len(found) == table.num_rows, "a key came out twice: its group was split"
    return found


def test_words_are_counted_over_all_files(engine: Engine, texts: list[str]) -> None:
    found = engine.map_paths(texts, jobs.words, jobs.WORDS)
    grouped = engine.group_by_key(found, "word", jobs.count, jobs.WORDS)

    assert grouped.schema == jobs.WORDS
    assert rows(grouped) == counted(texts)


def test_data_can_be_read_again(engine: Engine, texts: list[str]) -> None:
    data = engine.map_paths(texts[:3], jobs.words, jobs.WORDS)

    assert rows(data) == rows(data) != []


def test_no_paths_are_no_rows(engine: Engine) -> None:
    data = engine.map_paths([], jobs.words, jobs.WORDS)
    grouped = engine.group_by_key(data, "word", jobs.count, jobs.WORDS)

    assert rows(data) == rows(grouped) == []


def test_a_function_may_give_batches_without_rows(engine: Engine) -> None:
    data = engine.map_paths(["a"], jobs.no_rows, jobs.WORDS)

    assert rows(engine.group_by_key(data, "word", jobs.count, jobs.WORDS)) == []


def test_one_huge_group_stays_whole(engine: Engine) -> None:
    data = as_numbers(engine, 4, rows=50_000, keys=1)

    assert found_totals(
        engine.group_by_key(data, "key", jobs.total, jobs.GROUPS)
    ) == expected_totals(200_000, 1)


def test_many_tiny_groups_stay_whole_with_keys_of_all_64_bits(engine: Engine) -> None:
    data = as_numbers(engine, 4, rows=50_000, keys=90_001)
    expected = expected_totals(200_000, 90_001)

    assert any(key >= 1 << 63 for key in expected)
    assert found_totals(engine.group_by_key(data, "key", jobs.total, jobs.GROUPS)) == expected


def test_groups_of_any_length_stay_whole_across_batches(engine: Engine) -> None:
    # 7 groups of some 28,571 rows: longer than a batch of Spark, shorter than a table.
    data = as_numbers(engine, 5, rows=40_000, keys=7)

    assert found_totals(
        engine.group_by_key(data, "key", jobs.total, jobs.GROUPS)
    ) == expected_totals(200_000, 7)


def test_rows_of_a_key_are_neighbours(engine: Engine, texts: list[str]) -> None:
    data = engine.map_paths(texts, jobs.words, jobs.WORDS)
    found = rows(engine.group_by_key(data, "word", jobs.pieces, jobs.PIECES))

    assert [row["key"] for row in found] == [row["word"] for row in counted(texts)]
    assert {row["pieces"] for row in found} == {1}


def test_groups_can_be_grouped_again(engine: Engine) -> None:
    data = as_numbers(engine, 3, rows=1000, keys=10)
    once = engine.group_by_key(data, "key", jobs.total, jobs.GROUPS)
    again = engine.group_by_key(once, "rows", jobs.regroup, jobs.REGROUPED)

    assert rows(again) == [{"rows": 300, "keys": 10}]


def test_a_key_that_is_missing_or_no_key_is_refused(engine: Engine) -> None:
    data = engine.map_paths(["a"], jobs.other_columns, jobs.FLOATS)

    with pytest.raises(KeyError, match="no column url; there are word, n"):
        engine.group_by_key(data, "url", jobs.count, jobs.WORDS)
    with pytest.raises(TypeError, match="the key n is of type double; expected integers, strings"):
        engine.group_by_key(data, "n", jobs.count, jobs.WORDS)


def test_what_a_function_raises_comes_out_with_its_message_and_paths(
    engine: Engine, texts: list[str]
) -> None:
    work = partial(jobs.fail, word=Path(texts[7]).read_text(encoding="utf-8").split()[0])
    data = engine.map_paths(texts, work, jobs.WORDS, step="sketch")

    with pytest.raises((ValueError, EngineError), match=r"no \w+ here, please") as caught:
        list(data.batches())

    said = "\n".join([str(caught.value), *caught.value.__notes__])
    assert "in step sketch, reading " in said
    assert ".txt" in said


def test_what_a_group_function_raises_comes_out_too(engine: Engine) -> None:
    data = as_numbers(engine, 1, rows=10, keys=3)
    grouped = engine.group_by_key(data, "key", jobs.fail_group, jobs.GROUPS)

    with pytest.raises((ValueError, EngineError), match="rows too many"):
        list(grouped.batches())


def test_columns_that_were_not_promised_are_refused(engine: Engine) -> None:
    data = engine.map_paths(["a"], jobs.other_columns, jobs.WORDS)

    with pytest.raises(
        (TypeError, EngineError),
        match=r"step read: a batch has the columns \(word: string, n: double\); "
        r"expected \(word: string, n: int64\)",
    ):
        list(data.batches())


def test_files_are_written_and_named(engine: Engine, texts: list[str], tmp_path: Path) -> None:
    data = engine.map_paths(texts, jobs.words, jobs.WORDS)
    grouped = engine.group_by_key(data, "word", jobs.count, jobs.WORDS)
    sink = tmp_path / "new" / "counts"

    files = engine.write(grouped, str(sink))

    assert files == sorted(files) == sorted(str(path) for path in sink.iterdir())
    assert all(Path(file).match("part-*.parquet") for file in files)
    table = pa.concat_tables([pq.read_table(file) for file in files])
    assert table.schema == jobs.WORDS
    assert table.sort_by("word").to_pylist() == counted(texts)


def test_numbers_beyond_63_bits_are_written_as_they_are(engine: Engine, tmp_path: Path) -> None:
    engine.write(as_numbers(engine, 2, rows=10, keys=20), str(tmp_path / "numbers"))
    table = pq.read_table(tmp_path / "numbers").sort_by("value")

    assert table.schema == jobs.NUMBERS
    assert table["key"].to_pylist() == jobs.spread(np.arange(20, dtype=np.uint64)).tolist()


def test_every_type_that_is_a_column_somewhere_survives(engine: Engine, tmp_path: Path) -> None:
    data = engine.map_paths(["x"], jobs.odd_types, jobs.ODD.schema)
    grouped = engine.group_by_key(data, "u32", jobs.same, jobs.ODD.schema)

    read = pa.Table.from_batches(grouped.batches(), grouped.schema)
    engine.write(grouped, str(tmp_path / "odd"))
    written = pq.read_table(tmp_path / "odd")

    for table in (read, written):
        assert table.schema == jobs.ODD.schema
        assert table.sort_by("u16").to_pylist() == jobs.ODD.to_pylist()


def test_rows_without_a_key_are_a_group(engine: Engine) -> None:
    data = engine.map_paths(["x", "y"], jobs.without_keys, jobs.WORDS)

    assert rows(engine.group_by_key(data, "word", jobs.count, jobs.WORDS)) == [
        {"word": None, "n": 2},
        {"word": "a", "n": 2},
    ]


def test_no_rows_are_one_file_with_the_columns(engine: Engine, tmp_path: Path) -> None:
    files = engine.write(engine.map_paths([], jobs.words, jobs.WORDS), str(tmp_path / "none"))

    assert len(files) == 1
    assert pq.read_table(files[0]).schema == jobs.WORDS
    assert pq.read_table(files[0]).num_rows == 0


def test_a_folder_that_holds_something_is_refused(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()

    with pytest.raises(FileExistsError, match=r"holds notes\.txt; expected a new or empty folder"):
        engine.write(as_numbers(engine, 1, rows=1, keys=1), str(tmp_path))

    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_work_that_fails_leaves_no_file(engine: Engine, texts: list[str], tmp_path: Path) -> None:
    # The last file fails: earlier tasks have written theirs.
    Path(texts[-1]).write_text("poison", encoding="utf-8")
    data = engine.map_paths(texts, partial(jobs.fail, word="poison"), jobs.WORDS)
    sink = tmp_path / "sink"

    with pytest.raises((ValueError, EngineError), match="no poison here, please"):
        engine.write(data, str(sink))

    assert list(sink.iterdir()) == []
    engine.write(
        engine.map_paths(texts, jobs.words, jobs.WORDS), str(sink)
    )  # and may be tried again
