"""The local engine, beyond the promises of every engine."""

from __future__ import annotations

import ctypes
import gc
import mmap
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import fsspec  # type: ignore[import-untyped]  # has none
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.engines import grouping, open_engine, spilling
from quire.engines.grouping import Sorted, whole_groups
from quire.engines.local import LocalEngine
from quire.engines.memory import give_back
from quire.engines.portions import FULL_BYTES, MAX_PATHS, portions
from quire.engines.running import AHEAD, Run
from quire.errors import EngineError
from tests.engines import jobs

# Few keys, so that groups are long enough to be split.
keys = st.lists(st.one_of(st.none(), st.integers(0, 2**64 - 1), st.integers(0, 3)), max_size=60)


@given(keys, st.integers(1, 9))
def test_sorted_tables_hold_every_row_once_and_every_group_whole(
    values: list[int | None], rows: int
) -> None:
    table = pa.table({"k": pa.array(values, pa.uint64()), "i": list(range(len(values)))})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "TABLE_ROWS", rows)
        groups = Sorted(table, "k")
        tables = [groups[i] for i in range(len(groups))]

    check_groups(tables, values)
    # The same order of rows in every group as before: the sort is stable.
    for part in tables:
        for value in set(part["k"].to_pylist()):
            places = [row["i"] for row in part.to_pylist() if row["k"] == value]
            assert places == sorted(places)


@given(keys, st.integers(1, 9), st.integers(1, 9))
def test_rows_that_do_not_fit_into_memory_give_the_same_tables(
    values: list[int | None], rows: int, batch_rows: int
) -> None:
    body = pa.array([None if i % 5 == 4 else b"x" * i for i in range(len(values))], pa.binary())
    kinds = pa.array([str(i % 3) for i in range(len(values))]).dictionary_encode()
    table = pa.table({"k": pa.array(values, pa.uint64()), "body": body, "kind": kinds})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "TABLE_ROWS", rows)
        patch.setattr(spilling, "HELD_BYTES", -1)
        spilled = spilling.gathered(iter(table.to_batches(batch_rows)), table.schema, "k")
        held = Sorted(table, "k")

    assert isinstance(spilled, spilling.Spilled) == bool(values)
    assert [spilled[i] for i in range(len(spilled))] == [held[i] for i in range(len(held))]


class _Released:
    """A mapped file that notes how much of it is in memory whenever it is given back."""

    def __init__(self, file: mmap.mmap) -> None:
        self._file = file
        self._before = _mapped_bytes()
        self.seen: list[int] = []

    def madvise(self, advice: int) -> None:
        self.seen.append(_mapped_bytes() - self._before)
        self._file.madvise(advice)


