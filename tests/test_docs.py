"""The docs are true: their examples run, and every command is in them."""

from __future__ import annotations

import doctest
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from quire.cli import app

ROOT = Path(__file__).parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


class Command(Protocol):
    """What is asked of a command; typer's own class for it is not public."""

    help: str | None


def commands(command: Command, path: str) -> Iterator[tuple[str, Command]]:
    """Walk a command and those below it, each with the words that call it."""
    if isinstance(command, TyperGroup):
        for name, below in command.commands.items():
            yield from commands(below, f"{path} {name}")
    else:
        yield path, command


COMMANDS = dict(commands(get_command(app), "quire"))


EACH_PAGE = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


@EACH_PAGE
def test_the_examples_of_a_page_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # examples may save files
    result = doctest.testfile(
        str(page),
        module_relative=False,
        optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS,
    )

    assert result.failed == 0


@EACH_PAGE
def test_the_links_of_a_page_to_its_neighbours_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!\w+:)([^)#]+)", page.read_text(encoding="utf-8"))

    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_readme_has_an_example() -> None:
    assert doctest.DocTestParser().get_examples((ROOT / "README.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", COMMANDS)
def test_a_command_explains_itself_with_examples(path: str) -> None:
    text = COMMANDS[path].help or ""

    assert "Examples:" in text
    assert path in text.partition("Examples:")[2]


@pytest.mark.parametrize("path", COMMANDS)
def test_a_command_is_in_the_docs(path: str) -> None:
    assert any(path in page.read_text(encoding="utf-8") for page in PAGES)
