"""Imports from other tools: watches, notes, and hostile files."""

from __future__ import annotations

import copy
import io
import json
import zipfile
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quire
from quire.errors import WatchError
from quire.sentinels.conditions import All, AnyOf, NeverSeen, Not, Number, Text
from quire.sentinels.form import Watch, read_watch, watch_to_dict
from quire.sentinels.groups.oracle import evaluate_alone
from quire.sentinels.imports import (
    Imported,
    import_changedetection,
    import_distill,
    import_jobs,
    import_url_list,
    import_watches,
    tool_of,
)
from quire.sentinels.imports.changedetection import MAX_JSON_BYTES
from tests.sentinels.test_form import paths_of
from tests.sentinels.test_groups import ABOUT

URL = "https://shop.example/fish"


def noted(found: Imported) -> dict[str, str]:
    texts: dict[str, str] = {}
    for note in found.notes:
        texts[note.field] = "\n".join([*filter(None, [texts.get(note.field)]), note.text])
    return texts


def fires(watch: Watch, old: str, new: str) -> bool:
    before, after = (quire.encode(page.encode(), kind="html") for page in (old, new))
    return evaluate_alone(watch.sentinel, before, after, ABOUT).fired


# ------------------------------------------------------------ changedetection.io

WATCH: dict[str, Any] = {
    "uuid": "0c6a2a4e-1111",
    "url": "https://me:p%40ss@shop.example/fish",
    "title": "Fish",
    "tags": ["t-1", "t-9"],
    "include_filters": ["#price", "xpath://li[1]", "json:$.items[0].price"],
    "subtractive_selectors": [".ad", "//footer"],
    "ignore_text": ["visitors (today)", "/served in \\d+ ms/i"],
    "trigger_text": ["in stock", "/only \\d+ left/"],
    "text_should_not_be_present": ["captcha"],
    "filter_text_removed": False,
    "check_unique_lines": True,
    "sort_text_alphabetically": True,
    "time_between_check": {"weeks": None, "days": None, "hours": 2, "minutes": 30, "seconds": None},
    "time_between_check_use_default": False,
    "time_schedule_limit": {
        "enabled": True,
        "timezone": "Europe/Berlin",
        "monday": {
            "enabled": True,
            "start_time": "22:00",
            "duration": {"hours": "8", "minutes": "30"},
        },
        "tuesday": {"enabled": False},
    },
    "fetch_backend": "html_webdriver",
    "browser_steps": [
        {"operation": "Goto site", "selector": "", "optional_value": ""},
        {"operation": "Click element", "selector": "#accept", "optional_value": ""},
        {"operation": "Enter text in field", "selector": "#q", "optional_value": "fish"},
    ],
    "webdriver_delay": 3,
    "headers": {"X-Key": "header-secret"},
    "notification_urls": ["tgram://target-secret/1"],
    "conditions": [
        {"operator": ">=", "field": "extracted_number", "value": "5"},
        {"operator": "contains", "field": "page_filtered_text", "value": "fish"},
    ],
    "conditions_match_logic": "ANY",
    "processor": "text_json_diff",
    "notification_body": "{{ watch_url }}",
    "last_checked": 1700000000,
    "previous_md5": "x",
}
STORE: dict[str, Any] = {
    "watching": {"0c6a2a4e-1111": WATCH, "b": {"url": "https://b.example/", "paused": True}},
    "settings": {
        "headers": {"User-Agent": "x"},
        "requests": {
            "time_between_check": {"hours": 3},
            "jitter_seconds": 20,
            "extra_proxies": [{"proxy_name": "home", "proxy_url": "http://u:p@p.example:1"}],
        },
        "application": {
            "notification_urls": ["mailto:all@example.org"],
            "global_ignore_text": ["cookies"],
            "tags": {"t-1": {"title": "food"}},
        },
    },
}


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


# ------------------------------------------------------------ backups


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


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
ONE = json.dumps({"url": URL}).encode()


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


# ------------------------------------------------------------ urlwatch and webchanges

JOBS = """\
# two tools, one kind of file
name: Version
url: https://a.example/
filter:
  - css: {selector: main, exclude: .ad}
  - html2text
  - grep: 'Current.*version'
  - grepi: (?i)beta
  - re.sub: ', \\d+ downloads'
  - strip
  - sort
headers: {X-Key: 7}
cookies: {a: b}
ssl_no_verify: yes
https_proxy: http://u:p@p.example:3128
timeout: 30
---
navigate: https://b.example/#2
filter: element-by-id:content,html2text
---
name: commands
command: rm -rf /
---
url: https://c.example/
use_browser: true
enabled: false
additions_only: true
wait_for_selector: '#ready'
filters:
  - xpath: {path: //a/@href, maxitems: 2}
  - keep_lines_containing: .pdf
"""


