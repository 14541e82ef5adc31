"""The engines that a test of the contract runs on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from quire.engines import Engine
from quire.engines.local import LocalEngine


@pytest.fixture(params=["local"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """Each engine in turn."""
    assert request.param == "local"
    with LocalEngine(2) as opened:
        yield opened
