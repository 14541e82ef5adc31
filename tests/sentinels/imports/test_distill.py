"""Imports from Distill: monitors and their schedules."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from quire.errors import WatchError
from quire.sentinels.conditions import Text
from quire.sentinels.imports import import_distill
from tests.sentinels.imports.examples import (
    MONITOR,
    URL,
    noted,
)


def test_a_monitor_of_distill_is_carried_over() -> None:
    found = import_distill(json.dumps({"client": {"local": 1}, "data": [MONITOR]}))

    (watch,) = found.watches
    part = watch.sentinel.parts[0]
    assert part.location.where == ("xpath:(//main)[1]", ".top")
    assert part.location.without == (".ad",)
    assert watch.schedule.every == timedelta(seconds=4447)
    assert watch.fetching.browser
    assert watch.fetching.steps[0].seconds == 2
    assert watch.sentinel.when == Text(part, "changed", pattern="v[0-9]+")
    assert noted(found) == {
        "regexp": "fires if a line that matches was added or removed",
        "rules": "not carried over",
    }


@pytest.mark.parametrize(
    ("fields", "source"),
    [
        ({"state": 30}, "state"),
        ({"config": "{"}, "config"),
        ({"config": "[" * 5000}, "config"),
        ({"config": {"selections": [{"frames": [{"index": 1}]}]}}, "frames"),
        (
            {"config": {"selections": [{"frames": [{"includes": [{"type": "js", "expr": "x"}]}]}]}},
            "includes",
        ),
    ],
)
def test_a_monitor_that_would_mean_something_else_is_paused(
    fields: dict[str, Any], source: str
) -> None:
    found = import_distill(json.dumps({"data": [{"uri": URL, **fields}]}))

    assert found.watches[0].paused
    assert source in noted(found)


@pytest.mark.parametrize("text", ["[]", '{"data": 3}', "{", '{"data": [{"uri"'])
def test_what_is_not_an_export_of_distill_is_refused(text: str) -> None:
    with pytest.raises(WatchError):
        import_distill(text, "export.json")
