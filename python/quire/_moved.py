"""Old names: modules and functions that moved, kept working for one release.

``import quire.similarity.crawls`` gives a stand-in for ``quire.similar.crawl.templates`` and warns
with a ``DeprecationWarning`` that names the new module. Python asks this module only for names that
nothing else has, so that imports of today's names cost nothing.

When the release with old names is out, delete this module, its uses in ``quire/__init__.py`` and in
the packages of ``_NAMES``, and its tests.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Generic, TypeVar

_T = TypeVar("_T")

# Old module, new module: those that documentation named, and those with the name of a function.
_MOVED: dict[str, str] = {
    "quire.similarity": "quire.similar",
    "quire.archive.export": "quire.archive.warc.export",
    "quire.archive.ingest": "quire.archive.warc.ingest",
    "quire.fragments.collected": "quire.fragments.site.collection",
    "quire.fragments.crawls": "quire.fragments.shared.crawl",
    "quire.fragments.report": "quire.reports.fragments.report",
    "quire.fragments.site_plan": "quire.fragments.caching.site_plan",
    "quire.fragments.statistics": "quire.fragments.study.study",
    "quire.sdiff.redline": "quire.reports.changes.redline",
    "quire.sdiff.report": "quire.sdiff.changes_dict",
    "quire.similarity.crawls": "quire.similar.crawl.templates",
    "quire.similarity.report": "quire.reports.templates.report",
}

# Names that left a package, and their new names.
_NAMES: dict[str, dict[str, str]] = {
    "quire.fragments": {
        "Place": "quire.fragments.ChangedAspect",
        "RestlessNode": "quire.fragments.VolatileNode",
        "Verdict": "quire.fragments.VersionVerdict",
    },
}

# Names that changed with their modules.
_RENAMED: dict[str, dict[str, str]] = {"quire.sdiff.report": {"report": "changes_dict"}}


def install() -> None:
    """Let Python find old names: after everything else, and once."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())


def warn(old: str, new: str, *, stacklevel: int = 3) -> None:
    """Warn that a name is old."""
    warnings.warn(
        f"{old} is deprecated: use {new}",
        DeprecationWarning,
        stacklevel=stacklevel,
    )


def report() -> Callable[..., dict[str, object]]:
    """Give the function that ``quire.report`` was."""
    warn("quire.report(annotation)", "annotation.to_dict()", stacklevel=4)
    found: Callable[..., dict[str, object]] = importlib.import_module(
        "quire.sdiff.changes_dict"
    ).changes_dict
    return found


class Renamed(Generic[_T]):
    """Leads from the old name of an attribute to the new one, with a warning.

    Args:
        old: class and old name, such as ``Lifetimes.restless``.
        new: class and new name.
    """

    def __init__(self, old: str, new: str) -> None:
        self._old, self._new = old, new

    def __get__(self, owner: object, _kind: type | None = None) -> _T:
        if owner is None:  # asked for by the class, as tools for documentation do
            raise AttributeError(self._old)
        warn(self._old, self._new)
        found: _T = getattr(owner, self._new.rpartition(".")[2])
        return found


def old_names(package: str) -> Callable[[str], object]:
    """Make the ``__getattr__`` of a package that names have left."""
    names = _NAMES[package]

    def get(name: str) -> object:
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        warn(f"{package}.{name}", names[name])
        home, _, new = names[name].rpartition(".")
        return getattr(importlib.import_module(home), new)

    return get


class _Finder:
    """Finds modules by their old names."""

    def find_spec(
        self, name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        # A package, so that old names below it are looked for; its path is empty.
        if name not in _MOVED:
            return None
        return ModuleSpec(name, _Loader(), is_package=True)  # type: ignore[arg-type]  # has all that is called


class _Loader:
    """Loads a stand-in."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Moved(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        warn(name, _MOVED[name])
        real = vars(module)["_module"] = importlib.import_module(_MOVED[name])
        module.__doc__ = real.__doc__


class _Moved(ModuleType):
    """A stand-in for a module under its old name.

    It can be called: ``quire.similarity`` and ``quire.archive.export`` were functions with the
    names of modules, and an import of the module must not break a call of the function.
    """

    _module: ModuleType

    def __getattr__(self, name: str) -> object:
        module = vars(self).get("_module")
        if module is None:  # not loaded yet
            raise AttributeError(name)
        if name == "__all__" and not hasattr(module, name):
            return [name for name in vars(module) if not name.startswith("_")]
        return getattr(module, _RENAMED.get(self.__name__, {}).get(name, name))

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self._module)})

    def __call__(self, *args: object, **options: object) -> object:
        function = getattr(self, self.__name__.rpartition(".")[2])
        return function(*args, **options)
