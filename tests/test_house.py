"""Strangers find their way: folders stay small, and import chains short."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "python" / "quire"
#: A folder with more files wants subfolders.
MOST_FILES = 14
#: To change the top of a chain, a newcomer has to know what is below it.
LONGEST_CHAIN = {
    "fragments": 10,
    "archive": 15,
    "cli": 10,
    "reports": 10,
    "sdiff": 10,
    "web": 10,
}
_FOLDERS = [
    folder
    for top in (PACKAGE, ROOT / "crates")
    for folder in (top, *(path for path in top.rglob("*") if path.is_dir()))
    if "__pycache__" not in folder.parts
]


def modules(room: str) -> dict[str, Path]:
    """The modules of a room, by their dotted names."""
    return {
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path
        for path in (PACKAGE / room).rglob("*.py")
    }


def imports(path: Path, names: set[str]) -> set[str]:
    """Find the modules among some names that a file imports when it is imported itself."""
    found: set[str] = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found & names


def longest_chain(room: str) -> list[str]:
    """Find the longest chain of imports inside a room, without the `__init__` that joins all."""
    files = {name: path for name, path in modules(room).items() if path.stem != "__init__"}

    @cache
    def chain(name: str) -> tuple[str, ...]:
        below = [chain(one) for one in imports(files[name], set(files)) - {name}]
        return (name, *max(below, key=len)) if below else (name,)

    longest = max([chain(name) for name in files], key=len)
    return list(longest)


@pytest.mark.parametrize("folder", _FOLDERS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_folder_holds_few_files(folder: Path) -> None:
    files = [path.name for path in folder.iterdir() if path.suffix in {".py", ".rs"}]

    assert len(files) <= MOST_FILES, sorted(files)


@pytest.mark.parametrize(("room", "most"), LONGEST_CHAIN.items())
def test_a_chain_of_imports_inside_a_room_is_short(room: str, most: int) -> None:
    chain = longest_chain(room)

    assert len(chain) <= most, chain