def test_jobs_are_carried_over() -> None:
    found = import_jobs(JOBS)

    version, second, third = found.watches
    part = version.sentinel.parts[0]
    assert (part.location.where, part.location.without) == (("main",), (".ad",))
    assert part.ignore.order
    assert part.ignore.line("Some Beta here") == ""
    assert part.ignore.line("1.2, 17 downloads") == "1.2"
    assert version.sentinel.when == Text(part, "changed", pattern="Current.*version")
    assert version.fetching.headers == {"X-Key": "7"}
    assert version.fetching.cookies == {"a": "b"}
    assert version.fetching.proxy == "http://u:p@p.example:3128"
    assert not version.fetching.verify_tls
    assert second.fetching.browser
    assert second.sentinel.parts[0].location.where == ('[id="content"]',)
    assert third.paused
    assert third.fetching.steps[0].target == "#ready"
    assert third.sentinel.parts[0].location.where == (
        "xpath:(//a/@href)[position() > 0 and position() <= 2]",
    )
    assert [str(note) for note in found.notes] == [
        "commands: command: not imported: jobs that run programs are never imported",
        "Version: timeout: the time limits of the service apply",
    ]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("Current version 1<p>x", "Current version 2<p>x", True),
        ("Current version 1<p>x", "Current version 1<p>y", False),
        ("Current version 1, 7 downloads", "Current version 1, 8 downloads", False),
        ("Current version 1<p>Current version 2", "Current version 2<p>Current version 1", False),
        ("Current beta version 1", "Current beta version 2", False),
    ],
)
def test_an_imported_job_fires_as_it_did(old: str, new: str, *, expected: bool) -> None:
    watch = import_jobs(JOBS).watches[0]

    assert fires(watch, f"<main>{old}</main>", f"<main>{new}</main>") == expected


@pytest.mark.parametrize(
    ("chain", "source", "message"),
    [
        ("- shellpipe: sed s/a/b/", "shellpipe", "never imported"),
        ("- execute: x", "execute", "never imported"),
        ("- css: p[", "css", "p["),
        ("- xpath: //a\n- xpath: //b", "xpath", "inside the result of another"),
        ("- re.sub: <script>\n- html2text", "re.sub", "before it becomes text"),
        ("- html2text\n- grep: (?=x)", "grep", "is not supported"),
        ("- jq: .[] | .name", "jq", "paths to one value"),
        ("- mine", "mine", "the filter is not"),
        ("- css", "css", "a selector"),
        ("7", "filter", "a list of filters"),
    ],
)
def test_a_chain_that_would_mean_something_else_pauses_the_watch(
    chain: str, source: str, message: str
) -> None:
    indented = chain.replace("\n", "\n  ")
    found = import_jobs(f"url: {URL}\nfilter:\n  {indented}\n")

    assert found.watches[0].paused
    assert message in noted(found)[source]


@pytest.mark.parametrize(
    ("chain", "source"),
    [
        ("- css: main\n- css: p\n- html2text", "css"),
        ("- css: main", "filter"),
        ("- html2text\n- re.sub: {pattern: a, repl: b}", "re.sub"),
        ("- html2text\n- grep: a\n- grep: b", "grep"),
        ("- html2text\n- re.findall: a", "re.findall"),
        ("- html2text\n- sort: {separator: x}", "sort"),
        ("- css: {selector: p, maxitems: 1}\n- html2text", "css"),
        ("- xpath: {path: //a, namespaces: {a: b}}\n- html2text", "xpath.namespaces"),
        ("- pdf2text", "pdf2text"),
    ],
)
def test_a_chain_that_means_nearly_the_same_is_noted(chain: str, source: str) -> None:
    indented = chain.replace("\n", "\n  ")
    found = import_jobs(f"url: {URL}\nfilter:\n  {indented}\n")

    assert not found.watches[0].paused
    assert source in noted(found)


def test_jobs_with_anchors_are_refused_with_their_line() -> None:
    with pytest.raises(WatchError, match=r"urls\.yaml, line 2: name: anchors"):
        import_jobs("url: https://a.example/\nname: &a x\n", "urls.yaml")


# ------------------------------------------------------------ Distill

