"""What the guides show on a command line is what happens there."""

from __future__ import annotations

import contextlib
import doctest
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from quire.demo import SITE
from tests.conftest import require

GUIDES = [
    guide
    for guide in sorted((Path(__file__).parents[2] / "docs" / "guide").glob("*.md"))
    if "```console" in guide.read_text(encoding="utf-8")
]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def examples(guide: Path) -> list[tuple[str, str]]:
    """List the commands of a guide with what they print."""
    found: list[tuple[str, str]] = []
    for block in re.findall(r"```console\n(.*?)```", guide.read_text(encoding="utf-8"), re.DOTALL):
        for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, printed = example.partition("\n")
            found.append((command, printed))
    return found


def free_port() -> int:
    """Find a port that nothing listens on: other programs may have those of the guides."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: str(guide.stem))
def test_the_commands_of_a_guide_print_what_it_says(guide: Path, tmp_path: Path) -> None:
    commands = examples(guide)
    if any(command.startswith("varnishd ") for command, _ in commands):
        require("varnishd", "run the commands of a guide")
    shutil.copytree(SITE, tmp_path, dirs_exist_ok=True)
    ports = {port: str(free_port()) for port in ("8080", "6081")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    checker = doctest.OutputChecker()
    wrong = []
    for shown, expected in commands:
        command = re.sub(r"\b(8080|6081)\b", lambda found: ports[found[1]], shown)
        result = subprocess.run(
            ["bash", "-c", command],
            cwd=tmp_path,
            env={**os.environ, "PATH": path, "LC_ALL": "C.UTF-8"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=240,
        )
        if not checker.check_output(expected, result.stdout, FLAGS):
            wrong.append(f"$ {shown}\n{result.stdout}\nbut the guide has\n{expected}")

    # A guide stops what it started; this is for the case that it could not.
    for started in tmp_path.glob("*.pid"):
        with contextlib.suppress(OSError, ValueError):
            os.kill(int(started.read_text()), signal.SIGTERM)
    assert len(commands) > 5
    assert not wrong, "\n\n".join(wrong)
