"""A writer that is killed, at any moment and however often, loses no acknowledged page."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

from tests.archive.crash.children import Children
from tests.archive.crash.ingest import Key, check, page
from tests.archive.crash.soak import IS_SOAK

KILLS = 200 if IS_SOAK else 40
#: Kills of one archive, before the next is begun.
LIVES = 10


def test_a_writer_killed_at_any_moment_loses_no_acknowledged_page(tmp_path: Path) -> None:
    rng = random.Random()
    promised = 0
    with Children() as children:
        for kill in range(KILLS):
            folder = tmp_path / f"{kill // LIVES}"
            acks = tmp_path / f"{kill // LIVES}.acks"
            child = children.start("write_on", folder, acks)
            before = child.acknowledged()
            children.go()
            while kill % 2 and child.acknowledged() == before:
                time.sleep(0.001)  # every other one gets as far as a commit, on any machine
            time.sleep(rng.uniform(0, 0.25))
            os.kill(child.number, signal.SIGKILL)
            assert children.wait() == -signal.SIGKILL
            acknowledged = child.acknowledged()
            started = time.process_time()
            check(folder, pages(acknowledged), pages(acknowledged + 10))
            assert time.process_time() - started < 5
            if kill % LIVES == LIVES - 1 or kill == KILLS - 1:
                promised += acknowledged
    assert promised > KILLS // 4, "the writers were killed before they did anything"


def pages(n: int) -> dict[Key, bytes]:
    return dict(page(i) for i in range(n))


def test_a_writer_may_be_killed_before_it_starts(tmp_path: Path) -> None:
    with Children() as children:
        child = children.start("write_on", tmp_path / "archive", tmp_path / "acks")
        os.kill(child.number, signal.SIGKILL)
        while " Z " not in Path(f"/proc/{child.number}/stat").read_text():  # it still ends
            time.sleep(0.01)
        children.go()
        assert children.wait() == -signal.SIGKILL
