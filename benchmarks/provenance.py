"""What a reader needs to doubt a figure: when, from which commit, on what, with which versions."""

import datetime as dt
import importlib.metadata
import os
import platform
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent

#: Packages whose version may move a figure.
PACKAGES = (
    "quire",
    "numpy",
    "zstandard",
    "selectolax",
    "lxml",
    "turbohtml",
    "resiliparse",
    "html5lib",
    "xmldiff",
    "warcio",
    "rensa",
    "datasketch",
    "html-similarity",
)


#: Follows the name of a commit if the code differed from it.
LOCAL_CHANGES = " with local changes"
#: What may decide a figure. A run from a clean tree has none of these changed.
CODE = (
    *("crates", "Cargo.toml", "Cargo.lock", "python", "benchmarks", ":!benchmarks/results"),
    # These only choose what runs, and write what was found.
    *(":!benchmarks/run.py", ":!benchmarks/provenance.py"),
    *(":!benchmarks/pagewriter.py", ":!benchmarks/paper_figures.py"),
    ":!benchmarks/dependencies.py",
)


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where and when a run was made."""

    date: str
    commit: str
    machine: str
    versions: dict[str, str]
    #: How long the run took; not known for old results.
    seconds: float | None = None

    def line(self) -> str:
        """Date and commit in one line."""
        took = "" if self.seconds is None else f", took {self.seconds:,.0f} s"
        return f"{self.date}, commit {self.commit}{took}"

    def is_current(self, paths: Iterable[str] = CODE) -> bool:
        """Whether it was made from a clean tree, with the code that is here now.

        Args:
            paths: the code that decides its figures.
        """
        if self.commit.endswith(LOCAL_CHANGES):
            return False
        return _ran("diff", "--quiet", self.commit, "--", *paths)


def provenance(seconds: float | None = None) -> Provenance:
    """Collect what there is to know about this run."""
    kernel = ".".join(platform.release().split(".")[:2])
    return Provenance(
        date=dt.datetime.now(dt.UTC).date().isoformat(),
        commit=_commit(),
        machine=(
            f"{os.cpu_count()} cores {_processor()}, {platform.system()} {kernel}, "
            f"Python {platform.python_version()}"
        ),
        versions={name: version for name in PACKAGES if (version := _version(name))},
        seconds=seconds,
    )


def _processor() -> str:
    """The architecture and, on Linux, the model: one may be twice as fast as another."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{platform.machine()} ({models[0]})" if models else platform.machine()


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _commit() -> str:
    """The commit, and whether code differs from it (tests, documents and results do not count)."""
    name = _git("rev-parse", "--short=7", "HEAD")
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", *CODE)
    return (name or "unknown") + (LOCAL_CHANGES if changed else "")


def _git(*arguments: str) -> str:
    return _call(*arguments).stdout.strip()


def _ran(*arguments: str) -> bool:
    return _call(*arguments).returncode == 0


def _call(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", *arguments], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
