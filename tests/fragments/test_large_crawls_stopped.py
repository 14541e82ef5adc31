"""Grouping on the engine ends in the middle: the process is killed, or the disk is full."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from quire.fragments.shared.crawl import crawl_fragments
from quire.fragments.shared.large.crawl import write_crawl_fragments
from tests.fragments.test_large_crawls import equal, generated

PATHS = [f"{seed} 12" for seed in range(6)]
STEPS = ["parts", "values", "keys", "groups", "groups of parts", "order", "nesting", "places"]

KILLED = """
import os, signal, sys
from quire.engines.local import LocalEngine
from quire.fragments.shared.large.crawl import write_crawl_fragments
from tests.fragments.test_large_crawls import generated
from tests.fragments.test_large_crawls_stopped import PATHS

def progress(step, done, of):
    if step == sys.argv[1]:
        os.kill(os.getpid(), signal.SIGKILL)

with LocalEngine(2, progress) as engine:
    write_crawl_fragments(PATHS, sys.argv[2], engine=engine, min_bytes=30, reader=generated)
"""


@pytest.mark.parametrize("step", [*STEPS, "pages"])
def test_after_a_kill_the_same_folder_can_be_used_or_is_refused_by_name(
    tmp_path: Path, step: str
) -> None:
    sink = tmp_path / "shared"
    (tmp_path / "temporary").mkdir()

    done = subprocess.run(
        [sys.executable, "-c", KILLED, step, sink],
        env=os.environ | {"TMPDIR": str(tmp_path / "temporary")},
        check=False,
    )

    assert done.returncode == -signal.SIGKILL
    left = [path for path in sink.rglob("*") if path.is_file()]
    # Only the last two steps write here; a part has its name only when all are complete.
    assert not left or step in {"places", "pages"}
    if left:
        named = f"^{sink}/{left[0].parent.name}: holds .*; expected a new or empty folder$"
        with pytest.raises(FileExistsError, match=named):
            write_crawl_fragments(PATHS, str(sink), min_bytes=30, reader=generated)
    else:
        found = write_crawl_fragments(PATHS, str(sink), min_bytes=30, reader=generated)
        assert equal(found, crawl_fragments(PATHS, min_bytes=30, reader=generated))


FULL = """
import resource, signal, sys
from quire.engines import spilling
from quire.engines.local import LocalEngine
from quire.fragments.shared.large.crawl import write_crawl_fragments
from tests.fragments.test_large_crawls import generated
from tests.fragments.test_large_crawls_stopped import PATHS

def progress(step, done, of):
    if step == sys.argv[1]:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

spilling.HELD_BYTES = int(sys.argv[2])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
sink, work = sys.argv[3:]
try:
    with LocalEngine(2, progress) as engine:
        write_crawl_fragments(
            PATHS, sink, engine=engine, min_bytes=30, work=work, reader=generated
        )
except OSError as error:
    print(error.errno, error.filename)
"""


@pytest.mark.parametrize(
    ("step", "held_bytes", "where"),
    [
        ("parts", 1 << 30, "work/parts"),
        ("values", 1 << 30, "work/values"),
        ("values", 100, "temporary/quire-groups-"),
        ("keys", 1 << 30, "work/rarity.parquet"),
        ("order", 1 << 30, "work/candidates.parquet"),
        ("places", 1 << 30, "shared/places"),
    ],
)
def test_a_full_disk_is_an_error_that_names_the_place(
    tmp_path: Path, step: str, held_bytes: int, where: str
) -> None:
    sink, work = tmp_path / "shared", tmp_path / "work"
    (tmp_path / "temporary").mkdir()

    done = subprocess.run(
        [sys.executable, "-c", FULL, step, str(held_bytes), sink, work],
        env=os.environ | {"TMPDIR": str(tmp_path / "temporary")},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )

    code, _, named = done.stdout.rstrip("\n").partition(" ")
    assert int(code) == errno.EFBIG
    assert named.startswith(str(tmp_path / where))
    assert [path for path in sink.rglob("*") if path.is_file()] == []
    assert list((tmp_path / "temporary").iterdir()) == []
    found = write_crawl_fragments(PATHS, str(sink), min_bytes=30, reader=generated)
    assert equal(found, crawl_fragments(PATHS, min_bytes=30, reader=generated))


def test_a_folder_for_intermediate_files_with_some_of_a_stopped_run_is_refused(
    tmp_path: Path,
) -> None:
    work = tmp_path / "work"
    write_crawl_fragments(PATHS, str(tmp_path / "one"), work=str(work), reader=generated)

    with pytest.raises(FileExistsError, match=r"work/parts: holds part-0.*; expected a new"):
        write_crawl_fragments(PATHS, str(tmp_path / "two"), work=str(work), reader=generated)
