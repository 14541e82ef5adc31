"""Dependencies: the files that decide the figures of one benchmark.

A stored result stays true while none of them changes. They are the kernels, and all Python modules
that the benchmark imports, directly or through others, wherever in a file the import is. Names of
the package itself (``quire.encode``) lead to the modules that its ``__init__`` takes them from.
Modules that are started as processes of their own are found by their names in strings.

This is on the safe side: a module counts even if the benchmark never calls it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

#: Where packages are, below the repository.
ROOTS = {"benchmarks": "benchmarks", "quire": "python/quire", "tests": "tests"}
#: What every figure depends on: the kernels, without their tests.
ALWAYS = (
    *("crates", "Cargo.toml", "Cargo.lock"),
    *(":!crates/*/tests", ":!crates/**/tests/**", ":!crates/**/tests.rs"),
)
#: These only choose what runs, and write what was found; or they only lead from old names to new.
NEVER = (
    *("benchmarks.run", "benchmarks.provenance", "benchmarks.pagewriter"),
    *("benchmarks.paper_figures", "benchmarks.dependencies", "quire._moved"),
)
#: These import their modules by names that are not written in them.
_DYNAMIC = ("benchmarks.peers",)
_PACKAGE = "quire"


def files_of(module: str, repository: Path) -> list[str]:
    """Return the paths that the figures of a benchmark depend on.

    Args:
        module: its module, such as ``benchmarks.digest.encode_speed``.
        repository: the root of the repository.
    """
    waiting, found = [module], {module}
    while waiting:
        for one in _imported(waiting.pop(), repository):
            if one not in found and one not in NEVER:
                found.add(one)
                waiting.append(one)
    paths = [_path(one, repository) for one in found]
    return [*ALWAYS, *sorted(str(path.relative_to(repository)) for path in paths if path)]


@cache
def _imported(module: str, repository: Path) -> frozenset[str]:
    """Return the modules that a module names."""
    path = _path(module, repository)
    if path is None:
        return frozenset()
    found = set(_named(ast.parse(path.read_bytes()), module, repository))
    if module in _DYNAMIC:
        found |= {f"{module}.{one.stem}" for one in path.parent.glob("*.py")}
    # A package is run before its modules are.
    parents = {one.rpartition(".")[0] for one in (*found, module)}
    return frozenset(one for one in found | parents if _path(one, repository) is not None)


def _named(tree: ast.Module, module: str, repository: Path) -> Iterator[str]:
    homes = _homes(repository)
    for node in _walked(tree, module):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            for alias in node.names:
                yield f"{node.module}.{alias.name}"
                if node.module == _PACKAGE:
                    yield homes.get(alias.name, "")
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield homes.get(node.attr, "") if node.value.id == _PACKAGE else ""
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            # The name of a module, or any other text, which names none.
            yield node.value if "." in node.value else ""


def _walked(tree: ast.Module, module: str) -> Iterator[ast.AST]:
    """Yield the nodes of a module; of the package itself, only what it imports at once."""
    for statement in tree.body:
        if module != _PACKAGE or isinstance(statement, ast.Import | ast.ImportFrom):
            yield from ast.walk(statement)


@cache
def _homes(repository: Path) -> dict[str, str]:
    """Return the module that each name of the package comes from."""
    path = _path(_PACKAGE, repository)
    if path is None:
        return {}
    return {
        alias.name: node.module
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.ImportFrom) and node.module is not None
        for alias in node.names
    }


def _path(module: str, repository: Path) -> Path | None:
    root, *rest = module.split(".")
    if root not in ROOTS or not all(one.isidentifier() for one in rest):
        return None
    base = repository.joinpath(ROOTS[root], *rest)
    for path in (base.with_name(f"{base.name}.py"), base / "__init__.py"):
        if path.is_file():
            return path
    return None
