"""A folder is filled completely or not at all, whichever process writes its parts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from quire.engines.sinks import Sink
from quire.errors import EngineError
from tests.engines import jobs


def rows(word: str) -> Iterator[pa.RecordBatch]:
    yield pa.record_batch({"word": [word], "n": [1]}, schema=jobs.WORDS)


def test_of_a_part_that_was_written_twice_one_stays(tmp_path: Path) -> None:
    sink = Sink(str(tmp_path))
    first = sink.write_attempt(3, jobs.WORDS, rows("cod"))
    again = sink.write_attempt(3, jobs.WORDS, rows("cod"))
    other = sink.write_attempt(4, jobs.WORDS, rows("eel"))

    files = sink.commit([(4, other), (3, again)])

    assert first != again
    assert [Path(file).name for file in files] == ["part-000003.parquet", "part-000004.parquet"]
    assert sorted(str(path) for path in tmp_path.iterdir()) == files


def test_readers_do_not_see_attempts(tmp_path: Path) -> None:
    sink = Sink(str(tmp_path))
    sink.write_attempt(0, jobs.WORDS, rows("cod"))
    sink.commit([(1, sink.write_attempt(1, jobs.WORDS, rows("eel")))])
    late = sink.write_attempt(0, jobs.WORDS, rows("cod"))  # from a machine that was given up

    assert (tmp_path / late).exists()
    assert pq.read_table(tmp_path)["word"].to_pylist() == ["eel"]


def test_parts_that_were_written_elsewhere_are_missed(tmp_path: Path) -> None:
    sink = Sink(str(tmp_path / "here"))
    sink.prepare()
    here = sink.write_attempt(0, jobs.WORDS, rows("cod"))

    with pytest.raises(EngineError, match="1 of 2 parts were written elsewhere; expected a folder"):
        sink.commit([(0, here), (1, ".attempt-000001-of-another-machine")])


def test_an_attempt_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def failing() -> Iterator[pa.RecordBatch]:
        yield from rows("cod")
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        Sink(str(tmp_path)).write_attempt(0, jobs.WORDS, failing())

    assert list(tmp_path.iterdir()) == []
