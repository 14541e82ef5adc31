"""A missing component is a skip for a developer and a failure in CI."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.conftest import require

ABSENT = "no-such-program-as-this"


def test_a_component_that_is_there_gives_its_path(monkeypatch: pytest.MonkeyPatch) -> None:
    python = Path(sys.executable)
    monkeypatch.setenv("PATH", str(python.parent))

    assert Path(require(python.name, "run Python")).samefile(python)


def test_a_missing_component_skips_on_a_developers_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)

    with pytest.raises(pytest.skip.Exception, match=f"{ABSENT} is not installed; needed to fly"):
        require(ABSENT, "fly")


def test_a_missing_component_fails_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")

    with pytest.raises(pytest.fail.Exception, match=f"{ABSENT} is not installed; needed to fly"):
        require(ABSENT, "fly")
