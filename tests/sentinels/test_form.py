"""The declarative form: what people write, and the errors they get."""

from __future__ import annotations

import contextlib
import copy
from datetime import time, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.errors import WatchError
from quire.sentinels.conditions import All, AnyOf, Changed, Count, Fired, Not, Number, Text
from quire.sentinels.form import PRESETS, read_watch
from quire.sentinels.parts import Location

URL = "https://example.org/menu"
FULL: dict[str, Any] = {
    "name": "Menu",
    "url": URL,
    "parts": {
        "price": {"where": "#price", "watch": "text"},
        "links": {"where": ["nav", "//footer"], "without": ".ad", "watch": ["links", "images"]},
    },
    "when": {
        "any": [
            {"number": {"part": "price", "falls_by": "5 %", "pick": "lowest"}},
            {"all": [{"text": {"part": "price", "has": ["sale"], "in": "added"}}, "changed"]},
            {"not": {"count": {"of": "li", "at_most": 3}}},
            'count("li.item") >= 3',
            {"similarity": {"structure": 0.8}},
            {"never_seen": "links"},
            {"unchanged": "1 d 12 h"},
            {"fired": {"sentinel": "other", "within": "1 h"}},
            {"page": ["gone", "blocked"]},
        ]
    },
    "every": "15 min",
    "windows": {"days": ["mon", "fri"], "from": "9:00", "to": "24:00"},
    "zone": "Europe/Berlin",
    "jitter": 30,
    "fetch": {
        "headers": {"Accept-Language": "de"},
        "cookies": {"session": "secret"},
        "steps": [{"open": URL}, {"type": "#q", "text": "fish"}, {"press": "Enter"}, {"wait": 2}],
    },
    "notify": {
        "to": ["mailto:me@example.org", "https://hooks.example/x"],
        "bundle": "daily",
        "quiet": {"from": "22:00", "to": "07:00"},
        "at_most": 5,
        "text": "{name} changed: {url}",
    },
    "tags": ["food"],
}


def test_a_watch_needs_only_an_address() -> None:
    watch = read_watch({"url": URL})

    assert (watch.name, watch.pages.urls) == (URL, (URL,))
    assert watch.schedule.every == timedelta(hours=1)
    assert watch.sentinel.parts[0].location == Location()
    assert watch.sentinel.condition == Changed(watch.sentinel.parts[0])


def test_every_field_is_read() -> None:
    watch = read_watch(FULL)

    price, links = watch.parts["price"], watch.parts["links"]
    assert links.location == Location(("nav", "//footer"), (".ad",))
    assert links.watch == ("links", "images")
    when = watch.sentinel.when
    assert isinstance(when, AnyOf)
    assert when.conditions[0] == Number(price, "falls", 5.0, percent=True, pick="lowest")
    assert when.conditions[1] == All(
        (Text(price, "added", ("sale",)), AnyOf((Changed(price), Changed(links))))
    )
    assert when.conditions[2] == Not(Count("li", "<=", 3))
    assert when.conditions[3] == Count("li.item", ">=", 3)
    assert when.conditions[7] == Fired("other", timedelta(hours=1))
    assert [str(each) for each in when.conditions[4:7]] == [
        "similarity of structure below 0.8",
        "a line never seen before",
        "unchanged for 1.5 d",
    ]
    assert watch.schedule.windows[0].days == ("mon", "fri")
    assert (watch.schedule.windows[0].start, watch.schedule.windows[0].end) == (time(9), time(0))
    assert watch.schedule.jitter == timedelta(seconds=30)
    assert [step.kind for step in watch.fetching.steps] == ["open", "type", "press", "wait"]
    assert watch.fetching.browser
    assert (watch.notify.bundle, watch.notify.at_most) == ("daily", 5)