def _mapped_bytes() -> int:
    words = Path("/proc/self/status").read_text().split()
    return int(words[words.index("RssFile:") + 1]) * 1024


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux")
def test_a_table_with_rows_all_over_the_file_maps_little_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The system maps up to 2 MB around each row: a group in all parts of a file mapped all of it."""
    monkeypatch.setattr(spilling, "HELD_BYTES", 0)
    monkeypatch.setattr(spilling, "MAPPED_BYTES", 4 << 20)
    rows = {
        "k": pa.array([1, 2] * 8),
        "body": pa.array([bytes([i]) * (1 << 17) for i in range(16)]),
    }
    batches = [pa.record_batch(rows)] * 32  # 64 MB
    groups = spilling.gathered(iter(batches), batches[0].schema, "k")
    assert isinstance(groups, spilling.Spilled)
    released = _Released(groups._file)
    monkeypatch.setattr(groups, "_file", released)

    table = groups[0]

    assert table.num_rows == 32 * 8
    assert len(released.seen) >= 10
    assert max(released.seen) <= 12 << 20


def test_rows_are_not_held_once_they_are_in_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spilling, "HELD_BYTES", 10 * 8)
    made: list[weakref.ref[Any]] = []
    held: list[int] = []

    def batches() -> Iterator[pa.RecordBatch]:
        for number in range(30):
            held.append(sum(one() is not None for one in made))
            values = np.array([number])
            made.append(weakref.ref(values))
            batch = pa.RecordBatch.from_arrays([pa.array(values)], ["k"])
            del values
            yield batch
            del batch

    spilled = spilling.gathered(batches(), pa.schema({"k": pa.int64()}), "k")

    assert isinstance(spilled, spilling.Spilled)
    assert held[10] == 10
    # The writer may still have the one before.
    assert max(held[12:]) <= 1


def test_progress_never_goes_back() -> None:
    seen: list[int] = []
    is_later = threading.Event()

    def on_done(done: int, _begun: int) -> None:
        if done == 1:
            is_later.wait(0.3)  # the other task is done meanwhile
        seen.append(done)
        is_later.set()

    run = Run([lambda: iter("a"), lambda: iter("b")], 2, on_done=on_done)

    assert list(run) == ["a", "b"]
    assert seen == [1, 2]


def test_what_is_mapped_of_the_file_stays_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system maps more than is read, in every column: 46 MB of these rows were mapped."""
    if not Path("/proc/self/status").exists():
        pytest.skip("needs Linux, which tells what is mapped")
    monkeypatch.setattr(spilling, "HELD_BYTES", -1)
    monkeypatch.setattr(spilling, "MAPPED_BYTES", 8 << 20)
    monkeypatch.setattr(grouping, "TABLE_ROWS", 1)
    body = pa.array([b"x" * 16_000] * 64, pa.large_binary())
    batch = pa.record_batch({"k": list(range(64)), "one": body, "other": body})

    def mapped_bytes() -> int:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return int(status.split("RssFile:")[1].split()[0]) * 1024

    groups = spilling.gathered(iter([batch] * 40), batch.schema, "k")
    before = mapped_bytes()
    found = []
    for number in range(len(groups)):
        assert len(groups[number]) == 40
        found.append(mapped_bytes() - before)

    assert len(found) == 64
    assert max(found) < 16 << 20


def test_free_memory_goes_back_to_the_system() -> None:
    """Blocks below one that is in use stay with the C library, unless they are given back."""
    if not hasattr(ctypes.CDLL(None), "malloc_trim"):
        pytest.skip("needs the GNU C library")

    def resident_bytes() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE

    blocks = [np.ones(100_000, np.uint8) for _ in range(1_000)]
    before = resident_bytes()
    del blocks[:-1]

    give_back()

    assert before - resident_bytes() > 80_000_000


def test_what_was_spilled_is_gone_with_its_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(spilling, "HELD_BYTES", 100)
    paths = [str(tmp_path / name) for name in ("a", "b")]
    for path in paths:
        Path(path).write_text("cod eel " * 100)
    with LocalEngine(2) as engine:
        data = engine.group_by_key(
            engine.map_paths(paths, jobs.words, jobs.WORDS), "word", jobs.count, jobs.WORDS
        )
        found = [row for batch in data.batches() for row in batch.to_pylist()]
        rest = data.batches()
        assert next(rest).num_rows
        rest.close()  # type: ignore[attr-defined] # a generator

    assert found == [{"word": "cod", "n": 200}, {"word": "eel", "n": 200}]
    del data, rest
    gc.collect()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


@given(keys, st.integers(1, 9), st.integers(1, 9))
def test_a_stream_cut_anywhere_gives_whole_groups(
    values: list[int | None], rows: int, batch_rows: int
) -> None:
    values = sorted(values, key=lambda value: -1 if value is None else value)
    table = pa.table({"k": pa.array(values, pa.uint64())})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "TABLE_ROWS", rows)
        check_groups(list(whole_groups(iter(table.to_batches(batch_rows)), "k")), values)


def check_groups(tables: list[pa.Table], values: list[int | None]) -> None:
    """Check that tables hold the values, each in one table and in one run."""
    found = [table["k"].to_pylist() for table in tables]
    assert all(found)
    runs = [[v for i, v in enumerate(part) if i == 0 or part[i - 1] != v] for part in found]
    begun = [value for part in runs for value in part]
    assert len(begun) == len(set(values)) == len(set(begun))
    assert sorted(str(v) for part in found for v in part) == sorted(map(str, values))


