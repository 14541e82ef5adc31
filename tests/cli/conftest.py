"""A folder to work in, a small site, and three ways to run a command."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from quire.cli import app

PAGE = b"<!doctype html><title>Fruit</title><p class=a>Pears &amp; plums<p>Figs"

Quire = Callable[..., Result]
Process = Callable[..., subprocess.CompletedProcess[bytes]]
Watched = Callable[..., tuple[bytes, bytes]]


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
            timeout=240,
        )

    return run


def shop(rows: int) -> bytes:
    menu = "".join(f'<li class="m{i}"><a href="/">x</a>' for i in range(9))
    goods = "<tr class=good><td>Cod<td class=price>9" * rows
    return f"<ul class=menu>{menu}</ul><table class=goods>{goods}</table>".encode()


def news(rows: int) -> bytes:
    head = "".join(f'<section class="s{i}"><h2>x</h2></section>' for i in range(9))
    return f"<main>{head}<article>{'<p class=lead>Rain' * rows}</article></main>".encode()


@pytest.fixture
def site(folder: Path) -> Path:
    """A folder with two templates and a page like no other."""
    site = folder / "site"
    site.mkdir()
    for i in range(5):
        (site / f"shop{i}.html").write_bytes(shop(4 + i))
    for i in range(3):
        (site / f"news{i}.html").write_bytes(news(4 + i))
    (site / "about.html").write_bytes(b"<dl><dt>We<dd>are<dt>here<dd>now</dl>" * 9)
    return site


@pytest.fixture
def watched(folder: Path) -> Watched:
    """Run a command with standard output or standard error on a terminal; give what it gets, and the other one."""

    def run(*arguments: str, stream: str, code: int = 0) -> tuple[bytes, bytes]:
        primary, secondary = pty.openpty()
        with subprocess.Popen(
            [sys.executable, "-m", "quire.cli", *arguments],
            cwd=folder,
            env={**os.environ, "TERM": "xterm"},
            stdin=subprocess.DEVNULL,
            stdout=secondary if stream == "stdout" else subprocess.PIPE,
            stderr=secondary if stream == "stderr" else subprocess.PIPE,
        ) as running:
            os.close(secondary)
            told = b""
            with suppress(OSError):  # Linux says so of the other end's closing
                while part := os.read(primary, 65536):
                    told += part
            os.close(primary)
            out, errors = running.communicate(timeout=240)
        assert running.returncode == code, errors
        return told, errors if stream == "stdout" else out

    return run
