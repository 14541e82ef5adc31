"""Benchmarks run on small samples, and know which of their stored results are out of date."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

from benchmarks import provenance, run
from benchmarks.context import Context
from benchmarks.dependencies import ALWAYS, files_of
from benchmarks.provenance import LOCAL_CHANGES, Provenance
from benchmarks.report import Report
from benchmarks.watching import following_news, noise_terms
from tests.corpus import files


@pytest.mark.parametrize("measure", [following_news.run, noise_terms.run])
def test_watching_is_measured_on_small_samples(measure: Callable[[Context], Report]) -> None:
    files("versions-news")  # skips where the corpora are absent
    files("versions-terms")

    report = measure(Context(quick=True))

    assert report.goals
    assert all(each.met for each in report.goals), report.goals


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with code, results and documents, in which provenance looks."""
    for name in ("crates/a.rs", "python/a.py", "benchmarks/run.py"):
        _write(tmp_path / name, "first")
    for name in ("benchmarks/results/a.json", "docs/a.md"):
        _write(tmp_path / name, "first")
    _git(tmp_path, "init", "--quiet")
    _commit(tmp_path)
    monkeypatch.setattr(provenance, "REPOSITORY", tmp_path)
    return tmp_path


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _git(folder: Path, *arguments: str) -> None:
    names = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", *names, *arguments], cwd=folder, check=True)


def _commit(folder: Path) -> None:
    _git(folder, "add", ".")
    _git(folder, "commit", "--quiet", "--message", "a")


def test_a_result_is_current_until_the_code_changes(repository: Path) -> None:
    measured = provenance.provenance()
    assert measured.is_current()

    _write(repository / "benchmarks/results/a.json", "second")
    _write(repository / "docs/a.md", "second")
    assert provenance.provenance().commit == measured.commit
    _commit(repository)
    assert provenance.provenance().commit != measured.commit
    assert measured.is_current()

    _write(repository / "python/a.py", "second")
    assert not measured.is_current()
    _commit(repository)
    assert not measured.is_current()
    assert provenance.provenance().is_current()


def test_what_only_writes_results_may_change(repository: Path) -> None:
    measured = provenance.provenance()
    _write(repository / "benchmarks/run.py", "second")
    assert measured.is_current()


@pytest.mark.parametrize("stored", ["", '{"provenance": ', "[]", "{}", '{"provenance": {"a": 1}}'])
def test_a_result_that_cannot_be_read_is_measured_again(tmp_path: Path, stored: str) -> None:
    assert run.origin_of("encode", tmp_path) is None
    (tmp_path / "encode.json").write_text(stored)
    assert run.origin_of("encode", tmp_path) is None
    assert not run.is_current("encode", tmp_path)


def test_results_of_changed_or_unknown_code_are_not_current(repository: Path) -> None:
    _write(repository / "crates/a.rs", "second")
    changed = provenance.provenance()
    assert changed.commit.endswith(LOCAL_CHANGES)
    _git(repository, "checkout", "--quiet", ".")
    assert not changed.is_current()
    assert not Provenance("2026-01-01", "0123456", "a machine", {}).is_current()


# ------------------------------------------------------------------ what a figure depends on


def depends(name: str) -> set[str]:
    return set(files_of(f"benchmarks.{run.BENCHMARKS[name]}", run.REPOSITORY))


def test_a_figure_depends_on_the_kernels_and_on_what_its_benchmark_imports() -> None:
    encode, cached = depends("encode"), depends("invalidation")

    assert encode >= {"crates", "Cargo.lock", "benchmarks/digest/encode_speed.py"}
    assert encode >= {"python/quire/digest/page.py", "benchmarks/measure.py"}
    assert "benchmarks/peers/selectolax_lexbor.py" in encode  # imported by a name in a table
    assert not [path for path in encode if path.startswith("python/quire/fragments/")]
    assert cached >= {
        "python/quire/fragments/caching/pacing.py",
        "python/quire/sdiff/annotation.py",
    }
    # Started as a process of its own.
    assert "benchmarks/fragments/large_child.py" in depends("shared-large")
    # Names of the package itself.
    assert "python/quire/archive/archive.py" in depends("archive-exact")
    assert "benchmarks/run.py" not in encode


@pytest.mark.parametrize("name", run.BENCHMARKS)
def test_every_benchmark_depends_on_files_that_exist(name: str) -> None:
    found = depends(name)

    assert all((run.REPOSITORY / path).exists() for path in found if not path.startswith(":!"))
    assert f"benchmarks/{run.BENCHMARKS[name].replace('.', '/')}.py" in found


def test_every_function_that_a_benchmark_calls_is_in_a_file_it_depends_on() -> None:
    """The oracle: what runs while experiment 3 is measured on a small sample."""
    files("xml-data")
    called: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            called.add(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        importlib.import_module("benchmarks.papers.experiment3_size").run(Context(quick=True))
    finally:
        sys.setprofile(None)
    ours = {
        path.relative_to(run.REPOSITORY).as_posix()
        for path in map(Path, called)
        if path.is_relative_to(run.REPOSITORY / "python")
        or path.is_relative_to(run.REPOSITORY / "benchmarks")
    }

    assert "python/quire/digest/page.py" in ours
    assert ours - {"python/quire/__init__.py"} <= depends("experiment3")


def test_tests_of_the_kernels_decide_no_figure(repository: Path) -> None:
    measured = provenance.provenance()
    for name in ("core/tests/a.rs", "core/src/a/tests.rs", "core/src/a/tests/b.rs"):
        _write(repository / "crates" / name, "first")
    _commit(repository)
    assert measured.is_current(ALWAYS)

    _write(repository / "crates/core/src/a/mod.rs", "first")
    _commit(repository)
    assert not measured.is_current(ALWAYS)


def test_a_result_is_current_while_only_other_code_changes(repository: Path) -> None:
    measured = provenance.provenance()
    _write(repository / "python/b.py", "first")
    _commit(repository)

    assert not measured.is_current()
    assert measured.is_current(["crates", "python/a.py"])
    _write(repository / "python/a.py", "second")
    assert not measured.is_current(["crates", "python/a.py"])