def test_secrets_are_not_printed() -> None:
    shown = repr(read_watch(FULL))

    assert "secret" not in shown
    assert "hooks.example" not in shown


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_a_watch_and_can_be_changed(name: str) -> None:
    watch = read_watch({"url": URL, "preset": name, "where": "#a", "every": "1 d"})

    assert watch.sentinel.parts[0].location == Location(("#a",))
    assert watch.schedule.every == timedelta(days=1)
    assert PRESETS[name].summary.endswith(".")


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({}, "url", "either 'url' or 'urls'"),
    ({"url": "ftp://example.org/"}, "url", "starts with http"),
    ({"url": "file:///etc/passwd"}, "url", "starts with http"),
    ({"url": "https://me:pw@example.org/"}, "url", "'user' and 'password' under 'fetch'"),
    ({"url": URL, "preset": "link", "wehre": None}, "wehre", "did you mean 'where'"),
    ({"url": URL, "wehre": "p"}, "wehre", "did you mean 'where'"),
    ({"url": URL, "where": "p["}, "where", "selector"),
    ({"url": URL, "where": 3}, "where", "a selector or a list of selectors, found 3"),
    ({"url": URL, "watch": "txt"}, "watch", "one of content, text"),
    ({"url": URL, "watch": []}, "watch", "found an empty list"),
    ({"url": URL, "ignore": {"text": "a("}}, "ignore.text", "unclosed group"),
    ({"url": URL, "every": "soon"}, "every", "a duration such as '15 min'"),
    ({"url": URL, "every": "0.1 s"}, "every", "1 s or more"),
    ({"url": URL, "every": "1 h", "cron": "0 9 * * *"}, "cron", "either 'every' or 'cron'"),
    ({"url": URL, "zone": "Mars/Base"}, "zone", "a time zone such as Europe/Berlin"),
    ({"url": URL, "zone": "../../etc/passwd"}, "zone", "a time zone such as Europe/Berlin"),
    ({"url": URL, "windows": {"from": 540}}, "windows.from", "in quotes"),
    ({"url": URL, "when": {"number": {"below": "x"}}}, "when.number.below", "a number"),
    ({"url": URL, "when": {"number": {"below": 1, "above": 2}}}, "when.number", "exactly one"),
    ({"url": URL, "when": {"text": {"matches": "("}}}, "when.text", "unclosed group"),
    ({"url": URL, "when": {"al": []}}, "when.al", "did you mean 'all'"),
    ({"url": URL, "when": {"all": []}}, "when.all", "one or more conditions"),
    (
        {"url": URL, "when": {"any": [{"count": {"of": "p", "at_least": -1}}]}},
        "when.any[0].count.at_least",
        "from 0",
    ),
    ({"url": URL, "parts": {"a": {}, "b": {}}, "when": {"text": "x"}}, "when.text.part", "a, b"),
    ({"url": URL, "parts": {"a": {}}, "where": "p"}, "where", "inside one of the parts"),
    ({"url": URL, "fetch": {"headers": {"A\r\nB": "x"}}}, "fetch.headers.A\r\nB", "a name of"),
    ({"url": URL, "fetch": {"headers": {"A": "x\r\ny"}}}, "fetch.headers.A", "line breaks"),
    ({"url": URL, "fetch": {"steps": [{"open": "file:///x"}]}}, "fetch.steps[0].open", "http"),
    ({"url": URL, "fetch": {"browser": True, "proxy": URL}}, "fetch.proxy", "does not use proxies"),
    (
        {"url": URL, "fetch": {"steps": [{"wait": 1}], "headers": {"X-Key": "a"}}},
        "fetch.headers.X-Key",
        "use cookies",
    ),
    ({"url": URL, "keep": {"bytes": "5 TB"}}, "keep.bytes", "such as '500 MB'"),
    ({"url": URL, "keep": {"versions": 0}}, "keep.versions", "from 1"),
    ({"url": URL, "find": {"in": "feed", "tell": "old"}}, "find.tell", "new, gone"),
    ({"url": URL, "notify": {"text": "{name.__class__}"}}, "notify.text", "placeholders"),
    ({"url": URL, "notify": "me"}, "notify", "a target such as"),
    ({"url": URL, "where": "p", "without": "//a/@href"}, "without", "gives texts"),
    ({"url": URL, "where": "//a/@href", "without": "nav"}, "without", "select elements"),
    ({"url": URL, "where": "//a/@href", "watch": "links"}, "watch", "select elements"),
    ({"url": URL, "when": {"count": {"of": "xpath:count(//a)"}}}, "when.count.of", "elements or"),
    ({"url": URL, "when": f'count("li") > {"9" * 5000}'}, "when", "'changed'"),
    ({"url": URL, "when": {"number": {"below": float("inf")}}}, "when.number.below", "1e+15"),
    ({"url": URL, "when": {"number": {"below": 10**400}}}, "when.number.below", "smaller"),
    (
        {"url": URL, "when": {"number": {"falls_by": f"{'9' * 400} %"}}},
        "when.number.falls_by",
        "a number",
    ),
    ({"url": URL, "when": {"text": None, "count": {"of": "p"}}}, "when.text", "found nothing"),
    ({"url": URL, "when": {"never_seen": "menu"}}, "when.never_seen", "a watch with 'parts'"),
    ({"url": URL, "parts": {"a": None, "b": {}}}, "parts.a", "a part"),
    ({"url": URL, "name": "n" * 501}, "name", "at most 500 characters"),
    ({"url": URL, "parts": {" ": {}}}, "parts", "a name before each colon"),
    ({"url": URL, "parts": {"a": {}}, "preset": "price"}, "preset", "one part"),
    ({"url": URL, "fetch": {"headers": {"A": None}}}, "fetch.headers.A", "a text"),
    ({"url": URL, "fetch": {"steps": [{"type": "a[", "text": "x"}]}}, "fetch.steps[0].type", "a["),
    ({"url": URL, "name": "a\0"}, "name", "NUL"),
    ({"url": URL, "name": "\ud800"}, "name", "surrogate"),
    ({"url": URL, "preset": "prices"}, "preset", "one of any change"),
]


@pytest.mark.parametrize(("form", "path", "message"), WRONG)
def test_an_error_names_the_field_and_the_expectation(
    form: dict[str, Any], path: str, message: str
) -> None:
    with pytest.raises(WatchError) as caught:
        read_watch(form)

    assert caught.value.path == path
    assert message in str(caught.value)
    assert str(caught.value).startswith(path)


def test_conditions_are_not_nested_without_end() -> None:
    deep: Any = {"text": "x"}
    for _ in range(2_000):
        deep = {"not": deep}

    with pytest.raises(WatchError, match="nested at most 64 deep"):
        read_watch({"url": URL, "when": deep})


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=6), inside),
    max_leaves=6,
)


def paths_of(data: dict[str, Any] | list[Any], path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = data.items() if isinstance(data, dict) else enumerate(data)
    found = [path] if path else []
    for key, value in inside:
        if isinstance(value, dict | list):
            found += paths_of(value, (*path, key))
        else:
            found.append((*path, key))
    return found


@given(st.sampled_from(paths_of(FULL)), plain)
def test_any_value_anywhere_is_read_or_refused(path: tuple[Any, ...], value: object) -> None:
    form = copy.deepcopy(FULL)
    inside = form
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = value

    with contextlib.suppress(WatchError):
        read_watch(form)