def test_tables_end_at_the_first_group_past_their_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grouping, "TABLE_ROWS", 3)
    batches = pa.table({"k": [1, 1, 2, 2, 2, 3, 4]}).to_batches(1)

    tables = [table["k"].to_pylist() for table in whole_groups(iter(batches), "k")]

    assert tables == [[1, 1, 2, 2, 2], [3, 4]]


def test_tables_of_long_rows_have_few_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grouping, "TABLE_BYTES", 3000)
    table = pa.table({"k": [1, 1, 2, 2, 2, 3, 4], "body": [b"x" * 1000] * 7})
    groups = Sorted(table, "k")

    tables = [part["k"].to_pylist() for part in whole_groups(iter(table.to_batches(1)), "k")]

    assert tables == [[1, 1, 2, 2, 2], [3, 4]]
    assert [groups[i]["k"].to_pylist() for i in range(len(groups))] == [[1, 1], [2, 2, 2], [3, 4]]


def test_a_large_file_is_alone_and_small_ones_go_together(tmp_path: Path) -> None:
    small = [str(tmp_path / f"{i}.html") for i in range(100)]
    for path in small:
        Path(path).write_bytes(b"<p>")
    large = tmp_path / "crawl.warc.gz"
    with large.open("wb") as file:
        file.truncate(FULL_BYTES + 1)

    cut = list(portions([*small[:50], str(large), *small[50:]], slots=1))

    assert [path for portion in cut for path in portion] == [*small[:50], str(large), *small[50:]]
    assert [str(large)] in cut
    assert max(map(len, cut)) == 13


def test_no_portion_has_more_paths_than_the_most() -> None:
    cut = list(portions(["s3://crawl/page.html"] * 10_000, slots=2))

    assert max(map(len, cut)) == MAX_PATHS


def test_rows_come_in_the_order_of_the_paths_whatever_the_threads(tmp_path: Path) -> None:
    paths = [str(i) for i in range(100)]
    found = []
    for threads in (1, 2, 7):
        with LocalEngine(threads) as engine:
            data = engine.map_paths(paths, partial(jobs.numbers, rows=3, keys=9), jobs.NUMBERS)
            found.append(pa.Table.from_batches(data.batches())["value"].to_pylist())
            files = engine.write(data, str(tmp_path / str(threads)))
            found.append(pa.concat_tables(map(pq.read_table, files))["value"].to_pylist())

    assert all(values == list(range(300)) for values in found)


def test_no_more_is_begun_than_can_be_held() -> None:
    begun: list[int] = []

    def task(number: int) -> Iterator[int]:
        begun.append(number)
        yield number

    run = Run((partial(task, number) for number in range(1000)), threads=2)
    for number in run:
        assert max(begun) <= number + 2 * AHEAD
        if number == 100:
            break
    run.close()
    assert len(begun) < 120


def test_a_task_that_gives_much_waits_until_it_is_read() -> None:
    given: list[int] = []

    def endless() -> Iterator[int]:
        for number in range(10**9):
            given.append(number)
            yield number

    results = iter(Run([endless], threads=1))
    assert [next(results) for _ in range(20)] == list(range(20))
    time.sleep(0.1)
    assert len(given) < 60
    results.close()  # type: ignore[attr-defined]  # a generator, though only an iterator is promised


def test_two_readings_in_turns_do_not_wait_for_one_another() -> None:
    with LocalEngine(1) as engine:
        work = partial(jobs.numbers, rows=2, keys=5)
        paths = [str(i) for i in range(200)]
        one = engine.map_paths(paths, work, jobs.NUMBERS).batches()
        other = engine.map_paths(paths, work, jobs.NUMBERS).batches()

        assert all(a.equals(b) for a, b in zip(one, other, strict=True))


