"""The public surface is deliberate: one sorted list, and it is the whole truth."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import quire


def test_all_is_sorted() -> None:
    # As ruff's RUF022 sorts: constants, classes, functions, each by name.
    by_kind = sorted(
        quire.__all__, key=lambda name: (not name.isupper(), not name[0].isupper(), name)
    )

    assert by_kind == list(quire.__all__)


def imported() -> dict[str, str]:
    """Every name that the package imports, for type checkers or for all, with its home."""
    tree = ast.parse(Path(quire.__file__ or "").read_text())
    return {
        alias.name: node.module or ""
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if not alias.name.startswith("_")
    }


def test_a_name_is_what_type_checkers_take_it_for() -> None:
    assert set(imported()) == set(quire.__all__)
    for name, home in imported().items():
        assert getattr(quire, name) is getattr(importlib.import_module(home), name)


def test_similarity_is_a_function_whatever_was_imported() -> None:
    code = "import quire.similar.sketches, quire; print(quire.similarity.__class__.__name__)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)

    assert found.stdout.strip() == b"function"


def test_what_is_not_there_is_no_attribute() -> None:
    assert not hasattr(quire, "nothing")
    assert {"Archive", "encode", "__all__"} <= set(dir(quire))


def test_all_is_every_public_name_of_the_package() -> None:
    assert all(hasattr(quire, name) for name in quire.__all__)  # those that are imported late, too
    public = {
        name
        for name, value in vars(quire).items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    }

    assert public == set(quire.__all__)


def test_every_public_name_is_documented() -> None:
    undocumented = [
        name
        for name in quire.__all__
        if callable(getattr(quire, name)) and not getattr(quire, name).__doc__
    ]

    assert undocumented == []