MONITOR: dict[str, Any] = {
    "name": "News",
    "uri": "https://d.example/news",
    "config": json.dumps(
        {
            "selections": [
                {
                    "frames": [
                        {
                            "index": 0,
                            "includes": [
                                {"type": "xpath", "expr": "(//main)[1]"},
                                {"type": "css", "expr": ".top"},
                            ],
                            "excludes": [{"type": "css", "expr": ".ad"}],
                        }
                    ],
                    "dynamic": True,
                    "delay": 2,
                }
            ],
            "ignoreEmptyText": True,
            "includeStyle": False,
            "dataAttr": "text",
            "regexp": {"expr": "v[0-9]+", "flags": "g"},
        }
    ),
    "tags": ["a", "b"],
    "content_type": 2,
    "state": 40,
    "schedule": '{"type":"INTERVAL","params":{"interval":4447}}',
    "ts": "2022-03-27T15:51:15.667Z",
    "rules": [{"x": 1}],
}


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


# ------------------------------------------------------------ lists of addresses


def test_a_list_of_addresses_is_imported() -> None:
    found = import_url_list(
        "# mine\nhttps://a.example/ news, daily\n\nhttps://b.example/\r\nb.example\nhttps://b.example/\n"
        "https://me:pw@c.example/\n"
    )

    assert [(watch.name, watch.tags) for watch in found.watches] == [
        ("https://a.example/", ("news", "daily")),
        ("https://b.example/", ()),
        ("https://c.example/", ()),
    ]
    assert found.watches[2].fetching.password == "pw"  # noqa: S105 - a fixture
    assert noted(found) == {
        "line 5": "not imported: not an address",
        "line 6": "not imported: it is in the list twice",
    }


# ------------------------------------------------------------ all of them


@pytest.mark.parametrize(
    ("data", "tool"),
    [
        (zipped({"url-watches.json": ONE}), "changedetection.io"),
        (json.dumps(STORE).encode(), "changedetection.io"),
        (json.dumps({"data": [MONITOR]}).encode(), "distill"),
        (JOBS.encode(), "urlwatch"),
        (b"\xef\xbb\xbfhttps://a.example/ x\nhttp://b.example/", "urls"),
        (b"url: https://a.example/", "urlwatch"),
        (b"# ours\n\nwatches:\n  - url: https://a.example/", "quire"),
        (b"defaults: {every: 1 h}\nwatches:\n  - url: https://a.example/", "quire"),
        (b'{"watches": [{"url": "https://a.example/"}]}', "quire"),
    ],
)
def test_the_tool_is_found_out(data: bytes, tool: str) -> None:
    if not data.startswith(b"PK"):
        assert tool_of(data) == tool
    assert import_watches(data).watches


FIXTURES: dict[str, tuple[Any, Callable[[str], Imported]]] = {
    "changedetection.io": (STORE, import_changedetection),
    "distill": (
        {"data": [{**MONITOR, "config": json.loads(MONITOR["config"]), "schedule": {}}]},
        import_distill,
    ),
    "urlwatch": (
        {
            "url": URL,
            "filter": [{"css": {"selector": "p", "exclude": "b"}}, "html2text", {"grep": "x"}],
            "headers": {"a": "b"},
            "wait_for": 3,
            "tags": ["a"],
            "method": "GET",
            "http_proxy": "http://p.example",
        },
        import_jobs,
    ),
}
odd = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", " ", "x\0", "/(/", "//a/@href", "p[", "https://u:p@h/", "{{x}}", "css"]),
    lambda inside: (
        st.lists(inside, max_size=3)
        | st.dictionaries(
            st.sampled_from(["css", "re", "expr", "type", "", "x"]), inside, max_size=3
        )
    ),
    max_leaves=5,
)


@pytest.mark.parametrize("tool", FIXTURES)
@given(data=st.data())
def test_any_value_anywhere_is_imported_noted_or_refused(tool: str, data: st.DataObject) -> None:
    whole, read = FIXTURES[tool]
    whole = copy.deepcopy(whole)
    path = data.draw(st.sampled_from(paths_of(whole)))
    inside = whole
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = data.draw(odd)

    try:
        found = read(json.dumps(whole))
    except WatchError:
        return
    names = [watch.name for watch in found.watches]
    assert len(set(names)) == len(names)
    for watch in found.watches:
        assert read_watch(watch_to_dict(watch, secrets=True)) == watch
    for note in found.notes:
        assert "secret" not in str(note)