def test_the_first_failure_stops_the_rest_even_behind_a_slow_task() -> None:
    release = threading.Event()
    begun: list[int] = []

    def slow() -> Iterator[int]:
        release.wait(60)
        yield 0

    def broken() -> Iterator[int]:
        release.set()  # closing waits for running tasks
        yield int("broken")

    def counted(number: int) -> Iterator[int]:
        begun.append(number)
        time.sleep(0.001)
        yield number

    tasks: list[Callable[[], Iterator[int]]] = [slow, broken]
    tasks += (partial(counted, number) for number in range(10_000))
    with pytest.raises(ValueError, match="broken"):
        list(Run(tasks, threads=2))
    assert len(begun) < 10_000


def test_leaving_the_engine_ends_a_reading_that_is_under_way() -> None:
    with LocalEngine(1) as engine:
        paths = [str(i) for i in range(1000)]
        data = engine.map_paths(paths, partial(jobs.numbers, rows=1, keys=1), jobs.NUMBERS)
        rows = data.batches()
        next(rows)

    with pytest.raises(EngineError, match="closed while"):
        list(rows)
    assert not [t for t in threading.enumerate() if t.name.startswith("quire-engine")]


def test_progress_is_told_up_to_the_end(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    with LocalEngine(2, lambda *how: told.append(how)) as engine:
        work = partial(jobs.numbers, rows=10, keys=5)
        data = engine.map_paths([str(i) for i in range(40)], work, jobs.NUMBERS, step="sketch")
        grouped = engine.group_by_key(data, "key", jobs.total, jobs.GROUPS, step="bands")
        engine.write(grouped, str(tmp_path / "sink"))

    by_step = {
        step: [how for how in told if how[0] == step] for step in ("sketch", "bands", "write")
    }
    assert sum(map(len, by_step.values())) == len(told)
    assert {of for _, _, of in by_step["sketch"]} == {14}
    assert sorted(done for _, done, _ in by_step["sketch"]) == list(range(1, 15))
    assert by_step["bands"] == [("bands", 1, 1)]
    assert by_step["write"] == [("write", 1, 1)]


def test_large_data_is_written_as_several_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quire.engines.local.FILE_ROWS", 100)
    with LocalEngine(2) as engine:
        work = partial(jobs.numbers, rows=60, keys=5)
        data = engine.map_paths([str(i) for i in range(10)], work, jobs.NUMBERS)
        files = engine.write(data, str(tmp_path / "sink"))

    assert [pq.read_metadata(file).num_rows for file in files] == [60] * 10


def test_a_sink_may_be_an_address() -> None:
    store = fsspec.filesystem("memory")
    try:
        with LocalEngine(2) as engine:
            data = engine.map_paths(["0"], partial(jobs.numbers, rows=6, keys=5), jobs.NUMBERS)
            files = engine.write(data, "memory://crawl/bands")
            with pytest.raises(FileExistsError, match=r"holds part-000000\.parquet; expected"):
                engine.write(data, "memory://crawl/bands")
            failing = engine.group_by_key(data, "key", jobs.fail_group, jobs.GROUPS)
            with pytest.raises(ValueError, match="rows too many"):
                engine.write(failing, "memory://crawl/other")

        assert files == ["memory://crawl/bands/part-000000.parquet"]
        assert store.find("/crawl") == ["/crawl/bands/part-000000.parquet"]
        with fsspec.open(files[0]) as file:
            assert pq.read_table(file).num_rows == 6
    finally:
        store.rm("/crawl", recursive=True)


@pytest.mark.parametrize(("address", "threads"), [(None, 3), ("local", 3), ("local:5", 5)])
def test_an_address_opens_the_pool(address: str | None, threads: int) -> None:
    engine = open_engine(address, threads=3)

    assert isinstance(engine, LocalEngine)
    assert engine._threads == threads


@pytest.mark.parametrize(
    "address", ["", "local:0", "local:x", "ray://host", "spark:/host", "locale"]
)
def test_an_unknown_address_is_refused_with_what_is_known(address: str) -> None:
    with pytest.raises(ValueError, match="expected local, local:THREADS, spark://HOST:PORT or"):
        open_engine(address)


def test_no_threads_are_refused() -> None:
    with pytest.raises(ValueError, match="0 threads; expected 1 or more"):
        LocalEngine(0)
