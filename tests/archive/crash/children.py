"""Child processes that write an archive and may be killed at any moment.

``python -m tests.archive.crash.children`` is started once and imports everything. For every line of
its input it makes a child, writes the child's number, lets it run at the next line, and writes how
it ended. After each commit, a child writes the number of acknowledged pages into a file, which
survives the child.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from quire.archive import Archive
from tests.archive.crash.ingest import ingest, page


def write_on(folder: Path, said: Callable[[int], None]) -> None:
    """Add pages to an archive forever, and compact it now and then."""
    rng = random.Random()
    is_new = not (folder / "archive.json").exists()
    archive = Archive.create(folder) if is_new else Archive.open(folder, write=True)
    i = numbers(folder)
    while True:
        for _ in range(rng.randint(1, 4)):
            (url, time), body = page(i)
            archive.add(url, time, body)
            i += 1
        archive.commit()
        said(i)
        if rng.random() < 0.2:
            archive.compact()


def numbers(folder: Path) -> int:
    """Return the number of the next page; numbers of unacknowledged pages may be used again."""
    try:
        with Archive.open(folder) as archive:
            return 1 + max(
                (
                    int(version.time.timestamp() - page(0)[0][1].timestamp())
                    for version in archive.pages()
                ),
                default=-1,
            )
    except ValueError:
        return 0


JOBS: dict[str, Callable[[Path, Callable[[int], None]], None]] = {
    "ingest": lambda folder, said: ingest(folder, said=said),
    "write_on": write_on,
}


def serve() -> None:
    """Make children on request."""
    for line in sys.stdin:
        job, folder, acks = json.loads(line)
        ready, go = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(go)
            run(job, Path(folder), acks, ready)
        os.close(ready)
        print(child, flush=True)  # noqa: T201 - this is how it speaks
        sys.stdin.readline()
        with contextlib.suppress(BrokenPipeError):  # it was killed before it heard of it
            os.write(go, b"!")
        os.close(go)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)  # noqa: T201


def run(job: str, folder: Path, acks: str, ready: int) -> None:
    """Run as a child."""
    status = 1
    try:
        sink = os.open(acks, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.read(ready, 1)
        JOBS[job](folder, lambda n: void(os.write(sink, f"{n}\n".encode())))
        status = 0
    except (OSError, ValueError) as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(status)


def void(_: object) -> None:
    """Yield nothing."""


@dataclass(frozen=True, slots=True)
class Child:
    """A child that waits for its start.

    Attributes:
        number: Process id.
        acks: File with the number of acknowledged pages.
    """

    number: int
    acks: Path

    def acknowledged(self) -> int:
        """Read how many pages were acknowledged."""
        lines = self.acks.read_text().splitlines() if self.acks.exists() else []
        return max(map(int, lines), default=0)


class Children:
    """The process that makes children, one at a time."""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.archive.crash.children"],
            cwd=Path(__file__).parents[3],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(timeout=240)

    def start(self, job: str, folder: Path, acks: Path) -> Child:
        """Make a child."""
        return Child(int(self._ask(json.dumps([job, str(folder), str(acks)]))), acks)

    def go(self) -> None:
        """Let the child start."""
        assert self._process.stdin
        self._process.stdin.write("go\n")
        self._process.stdin.flush()

    def wait(self) -> int:
        """Wait for the end and return its exit code, or the negated signal that killed it."""
        assert self._process.stdout
        return int(self._process.stdout.readline())

    def _ask(self, line: str) -> str:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline()


if __name__ == "__main__":
    serve()
