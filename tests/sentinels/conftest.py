"""Fixtures for the tests of sentinels."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from quire.sentinels.store import Database
from tests.sentinels.databases import new_postgres


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """Open an empty database of each kind."""
    if request.param == "sqlite":
        found = Database.open(tmp_path / "quire.db")
    else:
        found = Database.open(new_postgres())
    yield found
    found.close()
