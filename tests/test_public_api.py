"""The public surface is deliberate: one sorted list, and it is the whole truth."""

from __future__ import annotations

from types import ModuleType

import quire

# Imported when they are first asked for.
LATE = {"Archive"}


def test_all_is_sorted() -> None:
    # As ruff's RUF022 sorts: constants, classes, functions, each by name.
    by_kind = sorted(
        quire.__all__, key=lambda name: (not name.isupper(), not name[0].isupper(), name)
    )

    assert by_kind == list(quire.__all__)


def test_all_is_every_public_name_of_the_package() -> None:
    public = {
        name
        for name, value in vars(quire).items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    }

    assert public | LATE == {name for name in quire.__all__ if not name.startswith("__")}
    assert not public & LATE


def test_every_public_name_is_documented() -> None:
    undocumented = [
        name
        for name in quire.__all__
        if callable(getattr(quire, name)) and not getattr(quire, name).__doc__
    ]

    assert undocumented == []
