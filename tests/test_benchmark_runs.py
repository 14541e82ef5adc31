"""Benchmarks run on small samples, and know which of their stored results are out of date."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import provenance, run
from benchmarks.context import Context
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
