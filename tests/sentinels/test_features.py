"""What people ask of a watch, one by one, and the page that says which test shows it.

``docs/compare-watching.md`` has a table of features beside those of other tools, and the questions
that their users ask. Every line names a test, or gives a reason.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from quire.sentinels.checking.replay import Capture, replay
from quire.sentinels.form import read_watch
from quire.sentinels.form.watch import Schedule
from quire.sentinels.schedule import next_check

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "compare-watching.md").read_text(encoding="utf-8")
LONG = " ".join(f"cod {number} haddock {number} plaice" for number in range(40))
START = datetime(2026, 5, 1, 9, tzinfo=UTC)


def firings(form: dict[str, Any], *pages: str, content_type: str = "text/html") -> int:
    """Count how often a watch fires on versions of a page, one an hour."""
    ends = "</html>" if content_type == "text/html" else ""
    captures = [
        Capture(START + timedelta(hours=hour), f"{page}{ends}".encode(), content_type)
        for hour, page in enumerate(pages)
    ]
    return len(replay(read_watch({"url": "https://example.org/", **form}), captures).firings)


# A feature, the watch, and pages: on the first list it fires at every step, on the second never.
FEATURES: dict[str, tuple[dict[str, Any], list[str], list[str]]] = {
    "css": ({"where": "#a"}, ["<p id=a>1", "<p id=a>2"], ["<p id=a>1<p>1", "<p id=a>1<p>2"]),
    "xpath": ({"where": "//p[2]"}, ["<p>1<p>1", "<p>1<p>2"], ["<p>1<p>1", "<p>2<p>1"]),
    "remove": (
        {"without": ".ad"},
        ["<p>1<p class=ad>1", "<p>2<p class=ad>1"],
        ["<p>1<p class=ad>1", "<p>1<p class=ad>2"],
    ),
    "regex": (
        {"ignore": {"text": r"\d+ visitors"}},
        ["<p>1 for 5 visitors", "<p>2 for 5 visitors"],
        ["<p>1 for 5 visitors", "<p>1 for 6 visitors"],
    ),
    "trigger text": (
        {"when": {"text": "sale"}},
        ["<p>1", "<p>sale", "<p>big sale"],
        ["<p>1", "<p>2", "<p>3"],
    ),
    "block while text": (
        {"when": {"not": {"text": "sold out"}}},
        ["<p>1", "<p>2"],
        ["<p>1", "<p>2 sold out"],
    ),
    "added only": (
        {"when": {"text": {"matches": ".", "in": "added"}}},
        ["<p>1", "<p>1<p>2"],
        ["<p>1<p>2", "<p>1"],
    ),
    "removed only": (
        {"when": {"text": {"matches": ".", "in": "removed"}}},
        ["<p>1<p>2", "<p>1"],
        ["<p>1", "<p>1<p>2"],
    ),
    "order": (
        {"ignore": {"order": True}},
        ["<p>1<p>2", "<p>1<p>3"],
        ["<p>1<p>2", "<p>2<p>1"],
    ),
    "never seen": ({"preset": "new item"}, ["<p>1", "<p>2"], ["<p>1<p>2", "<p>1", "<p>2<p>1"]),
    "number below": (
        {"when": {"number": {"falls_below": 9}}},
        ["<p>9.50", "<p>8.50"],
        ["<p>9.50", "<p>9.10", "<p>12"],
    ),
    "number per cent": (
        {"when": {"number": {"falls_by": "10 %"}}},
        ["<p>100", "<p>89"],
        ["<p>100", "<p>91", "<p>100"],
    ),
    "count": (
        {"when": 'count("li") >= 3'},
        ["<li>1<li>2", "<li>1<li>2<li>3"],
        ["<li>1", "<li>1<li>2"],
    ),
    "nested conditions over parts": (
        {
            "parts": {"price": {"where": "#p"}, "stock": {"where": "#s"}},
            "when": {
                "all": [
                    {"number": {"part": "price", "below": 9}},
                    {"any": [{"text": {"part": "stock", "has": "in stock"}}, {"not": "changed"}]},
                ]
            },
        },
        ["<p id=p>9<p id=s>sold out", "<p id=p>8<p id=s>in stock"],
        ["<p id=p>9<p id=s>sold out", "<p id=p>8<p id=s>sold out", "<p id=p>9<p id=s>in stock"],
    ),
    "structure": ({"watch": "structure"}, ["<p>1", "<div><p>1</div>"], ["<p>1", "<p>2"]),
    "links": (
        {"preset": "link"},
        ["<a href=/1.pdf>terms</a>", "<a href=/2.pdf>terms</a>"],
        ["<a href=/1.pdf>terms</a>", "<a href=/1.pdf>conditions</a>"],
    ),
    "attributes": (
        {"attributes": ["title"]},
        ["<p title=a>1", "<p title=b>1"],
        ["<p title=a class=a>1", "<p title=a class=b>1"],
    ),
    "price": ({"preset": "price drop", "where": "b"}, ["<b>9", "<b>8"], ["<b>8", "<b>9"]),
    "restock": (
        {"preset": "back in stock"},
        ["<p>Kettle: sold out", "<p>Kettle: 5 left"],
        ["<p>Kettle: 5 left", "<p>Kettle: sold out"],
    ),
    "similarity": (
        {"when": {"similarity": {"content": 0.5}}},
        ["<p>cod, haddock, plaice, sole and hake for today", "<p>closed until Monday, thank you"],
        [f"<p>{LONG} and hake", f"<p>{LONG} and eel"],
    ),
    "several parts": ({"where": ["h1", "#b"]}, ["<h1>1</h1><p id=b>1", "<h1>1</h1><p id=b>2"],
                      ["<h1>1</h1><p>1<p id=b>1", "<h1>1</h1><p>2<p id=b>1"]),
}  # fmt: skip


@pytest.mark.parametrize("feature", FEATURES)
def test_a_feature(feature: str) -> None:
    form, firing, silent = FEATURES[feature]

    assert firings(form, *firing) == len(firing) - 1
    assert firings(form, *silent) == 0


def test_lines_of_csv_and_calendars_are_watched() -> None:
    assert firings({}, "a,1\nb,2", "a,1\nb,3", content_type="text/csv") == 1
    event = "BEGIN:VEVENT\nSUMMARY:Fish\nEND:VEVENT"
    new = event.replace("Fish", "Chips")
    assert firings({}, event, new, content_type="text/calendar") == 1


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ({"every": "15 min"}, "09:15"),
        ({"cron": "30 11 * * *"}, "11:30"),
        ({"cron": "30 11 * * *", "zone": "Europe/Berlin"}, "09:30"),
        ({"every": "1 h", "windows": {"from": "12:00", "to": "14:00"}}, "12:00"),
        ({"every": "1 h", "windows": {"from": "12:00", "to": "14:00"}, "zone": "Asia/Tokyo"}, "03:00"),
    ],
)  # fmt: skip
def test_checks_are_due_by_interval_cron_windows_and_zone(
    form: dict[str, Any], expected: str
) -> None:
    watch = read_watch({"url": "https://example.org/", **form})

    assert f"{next_check(watch.schedule, START):%H:%M}" == expected


def test_pages_that_never_change_are_checked_less_often_if_allowed() -> None:
    slowed = Schedule(every=timedelta(hours=1), slow_down=timedelta(days=1))

    waits = [next_check(slowed, START, quiet) - START for quiet in (0, 50, 10_000)]
    assert waits[0] == timedelta(hours=1)
    assert waits[0] <= waits[1] <= waits[2] == timedelta(days=1)


# ------------------------------------------------------------ the page


def test_every_test_that_the_page_names_exists() -> None:
    named = re.findall(r"`([a-z_/]+\.py)::(\w+)(?:\[([^\]`]+)\])?`", PAGE)

    assert len(named) > 60
    for file, test, case in named:
        text = (ROOT / "tests" / file).read_text(encoding="utf-8")
        assert f"def {test}(" in text, f"{file}::{test}"
        if case:
            assert case in FEATURES, case


def test_every_line_of_the_page_has_a_test_or_a_reason() -> None:
    features = re.findall(
        r"^\| (?!feature|---)(.*) \|$", PAGE.partition("## What users")[0], re.MULTILINE
    )
    asks = re.findall(r"^(\d+)\. (.*)$", PAGE.partition("## What users")[2], re.MULTILINE)

    assert len(features) > 30
    assert [number for number, _ in asks] == [str(number) for number in range(1, 23)]
    for line in (*features, *(text for _, text in asks)):
        assert "::" in line or "Not" in line, line


def test_every_feature_is_on_the_page() -> None:
    missing = [name for name in FEATURES if f"test_a_feature[{name}]" not in PAGE]

    assert missing == []
