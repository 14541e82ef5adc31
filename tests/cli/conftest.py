"""A folder to work in, and two ways to run a command in it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from quire.cli import app

PAGE = b"<!doctype html><title>Fruit</title><p class=a>Pears &amp; plums<p>Figs"

Quire = Callable[..., Result]
Process = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with one page in it: fruit.html."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fruit.html").write_bytes(PAGE)
    return tmp_path


@pytest.fixture
def quire(folder: Path) -> Quire:
    """Run a command in this process."""
    assert folder.is_dir()
    runner = CliRunner()

    def run(*arguments: str, given: bytes | None = None) -> Result:
        return runner.invoke(app, list(arguments), input=given)

    return run


@pytest.fixture
def process(folder: Path) -> Process:
    """Run a command in a process of its own, with real pipes."""

    def run(*arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "quire.cli", *arguments],
            cwd=folder,
            input=given,
            capture_output=True,
            check=False,
            timeout=60,
        )

    return run
