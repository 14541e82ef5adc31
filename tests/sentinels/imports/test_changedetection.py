"""Imports from changedetection.io: watches, conditions and backups."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import timedelta
from typing import Any

import pytest

from quire.errors import WatchError
from quire.sentinels.conditions import All, AnyOf, NeverSeen, Not, Number, Text
from quire.sentinels.imports import (
    import_changedetection,
    import_watches,
)
from quire.sentinels.imports.changedetection import MAX_JSON_BYTES
from tests.sentinels.imports.examples import (
    ONE,
    STORE,
    URL,
    WATCH,
    noted,
    zipped,
)


def test_a_watch_of_changedetection_is_carried_over() -> None:
    found = import_changedetection(json.dumps(STORE), "url-watches.json")

    fish, other = found.watches
    part = fish.sentinel.parts[0]
    assert (fish.name, fish.pages.urls, fish.tags) == ("Fish", (URL,), ("food",))
    assert (fish.fetching.user, fish.fetching.password) == ("me", "p@ss")
    assert part.location.where == ("#price", "xpath://li[1]", "json:/items/0/price")
    assert part.location.without == (".ad", "//footer")
    assert part.ignore.order
    assert part.ignore.line("12 VISITORS (today) so far") == ""
    assert part.ignore.line("Served in 12 ms") == ""
    assert part.ignore.line("We use cookies") == ""
    assert part.ignore.line("Fish") == "Fish"
    assert fish.schedule.every == timedelta(hours=2, minutes=30)
    assert fish.schedule.jitter == timedelta(seconds=20)
    (window,) = fish.schedule.windows
    assert (window.days, window.start.hour, str(window.end)) == (("mon",), 22, "06:30:00")
    assert fish.schedule.zone == "Europe/Berlin"
    assert fish.fetching.browser
    assert [step.kind for step in fish.fetching.steps] == ["click", "type", "wait"]
    assert fish.fetching.headers == {"User-Agent": "x"}
    assert fish.paused
    assert fish.notify.targets == ("tgram://target-secret/1",)
    assert other.paused
    assert other.schedule.every == timedelta(hours=3)
    assert other.notify.targets == ("mailto:all@example.org",)
    assert noted(found) == {
        "tags": "the name of the group t-9 is not in the file",
        "notification_body": "not carried over",
        "headers": "the browser does not send the header X-Key; the watch is paused",
    }


def test_conditions_of_changedetection_are_carried_over() -> None:
    watch = import_changedetection(json.dumps(WATCH)).watches[0]

    part, when = watch.sentinel.parts[0], watch.sentinel.when
    assert isinstance(when, All)
    assert when.conditions == (
        AnyOf((Text(part, words=("in stock",)), Text(part, pattern=r"only \d+ left"))),
        Not(Text(part, words=("captcha",))),
        NeverSeen(part),
        Text(part, "added", pattern=r"\S"),
        AnyOf((Not(Number(part, "below", 5)), Text(part, words=("fish",)))),
    )


@pytest.mark.parametrize(
    ("fields", "source", "message"),
    [
        ({"method": "POST"}, "method", "only GET requests"),
        ({"body": "x=1"}, "method", "only GET requests"),
        ({"include_filters": ["p["]}, "include_filters", "p["),
        ({"include_filters": ["jq:.[] | .x"]}, "include_filters", "paths to one value"),
        (
            {"include_filters": ["xpath:unparsed-text('file:///etc/passwd')"]},
            "include_filters",
            "x",
        ),
        ({"trigger_text": ["/(?<!not )sold/"]}, "trigger_text", "is not supported"),
        ({"webdriver_js_execute_code": "x()"}, "webdriver_js_execute_code", "scripts"),
        ({"browser_steps": [{"operation": "Execute JS"}]}, "browser_steps", "the step"),
        ({"proxy": "ui-1away"}, "proxy", "not in the file"),
        ({"processor": "image_ssim_diff"}, "processor", "the processor"),
        ({"conditions": [{"operator": "x", "field": "y"}]}, "conditions", "the condition"),
        ({"url": "https://a.example/{{date}}"}, "url", "templates"),
        ({"time_schedule_limit": {"enabled": True}}, "time_schedule_limit", "no checks"),
        ({"include_filters": ["//a/@href"], "subtractive_selectors": [".x"]}, "without", "texts"),
    ],
)
def test_a_watch_that_would_mean_something_else_is_paused(
    fields: dict[str, Any], source: str, message: str
) -> None:
    found = import_changedetection(json.dumps({"url": URL, **fields}))

    assert found.watches[0].paused
    assert message in noted(found)[source]
    assert noted(found)[source].endswith("the watch is paused")


@pytest.mark.parametrize(
    ("fields", "source"),
    [
        ({"processor": "restock_diff"}, "processor"),
        ({"price_change_threshold_percent": 5}, "price_change_threshold_percent"),
        ({"remove_duplicate_lines": True}, "remove_duplicate_lines"),
        ({"notification_muted": True, "notification_urls": ["a://b"]}, "notification_muted"),
        ({"extract_text": ["\\d+"]}, "extract_text"),
        ({"something_new": "x"}, "something_new"),
        ({"url": "source:https://a.example/"}, "url"),
        ({"filter_text_added": False, "filter_text_removed": False}, "filter_text_replaced"),
    ],
)
def test_what_is_not_quite_the_same_is_noted(fields: dict[str, Any], source: str) -> None:
    found = import_changedetection(json.dumps({"url": URL, **fields}))

    assert not found.watches[0].paused
    assert source in noted(found)


def test_addresses_of_files_are_not_imported() -> None:
    found = import_changedetection(json.dumps([{"url": "file:///etc/passwd"}, {"url": URL}]))

    assert [watch.pages.urls for watch in found.watches] == [(URL,)]
    assert "not imported" in noted(found)["url"]


def test_watches_with_one_name_get_numbers() -> None:
    found = import_changedetection(json.dumps([{"url": URL, "title": "a"}] * 3))

    assert [watch.name for watch in found.watches] == ["a", "a (2)", "a (3)"]


def test_a_backup_is_read_in_both_layouts() -> None:
    old = zipped({"url-watches.json": json.dumps(STORE).encode(), "secret.txt": b"s"})
    new = zipped(
        {
            "changedetection.json": json.dumps({"settings": STORE["settings"]}).encode(),
            "0c6a2a4e-1111/watch.json": json.dumps(WATCH).encode(),
            "0c6a2a4e-1111/1700000000.txt": b"history",
            "t-9/tag.json": b'{"title": "sea"}',
        }
    )

    assert import_watches(old, "backup.zip") == import_changedetection(json.dumps(STORE))
    (watch,) = import_watches(io.BytesIO(new)).watches
    assert watch.tags == ("food", "sea")
    assert watch.schedule.jitter == timedelta(seconds=20)


BOMB = zipped({"url-watches.json": b"[" + b" " * (MAX_JSON_BYTES + 1) + b"]"})


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (BOMB, "longer than"),
        (zipped({f"{n}/watch.json": b" " * 19_000_000 + ONE for n in range(7)}), "longer than"),
        (zipped({"../url-watches.json": ONE, "/etc/watch.json": ONE}), "no watches"),
        (zipped({"a/b/watch.json": ONE, "a\\watch.json": ONE}), "no watches"),
        (zipped({"url-watches.json": ONE}, zipfile.ZIP_BZIP2), "compressed by method"),
        (zipped({"url-watches.json": b"[" * 100_000}), "deep"),
        (zipped({"url-watches.json": ONE})[:-30], "zip"),
        (zipped({"url-watches.json": b"\xff"}), "UTF-8"),
        (b"PK\x03\x04", "zip"),
        (b'{"watching": {}}', "no watches"),
        (b'{"watching": ' + b'{"a":' * 300 + b"1" + b"}" * 301, "deep"),
        (b" " * (MAX_JSON_BYTES + 1), "longer than"),
    ],
    ids=range(12),
)
def test_hostile_backups_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(WatchError) as caught:
        import_watches(data, "backup.zip", "changedetection.io")

    assert message in str(caught.value)
    assert str(caught.value).startswith("backup.zip")


def test_a_backup_with_too_many_files_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quire.sentinels.imports.changedetection.MAX_ENTRIES", 3)

    with pytest.raises(WatchError, match="4 files in it; expected at most 3"):
        import_watches(zipped({f"{n}/watch.json": ONE for n in range(4)}))
