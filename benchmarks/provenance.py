"""What a reader needs to doubt a figure: when, from which commit, on what, with which versions."""

import datetime as dt
import importlib.metadata
import os
import platform
import subprocess
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


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where and when a run was made."""

    date: str
    commit: str
    machine: str
    versions: dict[str, str]

    def line(self) -> str:
        """Date and commit in one line."""
        return f"{self.date}, commit {self.commit}"


def provenance() -> Provenance:
    """Collect what there is to know about this run."""
    kernel = ".".join(platform.release().split(".")[:2])
    return Provenance(
        date=dt.datetime.now(dt.UTC).date().isoformat(),
        commit=_commit(),
        machine=(
            f"{os.cpu_count()} cores {platform.machine()}, {platform.system()} {kernel}, "
            f"Python {platform.python_version()}"
        ),
        versions={name: version for name in PACKAGES if (version := _version(name))},
    )


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _commit() -> str:
    """The commit, and whether code differs from it (results of earlier benchmarks do not count)."""
    name = _git("rev-parse", "--short=7", "HEAD")
    changed = _git(
        "status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs", ":!benchmarks/results"
    )
    return (name or "unknown") + (" with local changes" if changed else "")


def _git(*arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    return done.stdout.strip()
