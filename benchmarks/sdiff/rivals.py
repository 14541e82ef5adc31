"""The rivals at comparing, each with what its own documentation would tell a user to do.

GNU diff is a command on two files. ``xmldiff`` and ``lxml.html.diff`` are slow enough to need a
limit, so each comparison runs in a process of its own that ends when its CPU time is up: a
limit that a busy machine does not shorten.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import quire
from benchmarks.provenance import REPOSITORY

#: A process that gets no CPU at all should still end.
MOST_WALL_PER_CPU = 8


@dataclass(frozen=True, slots=True)
class Answer:
    """What a rival said of one pair: how many changes, after how many CPU seconds of comparing."""

    seconds: float = float("nan")
    actions: int = -1
    problem: str = ""

    @property
    def is_done(self) -> bool:
        """Whether it came to an end."""
        return not self.problem

    def milliseconds(self) -> str:
        """The time as a cell of a table."""
        return f"{self.seconds * 1e3:,.1f}" if self.is_done else self.problem


def ask(tool: str, old: Path, new: Path, *, kind: str, limit_s: float) -> Answer:
    """Let ``xmldiff`` or ``htmldiff`` compare two files, once."""
    command = [sys.executable, "-m", "benchmarks.sdiff.rival_child", tool, kind, f"{limit_s:g}"]
    try:
        done = subprocess.run(
            [*command, str(old), str(new)],
            cwd=REPOSITORY,
            capture_output=True,
            timeout=limit_s * MOST_WALL_PER_CPU + 60,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Answer(problem=f"over {limit_s:g} s")
    if not done.stdout:  # killed at the limit
        last = done.stderr.decode(errors="replace").strip().splitlines()
        if last and last[-1].startswith("ModuleNotFoundError"):
            # Not an answer, and no measure of anything.
            message = f"{last[-1]}; install requirements/bench.txt"
            raise RuntimeError(message)
        return Answer(problem=f"over {limit_s:g} s" if not last else last[-1][:60])
    said = json.loads(done.stdout)
    return Answer(
        said.get("seconds", float("nan")), said.get("actions", -1), said.get("problem", "")
    )


def gnu_diff(old: Path, new: Path, *options: str) -> int:
    """Run GNU diff on two files; 0 for equal, 1 for different."""
    done = subprocess.run(
        ["diff", *options, str(old), str(new)], stdout=subprocess.DEVNULL, check=False
    )
    return done.returncode


def gnu_diff_version() -> str:
    """The first line of ``diff --version``."""
    done = subprocess.run(["diff", "--version"], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[0]


def one_element_a_line(source: bytes) -> bytes:
    """Break generated XML between tags, which is what a tool for lines needs to say anything."""
    return source.replace(b"><", b">\n<") + b"\n"


@dataclass(frozen=True, slots=True)
class Documents:
    """Two documents, as every tool wants them: digests, their files, and sources with an element a line."""

    old: quire.Digest
    new: quire.Digest
    stored: tuple[Path, Path]
    lined: tuple[Path, Path]
    sources: tuple[Path, Path]

    @classmethod
    def write(cls, folder: Path, old: bytes, new: bytes) -> "Documents":
        """Encode two XML documents, and write all files into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        stored, lined, sources = [
            (folder / f"old.{suffix}", folder / f"new.{suffix}")
            for suffix in ("qd", "lined.xml", "xml")
        ]
        digests = []
        for place, source in enumerate((old, new)):
            digest = quire.encode(source, kind="xml")
            digest.save(stored[place])
            lined[place].write_bytes(one_element_a_line(source))
            sources[place].write_bytes(source)
            digests.append(digest)
        return cls(digests[0], digests[1], stored, lined, sources)

    def encode_lined(self) -> tuple[quire.Digest, quire.Digest]:
        """Digests of the very bytes that GNU diff reads: with a blank text between any two tags."""
        old, new = (quire.encode(path.read_bytes(), kind="xml") for path in self.lined)
        return old, new
