"""What the guides show on a command line is what happens there."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from quire.demo import SITE

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


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: str(guide.stem))
def test_the_commands_of_a_guide_print_what_it_says(guide: Path, tmp_path: Path) -> None:
    shutil.copytree(SITE, tmp_path, dirs_exist_ok=True)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    checker = doctest.OutputChecker()
    wrong = []
    for command, expected in examples(guide):
        result = subprocess.run(
            ["bash", "-c", command],
            cwd=tmp_path,
            env={**os.environ, "PATH": path, "LC_ALL": "C.UTF-8"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=60,
        )
        if not checker.check_output(expected, result.stdout, FLAGS):
            wrong.append(f"$ {command}\n{result.stdout}\nbut the guide has\n{expected}")

    assert len(examples(guide)) > 5
    assert not wrong, "\n\n".join(wrong)
