"""Whichever system call fails or is the last, acknowledged pages are safe.

strace traces the calls of a child and makes one of them fail. It is attached when the child is
about to start, so that calls are counted from there.
"""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.archive.crash.children import Child, Children
from tests.archive.crash.ingest import PAGES, check, first, go_on
from tests.archive.crash.soak import IS_SOAK
from tests.conftest import require

#: Calls whose failure a program can handle; any call may be the last.
MAY_FAIL = {
    "close",
    "fstat",
    "fsync",
    "ftruncate",
    "getdents64",
    "lseek",
    "mkdir",
    "newfstatat",
    "openat",
    "pread64",
    "read",
    "rename",
    "unlink",
    "write",
}
SAMPLE = 50


class Tracer:
    """An strace process that traces a child.

    Args:
        child: The child, waiting for its start.
        options: What to do with its calls.
        log: File for the log of calls.
    """

    def __init__(self, child: Child, options: list[str], log: Path) -> None:
        strace = require("strace", "spoil the system calls of an archive's writer")
        self._process = subprocess.Popen(
            [strace, "-o", str(log), *options, "-p", str(child.number)],
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._process.stderr
        said = self._process.stderr.readline()
        if "attached" not in said:
            self.close()
            pytest.skip(f"strace may not watch other processes here: {said.strip()}")

    def close(self) -> None:
        """Wait until the child and strace end."""
        assert self._process.stderr
        self._process.stderr.close()
        self._process.wait(timeout=240)


def traced(children: Children, place: Path, options: list[str]) -> tuple[Path, int, int, list[str]]:
    """Ingest under strace; return the folder, acknowledged pages, exit code and calls."""
    place.mkdir()
    child = children.start("ingest", place / "a.quire", place / "acks")
    tracer = Tracer(child, options, place / "calls")
    children.go()
    end = children.wait()
    tracer.close()
    calls = re.findall(r"^(\w+)\(", (place / "calls").read_text(errors="replace"), re.MULTILINE)
    return place / "a.quire", child.acknowledged(), end, calls


def faults(calls: list[str]) -> Iterator[tuple[str, int, str]]:
    """List all faults to try: the call, its number among calls of that name, and the fault."""
    seen: dict[str, int] = {}
    for name in calls:
        seen[name] = seen.get(name, 0) + 1
        yield name, seen[name], "signal=KILL"
        if name in MAY_FAIL:
            yield name, seen[name], "error=EIO"
            yield name, seen[name], "error=ENOSPC"


def test_every_system_call_of_an_ingest_may_fail_or_be_the_last(tmp_path: Path) -> None:
    with Children() as children:
        folder, acknowledged, end, calls = traced(children, tmp_path / "whole", [])
        assert (acknowledged, end) == (len(PAGES), 0)
        check(folder, PAGES)
        every = list(faults(calls))
        assert {"write", "fsync", "rename", "unlink", "openat", "pread64"} <= set(calls)
        assert len(every) > 1000

        spoiled = 0
        chosen = every if IS_SOAK else random.Random(3).sample(every, SAMPLE)
        for count, (name, number, fault) in enumerate(chosen):
            place = tmp_path / f"{count}-{name}-{number}-{fault}"
            options = ["-e", f"trace={name}", "-e", f"inject={name}:{fault}:when={number}"]
            folder, acknowledged, end, _ = traced(children, place, options)
            text = (place / "calls").read_text(errors="replace")
            spoiled += "INJECTED" in text or "killed by" in text
            try:
                found = check(folder, first(acknowledged))
                go_on(folder, found, compact=count % 3 == 0)
            except Exception as error:
                raise AssertionError(f"{place.name}, ended with {end}") from error
            shutil.rmtree(place)
        # Children may differ by a call or so before they start.
        assert spoiled >= len(chosen) * 0.9
